//! Lists: lean, in a fixed order, and one page at a time.
//!
//! A cursor names the last entry that was shown, not a position: entries that come or go between
//! two pages neither repeat nor hide others.

use std::collections::BTreeMap;

use serde::Serialize;
use sqlx::{AnyConnection, Row};

use crate::check::{self, LINE};
use crate::error::BoardError;
use crate::model::{
    DisciplineEntry, FeatureEntry, LinkedTask, Page, PageRequest, Ready, Status, TaskEntry,
    TaskFilter, TaskId,
};
use crate::rows;
use crate::store::{Statement, Value};

/// The most bytes of a page whose length was not asked for. Its entries are sent twice, as data
/// and as text, and together they are to stay below 4,000 bytes.
const SMALL_PAGE: usize = 1_600;
/// The most entries of such a page.
const USUAL: i64 = 50;
/// The most entries of any page.
const MOST: i64 = 200;

/// Ready tasks are in this order; an index is on the same expression.
const RANK: &str =
    "(case priority when 'critical' then 0 when 'high' then 1 when 'low' then 3 else 2 end)";
const ENTRY: &str = "id, title, status, priority, feature, discipline";

/// What is asked for, as conditions with their values.
#[derive(Default)]
struct Conditions {
    texts: Vec<String>,
    values: Vec<Value>,
}

impl Conditions {
    /// Adds a condition; `?` stands for the value.
    fn with(&mut self, condition: &'static str, value: impl Into<Value>) {
        self.values.push(value.into());
        self.texts.push(condition.replace('?', &format!("${}", self.values.len())));
    }

    fn with_text(&mut self, condition: &'static str, value: Option<&str>) {
        if let Some(value) = value {
            self.with(condition, value);
        }
    }

    fn query(
        self,
        before: &str,
        after: &str,
    ) -> sqlx::query::Query<'static, sqlx::Any, sqlx::any::AnyArguments> {
        let conditions = self.texts.join(" and ");
        Statement::new(format!("{before} where {conditions} {after}"), self.values).query()
    }
}

/// Tasks in order of id.
pub(crate) async fn tasks(
    connection: &mut AnyConnection,
    filter: &TaskFilter,
    page: &PageRequest,
) -> Result<Page<TaskEntry>, BoardError> {
    let limit = limit(page)?;
    let after = match &page.cursor {
        None => 0,
        Some(cursor) => cursor.parse().map_err(|_| no_cursor())?,
    };
    for (field, text) in [("filter_tag", &filter.tag), ("filter_text", &filter.text)] {
        check::optional(field, text.as_deref(), LINE)?;
    }
    let mut statement = Conditions::default();
    statement.with("id > ?", after);
    statement.with_text("status = ?", filter.status.map(Status::as_str));
    statement.with_text("feature = ?", filter.feature.as_deref());
    statement.with_text("discipline = ?", filter.discipline.as_deref());
    if let Some(tag) = filter.tag.as_deref().filter(|tag| !tag.is_empty()) {
        // Within a list of texts as JSON, `["` and `,"` begin an entry and nothing else.
        let entry = escaped(&rows::json(&tag));
        statement.with("lower(tags) like lower(?) escape '\\'", format!("%,{entry}%"));
        statement.with("lower(tags) like lower(?) escape '\\'", format!("[{entry}%"));
        let last = statement.texts.pop().unwrap_or_default();
        let first = statement.texts.pop().unwrap_or_default();
        statement.texts.push(format!("({first} or {last})"));
    }
    if let Some(text) = filter.text.as_deref().filter(|text| !text.is_empty()) {
        let pattern = format!("%{}%", escaped(text));
        statement.with(
            "lower(title || ' ' || coalesce(description, '')) like lower(?) escape '\\'",
            pattern,
        );
    }
    let rows = statement
        .query(&format!("select {ENTRY} from tasks"), &format!("order by id limit {}", limit + 1))
        .fetch_all(connection)
        .await?;
    let entries = rows.iter().map(rows::task_entry).collect::<Result<Vec<_>, _>>()?;
    Ok(cut(entries, limit, page.limit.is_none(), |entry| entry.id.to_string()))
}

/// Ready tasks, by priority, then id.
pub(crate) async fn ready_page(
    connection: &mut AnyConnection,
    wanted: &Ready,
    now: &str,
    page: &PageRequest,
) -> Result<Page<TaskEntry>, BoardError> {
    let limit = limit(page)?;
    let after = page.cursor.as_deref().map(ready_cursor).transpose()?;
    let entries = ready(connection, wanted, now, after, limit + 1).await?;
    let page =
        cut(entries, limit, page.limit.is_none(), |(entry, rank)| format!("{rank}.{}", entry.id));
    Ok(Page {
        entries: page.entries.into_iter().map(|(entry, _)| entry).collect(),
        next: page.next,
    })
}

fn ready_cursor(cursor: &str) -> Result<(i64, TaskId), BoardError> {
    let parts = cursor.split_once('.');
    let parts = parts.and_then(|(rank, id)| Some((rank.parse().ok()?, TaskId(id.parse().ok()?))));
    parts.ok_or_else(no_cursor)
}

/// The tasks that can be worked on, with their rank: pending, with every dependency done. A task
/// whose claim is over counts as pending.
pub(crate) async fn ready(
    connection: &mut AnyConnection,
    wanted: &Ready,
    now: &str,
    after: Option<(i64, TaskId)>,
    limit: i64,
) -> Result<Vec<(TaskEntry, i64)>, BoardError> {
    let mut entries = Vec::new();
    // Two statements, so that each has its index: the lapsed ones are few.
    for lapsed in [false, true] {
        let mut statement = Conditions::default();
        if lapsed {
            statement.texts.push("status = 'in_progress' and waiting_for = 0".into());
            statement.with("claim_expires is not null and claim_expires <= ?", now);
        } else {
            statement.texts.push("status = 'pending' and waiting_for = 0".into());
        }
        statement.with_text("feature = ?", wanted.feature.as_deref());
        statement.with_text("discipline = ?", wanted.discipline.as_deref());
        if let Some((rank, id)) = after {
            statement.values.push(rank.into());
            statement.values.push(id.0.into());
            let (rank, id) = (statement.values.len() - 1, statement.values.len());
            // The first says nothing new, but an index can begin there.
            statement.texts.push(format!("{RANK} >= ${rank} and ({RANK}, id) > (${rank}, ${id})"));
        }
        let rows = statement
            .query(
                &format!("select {ENTRY}, {RANK} as place from tasks"),
                &format!("order by {RANK}, id limit {limit}"),
            )
            .fetch_all(&mut *connection)
            .await?;
        for row in &rows {
            let entry = TaskEntry { status: Status::Pending, ..rows::task_entry(row)? };
            entries.push((entry, row.try_get("place")?));
        }
    }
    entries.sort_by_key(|(entry, rank): &(TaskEntry, i64)| (*rank, entry.id));
    entries.truncate(usize::try_from(limit).unwrap_or_default());
    Ok(entries)
}

/// Every task with what it depends on, in order of id.
pub(crate) async fn linked(connection: &mut AnyConnection) -> Result<Vec<LinkedTask>, BoardError> {
    let mut needed: BTreeMap<i64, Vec<TaskId>> = BTreeMap::new();
    let rows = sqlx::query("select task_id, depends_on_id from task_dependencies order by 1, 2")
        .fetch_all(&mut *connection)
        .await?;
    for row in &rows {
        needed.entry(row.try_get(0)?).or_default().push(TaskId(row.try_get(1)?));
    }
    let rows = Statement::new(format!("select {ENTRY} from tasks order by id"), Vec::new())
        .query()
        .fetch_all(connection)
        .await?;
    let linked = |row| {
        let entry = rows::task_entry(row)?;
        let depends_on = needed.remove(&entry.id.0).unwrap_or_default();
        Ok(LinkedTask { entry, depends_on })
    };
    rows.iter().map(linked).collect()
}

/// The ids that begin with these digits.
pub(crate) async fn ids(
    connection: &mut AnyConnection,
    digits: &str,
) -> Result<Vec<TaskId>, BoardError> {
    let ids: Vec<i64> = sqlx::query_scalar(
        "select id from tasks where cast(id as text) like $1 escape '\\' order by id limit 101",
    )
    .bind(format!("{}%", escaped(digits)))
    .fetch_all(connection)
    .await?;
    Ok(ids.into_iter().map(TaskId).collect())
}

/// Features in order of name.
pub(crate) async fn features(
    connection: &mut AnyConnection,
    page: &PageRequest,
) -> Result<Page<FeatureEntry>, BoardError> {
    let rows = named("select * from features", connection, page).await?;
    let entries = rows.iter().map(rows::feature_entry).collect::<Result<Vec<_>, _>>()?;
    Ok(cut(entries, limit(page)?, page.limit.is_none(), |entry| entry.name.to_string()))
}

/// Disciplines in order of name.
pub(crate) async fn disciplines(
    connection: &mut AnyConnection,
    page: &PageRequest,
) -> Result<Page<DisciplineEntry>, BoardError> {
    let rows = named("select * from disciplines", connection, page).await?;
    let entries = rows.iter().map(rows::discipline_entry).collect::<Result<Vec<_>, _>>()?;
    Ok(cut(entries, limit(page)?, page.limit.is_none(), |entry| entry.name.to_string()))
}

async fn named(
    select: &'static str,
    connection: &mut AnyConnection,
    page: &PageRequest,
) -> Result<Vec<sqlx::any::AnyRow>, BoardError> {
    let limit = limit(page)?;
    let mut statement = Conditions::default();
    statement.with("name > ?", page.cursor.clone().unwrap_or_default());
    let query = statement.query(select, &format!("order by name limit {}", limit + 1));
    Ok(query.fetch_all(connection).await?)
}

fn limit(page: &PageRequest) -> Result<i64, BoardError> {
    let limit = page.limit.unwrap_or(USUAL);
    if (1..=MOST).contains(&limit) {
        Ok(limit)
    } else {
        Err(BoardError::invalid("limit", format!("expected a number from 1 to {MOST}")))
    }
}

fn no_cursor() -> BoardError {
    BoardError::invalid("cursor", "not a cursor of this list; list from the beginning")
}

/// Cuts what was found to a page. One more than `limit` was asked for, to know whether there is more.
fn cut<T: Serialize>(
    mut entries: Vec<T>,
    limit: i64,
    small: bool,
    cursor: impl Fn(&T) -> String,
) -> Page<T> {
    let found = entries.len();
    let mut fits = usize::try_from(limit).unwrap_or(usize::MAX).min(found);
    if small {
        let mut size = 0;
        let sizes = entries.iter().map(|entry| rows::json(entry).len());
        let small = sizes.take_while(|bytes| {
            size += bytes;
            size <= SMALL_PAGE
        });
        // At least one: a page that shows nothing leads nowhere.
        fits = fits.min(small.count().max(1));
    }
    entries.truncate(fits);
    let next = entries.last().filter(|_| fits < found).map(cursor);
    Page { entries, next }
}

/// A text as a part of a pattern that matches it alone.
fn escaped(text: &str) -> String {
    let mut pattern = String::with_capacity(text.len());
    for c in text.chars() {
        if matches!(c, '\\' | '%' | '_') {
            pattern.push('\\');
        }
        pattern.push(c);
    }
    pattern
}
