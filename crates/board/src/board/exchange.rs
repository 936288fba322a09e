//! The whole board as lines of JSON, and back.
//!
//! The first line says what it is; each other holds one record, and those that refer to another
//! come after it. What is written from what was read is the same, byte for byte.

use serde::{Deserialize, Serialize};

use super::Board;
use crate::error::BoardError;
use crate::model::{Actor, Comment, Discipline, Entity, Feature, Task};
use crate::rows;
use crate::rules::{comments, dependencies, disciplines, features, project, tasks};
use crate::store::Write;

/// The version of the format.
const FORMAT: u32 = 1;

/// A line.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
enum Line {
    Board {
        format: u32,
        title: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        description: Option<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        created: Option<String>,
    },
    Discipline(Discipline),
    Feature(Feature),
    Task(Box<Task>),
    Comment(Comment),
}

/// What an import brought.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Imported {
    /// Disciplines.
    pub disciplines: u64,
    /// Features.
    pub features: u64,
    /// Tasks.
    pub tasks: u64,
    /// Comments.
    pub comments: u64,
}

impl Board {
    /// The whole board as lines of JSON.
    pub async fn export(&self) -> Result<String, BoardError> {
        self.store.read(|read| Box::pin(export(read))).await
    }

    /// Fills an empty board with lines of JSON: all of them, or none.
    pub async fn import(&self, actor: &Actor, lines: &str) -> Result<Imported, BoardError> {
        let mut parsed = Vec::new();
        for (index, line) in lines.lines().enumerate() {
            if line.trim().is_empty() {
                continue;
            }
            let line: Line = serde_json::from_str(line).map_err(|_| {
                BoardError::refused(
                    format!("line {} is not a record of a board", index + 1),
                    "nothing was imported",
                )
            })?;
            parsed.push((index + 1, line));
        }
        if !matches!(parsed.first(), Some((_, Line::Board { format: FORMAT, .. }))) {
            return Err(BoardError::refused(
                "the first line does not say that this is a board of format 1",
                "export a board to see what one looks like",
            ));
        }
        self.store.write(actor, |write| Box::pin(import(write, parsed))).await
    }
}

async fn export(connection: &mut sqlx::AnyConnection) -> Result<String, BoardError> {
    let mut lines = String::new();
    let mut push = |line: &Line| {
        lines.push_str(&rows::json(line));
        lines.push('\n');
    };
    let project = project::get(connection).await?;
    push(&Line::Board {
        format: FORMAT,
        title: project.title,
        description: project.description,
        created: project.created,
    });
    for row in
        sqlx::query("select * from disciplines order by name").fetch_all(&mut *connection).await?
    {
        push(&Line::Discipline(rows::discipline(&row)?));
    }
    for row in
        sqlx::query("select * from features order by name").fetch_all(&mut *connection).await?
    {
        push(&Line::Feature(rows::feature(&row)?));
    }
    for row in sqlx::query("select * from tasks order by id").fetch_all(&mut *connection).await? {
        push(&Line::Task(Box::new(rows::task(&row)?)));
    }
    for row in
        sqlx::query("select * from task_comments order by id").fetch_all(&mut *connection).await?
    {
        push(&Line::Comment(rows::comment(&row)?));
    }
    Ok(lines)
}

async fn import(write: &mut Write, lines: Vec<(usize, Line)>) -> Result<Imported, BoardError> {
    let used: i64 = sqlx::query_scalar(
        "select (select count(*) from tasks) + (select count(*) from features) \
         + (select count(*) from disciplines)",
    )
    .fetch_one(&mut write.connection)
    .await?;
    if used > 0 {
        return Err(BoardError::refused(
            "the board is not empty",
            "import into a new one: `rutter init --with board --disciplines none`",
        ));
    }
    let mut imported = Imported::default();
    let mut waiting: Vec<(usize, Task)> = Vec::new();
    for (number, line) in lines {
        let inserted = insert(write, line, &mut imported, &mut waiting, number).await;
        inserted.map_err(|error| at(number, error))?;
    }
    for (number, task) in waiting {
        let connection = &mut write.connection;
        let linked = async {
            let needed = dependencies::check(connection, Some(task.id), &task.depends_on).await?;
            dependencies::replace(connection, task.id, &needed).await
        };
        linked.await.map_err(|error| at(number, error))?;
    }
    let after = serde_json::json!({ "imported": imported });
    write.updated(Entity::Board, "import", &serde_json::json!({}), &after);
    Ok(imported)
}

async fn insert(
    write: &mut Write,
    line: Line,
    imported: &mut Imported,
    waiting: &mut Vec<(usize, Task)>,
    number: usize,
) -> Result<(), BoardError> {
    let connection = &mut write.connection;
    match line {
        Line::Board { title, description, created, .. } => {
            project::store(connection, &crate::model::Project { title, description, created }).await
        }
        Line::Discipline(discipline) => {
            imported.disciplines += 1;
            disciplines::insert(connection, &discipline).await
        }
        Line::Feature(feature) => {
            imported.features += 1;
            features::insert(connection, &feature).await
        }
        Line::Task(task) => {
            imported.tasks += 1;
            features::name(connection, task.feature.as_str()).await?;
            disciplines::name(connection, task.discipline.as_str()).await?;
            tasks::insert(connection, &task).await?;
            if !task.depends_on.is_empty() {
                waiting.push((number, *task));
            }
            Ok(())
        }
        Line::Comment(comment) => {
            imported.comments += 1;
            tasks::bare(connection, comment.task_id).await?;
            comments::insert(connection, &comment).await
        }
    }
}

/// A failure with the line that caused it.
fn at(line: usize, error: BoardError) -> BoardError {
    match error {
        BoardError::Busy | BoardError::Full(_) | BoardError::Io(_) => error,
        BoardError::Database(_) => BoardError::refused(
            format!("line {line}: a record with this id, name or acronym was there before"),
            "nothing was imported",
        ),
        other => BoardError::refused(format!("line {line}: {other}"), "nothing was imported"),
    }
}
