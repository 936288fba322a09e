//! Stages, reviews and the steps between stages.

use rmcp::model::JsonObject;
use rutter_base::failure::Report;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::choices;
use super::project::Findings;
use crate::app::App;
use crate::module::ModuleId;
use crate::projects::with_project;
use crate::tool::{Call, Data, Effect, Text, Tool};

/// The `get_stage` tool.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::tools) struct GetStage {
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
        if let Ok(guide) = app.guide() {
            choices(schema, "stage", guide.stage_names());
        }
    }
}

/// The `get_review_prompt` tool.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::tools) struct GetReviewPrompt {
    /// ACM stage
    stage: String,
    /// Review phase
    phase: String,
}

impl Tool for GetReviewPrompt {
    const NAME: &'static str = "get_review_prompt";
    const TITLE: &'static str = "Get a review prompt";
    const DESCRIPTION: &'static str = "Get the review prompt for a stage and review phase. Use when preparing to \
        run an internal (Ralph Loop) or external review. Returns the full prompt text ready for use.";
    const MODULE: ModuleId = ModuleId::Process;
    const EFFECT: Effect = Effect::Reads;
    type Output = Text;

    async fn call(self, call: Call) -> Result<Self::Output, Report> {
        let Self { stage, phase } = self;
        Ok(Text(call.app.with_guide(move |guide| guide.review(&stage, &phase)).await??))
    }

    fn shape(app: &App, schema: &mut JsonObject) {
        if let Ok(guide) = app.guide() {
            let (stages, phases) = guide.reviews();
            choices(schema, "stage", stages);
            choices(schema, "phase", phases);
        }
    }
}

/// The `get_transition_prompt` tool.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::tools) struct GetTransitionPrompt {
    /// Stage transition
    transition: String,
    /// Project root path. Defaults to cwd.
    #[serde(default)]
    project_path: Option<String>,
    /// If true, reads project status.md and brief to check prerequisites. Default: false.
    #[serde(default)]
    validate: Option<bool>,
}

/// A transition prompt, and whether the project is ready for it.
#[derive(Debug, Serialize, JsonSchema)]
pub(in crate::tools) struct Transition {
    prompt: String,
    /// Whether the prerequisites are met; with validate
    #[serde(skip_serializing_if = "Option::is_none")]
    validation: Option<Findings>,
}

impl Tool for GetTransitionPrompt {
    const NAME: &'static str = "get_transition_prompt";
    const TITLE: &'static str = "Get a transition prompt";
    const DESCRIPTION: &'static str = "Get guidance for transitioning between ACM stages. Returns the transition \
        prompt content. Set validate=true to also check prerequisites against the project's current state (reads \
        status.md and brief).";
    const MODULE: ModuleId = ModuleId::Process;
    const EFFECT: Effect = Effect::Reads;
    type Output = Data<Transition>;

    async fn call(self, call: Call) -> Result<Self::Output, Report> {
        let Self { transition, project_path, validate } = self;
        let name = transition.clone();
        let prompt = call.app.with_guide(move |guide| guide.transition(&name)).await??;
        if validate != Some(true) {
            let text = Some(prompt.clone());
            return Ok(Data { value: Transition { prompt, validation: None }, text });
        }
        let work = move |guide: &rutter_process::guide::Guide, project: &_| {
            guide.check_readiness(&transition, project)
        };
        let list = with_project(&call, project_path, work).await??;
        let text = Some(format!("{}\n\n---\n\n{prompt}", list.to_text()));
        let validation = Some(Findings::from(list));
        Ok(Data { value: Transition { prompt, validation }, text })
    }

    fn shape(app: &App, schema: &mut JsonObject) {
        if let Ok(guide) = app.guide() {
            choices(schema, "transition", guide.transitions());
        }
    }
}
