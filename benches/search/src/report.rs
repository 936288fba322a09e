//! The figures as a page shows them.

use std::collections::BTreeMap;
use std::fmt::Write;

use crate::misspelt;
use crate::probe::Measured;
use crate::relevance::{self, Quality};

/// What other programs reached on the same corpus and queries, in milliseconds.
#[derive(Debug)]
pub(crate) struct Peer {
    pub(crate) name: String,
    pub(crate) indexing: Option<f64>,
    pub(crate) p50: f64,
    pub(crate) p99: f64,
}

/// Everything that was measured of speed.
#[derive(Debug)]
pub(crate) struct Speed {
    pub(crate) documents: usize,
    pub(crate) bytes: u64,
    pub(crate) queries: usize,
    pub(crate) cold: Measured,
    pub(crate) warm: Measured,
    /// `rutter search` as a whole, with the index kept from before.
    pub(crate) terminal: Option<f64>,
    pub(crate) peers: Vec<Peer>,
}

/// How good the answers are.
pub(crate) fn relevance(
    groups: &BTreeMap<String, Quality>,
    baseline: f64,
    misspelt_first: Option<usize>,
) -> String {
    let mut text =
        String::from("| queries | count | nDCG@10 | MRR@10 | Recall@10 |\n|---|--:|--:|--:|--:|\n");
    for (name, quality) in groups {
        let Quality { queries, ndcg, mrr, recall } = quality;
        let _ = writeln!(text, "| {name} | {queries} | {ndcg:.3} | {mrr:.3} | {recall:.3} |");
    }
    let mean = relevance::mean(groups);
    let _ = write!(
        text,
        "\nMean nDCG@10 over the groups: **{mean:.3}** (the bench fails below {:.3}).",
        baseline - relevance::TOLERANCE
    );
    if let Some(first) = misspelt_first {
        let _ = write!(
            text,
            "\nOf {} page titles with one letter wrong, {first} find their page first.",
            misspelt::TITLES
        );
    }
    text
}

/// How fast the answers come, and what they cost.
pub(crate) fn speed(speed: &Speed) -> String {
    let Speed { documents, queries, cold, warm, .. } = speed;
    #[expect(clippy::cast_precision_loss, reason = "a corpus has far fewer bytes than 2^52")]
    let megabytes = speed.bytes as f64 / 1_000_000.0;
    let mut text = format!(
        "Corpus: {documents} documents, {megabytes:.0} MB; {queries} queries, ten results each.\n\n"
    );
    let rate = megabytes / (cold.indexing / 1_000.0);
    let mut row = |what: &str, limit: &str, measured: String, met: bool| {
        let met = if met { "yes" } else { "**no**" };
        let _ = writeln!(text, "| {what} | {limit} | {measured} | {met} |");
    };
    row("target", "limit", "measured".into(), true);
    row("indexing", "≥ 10 MB/s", format!("{rate:.1} MB/s"), rate >= 10.0);
    row("a search, median", "< 2 ms", format!("{:.2} ms", warm.p50), warm.p50 < 2.0);
    row("a search, p99", "< 15 ms", format!("{:.2} ms", warm.p99), warm.p99 < 15.0);
    row(
        "first answer with a kept index, inside the process",
        "< 150 ms",
        format!("{:.0} ms", warm.first_answer),
        warm.first_answer < 150.0,
    );
    if let Some(terminal) = speed.terminal {
        row(
            "the same as `rutter search`, from start to exit",
            "< 150 ms",
            format!("{terminal:.0} ms"),
            terminal < 150.0,
        );
    }
    row(
        "resident memory, index kept from before",
        "< 200 MB",
        format!("{:.0} MB", warm.resident * 1.048_576),
        warm.resident * 1.048_576 < 200.0,
    );
    row(
        "resident memory after indexing everything",
        "< 200 MB",
        format!("{:.0} MB", cold.resident * 1.048_576),
        cold.resident * 1.048_576 < 200.0,
    );
    let text = text.replace(
        "| target | limit | measured | yes |",
        "| target | limit | measured | met |\n|---|--:|--:|---|",
    );
    let mut text = format!(
        "{text}\nPeak while indexing: {:.0} MB. First answer without a kept index, everything indexed before it: {:.1} s.\n\n| on the same corpus and queries | indexing | median | p99 |\n|---|--:|--:|--:|\n| rutter | {:.1} s | {:.2} ms | {:.2} ms |\n",
        cold.peak * 1.048_576,
        cold.first_answer / 1_000.0,
        cold.indexing / 1_000.0,
        warm.p50,
        warm.p99
    );
    for Peer { name, indexing, p50, p99 } in &speed.peers {
        let indexing =
            indexing.map_or_else(|| "none".to_owned(), |ms| format!("{:.1} s", ms / 1_000.0));
        let _ = writeln!(text, "| {name} | {indexing} | {p50:.2} ms | {p99:.2} ms |");
    }
    text
}
