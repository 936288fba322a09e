//! Why the board did not do what it was asked, in words that an agent can act on.

use rutter_base::failure::{Failure, Kind, Report};
use rutter_base::text::{cap, one_line};

use crate::model::{CommentId, TaskId};

/// Why the board did not do it. Whatever the reason, nothing was changed.
#[derive(Debug, thiserror::Error)]
pub enum BoardError {
    /// An argument cannot be right, whatever the board holds.
    #[error("/{field}: {reason}")]
    Invalid {
        /// The argument.
        field: String,
        /// What is wrong with it.
        reason: String,
    },
    /// There is no such record.
    #[error("there is no {what} `{name}`")]
    Missing {
        /// What kind of record.
        what: &'static str,
        /// Which one.
        name: String,
        /// What to do about it.
        hint: &'static str,
    },
    /// A rule or the present state forbids it.
    #[error("{reason}")]
    Refused {
        /// What stands against it.
        reason: String,
        /// What to do about it.
        hint: String,
    },
    /// Another process kept the database locked for too long.
    #[error("the board is busy")]
    Busy,
    /// There is no room for what is to be written.
    #[error("the disk is full")]
    Full(#[source] sqlx::Error),
    /// The database cannot be read as one, or something in it cannot.
    #[error("the board's database is damaged: {0}")]
    Damaged(String),
    /// The database is of a version that this program does not know.
    #[error("the board's database is of a newer version")]
    Newer,
    /// The database is of an older version and may not be written to.
    #[error("the board's database is of an older version")]
    Older,
    /// What is in the database's place is none of ours.
    #[error("the file `db/ralph.db` is not a board's database")]
    Foreign,
    /// The database was removed while it was open.
    #[error("the board's database was removed while it was open")]
    Removed,
    /// There is no database, and none may be made.
    #[error("there is no board yet")]
    Absent,
    /// The database cannot be opened or used.
    #[error("the board's database cannot be used")]
    Io(#[source] std::io::Error),
    /// The database did not do what it always does.
    #[error("the board's database failed")]
    Database(#[source] sqlx::Error),
}

impl BoardError {
    pub(crate) fn invalid(field: impl Into<String>, reason: impl Into<String>) -> Self {
        Self::Invalid { field: field.into(), reason: reason.into() }
    }

    pub(crate) fn refused(reason: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::Refused { reason: reason.into(), hint: hint.into() }
    }

    pub(crate) fn no_task(id: TaskId) -> Self {
        Self::Missing { what: "task", name: id.to_string(), hint: "list_tasks shows what there is" }
    }

    pub(crate) fn no_comment(id: CommentId) -> Self {
        Self::Missing {
            what: "comment",
            name: id.to_string(),
            hint: "get_task shows the comments of a task",
        }
    }

    pub(crate) fn no_feature(name: &str) -> Self {
        Self::Missing {
            what: "feature",
            name: shown(name),
            hint: "list_features shows what there is",
        }
    }

    pub(crate) fn no_discipline(name: &str) -> Self {
        Self::Missing {
            what: "discipline",
            name: shown(name),
            hint: "list_disciplines shows what there is",
        }
    }
}

/// A name of the caller's, safe to repeat.
pub(crate) fn shown(name: &str) -> String {
    cap(one_line(name), 100)
}

impl Failure for BoardError {
    fn report(&self) -> Report {
        let says = |kind| Report::new(kind, self.to_string());
        match self {
            Self::Invalid { .. } => says(Kind::Invalid),
            Self::Missing { hint, .. } => says(Kind::NotFound).hint(*hint),
            Self::Refused { hint, .. } if hint.is_empty() => says(Kind::Refused),
            Self::Refused { hint, .. } => says(Kind::Refused).hint(hint),
            Self::Busy => says(Kind::Busy).hint("try again"),
            Self::Full(_) => says(Kind::Refused)
                .hint("nothing was changed")
                .hint("free some space and try again"),
            Self::Damaged(_) => says(Kind::Internal).hint(
                "`rutter board integrity` says more, `rutter board restore` brings a backup back",
            ),
            Self::Newer => says(Kind::Refused).hint("use a newer version of this program"),
            Self::Older => {
                says(Kind::Refused).hint("start once without --read-only, which upgrades it")
            }
            Self::Foreign => {
                says(Kind::Refused).hint("move it away, or point `board.path` elsewhere")
            }
            Self::Removed => {
                says(Kind::Refused).hint("put it back, or start again to begin a new one")
            }
            Self::Absent => {
                says(Kind::NotFound).hint("start once without --read-only to begin one")
            }
            Self::Io(_) => says(Kind::Internal)
                .hint("check that `.ralph/db` is a folder that can be written to"),
            Self::Database(_) => says(Kind::Internal).hint("try again"),
        }
    }
}

/// The primary result code of `SQLite` in an extended one.
const PRIMARY: i64 = 0xff;

/// `SQLite`'s primary result code.
fn code(error: &sqlx::Error) -> Option<i64> {
    let code: i64 = error.as_database_error()?.code()?.parse().ok()?;
    Some(code & PRIMARY)
}

/// Whether somebody else held a lock.
pub(crate) fn is_busy(error: &sqlx::Error) -> bool {
    matches!(code(error), Some(5 | 6))
}

impl From<sqlx::Error> for BoardError {
    fn from(error: sqlx::Error) -> Self {
        // The result codes are part of SQLite's file format promise: sqlite.org/rescode.html.
        match code(&error) {
            Some(5 | 6) => Self::Busy,
            Some(10 | 13) => Self::Full(error),
            Some(11) => Self::Damaged("it is malformed".into()),
            Some(26) => Self::Foreign,
            Some(3 | 8 | 14) => Self::Io(std::io::Error::other(error)),
            _ => Self::Database(error),
        }
    }
}

impl From<std::io::Error> for BoardError {
    fn from(error: std::io::Error) -> Self {
        Self::Io(error)
    }
}
