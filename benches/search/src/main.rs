//! Measures search: how good its answers are, how fast they come, what they cost.
#![expect(
    clippy::disallowed_methods,
    reason = "a bench reads collections and makes a corpus; it serves nobody"
)]

mod collection;
mod corpus;
mod misspelt;
mod peers;
mod probe;
mod relevance;
mod report;

use std::error::Error;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::Instant;

use clap::{Parser, Subcommand};
use collection::Collection;
use probe::Measured;
use report::Speed;

/// The collection whose pages the large corpus is made of.
const PAGES: &str = "k8s";

/// Measures search
#[derive(Debug, Parser)]
struct Arguments {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// How good the answers are; fails when they got worse
    Relevance {
        /// The folder of the test collections
        collections: PathBuf,
        /// The mean nDCG@10 that was reached before
        #[arg(long)]
        baseline: f64,
    },
    /// How fast the answers come, and what they cost
    Speed {
        /// The folder of the test collections
        collections: PathBuf,
        /// The product's binary
        #[arg(long)]
        rutter: Option<PathBuf>,
    },
    /// Measures this one process
    #[command(hide = true)]
    Probe { corpus: PathBuf, cache: PathBuf, queries: PathBuf },
}

fn main() -> ExitCode {
    match run(&Arguments::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let _ = writeln!(std::io::stderr(), "bench-search: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &Arguments) -> Result<(), Box<dyn Error>> {
    let mut out = std::io::stdout();
    match &arguments.what {
        What::Relevance { collections, baseline } => {
            let collections = Collection::all(collections)?;
            let groups = relevance::measure(&collections)?;
            let pages = collections.iter().find(|collection| collection.name == PAGES);
            let misspelt = pages.map(misspelt::measure).transpose()?;
            writeln!(out, "{}", report::relevance(&groups, *baseline, misspelt))?;
            if relevance::mean(&groups) < baseline - relevance::TOLERANCE {
                return Err("the answers got worse".into());
            }
        }
        What::Speed { collections, rutter } => {
            writeln!(out, "{}", report::speed(&speed(collections, rutter.as_deref())?))?;
        }
        What::Probe { corpus, cache, queries } => {
            let measured = probe::measure(corpus, cache.clone(), queries)?;
            writeln!(out, "{}", serde_json::to_string(&measured)?)?;
        }
    }
    Ok(())
}

fn speed(collections: &Path, rutter: Option<&Path>) -> Result<Speed, Box<dyn Error>> {
    let pages = Collection::read(&collections.join(PAGES))?;
    let folder = tempfile::tempdir()?;
    // Where the product finds it without being told.
    let corpus = folder.path().join("docs");
    let queries = folder.path().join("queries.txt");
    let bytes = corpus::write(&corpus, &pages.documents)?;
    let texts: Vec<&str> = pages.queries.iter().map(|query| query.text.as_str()).collect();
    std::fs::write(&queries, texts.join("\n"))?;
    let cache = folder.path().join("cache");
    let probe = || -> Result<Measured, Box<dyn Error>> {
        let own = std::env::current_exe()?;
        let output = Command::new(own).arg("probe").args([&corpus, &cache, &queries]).output()?;
        if !output.status.success() {
            return Err(String::from_utf8_lossy(&output.stderr).into_owned().into());
        }
        Ok(serde_json::from_slice(&output.stdout)?)
    };
    let cold = probe()?;
    let mut warm = [probe()?, probe()?, probe()?];
    warm.sort_by(|a, b| a.p50.total_cmp(&b.p50));
    let [_, warm, _] = warm;
    let terminal = rutter.map(|rutter| terminal(rutter, folder.path())).transpose()?;
    let peers = peers::measure(&corpus, &queries)?;
    let documents = corpus::DOCUMENTS;
    Ok(Speed { documents, bytes, queries: texts.len(), cold, warm, terminal, peers })
}

/// The time of a search in the terminal, in milliseconds, with the index kept from the one before.
fn terminal(rutter: &Path, folder: &Path) -> Result<f64, Box<dyn Error>> {
    let rutter = rutter.canonicalize()?;
    let search = || -> Result<f64, Box<dyn Error>> {
        let began = Instant::now();
        let output = Command::new(&rutter)
            .args(["search", "rolling", "update"])
            .env("RUTTER_CACHE", folder.join("terminal"))
            .current_dir(folder)
            .output()?;
        let took = probe::milliseconds(began);
        if output.stdout.is_empty() {
            Err("`rutter search` found nothing".into())
        } else {
            Ok(took)
        }
    };
    search()?;
    let mut times = [search()?, search()?, search()?];
    times.sort_by(f64::total_cmp);
    let [_, median, _] = times;
    Ok(median)
}
