//! Who changed what: a row for every change, in the transaction of the change.

use serde::Serialize;
use serde_json::{Map, Value};
use sqlx::any::AnyRow;
use sqlx::{AnyConnection, Row as _};

use crate::board::Touched;
use crate::error::BoardError;
use crate::model::{Action, Actor, Change, Entity};
use crate::store::{self, Statement, Write};

impl Write {
    /// Records that something came to be.
    pub(crate) fn created(
        &mut self,
        entity: Entity,
        record: &(impl ToString + ?Sized),
        after: &impl Serialize,
    ) {
        self.rows.push(Row::created(entity, record, after));
    }

    /// Records that something is gone, so that it can be brought back.
    pub(crate) fn deleted(
        &mut self,
        entity: Entity,
        record: &(impl ToString + ?Sized),
        before: &impl Serialize,
    ) {
        let before = serde_json::to_string(before).ok();
        self.journal(entity, record, Action::Delete, (before, None));
    }

    /// Records what is different; nothing when nothing is.
    pub(crate) fn updated<T: Serialize>(
        &mut self,
        entity: Entity,
        record: &(impl ToString + ?Sized),
        before: &T,
        after: &T,
    ) {
        if let Some((before, after)) = difference(before, after) {
            self.journal(entity, record, Action::Update, (Some(before), Some(after)));
        }
    }

    fn journal(
        &mut self,
        entity: Entity,
        record: &(impl ToString + ?Sized),
        action: Action,
        (before, after): (Option<String>, Option<String>),
    ) {
        let record = record.to_string();
        self.rows.push(Row { entity, record, action, before, after });
    }
}

/// The fields that differ: as they were, and as they are. `null` is what was or is not there.
fn difference<T: Serialize>(before: &T, after: &T) -> Option<(String, String)> {
    let object = |value: &T| match serde_json::to_value(value) {
        Ok(Value::Object(object)) => object,
        _ => Map::new(),
    };
    let (before, after) = (object(before), object(after));
    let of = |object: &Map<String, Value>, name: &String| {
        object.get(name).cloned().unwrap_or(Value::Null)
    };
    let changed: Vec<&String> = before
        .keys()
        .chain(after.keys().filter(|name| !before.contains_key(*name)))
        .filter(|name| of(&before, name) != of(&after, name))
        .collect();
    if changed.is_empty() {
        return None;
    }
    let part = |object: &Map<String, Value>| {
        let part = changed.iter().map(|name| ((*name).clone(), of(object, name)));
        Value::Object(part.collect()).to_string()
    };
    Some((part(&before), part(&after)))
}

/// What a row says beside who and when.
#[derive(Debug)]
pub(crate) struct Row {
    pub(crate) entity: Entity,
    pub(crate) record: String,
    pub(crate) action: Action,
    pub(crate) before: Option<String>,
    pub(crate) after: Option<String>,
}

const INTO: &str =
    "journal (at, session, recipe, discipline, tool, entity, record, action, before, after)";

impl Row {
    /// Says that something came to be.
    pub(crate) fn created(
        entity: Entity,
        record: &(impl ToString + ?Sized),
        after: &impl Serialize,
    ) -> Self {
        let after = serde_json::to_string(after).ok();
        Self { entity, record: record.to_string(), action: Action::Create, before: None, after }
    }

    fn statement(self, now: &str, actor: &Actor) -> Statement {
        Statement::insert(INTO, self.values(now, actor))
    }

    /// Writes it if the condition holds of the row `ground`.
    pub(crate) fn written_if(
        self,
        now: &str,
        actor: &Actor,
        ground: Statement,
        condition: Statement,
    ) -> Statement {
        Statement::insert_if(INTO, self.values(now, actor), ground, condition)
    }

    fn values(self, now: &str, actor: &Actor) -> Vec<store::Value> {
        vec![
            now.into(),
            (&actor.session).into(),
            (&actor.recipe).into(),
            (&actor.discipline).into(),
            actor.tool.as_str().into(),
            self.entity.as_str().into(),
            self.record.into(),
            self.action.as_str().into(),
            (&self.before).into(),
            (&self.after).into(),
        ]
    }
}

/// Writes what is left to write and the rows of a transaction, and ends it.
pub(crate) async fn commit(write: &mut Write, actor: &Actor) -> Result<(), BoardError> {
    let rows = std::mem::take(&mut write.rows);
    end(&mut write.connection, write.closing.take(), &write.now, actor, rows).await
}

/// The same without a [`Write`].
pub(crate) async fn end(
    connection: &mut AnyConnection,
    closing: Option<Statement>,
    now: &str,
    actor: &Actor,
    rows: Vec<Row>,
) -> Result<(), BoardError> {
    let rows = rows.into_iter().map(|row| row.statement(now, actor));
    let commit = Statement::new("commit", Vec::new());
    let all = closing.into_iter().chain(rows).chain([commit]).reduce(Statement::then);
    if let Some(all) = all {
        all.query().execute(connection).await?;
    }
    Ok(())
}

/// Which changes are wanted.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LogFilter {
    /// Only those of this kind of record.
    pub entity: Option<Entity>,
    /// Only those of this record.
    pub record: Option<String>,
    /// Only those of this session.
    pub session: Option<String>,
    /// Only those before this one.
    pub before: Option<i64>,
}

/// The latest changes, newest first.
pub(crate) async fn latest(
    connection: &mut AnyConnection,
    filter: &LogFilter,
    limit: i64,
) -> Result<Vec<Change>, BoardError> {
    let rows = sqlx::query(
        "select * from journal where ($1 is null or entity = $1) and ($2 is null or record = $2) \
         and ($3 is null or session = $3) and id < $4 order by id desc limit $5",
    )
    .bind(filter.entity.map(Entity::as_str))
    .bind(&filter.record)
    .bind(&filter.session)
    .bind(filter.before.unwrap_or(i64::MAX))
    .bind(limit)
    .fetch_all(connection)
    .await?;
    rows.iter().map(change).collect()
}

/// One change.
pub(crate) async fn one(
    connection: &mut AnyConnection,
    id: i64,
) -> Result<Option<Change>, BoardError> {
    let row =
        sqlx::query("select * from journal where id = $1").bind(id).fetch_optional(connection);
    row.await?.as_ref().map(change).transpose()
}

/// The latest deletion of a record.
pub(crate) async fn last_deletion(
    connection: &mut AnyConnection,
    entity: Entity,
    record: &str,
) -> Result<Option<Change>, BoardError> {
    let row = sqlx::query(
        "select * from journal where action = 'delete' and entity = $1 and record = $2 \
         order by id desc limit 1",
    )
    .bind(entity.as_str())
    .bind(record)
    .fetch_optional(connection)
    .await?;
    row.as_ref().map(change).transpose()
}

/// The number of the latest change.
pub(crate) async fn last(connection: &mut AnyConnection) -> Result<i64, BoardError> {
    Ok(sqlx::query_scalar("select coalesce(max(id), 0) from journal").fetch_one(connection).await?)
}

/// What was changed after a change, each record once, oldest first.
pub(crate) async fn since(
    connection: &mut AnyConnection,
    id: i64,
) -> Result<Vec<Touched>, BoardError> {
    let rows = sqlx::query(
        "select entity, record, max(case when action = 'update' then 0 else 1 end) as listed \
         from journal where id > $1 group by entity, record order by min(id)",
    )
    .bind(id)
    .fetch_all(connection)
    .await?;
    let touched = |row: &AnyRow| {
        let listed: i64 = row.try_get("listed")?;
        Ok(Touched { entity: entity(row)?, record: row.try_get("record")?, listed: listed > 0 })
    };
    rows.iter().map(touched).collect()
}

fn entity(row: &AnyRow) -> Result<Entity, BoardError> {
    let name: String = row.try_get("entity")?;
    Entity::parse(&name).ok_or_else(|| BoardError::Damaged(format!("the journal names `{name}`")))
}

fn change(row: &AnyRow) -> Result<Change, BoardError> {
    let action: String = row.try_get("action")?;
    let state = |column: &str| -> Result<Option<Value>, BoardError> {
        let text: Option<String> = row.try_get(column)?;
        Ok(text.and_then(|text| serde_json::from_str(&text).ok()))
    };
    Ok(Change {
        id: row.try_get("id")?,
        at: row.try_get("at")?,
        actor: Actor {
            session: row.try_get("session")?,
            recipe: row.try_get("recipe")?,
            discipline: row.try_get("discipline")?,
            tool: row.try_get("tool")?,
        },
        entity: entity(row)?,
        record: row.try_get("record")?,
        action: Action::parse(&action)
            .ok_or_else(|| BoardError::Damaged(format!("the journal says `{action}`")))?,
        before: state("before")?,
        after: state("after")?,
    })
}
