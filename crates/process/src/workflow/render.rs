//! A prompt filled in, with a footer that says where it stands in the workflow.

use std::fmt::Write;
use std::sync::{Arc, PoisonError};

use rutter_base::failure::{Failure, Kind, Report};
use rutter_base::root::{ReadError, RelativePath};
use rutter_base::template::{Template, TemplateError, Values};
use rutter_base::text;
use serde_json::{Map, Value};

use super::input::{self, InputError};
use super::planner::{Looked, Standing};
use super::prompt::Prompt;
use super::state::State;
use super::store::StateError;
use super::{Gating, MAX_FILE, Snapshot, Workflow};

/// How a prompt is to be filled in.
#[derive(Debug, Clone, Copy)]
pub struct Rendering<'a> {
    /// The inputs.
    pub values: &'a Map<String, Value>,
    /// The most bytes of the text.
    pub limit: usize,
    /// Whether the caller can record that a step is done.
    pub records: bool,
}

/// A prompt that was filled in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rendered {
    /// The text, with its footer.
    pub text: String,
    /// What is odd about doing this now; the footer says it as well.
    pub warnings: Vec<String>,
}

/// Why a prompt of the workflow was not filled in.
#[derive(Debug, thiserror::Error)]
pub enum WorkflowError {
    /// Its file cannot be read.
    #[error("the file of prompt `{id}` cannot be read")]
    Unreadable {
        /// The prompt.
        id: String,
        /// What is wrong with the file.
        #[source]
        cause: ReadError,
    },
    /// Its file is not a template.
    #[error("the file of prompt `{id}` is not a template")]
    NotATemplate {
        /// The prompt.
        id: String,
        /// What is wrong with it.
        #[source]
        cause: TemplateError,
    },
    /// Something must come before it.
    #[error("`{id}` is out of order: it waits for {missing}")]
    OutOfOrder {
        /// The prompt.
        id: String,
        /// What it waits for.
        missing: String,
    },
    /// What was done cannot be told.
    #[error(transparent)]
    State(#[from] StateError),
    /// An input does not fit.
    #[error(transparent)]
    Input(#[from] InputError),
}

impl Failure for WorkflowError {
    fn report(&self) -> Report {
        match self {
            Self::Unreadable { id, .. } => {
                Report::new(Kind::NotFound, format!("the file of prompt `{id}` cannot be read"))
                    .hint("run `rutter check` to see why")
            }
            Self::NotATemplate { id, cause } => Report::new(
                Kind::NotFound,
                format!(
                    "the file of prompt `{id}` cannot be used: line {}: {}",
                    cause.line, cause.message
                ),
            ),
            Self::OutOfOrder { .. } => Report::new(Kind::Refused, self.to_string())
                .hint("call `suggest_next_calls` to see what can be done now"),
            Self::State(error) => error.report(),
            Self::Input(error) => error.report(),
        }
    }
}

impl Workflow {
    /// Fills in a prompt. `state` is what [`super::Store::load`] said.
    pub fn render(
        &self,
        snapshot: &Snapshot,
        prompt: &Prompt,
        state: Result<&State, StateError>,
        rendering: Rendering<'_>,
    ) -> Result<Rendered, WorkflowError> {
        let texts = input::texts(&prompt.inputs, rendering.values)?;
        let warnings = self.warnings(snapshot, prompt, state)?;
        let footer = footer(snapshot, prompt, &warnings, rendering.records);
        // The footer is what tells an agent how to go on: it stays when the body is cut.
        let limit = rendering.limit.saturating_sub(footer.len());
        let body = self.template(prompt)?.render(&Filling(&texts), limit);
        Ok(Rendered { text: body + &footer, warnings })
    }

    /// Why this should not be done now; an error where that forbids it.
    fn warnings(
        &self,
        snapshot: &Snapshot,
        prompt: &Prompt,
        state: Result<&State, StateError>,
    ) -> Result<Vec<String>, WorkflowError> {
        let strict = self.gating() == Gating::Strict;
        let state = match state {
            Ok(state) => state,
            Err(error) if strict => return Err(error.into()),
            Err(error) => return Ok(vec![Report::from(error).to_string()]),
        };
        let Some(node) = snapshot.graph.node(&prompt.id) else { return Ok(Vec::new()) };
        let progress = Looked { graph: &snapshot.graph, state };
        if snapshot.graph.standing(node, &progress) != Standing::Blocked {
            return Ok(Vec::new());
        }
        let id = prompt.id.clone();
        let missing = snapshot.graph.missing(node, &progress).to_string();
        if strict {
            return Err(WorkflowError::OutOfOrder { id, missing });
        }
        Ok(vec![format!("out of order: `{id}` waits for {missing}")])
    }

    /// The text of a prompt as its author wrote it.
    pub fn text(&self, prompt: &Prompt) -> Result<String, WorkflowError> {
        let unreadable = |cause| WorkflowError::Unreadable { id: prompt.id.clone(), cause };
        let path = RelativePath::new(prompt.file()).map_err(|_| unreadable(ReadError::Escape))?;
        self.sources.root.read_text(&path, MAX_FILE).map_err(unreadable)
    }

    /// The parsed file of a prompt, as the file is now.
    pub(super) fn template(&self, prompt: &Prompt) -> Result<Arc<Template>, WorkflowError> {
        let root = &self.sources.root;
        let unreadable = |cause| WorkflowError::Unreadable { id: prompt.id.clone(), cause };
        let path = RelativePath::new(prompt.file()).map_err(|_| unreadable(ReadError::Escape))?;
        let stamp = root.stamp(&path).map_err(unreadable)?;
        let known = || self.templates.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, template)) = known().get(&prompt.id).filter(|(known, _)| *known == stamp) {
            return Ok(Arc::clone(template));
        }
        let contents = root.read(&path, MAX_FILE).map_err(unreadable)?;
        let stamp = contents.stamp;
        let text = contents.into_text().map_err(unreadable)?;
        let template = Template::parse(&text)
            .map_err(|cause| WorkflowError::NotATemplate { id: prompt.id.clone(), cause })?;
        let template = Arc::new(template);
        known().insert(prompt.id.clone(), (stamp, Arc::clone(&template)));
        Ok(template)
    }
}

fn footer(snapshot: &Snapshot, prompt: &Prompt, warnings: &[String], records: bool) -> String {
    let or_nothing = |names: Vec<&str>| {
        if names.is_empty() { "nothing".to_owned() } else { text::listed(names) }
    };
    let Some(node) = snapshot.graph.node(&prompt.id) else { return String::new() };
    let mut footer = format!(
        "\n\n---\nPrompt `{}` · phase: {} · depends on: {} · produces: {} · next: {}\n",
        prompt.id,
        node.phase.as_deref().unwrap_or("none"),
        or_nothing(snapshot.graph.before(node).collect()),
        or_nothing(node.produces.iter().map(String::as_str).collect()),
        or_nothing(snapshot.graph.after(node).collect()),
    );
    for warning in warnings {
        let _ = writeln!(footer, "Warning: {warning}");
    }
    if records {
        let quoted = |text: &str| serde_json::to_string(text).unwrap_or_default();
        let slots = |name: &str, keys: &[String], value: &str| {
            let slots: Vec<String> =
                keys.iter().map(|key| format!("{}:\"{value}\"", quoted(key))).collect();
            if slots.is_empty() {
                String::new()
            } else {
                format!(",\"{name}\":{{{}}}", slots.join(","))
            }
        };
        let _ = writeln!(
            footer,
            "When it is done, call `advance_state` with {{\"id\":{}{}{}}}",
            quoted(&prompt.id),
            slots("outputs", &prompt.outputs, "…"),
            slots("artifacts", &node.produces, "path/of/the/file"),
        );
    }
    footer
}

struct Filling<'a>(&'a [(String, String)]);

impl Values for Filling<'_> {
    fn argument(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }
}
