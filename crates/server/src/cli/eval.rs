//! `rutter eval`

use std::collections::BTreeSet;
use std::path::PathBuf;

use clap::Args;
use rutter_base::failure::{Kind, Report};
use rutter_base::root::read_named;
use rutter_base::text;
use rutter_base::yaml;
use serde::{Deserialize, Serialize};

use super::indexing::index_everything;
use super::screen::{Screen, Style};
use super::{FINE, FOUND_ERRORS, Serving, Surroundings};

/// How many documents of each answer count.
const DEPTH: usize = 10;
/// The largest file of queries.
const MAX_FILE: u64 = 4 * 1024 * 1024;

#[derive(Debug, Args)]
#[command(after_help = "The file:
  queries:
    - query: how do I roll back
      expect: [acdc://docs/deploy]      one or more documents that should be found
      source: docs                      optional

Exit code: 0, or 1 when the mean reciprocal rank is below --min-mrr.

Example:
  rutter eval docs/queries.yaml --min-mrr 0.8")]
pub(super) struct Eval {
    /// The file with queries and the documents that they should find
    file: PathBuf,
    #[command(flatten)]
    serving: Serving,
    /// The least mean reciprocal rank
    #[arg(long, value_name = "NUMBER", default_value_t = 0.0)]
    min_mrr: f64,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Questions {
    queries: Vec<Question>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Question {
    query: String,
    expect: BTreeSet<String>,
    #[serde(default)]
    source: Option<String>,
}

#[derive(Serialize)]
struct Outcome {
    query: String,
    /// The place of the first expected document, from 1; none when it is not among the first ten
    rank: Option<usize>,
    /// What share of the expected documents is among the first ten
    recall: f64,
    /// The expected documents that are not
    missed: Vec<String>,
}

#[derive(Serialize)]
struct Score {
    queries: usize,
    mrr: f64,
    recall: f64,
    results: Vec<Outcome>,
}

impl Eval {
    pub(super) fn run(
        &self,
        surroundings: &Surroundings,
        screen: &mut Screen,
    ) -> Result<u8, Report> {
        let questions = self.read(surroundings)?;
        let setup = self.serving.setup(surroundings)?;
        let library = setup.app.library()?;
        index_everything(library)?;
        let boosts = setup.app.search_settings().boosts;
        let mut results = Vec::new();
        for Question { query, expect, source } in questions {
            let answer = library.search(&query, source.as_deref(), DEPTH, boosts)?;
            let found: Vec<&str> = answer.hits.iter().map(|hit| hit.uri.as_str()).collect();
            let rank = found.iter().position(|uri| expect.contains(*uri)).map(|place| place + 1);
            let missed: Vec<String> =
                expect.iter().filter(|uri| !found.contains(&uri.as_str())).cloned().collect();
            let recall = share(expect.len() - missed.len(), expect.len());
            results.push(Outcome { query, rank, recall, missed });
        }
        let reciprocal: f64 =
            results.iter().filter_map(|result| result.rank).map(|rank| share(1, rank)).sum();
        let recall: f64 = results.iter().map(|result| result.recall).sum();
        let count = results.len();
        let score = Score {
            queries: count,
            mrr: reciprocal / as_f64(count),
            recall: recall / as_f64(count),
            results,
        };
        if self.json {
            screen.json(&score);
        } else {
            print(&score, screen);
        }
        Ok(if score.mrr < self.min_mrr { FOUND_ERRORS } else { FINE })
    }

    fn read(&self, surroundings: &Surroundings) -> Result<Vec<Question>, Report> {
        let shown = text::one_line(&self.file.display().to_string());
        let fail = |what: String| Report::new(Kind::Invalid, format!("{shown}{what}"));
        let path = surroundings.folder.join(&self.file);
        let text = read_named(&path, MAX_FILE).map_err(|error| fail(format!(": {error}")))?;
        let questions: Questions = yaml::parse(&text).map_err(|error| {
            let line = error.line.map_or_else(String::new, |line| format!(":{line}"));
            fail(format!("{line}: {}", error.message))
        })?;
        if questions.queries.is_empty() {
            return Err(fail(": there are no queries".into()));
        }
        if let Some(question) = questions.queries.iter().find(|question| question.expect.is_empty())
        {
            let query = text::one_line(&question.query);
            return Err(fail(format!(": the query `{query}` expects no document")));
        }
        Ok(questions.queries)
    }
}

fn as_f64(count: usize) -> f64 {
    u32::try_from(count).map_or(f64::MAX, f64::from)
}

fn share(part: usize, whole: usize) -> f64 {
    as_f64(part) / as_f64(whole.max(1))
}

fn print(score: &Score, screen: &mut Screen) {
    for result in &score.results {
        let Some(rank) = result.rank else {
            let missed = text::listed(result.missed.iter().map(String::as_str));
            let line = format!("missed  {}  (expected {missed})", text::one_line(&result.query));
            screen.line(&screen.styled(Style::Bad, &line));
            continue;
        };
        if rank > 1 {
            let line = format!("{rank:>6}  {}", text::one_line(&result.query));
            screen.line(&screen.styled(Style::Warning, &line));
        }
    }
    screen.line(&format!(
        "{} queries: MRR@{DEPTH} {:.3}, Recall@{DEPTH} {:.3}",
        score.queries, score.mrr, score.recall
    ));
}
