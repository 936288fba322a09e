//! Tasks: created, changed, moved, enriched and deleted.

use sqlx::any::AnyRow;
use sqlx::{AnyConnection, Row};

use super::dependencies::{self, few};
use super::{patch, patch_text, retire_number};
use crate::check::{self, LINE, TEXT};
use crate::error::BoardError;
use crate::journal;
use crate::model::{
    Actor, CommentId, DisciplineName, Enrichment, Entity, FeatureName, NewTask, Priority, Status,
    Task, TaskId, TaskPatch,
};
use crate::rows::{self, json};
use crate::store::{Statement, Value, Write};

/// The most bytes of comments that a record shows; the latest are kept.
const SHOWN_COMMENTS: usize = 256 * 1024;

/// A task with its comments.
pub(crate) async fn get(connection: &mut AnyConnection, id: TaskId) -> Result<Task, BoardError> {
    let mut task = bare(connection, id).await?;
    // One more than can fit is never needed: a comment has at least one byte.
    let rows =
        sqlx::query("select * from task_comments where task_id = $1 order by id desc limit 1000")
            .bind(id.0)
            .fetch_all(&mut *connection)
            .await?;
    let mut size = 0;
    for row in &rows {
        let comment = rows::comment(row)?;
        size += comment.body.len() + comment.author.len();
        if size > SHOWN_COMMENTS && !task.comments.is_empty() {
            break;
        }
        task.comments.push(comment);
    }
    task.comments.reverse();
    let count: i64 = sqlx::query_scalar("select count(*) from task_comments where task_id = $1")
        .bind(id.0)
        .fetch_one(connection)
        .await?;
    task.comments_left_out = count - i64::try_from(task.comments.len()).unwrap_or(count);
    Ok(task)
}

/// A task without its comments.
pub(crate) async fn bare(connection: &mut AnyConnection, id: TaskId) -> Result<Task, BoardError> {
    let row = sqlx::query("select * from tasks where id = $1")
        .bind(id.0)
        .fetch_optional(connection)
        .await?;
    rows::task(&row.ok_or_else(|| BoardError::no_task(id))?)
}

/// Creates a task upon its [`ground`].
pub(crate) async fn create(
    write: &mut Write,
    row: &AnyRow,
    mut new: NewTask,
) -> Result<Task, BoardError> {
    check_new(&new)?;
    let ground = Ground::read(row)?;
    if let Some(id) = ground.made {
        return get(&mut write.connection, TaskId(id)).await;
    }
    if !ground.feature {
        return Err(BoardError::no_feature(&new.feature));
    }
    if !ground.discipline {
        return Err(BoardError::no_discipline(&new.discipline));
    }
    let wanted = new.fields.depends_on.take().unwrap_or_default();
    let mut task = draft(new, TaskId(ground.next), &write.now)?;
    task.depends_on = dependencies::check(&mut write.connection, None, &wanted).await?;
    if task.depends_on.is_empty() {
        write.closing = Some(Statement::insert(INTO, values(&task)));
    } else {
        insert(&mut write.connection, &task).await?;
        dependencies::insert_new(&mut write.connection, task.id, &task.depends_on).await?;
    }
    write.created(Entity::Task, &task.id, &task);
    Ok(task)
}

/// The task with the id that is expected to be next, and what creates it if the [`ground`], which
/// comes first, is [`as_expected`]. Nothing for a task that has to be looked at more closely.
pub(crate) fn at_once(
    new: NewTask,
    id: TaskId,
    now: &str,
    actor: &Actor,
) -> Option<(Task, Statement)> {
    if new.fields.depends_on.as_ref().is_some_and(|needed| !needed.is_empty()) {
        return None;
    }
    check_new(&new).ok()?;
    let ground = ground(&new);
    let task = draft(new, id, now).ok()?;
    // Neither changes what the condition of the other depends on but the last.
    let journal = journal::Row::created(Entity::Task, &task.id, &task).written_if(
        now,
        actor,
        ground.clone(),
        Ground::expected(id),
    );
    let insert = Statement::insert_if(INTO, values(&task), ground.clone(), Ground::expected(id));
    Some((task, ground.then(journal).then(insert)))
}

/// Whether what was said by [`at_once`] was done.
pub(crate) fn as_expected(row: &AnyRow, id: TaskId) -> Result<bool, BoardError> {
    let ground = Ground::read(row)?;
    Ok(ground.feature && ground.discipline && ground.made.is_none() && ground.next <= id.0)
}

/// What can be told of a new task without looking at the board.
fn check_new(new: &NewTask) -> Result<(), BoardError> {
    check::required("title", &new.title, LINE)?;
    check::optional("idempotency_key", new.idempotency_key.as_deref(), LINE)?;
    if matches!(new.status, None | Some(Status::Draft | Status::Pending)) {
        Ok(())
    } else {
        Err(BoardError::invalid("status", "expected draft or pending"))
    }
}

/// A new task that depends on nothing.
fn draft(new: NewTask, id: TaskId, now: &str) -> Result<Task, BoardError> {
    let key = key(&new);
    let mut task = Task {
        id,
        title: new.title,
        status: new.status.unwrap_or(Status::Pending),
        priority: Priority::Medium,
        feature: FeatureName(new.feature),
        discipline: DisciplineName(new.discipline),
        description: None,
        acceptance_criteria: Vec::new(),
        depends_on: Vec::new(),
        tags: Vec::new(),
        context_files: Vec::new(),
        output_artifacts: Vec::new(),
        hints: None,
        estimated_turns: None,
        pseudocode: None,
        blocked_by: None,
        provenance: None,
        created: Some(now.to_owned()),
        updated: Some(now.to_owned()),
        completed: None,
        enriched_at: None,
        claimed_by: None,
        claim_expires: None,
        idempotency_key: key,
        comments: Vec::new(),
        comments_left_out: 0,
    };
    set(&mut task, new.fields)?;
    Ok(task)
}

/// What a new task stands on.
struct Ground {
    feature: bool,
    discipline: bool,
    /// The task that an earlier call with the same key made.
    made: Option<i64>,
    /// The next id: one that was given out is never given out again.
    next: i64,
}

/// What [`create`] has to know: looked at in one statement, because creations are what boards do
/// most.
pub(crate) fn ground(new: &NewTask) -> Statement {
    let values =
        vec![new.feature.as_str().into(), new.discipline.as_str().into(), (&key(new)).into()];
    Statement::new(
        "select (select 1 from features where name = $1) as feature, \
         (select 1 from disciplines where name = $2) as discipline, \
         (select id from tasks where idempotency_key = $3) as made, \
         (select value from counters where name = 'task') as given, \
         (select max(id) from tasks) as highest",
        values,
    )
}

fn key(new: &NewTask) -> Option<String> {
    new.idempotency_key.clone().filter(|key| !key.is_empty())
}

impl Ground {
    fn read(row: &AnyRow) -> Result<Self, BoardError> {
        let number = |column: &str| -> Result<Option<i64>, sqlx::Error> { row.try_get(column) };
        let given = number("given")?.unwrap_or_default();
        Ok(Self {
            feature: number("feature")?.is_some(),
            discipline: number("discipline")?.is_some(),
            made: number("made")?,
            next: given.max(number("highest")?.unwrap_or_default()) + 1,
        })
    }

    /// What [`as_expected`] asks, asked by the engine: everything is there, nothing was made with
    /// the key, and the id was not given out.
    fn expected(id: TaskId) -> Statement {
        Statement::new(
            "ground.feature = 1 and ground.discipline = 1 and ground.made is null \
             and coalesce(ground.given, 0) < $1 and coalesce(ground.highest, 0) < $1",
            vec![id.0.into()],
        )
    }
}

pub(crate) async fn update(
    write: &mut Write,
    id: TaskId,
    fields: TaskPatch,
) -> Result<Task, BoardError> {
    let before = bare(&mut write.connection, id).await?;
    let mut task = before.clone();
    change(&mut write.connection, &mut task, fields).await?;
    finish(write, before, task).await
}

/// Puts what is to be changed into a record, checked.
async fn change(
    connection: &mut AnyConnection,
    task: &mut Task,
    mut fields: TaskPatch,
) -> Result<(), BoardError> {
    let wanted = fields.depends_on.take();
    set(task, fields)?;
    if let Some(wanted) = &wanted {
        task.depends_on = dependencies::check(connection, Some(task.id), wanted).await?;
    }
    Ok(())
}

/// The same for all but what it depends on.
fn set(task: &mut Task, fields: TaskPatch) -> Result<(), BoardError> {
    if let Some(title) = &fields.title {
        check::required("title", title, LINE)?;
    }
    check::optional("description", fields.description.as_deref(), TEXT)?;
    check::optional("hints", fields.hints.as_deref(), TEXT)?;
    for (field, list) in [
        ("acceptance_criteria", &fields.acceptance_criteria),
        ("tags", &fields.tags),
        ("output_artifacts", &fields.output_artifacts),
    ] {
        check::list(field, list.as_deref().unwrap_or_default())?;
    }
    if fields.estimated_turns.is_some_and(|turns| !(0..=1_000_000).contains(&turns)) {
        return Err(BoardError::invalid("estimated_turns", "expected a number from 0 to 1000000"));
    }
    patch(&mut task.title, fields.title);
    patch_text(&mut task.description, fields.description.as_deref());
    patch_text(&mut task.hints, fields.hints.as_deref());
    patch(&mut task.priority, fields.priority);
    patch(&mut task.acceptance_criteria, fields.acceptance_criteria);
    patch(&mut task.tags, fields.tags);
    patch(&mut task.output_artifacts, fields.output_artifacts);
    if let Some(files) = &fields.context_files {
        task.context_files = check::paths("context_files", files)?;
    }
    if fields.estimated_turns.is_some() {
        task.estimated_turns = fields.estimated_turns;
    }
    Ok(())
}

/// Writes a changed record and everything that follows from the change.
pub(crate) async fn finish(
    write: &mut Write,
    before: Task,
    mut task: Task,
) -> Result<Task, BoardError> {
    if task != before {
        task.updated = Some(write.now.clone());
        store(&mut write.connection, &task).await?;
        if task.depends_on != before.depends_on {
            dependencies::replace(&mut write.connection, task.id, &task.depends_on).await?;
        }
        if (task.status == Status::Done) != (before.status == Status::Done) {
            dependencies::recount_dependents(&mut write.connection, task.id).await?;
        }
        write.updated(Entity::Task, &task.id, &before, &task);
    }
    get(&mut write.connection, task.id).await
}

pub(crate) async fn set_status(
    write: &mut Write,
    id: TaskId,
    status: Status,
) -> Result<Task, BoardError> {
    let before = bare(&mut write.connection, id).await?;
    let mut task = before.clone();
    move_to(&mut task, status, &write.now);
    finish(write, before, task).await
}

/// Gives a task another status, with what goes with it.
pub(crate) fn move_to(task: &mut Task, status: Status, now: &str) {
    if task.status == status {
        return;
    }
    task.status = status;
    task.completed = (status == Status::Done).then(|| now.to_owned());
    if status != Status::Blocked {
        task.blocked_by = None;
    }
    if status != Status::InProgress {
        task.claimed_by = None;
        task.claim_expires = None;
    }
}

pub(crate) async fn enrich(
    write: &mut Write,
    id: TaskId,
    enrichment: Enrichment,
) -> Result<Task, BoardError> {
    check::required("pseudocode", &enrichment.pseudocode, TEXT)?;
    let before = bare(&mut write.connection, id).await?;
    if before.status != Status::Draft {
        return Err(BoardError::refused(
            format!("task {id} is {}, and only drafts are enriched", before.status),
            "use update_task, or set its status to draft first",
        ));
    }
    let mut task = before.clone();
    let fields = TaskPatch {
        acceptance_criteria: enrichment.acceptance_criteria,
        context_files: enrichment.context_files,
        ..TaskPatch::default()
    };
    change(&mut write.connection, &mut task, fields).await?;
    task.pseudocode = Some(enrichment.pseudocode);
    task.enriched_at = Some(write.now.clone());
    move_to(&mut task, Status::Pending, &write.now);
    finish(write, before, task).await
}

pub(crate) async fn delete(write: &mut Write, id: TaskId) -> Result<(), BoardError> {
    let mut task = bare(&mut write.connection, id).await?;
    let dependents = dependencies::dependents(&mut write.connection, id).await?;
    if !dependents.is_empty() {
        return Err(BoardError::refused(
            format!("task {id} cannot be deleted: {} depend on it", few(&dependents)),
            "change their `depends_on` first",
        ));
    }
    // The journal keeps all of them, however many a record would show.
    let rows = sqlx::query("select * from task_comments where task_id = $1 order by id")
        .bind(id.0)
        .fetch_all(&mut write.connection)
        .await?;
    task.comments = rows.iter().map(rows::comment).collect::<Result<_, _>>()?;
    let last_comment = task.comments.last().map(|comment| comment.id);
    sqlx::query("delete from tasks where id = $1")
        .bind(id.0)
        .execute(&mut write.connection)
        .await?;
    retire_number(&mut write.connection, "task", id.0).await?;
    if let Some(CommentId(number)) = last_comment {
        retire_number(&mut write.connection, "comment", number).await?;
    }
    write.deleted(Entity::Task, &id, &task);
    Ok(())
}

const INTO: &str = "tasks (title, status, priority, description, acceptance_criteria, depends_on, tags, \
     context_files, output_artifacts, hints, estimated_turns, pseudocode, blocked_by, provenance, created, \
     updated, completed, enriched_at, claimed_by, claim_expires, idempotency_key, feature, discipline, id)";
const UPDATE: &str = "update tasks set title = $1, status = $2, priority = $3, description = $4, \
     acceptance_criteria = $5, depends_on = $6, tags = $7, context_files = $8, output_artifacts = $9, \
     hints = $10, estimated_turns = $11, pseudocode = $12, blocked_by = $13, provenance = $14, \
     created = $15, updated = $16, completed = $17, enriched_at = $18, claimed_by = $19, \
     claim_expires = $20, idempotency_key = $21, feature = $22, discipline = $23 where id = $24";

/// Writes a record that is not there yet, without its dependencies and comments.
pub(crate) async fn insert(connection: &mut AnyConnection, task: &Task) -> Result<(), BoardError> {
    Statement::insert(INTO, values(task)).query().execute(connection).await?;
    Ok(())
}

async fn store(connection: &mut AnyConnection, task: &Task) -> Result<(), BoardError> {
    Statement::new(UPDATE, values(task)).query().execute(connection).await?;
    Ok(())
}

/// All columns of a task, in the order of both statements.
fn values(task: &Task) -> Vec<Value> {
    vec![
        task.title.as_str().into(),
        task.status.as_str().into(),
        task.priority.as_str().into(),
        (&task.description).into(),
        json(&task.acceptance_criteria).into(),
        json(&task.depends_on).into(),
        json(&task.tags).into(),
        json(&task.context_files).into(),
        json(&task.output_artifacts).into(),
        (&task.hints).into(),
        Value::Number(task.estimated_turns),
        (&task.pseudocode).into(),
        (&task.blocked_by).into(),
        (&task.provenance).into(),
        (&task.created).into(),
        (&task.updated).into(),
        (&task.completed).into(),
        (&task.enriched_at).into(),
        (&task.claimed_by).into(),
        (&task.claim_expires).into(),
        (&task.idempotency_key).into(),
        task.feature.as_str().into(),
        task.discipline.as_str().into(),
        task.id.0.into(),
    ]
}
