//! What must be done before what.
//!
//! `tasks.depends_on` is what a record shows; `task_dependencies` is the same in a form that can
//! be followed; `tasks.waiting_for` counts those that are not done, so that ready tasks are found
//! by an index. They change together, here.

use sqlx::AnyConnection;

use crate::check;
use crate::error::BoardError;
use crate::model::TaskId;

/// Checks that the tasks exist, and gives each once.
pub(crate) async fn check(
    connection: &mut AnyConnection,
    task: Option<TaskId>,
    wanted: &[TaskId],
) -> Result<Vec<TaskId>, BoardError> {
    check::entries("depends_on", wanted.len())?;
    let mut needed: Vec<TaskId> = Vec::with_capacity(wanted.len());
    for &id in wanted {
        if Some(id) == task {
            return Err(BoardError::refused(
                format!("task {id} cannot depend on itself"),
                "leave it out of `depends_on`",
            ));
        }
        if needed.contains(&id) {
            continue;
        }
        let found = sqlx::query("select 1 from tasks where id = $1")
            .bind(id.0)
            .fetch_optional(&mut *connection)
            .await?;
        if found.is_none() {
            return Err(BoardError::refused(
                format!("`depends_on` names task {id}, which does not exist"),
                "list_tasks shows what there is",
            ));
        }
        needed.push(id);
    }
    Ok(needed)
}

/// Writes what a task depends on, unless that would go round in a circle.
pub(crate) async fn replace(
    connection: &mut AnyConnection,
    task: TaskId,
    needed: &[TaskId],
) -> Result<(), BoardError> {
    sqlx::query("delete from task_dependencies where task_id = $1")
        .bind(task.0)
        .execute(&mut *connection)
        .await?;
    for &id in needed {
        // A task that was just created is not reached by any other, but one that existed may be.
        let reached = sqlx::query(
            "with recursive needed(id) as (select cast($1 as bigint) \
             union select depends_on_id from task_dependencies \
             join needed on needed.id = task_dependencies.task_id) \
             select 1 from needed where id = $2",
        )
        .bind(id.0)
        .bind(task.0)
        .fetch_optional(&mut *connection)
        .await?;
        if reached.is_some() {
            return Err(BoardError::refused(
                format!("task {task} cannot depend on {id}, which depends on {task}: a cycle"),
                "remove one of the dependencies",
            ));
        }
        insert(connection, task, id).await?;
    }
    recount(connection, task).await
}

/// Writes what a new task depends on: nothing can depend on it yet.
pub(crate) async fn insert_new(
    connection: &mut AnyConnection,
    task: TaskId,
    needed: &[TaskId],
) -> Result<(), BoardError> {
    for &id in needed {
        insert(connection, task, id).await?;
    }
    if needed.is_empty() { Ok(()) } else { recount(connection, task).await }
}

async fn insert(
    connection: &mut AnyConnection,
    task: TaskId,
    needed: TaskId,
) -> Result<(), BoardError> {
    sqlx::query("insert into task_dependencies (task_id, depends_on_id) values ($1, $2)")
        .bind(task.0)
        .bind(needed.0)
        .execute(connection)
        .await?;
    Ok(())
}

/// Counts again what a task waits for.
async fn recount(connection: &mut AnyConnection, task: TaskId) -> Result<(), BoardError> {
    sqlx::query(
        "update tasks set waiting_for = (select count(*) from task_dependencies as needed \
         join tasks as earlier on earlier.id = needed.depends_on_id \
         where needed.task_id = tasks.id and earlier.status <> 'done') where id = $1",
    )
    .bind(task.0)
    .execute(connection)
    .await?;
    Ok(())
}

/// Counts again what those wait for that depend on a task whose status changed.
pub(crate) async fn recount_dependents(
    connection: &mut AnyConnection,
    task: TaskId,
) -> Result<(), BoardError> {
    sqlx::query(
        "update tasks set waiting_for = (select count(*) from task_dependencies as needed \
         join tasks as earlier on earlier.id = needed.depends_on_id \
         where needed.task_id = tasks.id and earlier.status <> 'done') \
         where id in (select task_id from task_dependencies where depends_on_id = $1)",
    )
    .bind(task.0)
    .execute(connection)
    .await?;
    Ok(())
}

/// The tasks that depend on a task, the first few.
pub(crate) async fn dependents(
    connection: &mut AnyConnection,
    task: TaskId,
) -> Result<Vec<i64>, BoardError> {
    let ids = sqlx::query_scalar(
        "select task_id from task_dependencies where depends_on_id = $1 order by task_id limit 11",
    );
    Ok(ids.bind(task.0).fetch_all(connection).await?)
}

/// The tasks that a task waits for, the first few.
pub(crate) async fn open(
    connection: &mut AnyConnection,
    task: TaskId,
) -> Result<Vec<i64>, BoardError> {
    let ids = sqlx::query_scalar(
        "select needed.depends_on_id from task_dependencies as needed \
         join tasks as earlier on earlier.id = needed.depends_on_id \
         where needed.task_id = $1 and earlier.status <> 'done' order by 1 limit 11",
    );
    Ok(ids.bind(task.0).fetch_all(connection).await?)
}

/// `3, 4 and more` for messages.
pub(crate) fn few(ids: &[i64]) -> String {
    let shown = ids.iter().take(10).map(ToString::to_string).collect::<Vec<_>>().join(", ");
    if ids.len() > 10 { format!("{shown} and more") } else { shown }
}
