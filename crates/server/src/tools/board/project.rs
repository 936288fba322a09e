//! The project.

use rutter_base::failure::Report;
use rutter_board::{Progress, Project};
use schemars::JsonSchema;
use serde::Deserialize;

use super::Record;
use crate::module::ModuleId;
use crate::tool::{Call, Effect, Tool};

/// The `get_project_info` tool.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct GetProjectInfo {}

impl Tool for GetProjectInfo {
    const NAME: &'static str = "get_project_info";
    const TITLE: &'static str = "Get the project";
    const DESCRIPTION: &'static str = "Get project title, description, creation date";
    const MODULE: ModuleId = ModuleId::Board;
    const EFFECT: Effect = Effect::Reads;
    type Output = Record<Project>;

    async fn call(self, call: Call) -> Result<Self::Output, Report> {
        Ok(Record(call.app.board()?.project().await?))
    }
}

/// The `get_project_progress` tool.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct GetProjectProgress {}

impl Tool for GetProjectProgress {
    const NAME: &'static str = "get_project_progress";
    const TITLE: &'static str = "Get the project's progress";
    const DESCRIPTION: &'static str =
        "Get task completion stats (total, done, by status, by feature)";
    const MODULE: ModuleId = ModuleId::Board;
    const EFFECT: Effect = Effect::Reads;
    type Output = Record<Progress>;

    async fn call(self, call: Call) -> Result<Self::Output, Report> {
        Ok(Record(call.app.board()?.progress().await?))
    }
}
