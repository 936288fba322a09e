//! Both eras of the protocol, thin: each method asks the [`App`] under the caller's [`Scope`].
//!
//! The older era opens a session with `initialize`, subscribes to resources one by one and sets
//! a log level; the newer one describes itself in every request and listens on a stream. What
//! they show is the same, from the same code.

#![expect(
    deprecated,
    reason = "what the newer era dropped (log levels, single subscriptions) the older one still has"
)]

mod forward;
mod page;
mod skills;

use std::collections::BTreeSet;
use std::panic::AssertUnwindSafe;
use std::sync::{Arc, Mutex, PoisonError};

use futures_util::FutureExt;
use rmcp::model::{
    CacheScope, CallToolRequestParams, CallToolResponse, CompleteRequestParams, CompleteResult,
    CompletionInfo, CustomRequest, CustomResult, DiscoverResult, ErrorCode, GetPromptRequestParams,
    GetPromptResponse, Implementation, InitializeRequestParams, InitializeResult, JsonObject,
    ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult, ListToolsResult,
    LoggingLevel, PaginatedRequestParams, Prompt, ProtocolVersion, ReadResourceRequestParams,
    ReadResourceResponse, Reference, Resource, ResourceTemplate, ServerCapabilities, ServerConfig,
    SetLevelRequestParams, SubscribeRequestParams, SubscriptionFilter, UnsubscribeRequestParams,
};
use rmcp::service::{NotificationContext, RequestContext, RoleServer, SubscriptionContext};
use rmcp::{ErrorData, ServerHandler};
use rutter_base::failure::{Kind, Report};
use rutter_base::text;
use tokio_util::sync::CancellationToken;

use crate::app::{App, blocking};
use crate::caller::Caller;
use crate::logging;
use crate::module::{Completion, Module, ModuleId, Reader};
use crate::scope::{Scope, Subject};
use crate::tool::{self, Call};

/// How long a client may keep what cannot change while the process lives. A new version of the
/// binary may bring another pack, so it is minutes, not days.
const IMMUTABLE_TTL_MS: u64 = 60_000;
/// Everything that is read from files may change at any time.
const MUTABLE_TTL_MS: u64 = 0;

/// One connection, or one request of a connectionless client.
#[derive(Debug, Clone)]
pub struct Handler {
    app: Arc<App>,
    scope: Arc<Scope>,
    caller: Caller,
    connection: Arc<Connection>,
    shutdown: CancellationToken,
}

/// What the older era keeps from request to request.
#[derive(Debug, Default)]
struct Connection {
    subscriptions: Mutex<BTreeSet<String>>,
    level: Mutex<Option<LoggingLevel>>,
}

impl Connection {
    fn is_subscribed(&self, uri: &str) -> bool {
        self.subscriptions.lock().unwrap_or_else(PoisonError::into_inner).contains(uri)
    }

    fn subscribed_below(&self, before: &str) -> Vec<String> {
        let subscriptions = self.subscriptions.lock().unwrap_or_else(PoisonError::into_inner);
        subscriptions.iter().filter(|uri| uri.starts_with(before)).cloned().collect()
    }

    fn level(&self) -> Option<LoggingLevel> {
        *self.level.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The bytes of the longest URI that an error repeats.
const MAX_REPEATED_URI: usize = 2_000;

/// How many resources one connection may subscribe to.
const MAX_SUBSCRIPTIONS: usize = 10_000;

impl Handler {
    /// Serves one connection of a caller. Work that only waits ends when `shutdown` is cancelled.
    pub fn new(app: Arc<App>, caller: Caller, shutdown: CancellationToken) -> Self {
        let scope = caller.scope(&app);
        Self { app, scope, caller, connection: Arc::default(), shutdown }
    }

    /// Asks the modules something, where their files may block, under this caller's scope.
    async fn ask<T: Send + 'static>(
        &self,
        question: impl FnOnce(&[Arc<dyn Module>], &Scope) -> T + Send + 'static,
    ) -> Result<T, ErrorData> {
        let (app, scope) = (Arc::clone(&self.app), Arc::clone(&self.scope));
        let immutable = app.is_immutable();
        let work = move || question(app.modules(), &scope);
        blocking(immutable, work).await.map_err(|report| protocol_error(&report))
    }

    /// What a tool takes, as far as it was visible when the caller's scope was last looked at.
    pub fn input_schema(&self, tool: &str) -> Option<Arc<JsonObject>> {
        let scope = self.caller.last(&self.app).scope;
        let entry = self.app.tool(tool, &scope)?;
        Some(Arc::clone(&entry.narrowed(&self.app, &scope).input_schema))
    }

    /// The caller, for modules whose resources are not the same for all.
    fn reader(&self) -> Reader {
        let limit = self.app.limits().payload;
        Reader { session: self.caller.session(&self.app).cloned(), limit }
    }

    /// Whether there is a resource, listed or not, for this caller.
    async fn can_read(&self, uri: &str) -> Result<bool, ErrorData> {
        let (uri, reader) = (uri.to_owned(), self.reader());
        self.ask(move |modules, scope| {
            let mut visible = modules.iter().filter(|module| {
                scope.admits(Subject::Resource { module: module.id(), uri: &uri })
            });
            visible.any(|module| module.read(&uri, &reader).is_some_and(|answer| answer.is_ok()))
        })
        .await
    }

    async fn visible_resources(&self) -> Result<Vec<Resource>, ErrorData> {
        let reader = self.reader();
        self.ask(move |modules, scope| {
            let of = |module: &Arc<dyn Module>| {
                let mut resources = module.resources(&reader);
                resources.retain(|resource| {
                    scope.admits(Subject::Resource { module: module.id(), uri: &resource.uri })
                });
                resources
            };
            modules.iter().flat_map(of).collect()
        })
        .await
    }

    async fn visible_templates(&self) -> Result<Vec<ResourceTemplate>, ErrorData> {
        self.ask(|modules, scope| {
            let of = |module: &Arc<dyn Module>| {
                let mut templates = module.templates();
                templates.retain(|template| {
                    scope.admits(Subject::Resource {
                        module: module.id(),
                        uri: &template.uri_template,
                    })
                });
                templates
            };
            modules.iter().flat_map(of).collect()
        })
        .await
    }

    async fn visible_prompts(&self) -> Result<Vec<Prompt>, ErrorData> {
        self.ask(|modules, scope| {
            let of = |module: &Arc<dyn Module>| {
                let module_id = module.id();
                let mut prompts = module.prompts();
                prompts.retain(|prompt| {
                    scope.admits(Subject::Prompt { name: &prompt.name, module: module_id })
                });
                prompts
            };
            modules.iter().flat_map(of).collect()
        })
        .await
    }

    /// Runs the work of one request: with an id that is in every line of its log, and so that a
    /// defect is an answer instead of silence.
    async fn answer<T>(
        &self,
        method: &'static str,
        work: impl Future<Output = Result<T, ErrorData>>,
    ) -> Result<T, ErrorData> {
        logging::within(method, self.caller.name().cloned(), AssertUnwindSafe(work).catch_unwind())
            .await
            // The panic itself was logged by the hook.
            .unwrap_or_else(|_| Err(ErrorData::internal_error("internal error", None)))
    }
}

/// Whether a request is of the newer era.
fn is_newer_era(context: &RequestContext<RoleServer>) -> bool {
    let version = context.protocol_version();
    version.is_some_and(|version| version.as_str() >= ProtocolVersion::V_2026_07_28.as_str())
}

/// How long, and for whom, a result may be kept: the newer era has a place for it.
fn cache_hints(
    context: &RequestContext<RoleServer>,
    immutable: bool,
) -> (Option<u64>, Option<CacheScope>) {
    if !is_newer_era(context) {
        return (None, None);
    }
    let ttl_ms = if immutable { IMMUTABLE_TTL_MS } else { MUTABLE_TTL_MS };
    (Some(ttl_ms), Some(CacheScope::Private))
}

/// A failure outside of a tool, as the protocol says it.
fn protocol_error(report: &Report) -> ErrorData {
    match report.kind() {
        Kind::Internal => {
            tracing::error!(event = "internal_error", reason = %report, cause = report.cause());
            ErrorData::internal_error(report.to_string(), None)
        }
        _ => ErrorData::invalid_params(report.to_string(), None),
    }
}

/// The same for a missing file, a bad URI and an escape: nothing can be learned from it. The
/// newer era wants the caller's own URI repeated.
fn resource_not_found(uri: &str, context: &RequestContext<RoleServer>) -> ErrorData {
    let repeated = is_newer_era(context) && uri.len() <= MAX_REPEATED_URI;
    let data = repeated.then(|| serde_json::json!({ "uri": uri }));
    ErrorData::new(ErrorCode::RESOURCE_NOT_FOUND, "resource not found", data)
}

impl ServerHandler for Handler {
    fn get_info(&self) -> ServerConfig {
        let identity = self.app.identity();
        let mut capabilities = ServerCapabilities::builder()
            .enable_logging()
            .enable_completions()
            .enable_prompts()
            .enable_prompts_list_changed()
            .enable_resources()
            .enable_resources_subscribe()
            .enable_resources_list_changed()
            .enable_tools()
            .enable_tool_list_changed()
            .build();
        if !self.app.may_have_tools(&self.scope) {
            capabilities.tools = None;
        }
        if self.scope.admits(Subject::Skill) {
            skills::declare(&mut capabilities);
        }
        let mut info = ServerConfig::new(capabilities)
            .with_server_info(Implementation::new(identity.name.clone(), identity.version.clone()));
        info.instructions.clone_from(&identity.instructions);
        // An agent without tools is to know why.
        if let Some(report) = self.caller.session(&self.app).and_then(|session| session.fault()) {
            let rest = identity.instructions.as_deref().unwrap_or_default();
            info.instructions = Some(format!("{report}\n\n{rest}").trim_end().to_owned());
        }
        info
    }

    async fn initialize(
        &self,
        request: InitializeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<InitializeResult, ErrorData> {
        self.answer("initialize", async {
            let result = self.negotiate_initialize(&request)?;
            tracing::info!(
                event = "client_connected",
                client = %text::cap(text::one_line(&request.client_info.name), 200),
                client_version = %text::cap(text::one_line(&request.client_info.version), 200),
                protocol = %result.protocol_version,
            );
            // The peer's version decides the shape of later answers: what was agreed, not what
            // was asked for.
            let mut agreed = request;
            agreed.protocol_version = result.protocol_version.clone();
            context.peer.set_peer_info(agreed);
            Ok(result)
        })
        .await
    }

    async fn on_initialized(&self, context: NotificationContext<RoleServer>) {
        forward::to_session(self, context.peer);
    }

    async fn discover(&self, _: RequestContext<RoleServer>) -> Result<DiscoverResult, ErrorData> {
        self.answer("server/discover", async {
            let versions = self.supported_protocol_versions().into_owned();
            Ok(DiscoverResult::from_server_info(versions, self.get_info())
                .with_ttl_ms(IMMUTABLE_TTL_MS)
                .with_cache_scope(CacheScope::Private))
        })
        .await
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        self.answer("tools/list", async {
            let view = self.caller.view(&self.app).await;
            if view.context.is_some() {
                self.app.follow_board().await;
            }
            let entries = self.app.tools(&view.scope);
            let (entries, next) =
                page::cut(entries, |entry| entry.name(), request, self.app.limits().page)?;
            let tools = entries.into_iter();
            let tools =
                tools.map(|entry| entry.narrowed(&self.app, &view.scope).into_owned()).collect();
            let mut result = ListToolsResult::with_all_items(tools);
            (result.ttl_ms, result.cache_scope) = cache_hints(&context, self.app.is_immutable());
            result.next_cursor = next;
            Ok(result)
        })
        .await
    }

    /// For the HTTP transport, which holds headers that repeat an argument against the schema,
    /// with every call: only the schema is there.
    fn get_tool(&self, name: &str) -> Option<rmcp::model::Tool> {
        let schema = self.input_schema(name)?;
        Some(rmcp::model::Tool::new(name.to_owned(), "", schema))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        self.answer("tools/call", async {
            let view = self.caller.view(&self.app).await;
            if let Some(report) = &view.closed {
                return Err(protocol_error(report));
            }
            let Some(entry) = self.app.tool(&request.name, &view.scope) else {
                if self.app.has_tool(&request.name) {
                    self.app.metrics().denied("scope");
                }
                let visible = self.app.tools(&view.scope);
                let names = visible.iter().map(|entry| entry.name());
                return Err(unknown("tool", &request.name, names));
            };
            let app = Arc::clone(&self.app);
            let call = Call { app, caller: self.caller.clone(), session: view.context, context };
            tool::run(&entry, &view.scope, call, request).await
        })
        .await
    }

    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        self.answer("resources/list", async {
            self.app.follow_board().await;
            let resources = self.visible_resources().await?;
            let (resources, next) = page::cut(
                resources,
                |resource| resource.uri.as_str(),
                request,
                self.app.limits().page,
            )?;
            let mut result = ListResourcesResult::with_all_items(resources);
            (result.ttl_ms, result.cache_scope) = cache_hints(&context, self.app.is_immutable());
            result.next_cursor = next;
            Ok(result)
        })
        .await
    }

    async fn list_resource_templates(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        self.answer("resources/templates/list", async {
            let templates = self.visible_templates().await?;
            let (templates, next) = page::cut(
                templates,
                |template| template.uri_template.as_str(),
                request,
                self.app.limits().page,
            )?;
            let mut result = ListResourceTemplatesResult::with_all_items(templates);
            (result.ttl_ms, result.cache_scope) = cache_hints(&context, true);
            result.next_cursor = next;
            Ok(result)
        })
        .await
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        self.answer("resources/read", async {
            let uri = request.uri.clone();
            let reader = self.reader();
            let question = move |modules: &[Arc<dyn Module>], scope: &Scope| {
                modules.iter().find_map(|module| {
                    let subject = match module.id() {
                        // Listed as resources or not.
                        ModuleId::Skills => Subject::Skill,
                        module => Subject::Resource { module, uri: &request.uri },
                    };
                    let answer = scope.admits(subject).then(|| module.read(&request.uri, &reader))??;
                    Some((answer, module.is_immutable()))
                })
            };
            match self.ask(question).await? {
                Some((Ok(mut result), immutable)) => {
                    (result.ttl_ms, result.cache_scope) = cache_hints(&context, immutable);
                    Ok(result.into())
                }
                Some((Err(report), _)) => {
                    tracing::info!(event = "resource_refused", reason = %report, cause = report.cause());
                    Err(resource_not_found(&uri, &context))
                }
                None => Err(resource_not_found(&uri, &context)),
            }
        })
        .await
    }

    async fn list_prompts(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        self.answer("prompts/list", async {
            let prompts = self.visible_prompts().await?;
            let (prompts, next) =
                page::cut(prompts, |prompt| prompt.name.as_str(), request, self.app.limits().page)?;
            let mut result = ListPromptsResult::with_all_items(prompts);
            (result.ttl_ms, result.cache_scope) = cache_hints(&context, self.app.is_immutable());
            result.next_cursor = next;
            Ok(result)
        })
        .await
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        self.answer("prompts/get", async {
            let limit = self.app.limits().payload;
            let name = request.name.clone();
            let question = move |modules: &[Arc<dyn Module>], scope: &Scope| {
                let name = request.name.as_str();
                let visible = modules
                    .iter()
                    .filter(|module| scope.admits(Subject::Prompt { name, module: module.id() }));
                visible.into_iter().find_map(|module| module.prompt(&request, limit))
            };
            let answer = self.ask(question).await?;
            if let Some(answer) = answer {
                return answer.map_err(|report| protocol_error(&report));
            }
            let prompts = self.visible_prompts().await?;
            Err(unknown("prompt", &name, prompts.iter().map(|prompt| prompt.name.as_str())))
        })
        .await
    }

    async fn complete(
        &self,
        request: CompleteRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        self.answer("completion/complete", async {
            let typed = request.argument.value.to_lowercase();
            let question = move |modules: &[Arc<dyn Module>], scope: &Scope| {
                let visible =
                    modules.iter().filter(|module| match &request.r#ref {
                        Reference::Prompt(prompt) => scope
                            .admits(Subject::Prompt { name: &prompt.name, module: module.id() }),
                        Reference::Resource(resource) => scope
                            .admits(Subject::Resource { uri: &resource.uri, module: module.id() }),
                        _ => false,
                    });
                let context =
                    request.context.as_ref().and_then(|context| context.arguments.as_ref());
                let known = context.into_iter().flatten();
                let question = Completion {
                    reference: &request.r#ref,
                    argument: &request.argument.name,
                    typed: &request.argument.value,
                    known: known.map(|(name, value)| (name.as_str(), value.as_str())).collect(),
                };
                visible
                    .into_iter()
                    .find_map(|module| module.complete(&question))
                    .unwrap_or_default()
            };
            let mut values = self.ask(question).await?;
            values.retain(|value| value.to_lowercase().starts_with(&typed));
            let total = u32::try_from(values.len()).ok();
            let has_more = values.len() > CompletionInfo::MAX_VALUES;
            values.truncate(CompletionInfo::MAX_VALUES);
            let info = CompletionInfo::with_pagination(values, total, has_more)
                .map_err(|_| ErrorData::internal_error("internal error", None))?;
            Ok(CompleteResult::new(info))
        })
        .await
    }

    async fn set_level(
        &self,
        request: SetLevelRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        if is_newer_era(&context) {
            return Err(no_method("logging/setLevel"));
        }
        *self.connection.level.lock().unwrap_or_else(PoisonError::into_inner) = Some(request.level);
        Ok(())
    }

    async fn subscribe(
        &self,
        request: SubscribeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.answer("resources/subscribe", async {
            let there = if App::is_of_board(&request.uri) {
                // Tasks are there without being listed.
                self.app.follow_board().await;
                self.can_read(&request.uri).await?
            } else {
                let resources = self.visible_resources().await?;
                resources.iter().any(|resource| resource.uri == request.uri)
            };
            if !there {
                return Err(resource_not_found(&request.uri, &context));
            }
            let mut subscriptions =
                self.connection.subscriptions.lock().unwrap_or_else(PoisonError::into_inner);
            if subscriptions.len() >= MAX_SUBSCRIPTIONS {
                return Err(ErrorData::invalid_params(
                    "too many subscriptions; unsubscribe from some",
                    None,
                ));
            }
            subscriptions.insert(request.uri);
            Ok(())
        })
        .await
    }

    async fn unsubscribe(
        &self,
        request: UnsubscribeRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.connection
            .subscriptions
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .remove(&request.uri);
        Ok(())
    }

    fn accepted_subscription_filter(
        &self,
        requested: &SubscriptionFilter,
    ) -> Option<SubscriptionFilter> {
        let mut accepted = requested.clone();
        if let Some(uris) = &mut accepted.resource_subscriptions {
            uris.truncate(MAX_SUBSCRIPTIONS);
        }
        Some(accepted)
    }

    async fn listen(&self, subscription: SubscriptionContext) -> Result<(), ErrorData> {
        let wanted = subscription.accepted();
        let resources = wanted.resource_subscriptions.iter().flatten();
        if wanted.resources_list_changed == Some(true)
            || resources.into_iter().any(|uri| App::is_of_board(uri))
        {
            self.app.follow_board().await;
        }
        forward::to_stream(self, subscription).await;
        Ok(())
    }

    async fn on_custom_request(
        &self,
        request: CustomRequest,
        context: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        if let Some(answer) = skills::answer(self, &request, &context).await {
            return answer;
        }
        // A known method arrives here when its parameters do not have the method's shape.
        let method = request.method.as_str();
        let removed = is_newer_era(&context) && REMOVED_METHODS.contains(&method);
        if KNOWN_METHODS.contains(&method) && !removed {
            return Err(misshapen(method));
        }
        Err(no_method(method))
    }
}

fn misshapen(method: &str) -> ErrorData {
    let what = format!("the parameters of `{method}` are missing or of the wrong type");
    ErrorData::invalid_params(what, None)
}

fn no_method(method: &str) -> ErrorData {
    let method = text::cap(text::one_line(method), 200);
    ErrorData::new(ErrorCode::METHOD_NOT_FOUND, format!("there is no method `{method}`"), None)
}

/// The methods of both eras that take parameters.
const KNOWN_METHODS: [&str; 14] = [
    "completion/complete",
    "initialize",
    "logging/setLevel",
    "prompts/get",
    "prompts/list",
    "resources/list",
    "resources/read",
    "resources/subscribe",
    "resources/templates/list",
    "resources/unsubscribe",
    "server/discover",
    "subscriptions/listen",
    "tools/call",
    "tools/list",
];

/// Those of them that only the older era has.
const REMOVED_METHODS: [&str; 4] =
    ["initialize", "logging/setLevel", "resources/subscribe", "resources/unsubscribe"];

/// What is not there, and what may have been meant by it: hidden things are never suggested.
fn unknown<'a>(what: &str, name: &str, visible: impl Iterator<Item = &'a str>) -> ErrorData {
    let shown = text::cap(text::one_line(name), 200);
    let report = Report::new(Kind::Invalid, format!("unknown {what} `{shown}`"));
    let report = match text::closest(name, visible) {
        Some(meant) => report.hint(format!("did you mean `{meant}`?")),
        None => report.hint(format!("list the {what}s to see what there is")),
    };
    protocol_error(&report)
}
