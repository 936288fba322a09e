//! Bringing back what was: a deleted record, or the state before a change.

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::{comments, dependencies, disciplines, features, tasks};
use crate::error::{BoardError, shown};
use crate::journal::{self, LogFilter};
use crate::model::{Action, Change, Comment, CommentId, Discipline, Entity, Feature, Task, TaskId};
use crate::store::Write;

/// Takes a change back. One that a later change built upon is refused.
pub(crate) async fn undo(write: &mut Write, id: Option<i64>) -> Result<Change, BoardError> {
    let change = match id {
        Some(id) => {
            journal::one(&mut write.connection, id).await?.ok_or_else(|| BoardError::Missing {
                what: "change",
                name: id.to_string(),
                hint: "`rutter board log` shows what was changed",
            })?
        }
        None => journal::latest(&mut write.connection, &LogFilter::default(), 1)
            .await?
            .pop()
            .ok_or_else(|| BoardError::refused("nothing was changed yet", ""))?,
    };
    match change.action {
        Action::Create => uncreate(write, &change).await?,
        Action::Delete => revive(write, &change).await?,
        Action::Update => unchange(write, &change).await?,
    }
    Ok(change)
}

/// Brings back the record that was deleted last under this id or name.
pub(crate) async fn restore(
    write: &mut Write,
    entity: Entity,
    record: &str,
) -> Result<(), BoardError> {
    let deleted = journal::last_deletion(&mut write.connection, entity, record).await?;
    let Some(deleted) = deleted else {
        return Err(BoardError::refused(
            format!("no {entity} `{}` was deleted", shown(record)),
            "`rutter board log` shows what was changed",
        ));
    };
    revive(write, &deleted).await
}

async fn uncreate(write: &mut Write, change: &Change) -> Result<(), BoardError> {
    match change.entity {
        Entity::Task => tasks::delete(write, TaskId(number(change)?)).await,
        Entity::Comment => {
            let comment: Comment = record(change.after.as_ref())?;
            comments::delete(write, comment.task_id, comment.id).await
        }
        Entity::Feature => features::delete(write, &change.record).await,
        Entity::Discipline => disciplines::delete(write, &change.record).await,
        Entity::Project | Entity::Board => Err(not_undone(change)),
    }
}

async fn revive(write: &mut Write, change: &Change) -> Result<(), BoardError> {
    let there = || {
        BoardError::refused(
            format!("{} `{}` is there already", change.entity, change.record),
            "delete or rename it first",
        )
    };
    match change.entity {
        Entity::Task => {
            let mut task: Task = record(change.before.as_ref())?;
            if tasks::bare(&mut write.connection, task.id).await.is_ok() {
                return Err(there());
            }
            features::name(&mut write.connection, task.feature.as_str()).await?;
            disciplines::name(&mut write.connection, task.discipline.as_str()).await?;
            // A lease that was running does not run on.
            task.claim_expires = None;
            task.claimed_by = None;
            task.depends_on =
                dependencies::check(&mut write.connection, Some(task.id), &task.depends_on).await?;
            tasks::insert(&mut write.connection, &task).await?;
            dependencies::insert_new(&mut write.connection, task.id, &task.depends_on).await?;
            for comment in &task.comments {
                let mut comment = comment.clone();
                let role = comment.discipline.take();
                comment.discipline = match role {
                    Some(role) => {
                        disciplines::name(&mut write.connection, role.as_str()).await.ok()
                    }
                    None => None,
                };
                comments::insert(&mut write.connection, &comment).await?;
            }
            write.created(Entity::Task, &task.id, &task);
            Ok(())
        }
        Entity::Comment => {
            let comment: Comment = record(change.before.as_ref())?;
            tasks::bare(&mut write.connection, comment.task_id).await?;
            if comments::get(&mut write.connection, comment.task_id, comment.id).await.is_ok() {
                return Err(there());
            }
            comments::insert(&mut write.connection, &comment).await?;
            write.created(Entity::Comment, &comments::record(&comment), &comment);
            Ok(())
        }
        Entity::Feature => {
            let feature: Feature = record(change.before.as_ref())?;
            if features::get(&mut write.connection, feature.name.as_str()).await.is_ok() {
                return Err(there());
            }
            features::insert(&mut write.connection, &feature).await?;
            write.created(Entity::Feature, &feature.name, &feature);
            Ok(())
        }
        Entity::Discipline => {
            let discipline: Discipline = record(change.before.as_ref())?;
            if disciplines::get(&mut write.connection, discipline.name.as_str()).await.is_ok() {
                return Err(there());
            }
            disciplines::insert(&mut write.connection, &discipline).await?;
            write.created(Entity::Discipline, &discipline.name, &discipline);
            Ok(())
        }
        Entity::Project | Entity::Board => Err(not_undone(change)),
    }
}

async fn unchange(write: &mut Write, change: &Change) -> Result<(), BoardError> {
    match change.entity {
        Entity::Task => {
            let id = TaskId(number(change)?);
            let now = tasks::bare(&mut write.connection, id).await?;
            let mut task: Task = reverted(&now, change, &["updated"])?;
            if task.depends_on != now.depends_on {
                let wanted = std::mem::take(&mut task.depends_on);
                task.depends_on =
                    dependencies::check(&mut write.connection, Some(id), &wanted).await?;
            }
            tasks::finish(write, now, task).await.map(drop)
        }
        Entity::Comment => {
            let id = CommentId(number(change)?);
            let row = sqlx::query("select * from task_comments where id = $1")
                .bind(id.0)
                .fetch_optional(&mut write.connection)
                .await?;
            let now = crate::rows::comment(&row.ok_or_else(|| BoardError::no_comment(id))?)?;
            let comment: Comment = reverted(&now, change, &[])?;
            comments::store(&mut write.connection, &comment).await?;
            write.updated(Entity::Comment, &comments::record(&comment), &now, &comment);
            Ok(())
        }
        Entity::Feature => {
            let now = features::get(&mut write.connection, &change.record).await?;
            let feature = reverted(&now, change, &[])?;
            features::finish(write, &now, feature).await.map(drop)
        }
        Entity::Discipline => {
            let now = disciplines::get(&mut write.connection, &change.record).await?;
            let discipline = reverted(&now, change, &[])?;
            disciplines::finish(write, &now, discipline).await.map(drop)
        }
        Entity::Project | Entity::Board => Err(not_undone(change)),
    }
}

/// A record with the changed fields as they were, if they still are what the change made them.
fn reverted<T: Serialize + DeserializeOwned>(
    now: &T,
    change: &Change,
    may_differ: &[&str],
) -> Result<T, BoardError> {
    let Ok(Value::Object(mut fields)) = serde_json::to_value(now) else {
        return Err(not_undone(change));
    };
    let empty = Map::new();
    let of = |state: &Option<Value>| state.as_ref().and_then(Value::as_object).cloned();
    let before = of(&change.before).unwrap_or_else(|| empty.clone());
    let after = of(&change.after).unwrap_or(empty);
    for (name, was) in before {
        let is = fields.get(&name).cloned().unwrap_or(Value::Null);
        let made = after.get(&name).cloned().unwrap_or(Value::Null);
        if is != made && !may_differ.contains(&name.as_str()) {
            return Err(BoardError::refused(
                format!(
                    "change {} cannot be undone: `{name}` of {} `{}` was changed again since",
                    change.id, change.entity, change.record
                ),
                "undo the later change first",
            ));
        }
        if was.is_null() {
            fields.remove(&name);
        } else {
            fields.insert(name, was);
        }
    }
    serde_json::from_value(Value::Object(fields)).map_err(|_| not_undone(change))
}

fn record<T: DeserializeOwned>(state: Option<&Value>) -> Result<T, BoardError> {
    state
        .and_then(|state| serde_json::from_value(state.clone()).ok())
        .ok_or_else(|| BoardError::Damaged("a row of the journal cannot be read".into()))
}

/// The id of a task, or of a comment, which stands after its task's.
fn number(change: &Change) -> Result<i64, BoardError> {
    let record = change.record.as_str();
    record
        .rsplit_once('/')
        .map_or(record, |(_, comment)| comment)
        .parse()
        .map_err(|_| BoardError::Damaged("a row of the journal cannot be read".into()))
}

fn not_undone(change: &Change) -> BoardError {
    BoardError::refused(
        format!("change {} is of the whole {}, which is not undone", change.id, change.entity),
        "`rutter board restore` brings a backup back",
    )
}
