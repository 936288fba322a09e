//! Comments on tasks.

use rutter_base::failure::Report;
use rutter_board::{Comment, CommentId, NewComment, Priority, TaskId};
use schemars::JsonSchema;
use serde::Deserialize;

use super::{Deleted, Id, Record, board_for, deleted};
use crate::module::ModuleId;
use crate::tool::{Call, Effect, Tool};

/// The `add_task_comment` tool.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct AddTaskComment {
    task_id: i64,
    author: String,
    body: String,
    #[serde(default)]
    discipline: Option<String>,
    #[serde(default)]
    priority: Option<Priority>,
}

impl Tool for AddTaskComment {
    const NAME: &'static str = "add_task_comment";
    const TITLE: &'static str = "Comment on a task";
    const DESCRIPTION: &'static str = "Add a comment to a task";
    const MODULE: ModuleId = ModuleId::Board;
    const EFFECT: Effect = Effect::Adds;
    type Output = Record<Comment>;

    async fn call(self, call: Call) -> Result<Self::Output, Report> {
        let (board, actor) = board_for::<Self>(&call)?;
        let new = NewComment {
            task: TaskId(self.task_id),
            author: self.author,
            body: self.body,
            discipline: self.discipline,
            priority: self.priority,
        };
        Ok(Record(board.add_comment(&actor, new).await?))
    }
}

/// The `update_task_comment` tool.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct UpdateTaskComment {
    task_id: i64,
    comment_id: i64,
    body: String,
}

impl Tool for UpdateTaskComment {
    const NAME: &'static str = "update_task_comment";
    const TITLE: &'static str = "Edit a comment";
    const DESCRIPTION: &'static str = "Edit an existing comment";
    const MODULE: ModuleId = ModuleId::Board;
    const EFFECT: Effect = Effect::Changes;
    type Output = Record<Comment>;

    async fn call(self, call: Call) -> Result<Self::Output, Report> {
        let (board, actor) = board_for::<Self>(&call)?;
        let (task, comment) = (TaskId(self.task_id), CommentId(self.comment_id));
        Ok(Record(board.update_comment(&actor, task, comment, self.body).await?))
    }
}

/// The `delete_task_comment` tool.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct DeleteTaskComment {
    task_id: i64,
    comment_id: i64,
}

impl Tool for DeleteTaskComment {
    const NAME: &'static str = "delete_task_comment";
    const TITLE: &'static str = "Delete a comment";
    const DESCRIPTION: &'static str = "Delete a comment";
    const MODULE: ModuleId = ModuleId::Board;
    const EFFECT: Effect = Effect::Deletes;
    type Output = Record<Deleted<Id>>;

    async fn call(self, call: Call) -> Result<Self::Output, Report> {
        let (board, actor) = board_for::<Self>(&call)?;
        let (task, comment) = (TaskId(self.task_id), CommentId(self.comment_id));
        board.delete_comment(&actor, task, comment).await?;
        Ok(deleted(Id { id: self.comment_id }))
    }
}
