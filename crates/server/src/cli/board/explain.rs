//! What went wrong, for a person at a terminal: what is there instead, and which command shows it.

use rutter_base::failure::{Kind, Report};
use rutter_base::text::{closest, one_line};
use rutter_board::{Action, Board, BoardError, Entity, LogFilter};

use super::{disciplines, features};

/// How many ids are suggested.
const SUGGESTED: usize = 5;

/// The words for a failure of the board.
pub(super) async fn explain(board: &Board, error: BoardError) -> Report {
    match error {
        BoardError::Missing { what: "task", name, .. } => no_task(board, &name).await,
        BoardError::Missing { what: "feature", name, .. } => {
            let names = features(board).await.unwrap_or_default();
            no_name("feature", &name, names.iter().map(|entry| entry.name.as_str()))
        }
        BoardError::Missing { what: "discipline", name, .. } => {
            let names = disciplines(board).await.unwrap_or_default();
            no_name("discipline", &name, names.iter().map(|entry| entry.name.as_str()))
        }
        BoardError::Invalid { field, reason } => {
            Report::new(Kind::Invalid, format!("`{}`: {reason}", one_line(&field)))
        }
        BoardError::Refused { reason, hint } if hint.starts_with("list_tasks") => {
            Report::new(Kind::Refused, reason).hint(LIST)
        }
        other => other.into(),
    }
}

const LIST: &str = "`rutter board list` shows what there is";

/// An id that is not there: it may have been deleted, or be another.
async fn no_task(board: &Board, id: &str) -> Report {
    let report = Report::new(Kind::NotFound, format!("there is no task `{id}`"));
    let of = LogFilter {
        entity: Some(Entity::Task),
        record: Some(id.to_owned()),
        ..LogFilter::default()
    };
    let last = board.log(of, 1).await.ok().and_then(|mut log| log.pop());
    if last.is_some_and(|change| change.action == Action::Delete) {
        return report.hint(format!("it was deleted; `rutter board restore {id}` brings it back"));
    }
    // The digits that were meant are most often there but for the last.
    let near = id.get(..id.len().saturating_sub(1)).unwrap_or_default();
    let ids = board.task_ids(near).await.unwrap_or_default();
    let ids: Vec<String> = ids.iter().take(SUGGESTED).map(ToString::to_string).collect();
    if ids.is_empty() || near.is_empty() && ids.len() == SUGGESTED {
        return report.hint(LIST);
    }
    report.hint(format!("did you mean {}?", ids.join(", "))).hint(LIST)
}

/// A name that is not there, with the one that was meant, or all of a few.
pub(super) fn no_name<'a>(
    what: &str,
    name: &str,
    names: impl IntoIterator<Item = &'a str>,
) -> Report {
    let names: Vec<&str> = names.into_iter().collect();
    let report = Report::new(Kind::NotFound, format!("there is no {what} `{}`", one_line(name)));
    match closest(name, names.iter().copied()) {
        Some(meant) => report.hint(format!("did you mean `{meant}`?")),
        None if names.is_empty() => report.hint("the board has none yet"),
        None => {
            let shown = rutter_base::text::listed(names.iter().copied().take(20));
            report.hint(format!("there is {shown}"))
        }
    }
}
