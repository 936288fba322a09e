//! One process that serves a corpus, and what it measured of itself.

use std::error::Error;
use std::path::{Path, PathBuf};
use std::time::Instant;

use rutter_base::root::Root;
use rutter_library::search::Boosts;
use rutter_library::{Layout, Library, Source, SourceName};
use serde::{Deserialize, Serialize};

/// What a process measured of itself, times in milliseconds and memory in MiB.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Measured {
    /// From the start of `main` to the first answer.
    pub(crate) first_answer: f64,
    /// Finding the files and reading what describes them.
    pub(crate) catalog: f64,
    /// Indexing what was not indexed yet.
    pub(crate) indexing: f64,
    /// The middle and the slowest hundredth of all queries.
    pub(crate) p50: f64,
    pub(crate) p99: f64,
    /// Resident memory at the end, and at its height.
    pub(crate) resident: f64,
    pub(crate) peak: f64,
}

/// Serves `corpus`, keeping its index in `cache`, and asks every line of `queries`.
pub(crate) fn measure(
    corpus: &Path,
    cache: PathBuf,
    queries: &Path,
) -> Result<Measured, Box<dyn Error>> {
    let start = Instant::now();
    let root = Root::open(corpus)?;
    let source = Source {
        name: SourceName::new("corpus")?,
        description: String::new(),
        root,
        layout: Layout::Plain,
    };
    let library = Library::new(vec![source]).keeping_index(cache);
    library.catalog();
    let catalog = milliseconds(start);
    let began = Instant::now();
    library.index_everything()?;
    let indexing = milliseconds(began);
    let search = |query: &str| library.search(query, None, 10, Boosts::default());
    search("rolling update of a deployment")?;
    let first_answer = milliseconds(start);
    let mut times = Vec::new();
    for query in std::fs::read_to_string(queries)?.lines() {
        let began = Instant::now();
        search(query)?;
        times.push(milliseconds(began));
    }
    times.sort_by(f64::total_cmp);
    let at = |share: usize| times.get(times.len() * share / 100).copied().unwrap_or_default();
    Ok(Measured {
        first_answer,
        catalog,
        indexing,
        p50: at(50),
        p99: at(99),
        resident: memory("VmRSS:")?,
        peak: memory("VmHWM:")?,
    })
}

pub(crate) fn milliseconds(since: Instant) -> f64 {
    since.elapsed().as_secs_f64() * 1_000.0
}

fn memory(key: &str) -> Result<f64, Box<dyn Error>> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find(|line| line.starts_with(key)).ok_or("no such line")?;
    let kilobytes: f64 = line.split_whitespace().nth(1).ok_or("no figure")?.parse()?;
    Ok(kilobytes / 1024.0)
}
