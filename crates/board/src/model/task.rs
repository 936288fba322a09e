//! Tasks and their comments.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{DisciplineName, FeatureName};

/// Identifies a task. Ids are never given out twice.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(transparent)]
pub struct TaskId(pub i64);

impl fmt::Display for TaskId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Identifies a comment. Ids are never given out twice.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(transparent)]
pub struct CommentId(pub i64);

impl fmt::Display for CommentId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// An enumeration that is stored and shown by its name.
macro_rules! named {
    ($(#[$doc:meta])* $type:ident { $($(#[$variant_doc:meta])* $variant:ident = $name:literal),+ $(,)? }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
        pub enum $type {
            $($(#[$variant_doc])* #[serde(rename = $name)] $variant),+
        }

        impl $type {
            /// All of them, in order.
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];

            /// Its name, as stored and shown.
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $name),+ }
            }

            /// The one of this name.
            pub fn parse(name: &str) -> Option<Self> {
                match name { $($name => Some(Self::$variant),)+ _ => None }
            }
        }

        impl fmt::Display for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(self.as_str())
            }
        }
    };
}
pub(super) use named;

named! {
    /// Where a task stands.
    Status {
        /// Not thought through yet.
        Draft = "draft",
        /// To be done.
        Pending = "pending",
        /// Somebody is at it.
        InProgress = "in_progress",
        /// Done.
        Done = "done",
        /// Cannot go on.
        Blocked = "blocked",
        /// Will not be done.
        Skipped = "skipped",
    }
}

named! {
    /// How much a task matters, least first.
    Priority {
        /// Later.
        Low = "low",
        /// In its turn.
        Medium = "medium",
        /// Soon.
        High = "high",
        /// Now.
        Critical = "critical",
    }
}

/// A task with everything that is known of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Task {
    /// Its id.
    pub id: TaskId,
    /// What is to be done, in a line.
    pub title: String,
    /// Where it stands.
    pub status: Status,
    /// How much it matters.
    pub priority: Priority,
    /// The feature that it belongs to.
    pub feature: FeatureName,
    /// The discipline that does it.
    pub discipline: DisciplineName,
    /// What is to be done, at length.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// When it is done.
    #[serde(default)]
    pub acceptance_criteria: Vec<String>,
    /// The tasks that must be done before it.
    #[serde(default)]
    pub depends_on: Vec<TaskId>,
    /// Words to find it by.
    #[serde(default)]
    pub tags: Vec<String>,
    /// Files to read before it, relative to the project.
    #[serde(default)]
    pub context_files: Vec<String>,
    /// What it leaves behind.
    #[serde(default)]
    pub output_artifacts: Vec<String>,
    /// Advice for whoever does it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hints: Option<String>,
    /// How many turns it may take.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub estimated_turns: Option<i64>,
    /// How it is to be done.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pseudocode: Option<String>,
    /// Why it cannot go on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub blocked_by: Option<String>,
    /// Who made it: agent, human or system.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provenance: Option<String>,
    /// When it was created.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub created: Option<String>,
    /// When it was last changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub updated: Option<String>,
    /// When it was done.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub completed: Option<String>,
    /// When it was enriched.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub enriched_at: Option<String>,
    /// Who claimed it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub claimed_by: Option<String>,
    /// Until when the claim holds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub claim_expires: Option<String>,
    /// The key of the call that created it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idempotency_key: Option<String>,
    /// What was said about it, oldest first.
    #[serde(default)]
    pub comments: Vec<Comment>,
    /// How many older comments are left out, so that the record stays readable.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub comments_left_out: i64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(number: &i64) -> bool {
    *number == 0
}

/// What was said about a task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Comment {
    /// Its id.
    pub id: CommentId,
    /// The task.
    pub task_id: TaskId,
    /// Who said it.
    pub author: String,
    /// What was said.
    pub body: String,
    /// In which role.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub discipline: Option<DisciplineName>,
    /// How much it matters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub priority: Option<Priority>,
    /// When it was said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub created: Option<String>,
    /// When it was edited.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub updated: Option<String>,
}

/// A task in a list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct TaskEntry {
    /// Its id.
    pub id: TaskId,
    /// What is to be done, in a line.
    pub title: String,
    /// Where it stands.
    pub status: Status,
    /// How much it matters.
    pub priority: Priority,
    /// The feature that it belongs to.
    pub feature: FeatureName,
    /// The discipline that does it.
    pub discipline: DisciplineName,
}

/// A task among those that it depends on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LinkedTask {
    /// What a list shows of it.
    #[serde(flatten)]
    pub entry: TaskEntry,
    /// The tasks that must be done before it.
    pub depends_on: Vec<TaskId>,
}

/// A task to be created.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NewTask {
    /// The feature that it belongs to.
    pub feature: String,
    /// The discipline that does it.
    pub discipline: String,
    /// What is to be done, in a line.
    pub title: String,
    /// `draft` or `pending`; `pending` by default.
    pub status: Option<Status>,
    /// Makes a repeated call create one task.
    pub idempotency_key: Option<String>,
    /// Everything that can also be changed later.
    pub fields: TaskPatch,
}

/// What is to be changed of a task. What is absent stays; an empty text removes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TaskPatch {
    /// What is to be done, in a line.
    pub title: Option<String>,
    /// What is to be done, at length.
    pub description: Option<String>,
    /// How much it matters.
    pub priority: Option<Priority>,
    /// When it is done.
    pub acceptance_criteria: Option<Vec<String>>,
    /// The tasks that must be done before it.
    pub depends_on: Option<Vec<TaskId>>,
    /// Words to find it by.
    pub tags: Option<Vec<String>>,
    /// Files to read before it, relative to the project.
    pub context_files: Option<Vec<String>>,
    /// What it leaves behind.
    pub output_artifacts: Option<Vec<String>>,
    /// Advice for whoever does it.
    pub hints: Option<String>,
    /// How many turns it may take.
    pub estimated_turns: Option<i64>,
}

/// What makes a draft a task that can be done.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Enrichment {
    /// How it is to be done.
    pub pseudocode: String,
    /// When it is done.
    pub acceptance_criteria: Option<Vec<String>>,
    /// Files to read before it.
    pub context_files: Option<Vec<String>>,
}

/// A comment to be added.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewComment {
    /// The task.
    pub task: TaskId,
    /// Who says it.
    pub author: String,
    /// What is said.
    pub body: String,
    /// In which role.
    pub discipline: Option<String>,
    /// How much it matters.
    pub priority: Option<Priority>,
}

/// Which tasks a list shows.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TaskFilter {
    /// Only those with this status.
    pub status: Option<Status>,
    /// Only those of this feature.
    pub feature: Option<String>,
    /// Only those of this discipline.
    pub discipline: Option<String>,
    /// Only those with this tag.
    pub tag: Option<String>,
    /// Only those whose title or description has this text, whatever its case.
    pub text: Option<String>,
}

/// Which ready tasks are wanted.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Ready {
    /// Only those of this feature.
    pub feature: Option<String>,
    /// Only those of this discipline.
    pub discipline: Option<String>,
}
