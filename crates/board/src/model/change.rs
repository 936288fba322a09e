//! Who changed what: the rows of the journal.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::task::named;
use schemars::JsonSchema;
use std::fmt;

/// On whose behalf a change is made.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Actor {
    /// The session.
    pub session: Option<String>,
    /// The recipe that the session follows.
    pub recipe: Option<String>,
    /// The discipline in which it works.
    pub discipline: Option<String>,
    /// The tool or the command that asked for the change.
    pub tool: String,
}

impl Actor {
    /// An actor without a session: a person at a terminal, or a client without a recipe.
    pub fn of(tool: impl Into<String>) -> Self {
        Self { tool: tool.into(), ..Self::default() }
    }
}

named! {
    /// What kind of record was changed.
    Entity {
        /// A task.
        Task = "task",
        /// A comment on a task.
        Comment = "comment",
        /// A feature, its learnings among it.
        Feature = "feature",
        /// A discipline.
        Discipline = "discipline",
        /// The project.
        Project = "project",
        /// The whole board.
        Board = "board",
    }
}

named! {
    /// What happened to it.
    Action {
        /// It came to be.
        Create = "create",
        /// Some of it is different.
        Update = "update",
        /// It is gone.
        Delete = "delete",
    }
}

/// A row of the journal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Change {
    /// Its number; later changes have higher ones.
    pub id: i64,
    /// When it was made.
    pub at: String,
    /// On whose behalf.
    #[serde(flatten)]
    pub actor: Actor,
    /// What kind of record was changed.
    pub entity: Entity,
    /// Which one.
    pub record: String,
    /// What happened to it.
    pub action: Action,
    /// What was there before: the changed fields, or the whole record that is gone.
    pub before: Option<Value>,
    /// What is there now: the changed fields, or the whole record that is new.
    pub after: Option<Value>,
}
