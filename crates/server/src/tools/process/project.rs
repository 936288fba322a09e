//! What projects can be, and whether one is whole.

use rmcp::model::JsonObject;
use rutter_base::failure::Report;
use rutter_base::text;
use rutter_process::guide::{Checklist, Guide, OneOf};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::choices;
use crate::app::App;
use crate::module::ModuleId;
use crate::projects::with_project;
use crate::tool::{Call, Data, Effect, Text, Tool};

/// The `get_project_type_guidance` tool.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::tools) struct GetProjectTypeGuidance {
    /// Project type
    #[serde(rename = "type")]
    kind: String,
    /// Project scale modifier
    #[serde(default)]
    scale: Option<String>,
    /// Project scope modifier
    #[serde(default)]
    scope: Option<String>,
}

impl Tool for GetProjectTypeGuidance {
    const NAME: &'static str = "get_project_type_guidance";
    const TITLE: &'static str = "Get guidance for a type of project";
    const DESCRIPTION: &'static str = "Get ACM guidance for a project type classification. Use during Discover or \
        Design to understand what outputs, review focus, and structure a project type requires.";
    const MODULE: ModuleId = ModuleId::Process;
    const EFFECT: Effect = Effect::Reads;
    type Output = Text;

    async fn call(self, call: Call) -> Result<Self::Output, Report> {
        let Self { kind, scale, scope } = self;
        let work =
            move |guide: &Guide| guide.type_guidance(&kind, scale.as_deref(), scope.as_deref());
        Ok(Text(call.app.with_guide(work).await??))
    }

    fn shape(app: &App, schema: &mut JsonObject) {
        if let Ok(guide) = app.guide() {
            let manifest = guide.manifest();
            let types = &manifest.project_types;
            let all = |modifiers: &[OneOf]| -> Vec<String> {
                modifiers.iter().flat_map(OneOf::all).cloned().collect()
            };
            choices(schema, "type", types.types.clone());
            choices(schema, "scale", all(&types.scales));
            choices(schema, "scope", all(&types.scopes));
        }
    }
}

/// What was checked.
#[derive(Debug, Serialize, JsonSchema)]
pub(in crate::tools) struct Findings {
    /// The project, as it was named
    project: String,
    /// Whether everything passed
    ok: bool,
    passed: usize,
    total: usize,
    checks: Vec<Check>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    notes: Vec<String>,
}

/// One item.
#[derive(Debug, Serialize, JsonSchema)]
struct Check {
    /// What was checked
    item: String,
    ok: bool,
    /// The file it is about
    file: String,
    /// The category it belongs to
    #[serde(skip_serializing_if = "Option::is_none")]
    category: Option<&'static str>,
    /// What was found, or what is wrong
    #[serde(skip_serializing_if = "Option::is_none")]
    detail: Option<String>,
}

impl From<Checklist> for Findings {
    fn from(list: Checklist) -> Self {
        let checks = list.checks.iter().map(|check| Check {
            item: text::one_line(&check.item),
            ok: check.passed(),
            file: text::one_line(&check.file),
            category: check.group,
            detail: check.detail().map(text::one_line),
        });
        Self {
            ok: list.is_fine(),
            passed: list.passed(),
            total: list.checks.len(),
            checks: checks.collect(),
            project: list.project,
            notes: list.notes,
        }
    }
}

impl From<Checklist> for Data<Findings> {
    fn from(list: Checklist) -> Self {
        Self { text: Some(list.to_text()), value: list.into() }
    }
}

/// The `check_project_structure` tool.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::tools) struct CheckProjectStructure {
    /// Project root path. Defaults to cwd.
    #[serde(default)]
    project_path: Option<String>,
}

impl Tool for CheckProjectStructure {
    const NAME: &'static str = "check_project_structure";
    const TITLE: &'static str = "Check a project's structure";
    const DESCRIPTION: &'static str = "Validate a project's folder structure against ACM spec. Checks for required \
        directories and files. Use when auditing a project or after scaffolding.";
    const MODULE: ModuleId = ModuleId::Process;
    const EFFECT: Effect = Effect::Reads;
    type Output = Data<Findings>;

    async fn call(self, call: Call) -> Result<Self::Output, Report> {
        Ok(with_project(&call, self.project_path, Guide::check_structure).await?.into())
    }
}

/// The `check_project_health` tool.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::tools) struct CheckProjectHealth {
    /// Project root path. Defaults to cwd.
    #[serde(default)]
    project_path: Option<String>,
}

impl Tool for CheckProjectHealth {
    const NAME: &'static str = "check_project_health";
    const TITLE: &'static str = "Check a project's health";
    const DESCRIPTION: &'static str = "Run structural health checks on an ACM project. Checks file presence, \
        frontmatter validity, and required sections in key artifacts. Does NOT perform semantic analysis. Use for \
        project audits or pre-review validation.";
    const MODULE: ModuleId = ModuleId::Process;
    const EFFECT: Effect = Effect::Reads;
    type Output = Data<Findings>;

    async fn call(self, call: Call) -> Result<Self::Output, Report> {
        Ok(with_project(&call, self.project_path, Guide::check_health).await?.into())
    }
}
