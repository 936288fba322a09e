//! The rules, written once: what may be changed, and what else changes with it.
//!
//! Everything here works inside a transaction that the store began; an error undoes all of it.

pub(crate) mod acronyms;
pub(crate) mod claims;
pub(crate) mod comments;
pub(crate) mod dependencies;
pub(crate) mod disciplines;
pub(crate) mod features;
pub(crate) mod learnings;
pub(crate) mod lists;
pub(crate) mod project;
pub(crate) mod tasks;
pub(crate) mod undo;

use sqlx::AnyConnection;

use crate::error::BoardError;

/// Remembers that a number was given out, when the record that shows it goes.
async fn retire_number(
    connection: &mut AnyConnection,
    counter: &'static str,
    number: i64,
) -> Result<(), BoardError> {
    sqlx::query(
        "insert into counters (name, value) values ($1, $2) \
         on conflict (name) do update set value = excluded.value where counters.value < excluded.value",
    )
    .bind(counter)
    .bind(number)
    .execute(connection)
    .await?;
    Ok(())
}

/// `new` where there is one: an empty text removes what was there.
fn patch_text(old: &mut Option<String>, new: Option<&str>) {
    if let Some(new) = new {
        *old = Some(new.to_owned()).filter(|text| !text.is_empty());
    }
}

/// `new` where there is one.
fn patch<T>(old: &mut T, new: Option<T>) {
    if let Some(new) = new {
        *old = new;
    }
}
