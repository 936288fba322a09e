//! The `search` tool.

use std::fmt::Write;
use std::time::Duration;

use rutter_base::failure::{Kind, Report};
use rutter_base::text;
use rutter_library::search::Answer;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::module::ModuleId;
use crate::tool::{Call, Data, Effect, Tool};

/// The most documents that one search gives.
const MAX_RESULTS: usize = 50;

/// The `search` tool.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Search {
    /// Words; "quoted words" stand together
    query: String,
    /// Only this source
    #[serde(default)]
    source: Option<String>,
    /// Most results, up to 50
    #[serde(default)]
    limit: Option<u32>,
}

/// What was found.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Found {
    /// Best first
    results: Vec<Document>,
    /// Documents are still being indexed; search again for more
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    indexing: bool,
}

/// A document that answers.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Document {
    /// Its URI, with the section that answers best
    uri: String,
    name: String,
    source: String,
    /// One line around the match
    snippet: String,
    score: f32,
}

impl Tool for Search {
    const NAME: &'static str = "search";
    const TITLE: &'static str = "Search the documents";
    const DESCRIPTION: &'static str = "Full-text search over all documents: the fastest way to find out what is \
        known here. Returns the best documents with a line around the match; read the URI for the whole.";
    const MODULE: ModuleId = ModuleId::Knowledge;
    const EFFECT: Effect = Effect::Reads;
    type Output = Data<Found>;

    async fn call(self, call: Call) -> Result<Self::Output, Report> {
        let settings = call.app.search_settings();
        let limit = match self.limit {
            None => settings.max_results,
            Some(limit) => usize::try_from(limit)
                .ok()
                .filter(|limit| (1..=MAX_RESULTS).contains(limit))
                .ok_or_else(|| {
                    Report::new(
                        Kind::Invalid,
                        format!("/limit: expected a number from 1 to {MAX_RESULTS}"),
                    )
                })?,
        };
        let Self { query, source, .. } = self;
        let (asked, wanted) = (query.clone(), source.clone());
        let search = || {
            let (query, source) = (query.clone(), source.clone());
            call.app.with_library(move |library| {
                library.search(&query, source.as_deref(), limit, settings.boosts)
            })
        };
        let mut answer = search().await??;
        if answer.partial && await_index(&call).await? {
            answer = search().await??;
        }
        let text = summary(&asked, wanted.as_deref(), &answer);
        let results = answer.hits.into_iter().map(|hit| Document {
            uri: hit
                .anchor
                .map_or_else(|| hit.uri.clone(), |anchor| format!("{}#{anchor}", hit.uri)),
            name: hit.name,
            source: hit.source,
            snippet: hit.snippet,
            score: (hit.score * 100.0).round() / 100.0,
        });
        Ok(Data {
            text: Some(text),
            value: Found { results: results.collect(), indexing: answer.partial },
        })
    }
}

/// How long a caller who asked for progress is kept waiting for a whole answer.
const PATIENCE: Duration = Duration::from_secs(1);
/// How often such a caller is told.
const EVERY: Duration = Duration::from_millis(100);

/// Tells a caller who asked for it how far the indexing is, for a moment. Says whether it ended.
async fn await_index(call: &Call) -> Result<bool, Report> {
    let library = call.app.library()?;
    if !call.wants_progress() {
        return Ok(false);
    }
    let begun = tokio::time::Instant::now();
    while begun.elapsed() < PATIENCE {
        let Some(indexing) = library.indexing() else { return Ok(true) };
        #[expect(clippy::cast_precision_loss, reason = "progress needs no more")]
        call.progress(indexing.done as f64, indexing.total as f64, "indexing documents").await;
        tokio::time::sleep(EVERY).await;
    }
    Ok(false)
}

/// The results as a reader without structured data sees them.
fn summary(query: &str, source: Option<&str>, answer: &Answer) -> String {
    let query = text::cap(text::one_line(query), 200);
    let place = source.map_or_else(String::new, |source| format!(" in source '{source}'"));
    let mut summary = if answer.hits.is_empty() {
        format!(
            "No results found for '{query}'{place}. Try other words, or list the resources to see what there is."
        )
    } else {
        let mut summary = format!("Search results for '{query}'{place}:\n");
        for hit in &answer.hits {
            let _ = write!(
                summary,
                "\n- [{}] [{}]({}): {} (relevance: {:.2})",
                hit.source, hit.name, hit.uri, hit.snippet, hit.score
            );
        }
        summary
    };
    if answer.partial {
        summary
            .push_str("\n\nDocuments are still being indexed: search again in a moment for more.");
    }
    summary
}
