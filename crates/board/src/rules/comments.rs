//! What is said about tasks.

use sqlx::AnyConnection;

use super::{disciplines, retire_number, tasks};
use crate::check::{self, LINE, TEXT};
use crate::error::BoardError;
use crate::model::{Comment, CommentId, DisciplineName, Entity, NewComment, Priority, TaskId};
use crate::rows;
use crate::store::Write;

pub(crate) async fn add(write: &mut Write, new: NewComment) -> Result<Comment, BoardError> {
    check::required("author", &new.author, LINE)?;
    check::required("body", &new.body, TEXT)?;
    tasks::bare(&mut write.connection, new.task).await?;
    let discipline = match new.discipline.filter(|name| !name.is_empty()) {
        Some(name) => Some(disciplines::name(&mut write.connection, &name).await?),
        None => None,
    };
    // An id that was given out is never given out again, even after its comment is gone.
    let last: i64 = sqlx::query_scalar(
        "select max(id) from (select max(id) as id from task_comments \
         union all select value from counters where name = 'comment') as numbers",
    )
    .fetch_one(&mut write.connection)
    .await?;
    let comment = Comment {
        id: CommentId(last + 1),
        task_id: new.task,
        author: new.author,
        body: new.body,
        discipline,
        priority: new.priority,
        created: Some(write.now.clone()),
        updated: None,
    };
    insert(&mut write.connection, &comment).await?;
    write.created(Entity::Comment, &record(&comment), &comment);
    Ok(comment)
}

/// What the journal calls a comment: the task is told with it, because its record shows it.
pub(crate) fn record(comment: &Comment) -> String {
    format!("{}/{}", comment.task_id, comment.id)
}

pub(crate) async fn insert(
    connection: &mut AnyConnection,
    comment: &Comment,
) -> Result<(), BoardError> {
    sqlx::query(
        "insert into task_comments (id, task_id, author, body, discipline, priority, created, updated) \
         values ($1, $2, $3, $4, $5, $6, $7, $8)",
    )
    .bind(comment.id.0)
    .bind(comment.task_id.0)
    .bind(&comment.author)
    .bind(&comment.body)
    .bind(comment.discipline.as_ref().map(DisciplineName::as_str))
    .bind(comment.priority.map(Priority::as_str))
    .bind(&comment.created)
    .bind(&comment.updated)
    .execute(connection)
    .await?;
    Ok(())
}

pub(crate) async fn get(
    connection: &mut AnyConnection,
    task: TaskId,
    id: CommentId,
) -> Result<Comment, BoardError> {
    let row = sqlx::query("select * from task_comments where id = $1 and task_id = $2")
        .bind(id.0)
        .bind(task.0)
        .fetch_optional(connection)
        .await?;
    rows::comment(&row.ok_or_else(|| BoardError::no_comment(id))?)
}

pub(crate) async fn update(
    write: &mut Write,
    task: TaskId,
    id: CommentId,
    body: String,
) -> Result<Comment, BoardError> {
    check::required("body", &body, TEXT)?;
    tasks::bare(&mut write.connection, task).await?;
    let before = get(&mut write.connection, task, id).await?;
    if before.body == body {
        return Ok(before);
    }
    let comment = Comment { body, updated: Some(write.now.clone()), ..before.clone() };
    store(&mut write.connection, &comment).await?;
    write.updated(Entity::Comment, &record(&comment), &before, &comment);
    Ok(comment)
}

pub(crate) async fn store(
    connection: &mut AnyConnection,
    comment: &Comment,
) -> Result<(), BoardError> {
    sqlx::query("update task_comments set body = $1, updated = $2 where id = $3")
        .bind(&comment.body)
        .bind(&comment.updated)
        .bind(comment.id.0)
        .execute(connection)
        .await?;
    Ok(())
}

pub(crate) async fn delete(
    write: &mut Write,
    task: TaskId,
    id: CommentId,
) -> Result<(), BoardError> {
    tasks::bare(&mut write.connection, task).await?;
    let comment = get(&mut write.connection, task, id).await?;
    sqlx::query("delete from task_comments where id = $1")
        .bind(id.0)
        .execute(&mut write.connection)
        .await?;
    retire_number(&mut write.connection, "comment", id.0).await?;
    write.deleted(Entity::Comment, &record(&comment), &comment);
    Ok(())
}
