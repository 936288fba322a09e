//! Between rows and records.

use serde::Serialize;
use serde::de::DeserializeOwned;
use sqlx::Row;
use sqlx::any::AnyRow;

use crate::error::BoardError;
use crate::model::{
    Acronym, Comment, CommentId, Discipline, DisciplineEntry, DisciplineName, Feature,
    FeatureEntry, FeatureName, Priority, Status, Task, TaskEntry, TaskId,
};

type Read<T> = Result<T, BoardError>;

/// A list as it is stored.
pub(crate) fn json(list: &impl Serialize) -> String {
    serde_json::to_string(list).unwrap_or_default()
}

fn text(row: &AnyRow, column: &str) -> Read<String> {
    Ok(row.try_get(column)?)
}

fn maybe(row: &AnyRow, column: &str) -> Read<Option<String>> {
    Ok(row.try_get(column)?)
}

/// A list that is stored as JSON; what is not there is empty.
fn list<T: DeserializeOwned>(row: &AnyRow, column: &str) -> Read<Vec<T>> {
    match maybe(row, column)? {
        None => Ok(Vec::new()),
        Some(text) if text.is_empty() => Ok(Vec::new()),
        Some(text) => serde_json::from_str(&text)
            .map_err(|_| BoardError::Damaged(format!("a list of `{column}` cannot be read"))),
    }
}

/// The status of a task. Files from the field may hold others: such a task needs a look.
fn status(row: &AnyRow) -> Read<Status> {
    Ok(Status::parse(&text(row, "status")?).unwrap_or(Status::Draft))
}

fn priority(row: &AnyRow) -> Read<Option<Priority>> {
    Ok(maybe(row, "priority")?.and_then(|name| Priority::parse(&name)))
}

pub(crate) fn task_entry(row: &AnyRow) -> Read<TaskEntry> {
    Ok(TaskEntry {
        id: TaskId(row.try_get("id")?),
        title: text(row, "title")?,
        status: status(row)?,
        priority: priority(row)?.unwrap_or(Priority::Medium),
        feature: FeatureName(text(row, "feature")?),
        discipline: DisciplineName(text(row, "discipline")?),
    })
}

/// A task without its comments.
pub(crate) fn task(row: &AnyRow) -> Read<Task> {
    let TaskEntry { id, title, status, priority, feature, discipline } = task_entry(row)?;
    Ok(Task {
        id,
        title,
        status,
        priority,
        feature,
        discipline,
        description: maybe(row, "description")?,
        acceptance_criteria: list(row, "acceptance_criteria")?,
        depends_on: list(row, "depends_on")?,
        tags: list(row, "tags")?,
        context_files: list(row, "context_files")?,
        output_artifacts: list(row, "output_artifacts")?,
        hints: maybe(row, "hints")?,
        estimated_turns: row.try_get("estimated_turns")?,
        pseudocode: maybe(row, "pseudocode")?,
        blocked_by: maybe(row, "blocked_by")?,
        provenance: maybe(row, "provenance")?,
        created: maybe(row, "created")?,
        updated: maybe(row, "updated")?,
        completed: maybe(row, "completed")?,
        enriched_at: maybe(row, "enriched_at")?,
        claimed_by: maybe(row, "claimed_by")?,
        claim_expires: maybe(row, "claim_expires")?,
        idempotency_key: maybe(row, "idempotency_key")?,
        comments: Vec::new(),
        comments_left_out: 0,
    })
}

pub(crate) fn comment(row: &AnyRow) -> Read<Comment> {
    Ok(Comment {
        id: CommentId(row.try_get("id")?),
        task_id: TaskId(row.try_get("task_id")?),
        author: text(row, "author")?,
        body: text(row, "body")?,
        discipline: maybe(row, "discipline")?.map(DisciplineName),
        priority: priority(row)?,
        created: maybe(row, "created")?,
        updated: maybe(row, "updated")?,
    })
}

pub(crate) fn feature(row: &AnyRow) -> Read<Feature> {
    Ok(Feature {
        name: FeatureName(text(row, "name")?),
        display_name: text(row, "display_name")?,
        acronym: Acronym(text(row, "acronym")?),
        description: maybe(row, "description")?,
        architecture: maybe(row, "architecture")?,
        boundaries: maybe(row, "boundaries")?,
        knowledge_paths: list(row, "knowledge_paths")?,
        context_files: list(row, "context_files")?,
        dependencies: list(row, "dependencies")?,
        learnings: list(row, "learnings")?,
        created: maybe(row, "created")?,
    })
}

pub(crate) fn feature_entry(row: &AnyRow) -> Read<FeatureEntry> {
    /// The most bytes of a description in a list; the record has the whole.
    const SHOWN: usize = 300;
    Ok(FeatureEntry {
        name: FeatureName(text(row, "name")?),
        display_name: text(row, "display_name")?,
        acronym: Acronym(text(row, "acronym")?),
        description: maybe(row, "description")?
            .map(|description| rutter_base::text::cap(description, SHOWN)),
    })
}

pub(crate) fn discipline(row: &AnyRow) -> Read<Discipline> {
    let overrides = maybe(row, "mcp_tool_overrides")?.map(|text| serde_json::from_str(&text));
    let overrides = overrides.transpose().map_err(|_| {
        BoardError::Damaged("the `mcp_tool_overrides` of a discipline cannot be read".into())
    })?;
    let DisciplineEntry { name, display_name, acronym, icon, color } = discipline_entry(row)?;
    Ok(Discipline {
        name,
        display_name,
        acronym,
        icon,
        color,
        description: maybe(row, "description")?,
        system_prompt: maybe(row, "system_prompt")?,
        skills: list(row, "skills")?,
        conventions: maybe(row, "conventions")?,
        mcp_servers: list(row, "mcp_servers")?,
        mcp_tool_overrides: overrides,
    })
}

pub(crate) fn discipline_entry(row: &AnyRow) -> Read<DisciplineEntry> {
    Ok(DisciplineEntry {
        name: DisciplineName(text(row, "name")?),
        display_name: text(row, "display_name")?,
        acronym: Acronym(text(row, "acronym")?),
        icon: text(row, "icon")?,
        color: text(row, "color")?,
    })
}
