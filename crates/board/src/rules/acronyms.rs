//! Acronyms are unique among features, and among disciplines.

use std::collections::BTreeSet;

use sqlx::AnyConnection;

use crate::check;
use crate::error::{BoardError, shown};
use crate::model::Acronym;

/// The acronyms that are taken by others than `owner`.
pub(crate) const FEATURES: &str = "select acronym from features where name <> $1";
/// The acronyms that are taken by others than `owner`.
pub(crate) const DISCIPLINES: &str = "select acronym from disciplines where name <> $1";

/// The acronym that is asked for if it is free, else the first free one that the name suggests.
pub(crate) async fn choose(
    connection: &mut AnyConnection,
    taken: &'static str,
    owner: &str,
    wanted: Option<&str>,
) -> Result<Acronym, BoardError> {
    let wanted = wanted.map(|wanted| check::acronym("acronym", wanted)).transpose()?;
    let taken: BTreeSet<String> = sqlx::query_scalar::<_, String>(taken)
        .bind(owner)
        .fetch_all(connection)
        .await?
        .into_iter()
        .collect();
    let is_free = |acronym: &Acronym| !taken.contains(acronym.as_str());
    match wanted {
        Some(wanted) if is_free(&wanted) => Ok(wanted),
        Some(wanted) => Err(BoardError::refused(
            format!("the acronym `{wanted}` is taken"),
            "choose another, or leave it out to have one derived",
        )),
        None => Acronym::derived(owner).find(is_free).ok_or_else(|| {
            BoardError::refused(
                format!("no free acronym can be derived from `{}`", shown(owner)),
                "pass `acronym`",
            )
        }),
    }
}
