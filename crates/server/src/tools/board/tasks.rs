//! Tasks.

use rutter_base::failure::Report;
use rutter_board::{
    Enrichment, NewTask, Priority, Status, Task, TaskEntry, TaskFilter, TaskId, TaskPatch,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Deleted, Id, Record, board_for, deleted, page};
use crate::module::ModuleId;
use crate::tool::{Call, Effect, Tool};

/// The `list_tasks` tool.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ListTasks {
    #[serde(default, alias = "status")]
    filter_status: Option<Status>,
    #[serde(default, alias = "feature")]
    filter_feature: Option<String>,
    #[serde(default, alias = "discipline")]
    filter_discipline: Option<String>,
    #[serde(default, alias = "tag")]
    filter_tag: Option<String>,
    #[serde(default, alias = "text")]
    filter_text: Option<String>,
    #[serde(default)]
    cursor: Option<String>,
    #[serde(default)]
    limit: Option<i64>,
}

/// Some of the tasks.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Tasks {
    pub(super) tasks: Vec<TaskEntry>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) next_cursor: Option<String>,
}

impl Tool for ListTasks {
    const NAME: &'static str = "list_tasks";
    const TITLE: &'static str = "List tasks";
    const DESCRIPTION: &'static str = "List all tasks with status, priority, feature, discipline";
    const MODULE: ModuleId = ModuleId::Board;
    const EFFECT: Effect = Effect::Reads;
    type Output = Record<Tasks>;

    async fn call(self, call: Call) -> Result<Self::Output, Report> {
        let filter = TaskFilter {
            status: self.filter_status,
            feature: self.filter_feature,
            discipline: self.filter_discipline,
            tag: self.filter_tag,
            text: self.filter_text,
        };
        let found = call.app.board()?.list_tasks(filter, page(self.cursor, self.limit)).await?;
        Ok(Record(Tasks { tasks: found.entries, next_cursor: found.next }))
    }
}

/// The `get_task` tool.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct GetTask {
    id: i64,
}

impl Tool for GetTask {
    const NAME: &'static str = "get_task";
    const TITLE: &'static str = "Get a task";
    const DESCRIPTION: &'static str = "Get full task details including comments and dependencies";
    const MODULE: ModuleId = ModuleId::Board;
    const EFFECT: Effect = Effect::Reads;
    type Output = Record<Task>;

    async fn call(self, call: Call) -> Result<Self::Output, Report> {
        Ok(Record(call.app.board()?.task(TaskId(self.id)).await?))
    }
}

/// What a new task may be.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum FirstStatus {
    Draft,
    Pending,
}

/// The `create_task` tool.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct CreateTask {
    feature: String,
    discipline: String,
    title: String,
    #[serde(default)]
    description: Option<String>,
    #[serde(default)]
    priority: Option<Priority>,
    #[serde(default)]
    status: Option<FirstStatus>,
    #[serde(default)]
    acceptance_criteria: Option<Vec<String>>,
    #[serde(default)]
    depends_on: Option<Vec<i64>>,
    #[serde(default)]
    tags: Option<Vec<String>>,
    #[serde(default)]
    context_files: Option<Vec<String>>,
    #[serde(default)]
    output_artifacts: Option<Vec<String>>,
    #[serde(default)]
    hints: Option<String>,
    #[serde(default)]
    estimated_turns: Option<i64>,
    /// A retry with the same key makes no second task
    #[serde(default)]
    idempotency_key: Option<String>,
}

impl Tool for CreateTask {
    const NAME: &'static str = "create_task";
    const TITLE: &'static str = "Create a task";
    const DESCRIPTION: &'static str = "Create a new task";
    const MODULE: ModuleId = ModuleId::Board;
    const EFFECT: Effect = Effect::Adds;
    type Output = Record<Task>;

    async fn call(self, call: Call) -> Result<Self::Output, Report> {
        let (board, actor) = board_for::<Self>(&call)?;
        let new = NewTask {
            feature: self.feature,
            discipline: self.discipline,
            title: self.title,
            status: self.status.map(|status| match status {
                FirstStatus::Draft => Status::Draft,
                FirstStatus::Pending => Status::Pending,
            }),
            idempotency_key: self.idempotency_key,
            fields: TaskPatch {
                title: None,
                description: self.description,
                priority: self.priority,
                acceptance_criteria: self.acceptance_criteria,
                depends_on: self.depends_on.map(ids),
                tags: self.tags,
                context_files: self.context_files,
                output_artifacts: self.output_artifacts,
                hints: self.hints,
                estimated_turns: self.estimated_turns,
            },
        };
        Ok(Record(board.create_task(&actor, new).await?))
    }
}

fn ids(numbers: Vec<i64>) -> Vec<TaskId> {
    numbers.into_iter().map(TaskId).collect()
}

/// The `update_task` tool.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct UpdateTask {
    id: i64,
    #[serde(default)]
    title: Option<String>,
    #[serde(default)]
    description: Option<String>,
    #[serde(default)]
    priority: Option<Priority>,
    #[serde(default)]
    acceptance_criteria: Option<Vec<String>>,
    #[serde(default)]
    depends_on: Option<Vec<i64>>,
    #[serde(default)]
    tags: Option<Vec<String>>,
    #[serde(default)]
    context_files: Option<Vec<String>>,
    #[serde(default)]
    output_artifacts: Option<Vec<String>>,
    #[serde(default)]
    hints: Option<String>,
    #[serde(default)]
    estimated_turns: Option<i64>,
}

impl Tool for UpdateTask {
    const NAME: &'static str = "update_task";
    const TITLE: &'static str = "Update a task";
    const DESCRIPTION: &'static str = "Update task fields";
    const MODULE: ModuleId = ModuleId::Board;
    const EFFECT: Effect = Effect::Changes;
    type Output = Record<Task>;

    async fn call(self, call: Call) -> Result<Self::Output, Report> {
        let (board, actor) = board_for::<Self>(&call)?;
        let fields = TaskPatch {
            title: self.title,
            description: self.description,
            priority: self.priority,
            acceptance_criteria: self.acceptance_criteria,
            depends_on: self.depends_on.map(ids),
            tags: self.tags,
            context_files: self.context_files,
            output_artifacts: self.output_artifacts,
            hints: self.hints,
            estimated_turns: self.estimated_turns,
        };
        Ok(Record(board.update_task(&actor, TaskId(self.id), fields).await?))
    }
}

/// The `delete_task` tool.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct DeleteTask {
    id: i64,
}

impl Tool for DeleteTask {
    const NAME: &'static str = "delete_task";
    const TITLE: &'static str = "Delete a task";
    const DESCRIPTION: &'static str = "Delete a task (fails if other tasks depend on it)";
    const MODULE: ModuleId = ModuleId::Board;
    const EFFECT: Effect = Effect::Deletes;
    type Output = Record<Deleted<Id>>;

    async fn call(self, call: Call) -> Result<Self::Output, Report> {
        let (board, actor) = board_for::<Self>(&call)?;
        board.delete_task(&actor, TaskId(self.id)).await?;
        Ok(deleted(Id { id: self.id }))
    }
}

/// The `set_task_status` tool.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct SetTaskStatus {
    id: i64,
    status: Status,
}

/// A task that was moved: whoever did it knows the rest.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Moved {
    id: TaskId,
    status: Status,
    title: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    completed: Option<String>,
}

impl Tool for SetTaskStatus {
    const NAME: &'static str = "set_task_status";
    const TITLE: &'static str = "Set a task's status";
    const DESCRIPTION: &'static str = "Set task status";
    const MODULE: ModuleId = ModuleId::Board;
    const EFFECT: Effect = Effect::Changes;
    type Output = Record<Moved>;

    async fn call(self, call: Call) -> Result<Self::Output, Report> {
        let (board, actor) = board_for::<Self>(&call)?;
        let task = board.set_task_status(&actor, TaskId(self.id), self.status).await?;
        let Task { id, status, title, completed, .. } = task;
        Ok(Record(Moved { id, status, title, completed }))
    }
}

/// The `enrich_task` tool.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct EnrichTask {
    id: i64,
    pseudocode: String,
    #[serde(default)]
    acceptance_criteria: Option<Vec<String>>,
    #[serde(default)]
    context_files: Option<Vec<String>>,
}

impl Tool for EnrichTask {
    const NAME: &'static str = "enrich_task";
    const TITLE: &'static str = "Enrich a draft";
    const DESCRIPTION: &'static str = "Enrich draft task with pseudocode, promote to pending";
    const MODULE: ModuleId = ModuleId::Board;
    const EFFECT: Effect = Effect::Changes;
    type Output = Record<Task>;

    async fn call(self, call: Call) -> Result<Self::Output, Report> {
        let (board, actor) = board_for::<Self>(&call)?;
        let enrichment = Enrichment {
            pseudocode: self.pseudocode,
            acceptance_criteria: self.acceptance_criteria,
            context_files: self.context_files,
        };
        Ok(Record(board.enrich_task(&actor, TaskId(self.id), enrichment).await?))
    }
}
