//! Tools over the process.

use rmcp::model::JsonObject;
use rutter_base::failure::Report;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use crate::app::App;
use crate::module::ModuleId;
use crate::tool::{Call, Effect, Text, Tool};

/// The `get_stage` tool.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct GetStage {
    /// ACM stage name
    stage: String,
}

impl Tool for GetStage {
    const NAME: &'static str = "get_stage";
    const TITLE: &'static str = "Get a stage";
    const DESCRIPTION: &'static str = "Get ACM stage requirements and workflow. Use when an agent needs to \
        understand what a stage involves, its phases, entry/exit criteria, and expected outputs. Do NOT use \
        for transition guidance (use get_transition_prompt instead).";
    const MODULE: ModuleId = ModuleId::Process;
    const EFFECT: Effect = Effect::Reads;
    type Output = Text;

    async fn call(self, call: Call) -> Result<Self::Output, Report> {
        Ok(Text(call.app.with_guide(move |guide| guide.stage(&self.stage)).await??))
    }

    fn shape(app: &App, schema: &mut JsonObject) {
        let stages: Vec<Value> = app.stage_names().map(Value::from).collect();
        if let Some(stage) =
            schema.get_mut("properties").and_then(|properties| properties.get_mut("stage"))
        {
            stage["enum"] = Value::Array(stages);
        }
    }
}
