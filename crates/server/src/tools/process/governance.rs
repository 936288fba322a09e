//! Rules, and the files that agents begin with.

use rmcp::model::JsonObject;
use rutter_base::failure::Report;
use rutter_process::guide::Guide;
use schemars::JsonSchema;
use serde::Deserialize;

use super::choices;
use crate::app::App;
use crate::module::ModuleId;
use crate::tool::{Call, Effect, Text, Tool};

/// The `get_rules_spec` tool.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::tools) struct GetRulesSpec {}

impl Tool for GetRulesSpec {
    const NAME: &'static str = "get_rules_spec";
    const TITLE: &'static str = "Get the rules' specification";
    const DESCRIPTION: &'static str = "Get the ACM rules governance specification. Use when setting up or auditing a \
        project's .claude/rules/ directory — covers what rules are, categories, file organization, and lifecycle.";
    const MODULE: ModuleId = ModuleId::Process;
    const EFFECT: Effect = Effect::Reads;
    type Output = Text;

    async fn call(self, call: Call) -> Result<Self::Output, Report> {
        Ok(Text(call.app.with_guide(Guide::rules).await??))
    }
}

/// The `get_context_spec` tool.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::tools) struct GetContextSpec {
    /// Which CLAUDE.md spec to return
    level: String,
}

impl Tool for GetContextSpec {
    const NAME: &'static str = "get_context_spec";
    const TITLE: &'static str = "Get the context files' specification";
    const DESCRIPTION: &'static str = "Get the ACM specification for CLAUDE.md context artifacts. Use when creating or \
        auditing CLAUDE.md files — covers required sections, what belongs in global vs project level.";
    const MODULE: ModuleId = ModuleId::Process;
    const EFFECT: Effect = Effect::Reads;
    type Output = Text;

    async fn call(self, call: Call) -> Result<Self::Output, Report> {
        Ok(Text(call.app.with_guide(move |guide| guide.context(&self.level)).await??))
    }

    fn shape(app: &App, schema: &mut JsonObject) {
        if let Ok(guide) = app.guide() {
            let manifest = guide.manifest();
            choices(schema, "level", manifest.contexts.iter().map(|one| one.id.clone()));
        }
    }
}
