//! Search over documents, on tantivy's index with a ranking of our own.
//!
//! The index holds the terms of each document by field, with their positions. A query is words,
//! never a language: what it finds is scored by field (BM25, the best field and a share of the
//! others), and the best candidates are ranked again by how near its words stand to each other,
//! in the text and in the name. Documents are found; the section that answers best is named.

mod analysis;
mod clean;
mod follow;
mod index;
mod overlay;
mod query;
mod rank;
mod snippet;

pub use follow::Indexing;
pub(crate) use follow::{Coverage, Finder};
pub use index::{Index, Page, SearchError};
pub use query::{Boosts, Hit, Query};

use rutter_base::failure::{Failure, Kind, Report};
use rutter_base::text;

/// What a library answers to a search.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    /// The documents, best first.
    pub hits: Vec<Found>,
    /// Whether documents are still being indexed, so that there may be more.
    pub partial: bool,
}

/// A document that was found, with what a reader wants to know of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Found {
    /// Its address.
    pub uri: String,
    /// The section that answers best.
    pub anchor: Option<String>,
    /// Its title.
    pub name: String,
    /// The source that it comes from.
    pub source: String,
    /// One line around the match, the matched words in `**`.
    pub snippet: String,
    /// How well it answers; comparable within one answer only.
    pub score: f32,
}

/// Why a library did not search.
#[derive(Debug, thiserror::Error)]
pub enum FindError {
    /// There is no such source.
    #[error("there is no source `{source_name}`")]
    UnknownSource {
        /// What was asked for.
        source_name: String,
        /// What there is.
        known: Vec<String>,
    },
    /// The index failed.
    #[error(transparent)]
    Index(#[from] SearchError),
}

impl Failure for FindError {
    fn report(&self) -> Report {
        match self {
            Self::UnknownSource { source_name, known } => {
                let known = text::listed(known.iter().map(String::as_str));
                Report::new(Kind::NotFound, format!("there is no source `{source_name}`"))
                    .hint(format!("the sources are {known}"))
            }
            Self::Index(_) => Report::new(Kind::Internal, "the search failed").hint("try again"),
        }
    }
}
