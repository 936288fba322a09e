//! Why the process did not answer, in words that a caller can act on.

use rutter_base::failure::{Failure, Kind, Report};
use rutter_base::root::ReadError;
use rutter_base::text;

use super::files;

/// Why the process did not answer.
#[derive(Debug, thiserror::Error)]
pub enum GuideError {
    /// There is no such thing.
    #[error("there is no {what} `{name}`")]
    Unknown {
        /// What sort of thing: `artifact`.
        what: &'static str,
        /// What was asked for.
        name: String,
        /// What there is.
        known: Vec<String>,
    },
    /// There is no such stage.
    #[error("stage `{stage}` is not in the process")]
    UnknownStage {
        /// What was asked for.
        stage: String,
        /// What there is.
        known: Vec<String>,
        /// What the manifest says about its absence.
        note: Option<String>,
    },
    /// The manifest names a file that cannot be read.
    #[error("`{file}` cannot be read")]
    Unreadable {
        /// The file, relative to its folder.
        file: String,
        /// What to do about it.
        hint: &'static str,
        /// What is wrong with it.
        #[source]
        cause: ReadError,
    },
    /// What was asked for cannot be had, for the reason that the report gives.
    #[error("{0}")]
    Said(Report),
}

impl Failure for GuideError {
    fn report(&self) -> Report {
        match self {
            Self::UnknownStage { stage, known, note } => {
                let note = note.as_ref().map_or_else(String::new, |note| format!(" {note}"));
                let known = known.join(", ");
                Report::new(
                    Kind::NotFound,
                    format!(
                        "Stage '{stage}' is not yet supported. Supported stages: {known}.{note}"
                    ),
                )
            }
            Self::Unknown { what, name, known } => {
                let report = Report::new(Kind::NotFound, format!("there is no {what} `{name}`"));
                let known: Vec<&str> = known.iter().map(String::as_str).collect();
                if known.is_empty() {
                    return report.hint(format!("this process has no {what}"));
                }
                report.hint(format!("use one of {}", text::listed(known)))
            }
            Self::Unreadable { file, hint, cause } => Report::new(
                Kind::NotFound,
                format!("`{file}` of the process cannot be read: {}", files::plain(cause)),
            )
            .hint(*hint),
            Self::Said(report) => report.clone(),
        }
    }
}
