//! Other programs on the same corpus and queries, where they are installed.

use std::error::Error;
use std::path::Path;
use std::process::Command;
use std::time::Instant;

use serde::Deserialize;

use crate::probe::milliseconds;
use crate::report::Peer;

/// The script beside this program's sources.
const FTS5: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/fts5.py");
/// How many queries ripgrep is asked: each reads the whole corpus.
const RIPGREP_QUERIES: usize = 100;

#[derive(Deserialize)]
struct Fts5 {
    version: String,
    indexing: f64,
    p50: f64,
    p99: f64,
}

/// What `SQLite` FTS5 and ripgrep need.
pub(crate) fn measure(corpus: &Path, queries: &Path) -> Result<Vec<Peer>, Box<dyn Error>> {
    let mut peers = Vec::new();
    if let Ok(output) = Command::new("python3").arg(FTS5).args([corpus, queries]).output() {
        let Fts5 { version, indexing, p50, p99 } = serde_json::from_slice(&output.stdout)
            .map_err(|_| String::from_utf8_lossy(&output.stderr).into_owned())?;
        let name = format!("SQLite {version} FTS5, bm25, through Python");
        peers.push(Peer { name, indexing: Some(indexing), p50, p99 });
    }
    if Command::new("rg").arg("--version").output().is_ok() {
        peers.push(ripgrep(corpus, queries)?);
    }
    Ok(peers)
}

/// Lists the files with any of the words: there is no ranking to compare.
fn ripgrep(corpus: &Path, queries: &Path) -> Result<Peer, Box<dyn Error>> {
    let mut times = Vec::new();
    for query in std::fs::read_to_string(queries)?.lines().take(RIPGREP_QUERIES) {
        let mut command = Command::new("rg");
        command.args(["--count", "--ignore-case", "--word-regexp", "--fixed-strings"]);
        for word in query.split_whitespace() {
            command.args(["-e", word]);
        }
        let began = Instant::now();
        command.arg(corpus).output()?;
        times.push(milliseconds(began));
    }
    times.sort_by(f64::total_cmp);
    let at = |share: usize| times.get(times.len() * share / 100).copied().unwrap_or_default();
    let name = "ripgrep, matching files without a ranking".to_owned();
    Ok(Peer { name, indexing: None, p50: at(50), p99: at(99) })
}
