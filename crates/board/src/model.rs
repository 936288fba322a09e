//! What the board holds: typed ids, values and records, as they are shown and stored.

mod change;
mod discipline;
mod feature;
mod task;

pub use change::{Action, Actor, Change, Entity};
pub use discipline::{
    Discipline, DisciplineEntry, DisciplineName, DisciplinePatch, NewDiscipline, ToolOverrides,
    ToolServer,
};
pub use feature::{
    Acronym, Feature, FeatureEntry, FeatureName, FeaturePatch, Learning, LearningSource,
    NewFeature, NewLearning,
};
pub use task::{
    Comment, CommentId, Enrichment, LinkedTask, NewComment, NewTask, Priority, Ready, Status, Task,
    TaskEntry, TaskFilter, TaskId, TaskPatch,
};

use schemars::JsonSchema;
use serde::Serialize;

/// A part of a list, and how to ask for the next one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page<T> {
    /// The entries, in the list's order.
    pub entries: Vec<T>,
    /// What to pass as cursor for the entries after these; `None` when there are none.
    pub next: Option<String>,
}

/// How much of a list is wanted.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PageRequest {
    /// The cursor of the page before.
    pub cursor: Option<String>,
    /// The most entries; by default as many as make a small page.
    pub limit: Option<i64>,
}

/// What the project is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Project {
    /// Its title.
    pub title: String,
    /// What it is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// When it was created.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub created: Option<String>,
}

/// How many tasks are in which state.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Progress {
    /// All tasks.
    pub total: i64,
    /// Those that are done.
    pub done: i64,
    /// Their number by status; every status is there.
    pub by_status: std::collections::BTreeMap<&'static str, i64>,
    /// Their number by feature.
    pub by_feature: std::collections::BTreeMap<String, FeatureProgress>,
}

/// How far a feature is.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct FeatureProgress {
    /// All its tasks.
    pub total: i64,
    /// Those that are done.
    pub done: i64,
}
