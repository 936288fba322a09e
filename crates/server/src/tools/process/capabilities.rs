//! What is there to work with: the capabilities registry.

use std::fmt::Write;

use rmcp::model::JsonObject;
use rutter_base::failure::Report;
use rutter_process::guide::{Capabilities, Capability, Question};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::choices;
use crate::app::App;
use crate::module::ModuleId;
use crate::tool::{Call, Data, Effect, Tool};

/// The types that the specification knows. A registry may have others, and is asked for them alike.
const TYPES: [&str; 4] = ["skill", "tool", "agent", "plugin"];

/// The `query_capabilities` tool.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::tools) struct QueryCapabilities {
    /// Keyword search across name, description, tags
    #[serde(default)]
    query: Option<String>,
    /// Filter by capability type
    #[serde(default, rename = "type")]
    kind: Option<String>,
    /// Filter by tags (AND logic)
    #[serde(default)]
    tags: Option<Vec<String>>,
}

/// What was found.
#[derive(Debug, Serialize, JsonSchema)]
pub(in crate::tools) struct Found {
    capabilities: Vec<Summary>,
    /// How many match; those beyond the first 200 are left out
    total: usize,
}

/// A capability in short.
#[derive(Debug, Serialize, JsonSchema)]
struct Summary {
    /// For `get_capability_detail`
    id: String,
    name: String,
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    kind: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<String>,
    tags: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    install_level: Option<String>,
}

impl From<Capability> for Summary {
    fn from(capability: Capability) -> Self {
        let Capability { id, name, kind, description, tags, install_level } = capability;
        Self { id, name, kind, description, tags, install_level }
    }
}

impl Tool for QueryCapabilities {
    const NAME: &'static str = "query_capabilities";
    const TITLE: &'static str = "Find capabilities";
    const DESCRIPTION: &'static str = "Search the capabilities registry by keyword, type, or tags. Use when an agent \
        needs to find available tools, skills, agents, or plugins for a task. Returns matching capability summaries.";
    const MODULE: ModuleId = ModuleId::Process;
    const EFFECT: Effect = Effect::Reads;
    type Output = Data<Found>;

    async fn call(self, call: Call) -> Result<Self::Output, Report> {
        let Self { query, kind, tags } = self;
        let question = Question { query, kind, tags: tags.unwrap_or_default() };
        let found = call.app.with_guide(move |guide| guide.capabilities(&question)).await??;
        let text = Some(told(&found));
        let capabilities = found.matches.into_iter().map(Summary::from).collect();
        Ok(Data { value: Found { capabilities, total: found.total }, text })
    }

    fn shape(_: &App, schema: &mut JsonObject) {
        choices(schema, "type", TYPES.map(str::to_owned));
    }
}

fn told(found: &Capabilities) -> String {
    let mut text = match found.total {
        0 => "No capabilities match. Try fewer or other words, or leave out type and tags to see all.".to_owned(),
        1 => "1 capability matches:".to_owned(),
        total => format!("{total} capabilities match:"),
    };
    for capability in &found.matches {
        let _ = write!(text, "\n\n{}", summary(capability));
    }
    let more = found.total - found.matches.len();
    if more > 0 {
        let _ = write!(text, "\n\n{more} more match: narrow the search to see them.");
    }
    if found.skipped > 0 {
        let _ = write!(
            text,
            "\n\n{} entries of the inventory have no name and were skipped.",
            found.skipped
        );
    }
    text
}

fn summary(capability: &Capability) -> String {
    let Capability { id, name, kind, description, tags, install_level } = capability;
    let mut text = format!("- **{name}**");
    if let Some(kind) = kind {
        let _ = write!(text, " ({kind})");
    }
    if let Some(description) = description {
        let _ = write!(text, ": {description}");
    }
    if id != name {
        let _ = write!(text, "\n  id: {id}");
    }
    if !tags.is_empty() {
        let _ = write!(text, "\n  tags: {}", tags.join(", "));
    }
    if let Some(level) = install_level {
        let _ = write!(text, "\n  install_level: {level}");
    }
    text
}

/// The `get_capability_detail` tool.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::tools) struct GetCapabilityDetail {
    /// Capability ID (e.g., 'acm-env', 'claude-md-management'). Must match pattern: lowercase alphanumeric with hyphens.
    #[schemars(regex(pattern = r"^[a-z0-9][a-z0-9-]*$"))]
    capability_id: String,
    /// Which one, where an ID is used by several types
    #[serde(default, rename = "type")]
    kind: Option<String>,
}

/// A capability in full.
#[derive(Debug, Serialize, JsonSchema)]
pub(in crate::tools) struct Detail {
    #[serde(flatten)]
    summary: Summary,
    /// Everything that its file says
    capability: Map<String, Value>,
}

impl Tool for GetCapabilityDetail {
    const NAME: &'static str = "get_capability_detail";
    const TITLE: &'static str = "Get a capability's details";
    const DESCRIPTION: &'static str = "Get full details for a specific capability by ID. Use when you need installation \
        instructions, configuration, or complete metadata for a capability found via query_capabilities.";
    const MODULE: ModuleId = ModuleId::Process;
    const EFFECT: Effect = Effect::Reads;
    type Output = Data<Detail>;

    async fn call(self, call: Call) -> Result<Self::Output, Report> {
        let Self { capability_id, kind } = self;
        let work = move |guide: &rutter_process::guide::Guide| {
            guide.capability(&capability_id, kind.as_deref())
        };
        let (found, file, fields) = call.app.with_guide(work).await??;
        let text = Some(format!("{}\n\ncapability.yaml:\n\n{file}", summary(&found)));
        Ok(Data { value: Detail { summary: found.into(), capability: fields }, text })
    }

    fn shape(_: &App, schema: &mut JsonObject) {
        choices(schema, "type", TYPES.map(str::to_owned));
    }
}
