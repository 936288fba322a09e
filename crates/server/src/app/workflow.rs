//! The workflow as a module: a tool and a resource for every prompt.

use std::fmt::Write;
use std::path::Path;
use std::sync::Arc;

use rmcp::model::{
    CallToolResponse, CallToolResult, ContentBlock, JsonObject, ReadResourceResult, Resource,
    ResourceContents, Tool as Definition, ToolAnnotations,
};
use rutter_base::failure::{Kind, Problem, Report};
use rutter_base::text;
use rutter_process::workflow::{
    Input, Loaded, Prompt, Rendered, Rendering, Snapshot, State, Workflow,
};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use crate::module::{Module, ModuleId, Reader};
use crate::schema;
use crate::tool::{Call, CallError, Effect, Entry};

const MARKDOWN: &str = "text/markdown";

/// What the URIs of embedded prompts begin with.
const PACK: &str = "rutter://pack/workflow/";

#[derive(Debug)]
pub(super) struct Prompts(pub(super) Arc<Workflow>);

/// What a prompt's tool answers with.
#[derive(Serialize, JsonSchema)]
struct Filled {
    /// Markdown, with a footer
    content: String,
    /// Steps that follow
    next: Vec<String>,
    warnings: Vec<String>,
}

impl Module for Prompts {
    fn id(&self) -> ModuleId {
        ModuleId::Workflow
    }

    fn summary(&self) -> String {
        format!("{} prompts as tools", self.0.snapshot().prompts.len())
    }

    fn problems(&self) -> Vec<Problem> {
        self.0.problems()
    }

    fn is_immutable(&self) -> bool {
        self.0.is_immutable()
    }

    fn tools(&self) -> Vec<Entry> {
        let snapshot = self.0.snapshot();
        let output = Arc::new(schema::of::<Filled>());
        let entries = (0..snapshot.prompts.len()).filter_map(|place| {
            let id = snapshot.prompts.get(place)?.id.clone();
            let of = Step { workflow: Arc::clone(&self.0), snapshot: Arc::clone(&snapshot), place };
            let (defining, output) = (of.clone(), Arc::clone(&output));
            Some(Entry::new(
                id,
                ModuleId::Workflow,
                Effect::Reads,
                move |_| defining.definition(&output),
                move |call, params| {
                    let step = of.clone();
                    Box::pin(step.call(call, params.arguments.unwrap_or_default()))
                },
            ))
        });
        entries.collect()
    }

    fn resources(&self, _: &Reader) -> Vec<Resource> {
        let snapshot = self.0.snapshot();
        let listed = snapshot.prompts.iter().filter_map(|prompt| {
            let resource = Resource::new(uri(&self.0, prompt)?, prompt.title())
                .with_title(prompt.title())
                .with_mime_type(MARKDOWN);
            Some(match &prompt.description {
                Some(description) => resource.with_description(description),
                None => resource,
            })
        });
        listed.collect()
    }

    fn read(&self, asked: &str, reader: &Reader) -> Option<Result<ReadResourceResult, Report>> {
        if !asked.starts_with("file:") && !asked.starts_with(PACK) {
            return None;
        }
        let snapshot = self.0.snapshot();
        // Only what is listed: the URI is compared, never opened.
        let prompt = snapshot
            .prompts
            .iter()
            .find(|prompt| uri(&self.0, prompt).is_some_and(|uri| uri == asked))?;
        Some(self.0.text(prompt).map_err(Report::from).map(|text| {
            let contents = ResourceContents::text(text::cap(text, reader.limit), asked);
            ReadResourceResult::new(vec![contents.with_mime_type(MARKDOWN)])
        }))
    }
}

/// The address of a prompt's file: where the operator keeps it, or its place in the pack.
pub(super) fn uri(workflow: &Workflow, prompt: &Prompt) -> Option<String> {
    if workflow.is_immutable() {
        return Some(format!("{PACK}{}", prompt.file()));
    }
    file_uri(&workflow.path_of(prompt)?)
}

fn file_uri(path: &Path) -> Option<String> {
    let mut uri = "file://".to_owned();
    if !path.to_str()?.starts_with('/') {
        // A drive of Windows.
        uri.push('/');
    }
    for byte in path.to_str()?.replace('\\', "/").bytes() {
        match byte {
            b'/' | b':' | b'-' | b'.' | b'_' | b'~' => uri.push(char::from(byte)),
            _ if byte.is_ascii_alphanumeric() => uri.push(char::from(byte)),
            _ => {
                let _ = write!(uri, "%{byte:02X}");
            }
        }
    }
    Some(uri)
}

/// One prompt at one moment: a call that began before a reload ends with what it began with.
#[derive(Clone)]
struct Step {
    workflow: Arc<Workflow>,
    snapshot: Arc<Snapshot>,
    place: usize,
}

impl Step {
    fn prompt(&self) -> Result<&Prompt, Report> {
        let gone = || Report::new(Kind::Internal, "internal error");
        self.snapshot.prompts.get(self.place).ok_or_else(gone)
    }

    fn definition(&self, output: &Arc<JsonObject>) -> Definition {
        let Ok(prompt) = self.prompt() else { return Definition::default() };
        let description = prompt.description.clone().unwrap_or_else(|| prompt.title().to_owned());
        let annotations = ToolAnnotations::with_title(prompt.title());
        let mut definition =
            Definition::new(prompt.id.clone(), description, input_schema(&prompt.inputs))
                .with_title(prompt.title())
                .with_annotations(annotations.read_only(true).open_world(false));
        definition.output_schema = Some(Arc::clone(output));
        definition
    }

    async fn call(self, call: Call, values: JsonObject) -> Result<CallToolResponse, CallError> {
        let limit = call.app.limits().payload;
        let records = call.app.tool("advance_state", call.app.scope()).is_some();
        // One look at the state's file is all that most calls need of the disk: going to another
        // thread for it would take longer than the look.
        let immutable = self.workflow.is_immutable();
        let known = if immutable { self.workflow.store().glance() } else { None };
        let at_once = known.is_some();
        let work = move || {
            let rendering = Rendering { values: &values, limit, records };
            let rendered = self.render(known, rendering)?;
            self.answer(rendered)
        };
        Ok(crate::app::blocking(at_once, work).await??)
    }

    fn render(
        &self,
        known: Option<Arc<State>>,
        rendering: Rendering<'_>,
    ) -> Result<Rendered, Report> {
        let loaded = match known {
            Some(state) => Ok(Loaded { state, warning: None }),
            None => self.workflow.store().load(),
        };
        let prompt = self.prompt()?;
        let rendered = match loaded {
            Ok(Loaded { state, warning }) => {
                let rendered = self.workflow.render(&self.snapshot, prompt, Ok(&state), rendering);
                rendered.map(|mut rendered| {
                    rendered.warnings.extend(warning);
                    rendered
                })
            }
            Err(error) => self.workflow.render(&self.snapshot, prompt, Err(error), rendering),
        };
        Ok(rendered?)
    }

    fn answer(&self, rendered: Rendered) -> Result<CallToolResponse, Report> {
        let Rendered { text, warnings } = rendered;
        let prompt = self.prompt()?;
        for warning in &warnings {
            tracing::warn!(event = "out_of_order", tool = prompt.id, "{warning}");
        }
        let graph = &self.snapshot.graph;
        let next = graph.node(&prompt.id).into_iter().flat_map(|node| graph.after(node));
        let next = next.map(str::to_owned).collect();
        let mut result = CallToolResult::success(vec![ContentBlock::text(text.clone())]);
        let filled = Filled { content: text, next, warnings };
        result.structured_content = Some(serde_json::to_value(filled).unwrap_or(Value::Null));
        Ok(result.into())
    }
}

fn input_schema(inputs: &[Input]) -> Arc<JsonObject> {
    let mut properties = JsonObject::new();
    for input in inputs {
        properties.insert(input.name.clone(), input.schema());
    }
    let required = inputs.iter().filter(|input| input.required);
    schema::object(properties, required.map(|input| input.name.as_str().into()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_becomes_a_uri_that_any_client_can_read() {
        assert_eq!(
            file_uri(Path::new("/srv/a b/ü#?%.md")).unwrap(),
            "file:///srv/a%20b/%C3%BC%23%3F%25.md"
        );
    }
}
