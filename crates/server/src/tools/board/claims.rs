//! Ready tasks, and claiming one.

use rutter_base::failure::Report;
use rutter_board::{Claim, Ready, Task, TaskId};
use schemars::JsonSchema;
use serde::Deserialize;

use super::tasks::Tasks;
use super::{Record, board_for, page};
use crate::module::ModuleId;
use crate::tool::{Call, Effect, Tool};

/// The `list_ready_tasks` tool.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ListReadyTasks {
    #[serde(default, alias = "feature")]
    filter_feature: Option<String>,
    #[serde(default, alias = "discipline")]
    filter_discipline: Option<String>,
    #[serde(default)]
    cursor: Option<String>,
    #[serde(default)]
    limit: Option<i64>,
}

impl Tool for ListReadyTasks {
    const NAME: &'static str = "list_ready_tasks";
    const TITLE: &'static str = "List ready tasks";
    const DESCRIPTION: &'static str =
        "List pending tasks whose dependencies are done, by priority, then id";
    const MODULE: ModuleId = ModuleId::Board;
    const EFFECT: Effect = Effect::Reads;
    type Output = Record<Tasks>;

    async fn call(self, call: Call) -> Result<Self::Output, Report> {
        let ready = Ready { feature: self.filter_feature, discipline: self.filter_discipline };
        let board = call.app.board()?;
        let found = board.list_ready_tasks(ready, page(self.cursor, self.limit)).await?;
        Ok(Record(Tasks { tasks: found.entries, next_cursor: found.next }))
    }
}

/// The `claim_task` tool.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ClaimTask {
    owner: String,
    /// Default: the first ready task
    #[serde(default)]
    id: Option<i64>,
    /// Default 900; claim again to renew
    #[serde(default)]
    lease_seconds: Option<i64>,
    #[serde(default)]
    feature: Option<String>,
    #[serde(default)]
    discipline: Option<String>,
}

impl Tool for ClaimTask {
    const NAME: &'static str = "claim_task";
    const TITLE: &'static str = "Claim a task";
    const DESCRIPTION: &'static str =
        "Take a ready task for an owner and set it in_progress, until the lease expires";
    const MODULE: ModuleId = ModuleId::Board;
    const EFFECT: Effect = Effect::Adds;
    type Output = Record<Task>;

    async fn call(self, call: Call) -> Result<Self::Output, Report> {
        let (board, actor) = board_for::<Self>(&call)?;
        let claim = Claim {
            owner: self.owner,
            id: self.id.map(TaskId),
            lease_seconds: self.lease_seconds,
            ready: Ready { feature: self.feature, discipline: self.discipline },
        };
        Ok(Record(board.claim_task(&actor, claim).await?))
    }
}
