//! Tasks that were kept elsewhere: all of them become tasks of this board, or none.

use std::collections::BTreeMap;

use serde::Serialize;

use super::Board;
use crate::check::{self, TEXT};
use crate::error::{BoardError, shown};
use crate::model::{
    Actor, NewComment, NewDiscipline, NewFeature, NewTask, Priority, Status, TaskId, TaskPatch,
};
use crate::rules::{comments, disciplines, features, tasks};
use crate::store::Write;

/// Tasks from another program.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Adoption {
    /// What keeps its ids apart from those of other programs.
    pub source: String,
    /// The discipline that does the tasks; created if it is not there.
    pub discipline: String,
    /// The tasks, in the order in which they get their ids.
    pub tasks: Vec<Foreign>,
}

/// A task as another program knew it, in the words of this one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Foreign {
    /// Its id there. A task that was adopted before is not adopted again.
    pub id: String,
    /// The feature that it belongs to; created if it is not there.
    pub feature: String,
    /// What is to be done, in a line.
    pub title: String,
    /// Where it stands.
    pub status: Status,
    /// How much it matters.
    pub priority: Priority,
    /// What is to be done, at length.
    pub description: Option<String>,
    /// How it is to be done.
    pub pseudocode: Option<String>,
    /// When it is done.
    pub acceptance_criteria: Vec<String>,
    /// Words to find it by.
    pub tags: Vec<String>,
    /// The ids, there, of the tasks that must be done before it. They are among those adopted.
    pub depends_on: Vec<String>,
    /// When it was created.
    pub created: Option<String>,
    /// When it was done.
    pub completed: Option<String>,
    /// What was said about it.
    pub remarks: Vec<Remark>,
}

/// What was said about a task elsewhere.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Remark {
    /// By whom.
    pub author: String,
    /// What.
    pub body: String,
    /// When.
    pub created: Option<String>,
}

/// What an adoption brought.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Adopted {
    /// Disciplines.
    pub disciplines: u64,
    /// Features.
    pub features: u64,
    /// Tasks.
    pub tasks: u64,
    /// Comments.
    pub comments: u64,
    /// Tasks that were adopted before, and left as they are.
    pub already: u64,
    /// The ids of all of them: there, and here.
    pub ids: BTreeMap<String, TaskId>,
}

impl Board {
    /// Makes tasks of another program tasks of this board: all of them, or none.
    pub async fn adopt(&self, actor: &Actor, adoption: Adoption) -> Result<Adopted, BoardError> {
        self.store.write(actor, |write| Box::pin(adopt(write, adoption))).await
    }
}

async fn adopt(write: &mut Write, adoption: Adoption) -> Result<Adopted, BoardError> {
    let mut adopted = Adopted::default();
    let mut new = Vec::new();
    for task in &adoption.tasks {
        if adopted.ids.contains_key(&task.id) {
            return Err(BoardError::refused(
                format!("two tasks have the id `{}`", shown(&task.id)),
                "nothing was imported",
            ));
        }
        let key = format!("{}:{}", adoption.source, task.id);
        let known: Option<i64> =
            sqlx::query_scalar("select id from tasks where idempotency_key = $1")
                .bind(&key)
                .fetch_optional(&mut write.connection)
                .await?;
        if let Some(id) = known {
            adopted.already += 1;
            adopted.ids.insert(task.id.clone(), TaskId(id));
            continue;
        }
        let made = create(write, task, &adoption.discipline, key, &mut adopted).await;
        let id = made.map_err(|error| of(&task.id, error))?;
        adopted.ids.insert(task.id.clone(), id);
        new.push((id, task));
    }
    // Only now does everything have an id that something may depend on.
    for (id, task) in new {
        let done = finish(write, id, task, &mut adopted).await;
        done.map_err(|error| of(&task.id, error))?;
    }
    Ok(adopted)
}

async fn create(
    write: &mut Write,
    task: &Foreign,
    discipline: &str,
    key: String,
    adopted: &mut Adopted,
) -> Result<TaskId, BoardError> {
    if features::name(&mut write.connection, &task.feature).await.is_err() {
        let new = NewFeature {
            name: task.feature.clone(),
            display_name: task.feature.clone(),
            ..NewFeature::default()
        };
        features::create(write, new).await?;
        adopted.features += 1;
    }
    if disciplines::name(&mut write.connection, discipline).await.is_err() {
        let new = NewDiscipline {
            name: discipline.to_owned(),
            display_name: discipline.to_owned(),
            icon: "circle".into(),
            color: "#808080".into(),
            ..NewDiscipline::default()
        };
        disciplines::create(write, new).await?;
        adopted.disciplines += 1;
    }
    check::optional("pseudocode", task.pseudocode.as_deref(), TEXT)?;
    let new = NewTask {
        feature: task.feature.clone(),
        discipline: discipline.to_owned(),
        title: task.title.clone(),
        status: Some(if task.status == Status::Draft { Status::Draft } else { Status::Pending }),
        idempotency_key: Some(key),
        fields: TaskPatch {
            description: task.description.clone(),
            priority: Some(task.priority),
            acceptance_criteria: Some(task.acceptance_criteria.clone()),
            tags: Some(task.tags.clone()),
            ..TaskPatch::default()
        },
    };
    let row = tasks::ground(&new).query().fetch_one(&mut write.connection).await?;
    let id = tasks::create(write, &row, new).await?.id;
    // A creation leaves its last statement to the end of the transaction, which is not here.
    if let Some(insert) = write.closing.take() {
        insert.query().execute(&mut write.connection).await?;
    }
    adopted.tasks += 1;
    Ok(id)
}

/// Gives a task what a new one cannot have: its past, what it depends on, and what was said.
async fn finish(
    write: &mut Write,
    id: TaskId,
    foreign: &Foreign,
    adopted: &mut Adopted,
) -> Result<(), BoardError> {
    let before = tasks::bare(&mut write.connection, id).await?;
    let mut task = before.clone();
    tasks::move_to(&mut task, foreign.status, &write.now);
    if foreign.status == Status::Done && foreign.completed.is_some() {
        task.completed.clone_from(&foreign.completed);
    }
    if foreign.created.is_some() {
        task.created.clone_from(&foreign.created);
    }
    task.pseudocode = foreign.pseudocode.clone().filter(|text| !text.is_empty());
    check::entries("depends_on", foreign.depends_on.len())?;
    for needed in &foreign.depends_on {
        let needed = adopted.ids.get(needed).copied().ok_or_else(|| {
            BoardError::refused(format!("it depends on `{}`, which is unknown", shown(needed)), "")
        })?;
        if !task.depends_on.contains(&needed) {
            task.depends_on.push(needed);
        }
    }
    tasks::finish(write, before, task).await?;
    for remark in &foreign.remarks {
        let new = NewComment {
            task: id,
            author: remark.author.clone(),
            body: remark.body.clone(),
            discipline: None,
            priority: None,
        };
        let comment = comments::add(write, new).await?;
        if let Some(created) = &remark.created {
            sqlx::query("update task_comments set created = $1 where id = $2")
                .bind(created)
                .bind(comment.id.0)
                .execute(&mut write.connection)
                .await?;
        }
        adopted.comments += 1;
    }
    Ok(())
}

/// A failure with the task that caused it.
fn of(id: &str, error: BoardError) -> BoardError {
    match error {
        BoardError::Busy | BoardError::Full(_) | BoardError::Io(_) | BoardError::Database(_) => {
            error
        }
        other => BoardError::refused(
            format!("`{}` cannot be imported: {other}", shown(id)),
            "nothing was imported",
        ),
    }
}
