//! What artifacts look like, and how to begin one.

use rmcp::model::JsonObject;
use rutter_base::failure::Report;
use schemars::JsonSchema;
use serde::Deserialize;

use super::choices;
use crate::app::App;
use crate::module::ModuleId;
use crate::tool::{Call, Effect, Text, Tool};

/// The `get_artifact_spec` tool.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::tools) struct GetArtifactSpec {
    /// Artifact type
    artifact: String,
}

impl Tool for GetArtifactSpec {
    const NAME: &'static str = "get_artifact_spec";
    const TITLE: &'static str = "Get an artifact's specification";
    const DESCRIPTION: &'static str = "Get the ACM specification for an artifact type. Use when you need to \
        understand what a valid artifact looks like — required sections, frontmatter, formatting rules.";
    const MODULE: ModuleId = ModuleId::Process;
    const EFFECT: Effect = Effect::Reads;
    type Output = Text;

    async fn call(self, call: Call) -> Result<Self::Output, Report> {
        Ok(Text(call.app.with_guide(move |guide| guide.artifact(&self.artifact)).await??))
    }

    fn shape(app: &App, schema: &mut JsonObject) {
        if let Ok(guide) = app.guide() {
            let manifest = guide.manifest();
            choices(schema, "artifact", manifest.artifacts.iter().map(|one| one.id.clone()));
        }
    }
}

/// The `get_artifact_stub` tool.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::tools) struct GetArtifactStub {
    /// Artifact to get stub for
    artifact: String,
    #[schemars(
        description = "Project type — used to select the correct claude_md stub. Defaults to 'app'. Ignored for non-claude_md artifacts."
    )]
    #[serde(default)]
    project_type: Option<String>,
}

impl Tool for GetArtifactStub {
    const NAME: &'static str = "get_artifact_stub";
    const TITLE: &'static str = "Get a template for an artifact";
    const DESCRIPTION: &'static str = "Get a starter template for an ACM artifact. Use when initializing a new \
        project or creating a new artifact. Returns the template with placeholder values ready to fill in.";
    const MODULE: ModuleId = ModuleId::Process;
    const EFFECT: Effect = Effect::Reads;
    type Output = Text;

    async fn call(self, call: Call) -> Result<Self::Output, Report> {
        let Self { artifact, project_type } = self;
        let work = move |guide: &rutter_process::guide::Guide| {
            guide.stub(&artifact, project_type.as_deref())
        };
        Ok(Text(call.app.with_guide(work).await??))
    }

    fn shape(app: &App, schema: &mut JsonObject) {
        if let Ok(guide) = app.guide() {
            let manifest = guide.manifest();
            choices(schema, "artifact", manifest.stubs.iter().map(|stub| stub.id.clone()));
            let variants = manifest.stubs.iter().flat_map(|stub| &stub.variants);
            let mut types: Vec<String> = Vec::new();
            for variant in variants {
                if !types.contains(&variant.id) {
                    types.push(variant.id.clone());
                }
            }
            choices(schema, "project_type", types);
        }
    }
}
