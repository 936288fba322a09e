//! A tool is one declaration; everything else that happens to a call is here, once.
//!
//! A type that implements [`Tool`] is its arguments: the fields are what a caller passes, their
//! doc comments are the schema's descriptions. [`Entry`] is the same tool without its type, and
//! [`run`] is the one pipeline that every call takes.

use std::borrow::Cow;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use futures_util::future::BoxFuture;
use rmcp::ErrorData;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, JsonObject,
    ProgressNotificationParam, Tool as Definition, ToolAnnotations,
};
use rmcp::service::{RequestContext, RoleServer};
use rutter_base::failure::{Kind, Report};
use rutter_base::text;
use rutter_board::recipes::Allowed;
use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::app::App;
use crate::caller::Caller;
use crate::metrics::Outcome;
use crate::module::ModuleId;
use crate::schema;
use crate::scope::{Narrowing, Outside, Scope, Subject};
use crate::session::Context;

/// What a tool does to the world.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    /// It changes nothing.
    Reads,
    /// It adds; what was there stays.
    Adds,
    /// It gives something another value: doing it again changes nothing more, and what was
    /// there before can be brought back.
    Changes,
    /// It takes something away.
    Deletes,
}

impl Effect {
    fn annotations(self, title: &str) -> ToolAnnotations {
        let annotations =
            ToolAnnotations::with_title(title).read_only(self == Self::Reads).open_world(false);
        match self {
            Self::Reads => annotations,
            Self::Adds => annotations.destructive(false).idempotent(false),
            Self::Changes => annotations.destructive(false).idempotent(true),
            Self::Deletes => annotations.destructive(true).idempotent(true),
        }
    }
}

/// A tool: what a caller passes, and what happens then.
pub trait Tool: DeserializeOwned + JsonSchema + Send + 'static {
    /// The name that callers use.
    const NAME: &'static str;
    /// The name for people.
    const TITLE: &'static str;
    /// When to use it, and when not to.
    const DESCRIPTION: &'static str;
    /// The module that it belongs to.
    const MODULE: ModuleId;
    /// What it does to the world.
    const EFFECT: Effect;
    /// What it answers with.
    type Output: Output;

    /// Does the work.
    fn call(self, call: Call) -> impl Future<Output = Result<Self::Output, Report>> + Send;

    /// Adapts the input schema to what is served: the values that an argument can take.
    fn shape(app: &App, schema: &mut JsonObject) {
        let _ = (app, schema);
    }
}

/// What a tool can answer with.
pub trait Output: Send {
    /// The schema of the structured part, if there is one.
    fn schema() -> Option<Arc<JsonObject>>;

    /// The answer, with its texts cut to `limit`.
    fn into_result(self, limit: usize) -> CallToolResult;
}

/// Plain text.
#[derive(Debug)]
pub struct Text(pub String);

impl Output for Text {
    fn schema() -> Option<Arc<JsonObject>> {
        None
    }

    fn into_result(self, limit: usize) -> CallToolResult {
        CallToolResult::success(vec![ContentBlock::text(text::cap(self.0, limit))])
    }
}

/// Data, and the text that says the same to a reader who has only text.
#[derive(Debug)]
pub struct Data<T> {
    /// The data.
    pub value: T,
    /// The text; the data as JSON when there is none.
    pub text: Option<String>,
}

impl<T: Serialize + JsonSchema + Send> Output for Data<T> {
    fn schema() -> Option<Arc<JsonObject>> {
        Some(Arc::new(schema::of::<T>()))
    }

    fn into_result(self, limit: usize) -> CallToolResult {
        let value = serde_json::to_value(&self.value).unwrap_or(Value::Null);
        let text = self.text.unwrap_or_else(|| value.to_string());
        let mut result = CallToolResult::success(vec![ContentBlock::text(text::cap(text, limit))]);
        result.structured_content = Some(value);
        result
    }
}

/// What a tool knows of the call that it serves.
#[derive(Clone)]
pub struct Call {
    /// Everything a tool may use.
    pub app: Arc<App>,
    /// Who calls.
    pub caller: Caller,
    /// What the caller's session is for.
    pub session: Option<Arc<Context>>,
    /// The request, for what the protocol allows a tool beyond its answer.
    pub context: RequestContext<RoleServer>,
}

impl Call {
    /// Whether the caller asked to know how far the work is.
    pub fn wants_progress(&self) -> bool {
        self.context.meta.get_progress_token().is_some()
    }

    /// Tells how far the work is, if the caller asked to know.
    pub async fn progress(&self, done: f64, total: f64, message: &str) {
        if let Some(token) = self.context.meta.get_progress_token() {
            let param =
                ProgressNotificationParam::new(token, done).with_total(total).with_message(message);
            // A caller that is gone needs no progress.
            let _ = self.context.peer.notify_progress(param).await;
        }
    }
}

type Handler = dyn Fn(Call, CallToolRequestParams) -> BoxFuture<'static, Result<CallToolResponse, CallError>>
    + Send
    + Sync;
type Define = dyn Fn(&App) -> Definition + Send + Sync;

/// Why a call gave no result.
#[derive(Debug)]
pub enum CallError {
    /// The arguments do not fit: where, and why.
    Arguments(String),
    /// The tool could not do it; a report of kind `Invalid` is about the arguments as well.
    Failed(Report),
    /// The tool used the protocol in a way that it answers itself.
    Protocol(ErrorData),
}

impl From<Report> for CallError {
    fn from(report: Report) -> Self {
        Self::Failed(report)
    }
}

/// A tool without its type.
#[derive(Clone)]
pub struct Entry {
    name: Cow<'static, str>,
    module: ModuleId,
    effect: Effect,
    define: Arc<Define>,
    /// Made once: nothing that it is made of changes while an [`App`] lives.
    definition: OnceLock<Definition>,
    handler: Arc<Handler>,
}

impl std::fmt::Debug for Entry {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Entry")
            .field("name", &self.name)
            .field("module", &self.module)
            .finish_non_exhaustive()
    }
}

impl Entry {
    /// The entry of a declared tool.
    pub fn of<T: Tool>() -> Self {
        let define = |app: &App| {
            let mut input = schema::of::<T>();
            T::shape(app, &mut input);
            let mut definition = Definition::new(T::NAME, T::DESCRIPTION, Arc::new(input))
                .with_title(T::TITLE)
                .with_annotations(T::EFFECT.annotations(T::TITLE));
            definition.output_schema = T::Output::schema();
            definition
        };
        Self::new(T::NAME, T::MODULE, T::EFFECT, define, |call, params| {
            Box::pin(async move {
                let limit = call.app.limits().payload;
                let tool: T = schema::arguments(params.arguments.unwrap_or_default())
                    .map_err(CallError::Arguments)?;
                Ok(CallToolResponse::from(tool.call(call).await?.into_result(limit)))
            })
        })
    }

    /// The entry of a tool that content makes.
    pub fn new(
        name: impl Into<Cow<'static, str>>,
        module: ModuleId,
        effect: Effect,
        define: impl Fn(&App) -> Definition + Send + Sync + 'static,
        handler: impl Fn(
            Call,
            CallToolRequestParams,
        ) -> BoxFuture<'static, Result<CallToolResponse, CallError>>
        + Send
        + Sync
        + 'static,
    ) -> Self {
        Self {
            name: name.into(),
            module,
            effect,
            define: Arc::new(define),
            definition: OnceLock::new(),
            handler: Arc::new(handler),
        }
    }

    /// The name that callers use.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The module that it belongs to.
    pub fn module(&self) -> ModuleId {
        self.module
    }

    /// What a scope is asked about.
    pub fn subject(&self) -> Subject<'_> {
        Subject::Tool {
            name: &self.name,
            module: self.module,
            writes: self.effect != Effect::Reads,
        }
    }

    /// What is listed.
    pub fn definition(&self, app: &App) -> &Definition {
        self.definition.get_or_init(|| {
            let mut definition = (self.define)(app);
            if let Some(description) = app.description_of(&self.name) {
                definition.description = Some(description.to_owned().into());
            }
            definition
        })
    }

    /// What is listed when only a part of the tool is left.
    pub fn narrowed(&self, app: &App, scope: &Scope) -> Cow<'_, Definition> {
        let whole = self.definition(app);
        match scope.narrowing(&self.name) {
            None => Cow::Borrowed(whole),
            Some(narrowing) => {
                let mut definition = whole.clone();
                definition.input_schema = Arc::new(narrowing.schema(&whole.input_schema));
                Cow::Owned(definition)
            }
        }
    }

    /// What is wrong with what a recipe leaves of the tool.
    pub fn misfits(&self, app: &App, recipe: &str, left: &Allowed) -> Vec<String> {
        if *left == Allowed::default() {
            return Vec::new();
        }
        let (tool, known) = (&self.name, self.arguments(app));
        let fields = left.fields.iter().flatten();
        let named = fields.chain(left.targets.iter().map(|(field, _)| field));
        let unknown = named.filter(|field| !known.contains(&field.as_str())).map(|field| {
            let field = text::one_line(field);
            format!("the recipe `{recipe}` names the argument `{field}`, which the tool `{tool}` does not have")
        });
        let schema = &self.definition(app).input_schema;
        let required = schema.get("required").and_then(Value::as_array).into_iter().flatten();
        let needed = required
            .filter_map(Value::as_str)
            .filter(|name| left.fields.as_ref().is_some_and(|fields| !fields.contains(*name)));
        let needed = needed.map(|name| {
            format!("the recipe `{recipe}` leaves the tool `{tool}` without `{name}`, which every call needs")
        });
        unknown.chain(needed).collect()
    }

    /// The names of the tool's arguments.
    fn arguments(&self, app: &App) -> Vec<&str> {
        let schema = &self.definition(app).input_schema;
        let properties = schema.get("properties").and_then(Value::as_object);
        properties.into_iter().flat_map(|all| all.keys()).map(String::as_str).collect()
    }

    /// Whether a call stays within the part that is left.
    fn check(
        &self,
        app: &App,
        narrowing: &Narrowing<'_>,
        params: &CallToolRequestParams,
    ) -> Result<(), CallError> {
        let none = JsonObject::new();
        let arguments = params.arguments.as_ref().unwrap_or(&none);
        narrowing.check(arguments, &self.arguments(app)).map_err(|outside| match outside {
            Outside::Argument(what) => CallError::Arguments(what),
            Outside::Target(report) => CallError::Failed(report),
        })
    }
}

/// Takes a call through everything that happens to every call: deadline, log, error mapping.
///
/// The caller has looked the entry up in what `scope` admits.
pub async fn run(
    entry: &Entry,
    scope: &Scope,
    call: Call,
    params: CallToolRequestParams,
) -> Result<CallToolResponse, ErrorData> {
    let began = Instant::now();
    let app = Arc::clone(&call.app);
    let deadline = app.limits().deadline;
    let narrowing = scope.narrowing(entry.name());
    let within = narrowing.map_or(Ok(()), |left| entry.check(&app, &left, &params));
    let outcome = match within {
        Ok(()) => {
            let work = (entry.handler)(call, params);
            let outcome = tokio::time::timeout(deadline, work).await;
            outcome.unwrap_or_else(|_| Err(CallError::Failed(overdue(deadline))))
        }
        Err(outside) => Err(outside),
    };
    let tool = entry.name();
    let seconds = began.elapsed().as_secs_f64();
    let ms = seconds * 1_000.0;
    app.metrics().record(tool, counted(&outcome), seconds);
    match outcome {
        Ok(response) => {
            tracing::info!(event = "tool_call", tool, ms, outcome = "ok");
            Ok(response)
        }
        Err(CallError::Arguments(reason)) => {
            tracing::info!(event = "tool_call", tool, ms, outcome = "invalid", reason);
            Err(ErrorData::invalid_params(reason, None))
        }
        Err(CallError::Protocol(error)) => {
            tracing::info!(event = "tool_call", tool, ms, outcome = "error", reason = %error.message);
            Err(error)
        }
        Err(CallError::Failed(report)) if report.kind() == Kind::Invalid => {
            tracing::info!(event = "tool_call", tool, ms, outcome = "invalid", reason = %report);
            Err(ErrorData::invalid_params(report.to_string(), None))
        }
        Err(CallError::Failed(report)) => {
            let cause = report.cause();
            if report.kind() == Kind::Internal {
                tracing::error!(event = "tool_call", tool, ms, outcome = "failed", reason = %report, cause);
            } else {
                tracing::info!(event = "tool_call", tool, ms, outcome = "failed", reason = %report, cause);
            }
            Ok(CallToolResult::error(vec![ContentBlock::text(report.to_string())]).into())
        }
    }
}

/// How a call is counted.
fn counted(outcome: &Result<CallToolResponse, CallError>) -> Outcome {
    match outcome {
        Ok(_) => Outcome::Ok,
        Err(CallError::Arguments(_)) => Outcome::Invalid,
        Err(CallError::Failed(report)) if report.kind() == Kind::Invalid => Outcome::Invalid,
        Err(CallError::Failed(_) | CallError::Protocol(_)) => Outcome::Failed,
    }
}

fn overdue(deadline: Duration) -> Report {
    Report::new(
        Kind::Busy,
        format!("this took longer than {} seconds and was given up", deadline.as_secs()),
    )
    .hint("try again, or ask for less")
}
