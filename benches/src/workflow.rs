//! Measures the workflow: how fast many prompts are registered, how fast the planner answers on large
//! graphs, and what a durable completion costs against one synced write of the same file.

use std::error::Error;
use std::fmt::Write as _;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use clap::Args;
use serde_json::{Value, json};

use crate::machine;
use crate::process::{logged, quantile};
use crate::session::{Program, Session, Wire};

/// How often the planner is asked.
const QUESTIONS: usize = 200;
/// How often a completion is recorded, and a file written for comparison.
const WRITES: usize = 100;
const WARM_UP: usize = 10;
/// How often a server is started.
const STARTS: usize = 5;
/// The sizes of state files that are written, in completed steps.
const SIZES: [usize; 3] = [10, 1_000, 10_000];
/// The targets of the project.
const MAX_REGISTER: Duration = Duration::from_secs(1);
const MAX_LARGE: f64 = 5.0;
const MAX_SMALL: f64 = 0.1;
const MAX_RATIO: f64 = 3.0;

#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// The product's binary
    #[arg(long)]
    rutter: PathBuf,
}

/// Measures, and prints the figures.
pub(crate) fn run(arguments: &Arguments) -> Result<(), Box<dyn Error>> {
    let machine = machine::describe();
    let rutter = arguments.rutter.canonicalize()?;
    let mut figures =
        format!("Machine: {machine}.\n\n| what | limit | measured | met |\n|---|--:|--:|---|");
    let mut row = |what: &str, limit: &str, measured: &str, met: bool| {
        let met = if met { "yes" } else { "**no**" };
        let _ = write!(figures, "\n| {what} | {limit} | {measured} | {met} |");
    };
    let start = register(&rutter)?;
    let seconds = start.as_secs_f64();
    row(
        "10,000 prompts: from the spawn to the first page of `tools/list`",
        "< 1 s",
        &format!("{seconds:.3} s"),
        start < MAX_REGISTER,
    );
    for (nodes, edges, limit) in [(100, 300, MAX_SMALL), (10_000, 30_000, MAX_LARGE)] {
        let times = suggest(&rutter, nodes, edges)?;
        let median = quantile(&times, 50);
        row(
            &format!("`suggest_next_calls`, {nodes} nodes, {edges} edges, half of them done"),
            &format!("< {limit} ms"),
            &format!("{median:.3} ms (p95 {:.3} ms)", quantile(&times, 95)),
            median < limit,
        );
    }
    for size in SIZES {
        let (advance, write, bytes) = record(&rutter, size)?;
        let ratio = advance / write;
        row(
            &format!(
                "`advance_state`, {size} steps done ({} KiB), against one synced write",
                bytes / 1024
            ),
            &format!("< {MAX_RATIO}×"),
            &format!("{ratio:.2}× ({advance:.2} ms, {write:.2} ms)"),
            ratio < MAX_RATIO,
        );
    }
    let chain = chain(&rutter)?;
    row(
        "a chain of 100,000 steps: `rutter plan --json`",
        "no crash",
        &format!("{chain:.2} s"),
        true,
    );
    writeln!(std::io::stdout(), "{figures}")?;
    Ok(())
}

/// The median time in which a server with many prompts is there.
fn register(rutter: &Path) -> Result<Duration, Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    let prompts = folder.path().join("resources/prompts");
    fs::create_dir_all(&prompts)?;
    let mut meta = "prompts:\n".to_owned();
    for number in 0..10_000 {
        let before = if number == 0 { String::new() } else { format!("p{}", number - 1) };
        let _ = writeln!(
            meta,
            "  - id: p{number}\n    title: Prompt {number}\n    phase: {}\n    description: What prompt {number} is for.\n    \
             dependsOn: [{before}]\n    produces: [a{number}]\n    inputs: [{{name: topic, required: true}}]",
            number % 7
        );
        fs::write(prompts.join(format!("p{number}.md")), "# Do it\n\nAbout {{topic}}.\n")?;
    }
    fs::write(folder.path().join("resources/prompts.meta.yaml"), meta)?;
    let program = Program { path: rutter.to_owned(), arguments: vec!["serve".into()] };
    let mut times = Vec::new();
    for _ in 0..STARTS {
        let began = Instant::now();
        let mut session = Session::start(&program, folder.path(), Wire::Pipes)?;
        session.initialize()?;
        session.initialized()?;
        let request = session.request("tools/list", &json!({}));
        session.exchange(&request)?;
        session.result()?;
        times.push(began.elapsed());
    }
    times.sort();
    times.get(STARTS / 2).copied().ok_or_else(|| "nothing was measured".into())
}

/// A graph in layers, where every node waits for some of the layer before.
fn graph(nodes: usize, edges: usize) -> Value {
    let layer = (nodes / 10).max(1);
    let each = edges.div_ceil(nodes - layer).max(1);
    let node = |number: usize| {
        let before: Vec<String> = match number.checked_sub(layer) {
            None => Vec::new(),
            Some(same) => {
                let first = same / layer * layer;
                (0..each).map(|n| format!("n{}", first + (same * 31 + n * 17) % layer)).collect()
            }
        };
        json!({"id": format!("n{number}"), "title": format!("Step {number}"), "phase": number / layer,
            "dependsOn": before, "produces": []})
    };
    json!({"version": 1, "nodes": (0..nodes).map(node).collect::<Vec<_>>()})
}

fn project(nodes: usize, edges: usize, done: usize) -> Result<tempfile::TempDir, Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    fs::create_dir_all(folder.path().join("resources"))?;
    fs::create_dir_all(folder.path().join(".mcp"))?;
    fs::write(folder.path().join("resources/prompts.meta.yaml"), "[]\n")?;
    fs::write(folder.path().join("resources/default-graph.json"), graph(nodes, edges).to_string())?;
    let completed: serde_json::Map<String, Value> = (0..done)
        .map(|n| (format!("n{n}"), json!({"at": "2026-01-01T00:00:00.000Z", "artifacts": {format!("a{n}"): format!("docs/a{n}.md")}})))
        .collect();
    let artifacts: serde_json::Map<String, Value> =
        (0..done).map(|n| (format!("a{n}"), json!(format!("docs/a{n}.md")))).collect();
    let state = json!({"version": 1, "completed": completed, "artifacts": artifacts});
    fs::write(folder.path().join(".mcp/state.json"), state.to_string())?;
    Ok(folder)
}

fn serve(rutter: &Path, folder: &Path) -> Command {
    let mut command = Command::new(rutter);
    command.args(["serve", "--profile", "prompts"]).current_dir(folder).env_clear();
    command
}

/// The logged milliseconds of the planner.
fn suggest(rutter: &Path, nodes: usize, edges: usize) -> Result<Vec<f64>, Box<dyn Error>> {
    let folder = project(nodes, edges, nodes / 2)?;
    let calls = (0..QUESTIONS + WARM_UP).map(|_| ("suggest_next_calls", json!({})));
    let mut times = logged(serve(rutter, folder.path()), calls, WARM_UP)?;
    times.remove("suggest_next_calls").ok_or_else(|| "the planner logged nothing".into())
}

/// Medians, in milliseconds, of a completion and of one synced write of as many bytes, and how many
/// bytes that is. They take turns, so that a busy moment of the disk meets both.
fn record(rutter: &Path, done: usize) -> Result<(f64, f64, usize), Box<dyn Error>> {
    let folder = project(done + WRITES + WARM_UP, 0, done)?;
    let (state, compared) =
        (folder.path().join(".mcp/state.json"), folder.path().join(".mcp/compared"));
    let (mut writes, mut size, mut failed) = (Vec::new(), 0, None);
    let calls = (0..WRITES + WARM_UP).map(|n| {
        match fs::read(&state).and_then(|bytes| Ok((bytes.len(), synced(&compared, &bytes)?))) {
            Ok((length, time)) => {
                size = length;
                writes.push(time);
            }
            Err(error) => failed = Some(error),
        }
        let id = format!("n{}", done + n);
        ("advance_state", json!({"id": id, "artifacts": {format!("a{}", done + n): "docs/x.md"}}))
    });
    let mut times = logged(serve(rutter, folder.path()), calls, WARM_UP)?;
    if let Some(error) = failed {
        return Err(error.into());
    }
    let advance = times.remove("advance_state").ok_or("nothing was recorded")?;
    writes.drain(..WARM_UP);
    writes.sort_by(f64::total_cmp);
    Ok((quantile(&advance, 50), quantile(&writes, 50), size))
}

/// The milliseconds that one plain write takes until it is on disk.
fn synced(path: &Path, bytes: &[u8]) -> std::io::Result<f64> {
    let began = Instant::now();
    let mut file = fs::File::create(path)?;
    file.write_all(bytes)?;
    file.sync_all()?;
    Ok(began.elapsed().as_secs_f64() * 1e3)
}

/// Seconds to read and print a chain that is far longer than any stack is deep.
fn chain(rutter: &Path) -> Result<f64, Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    fs::create_dir_all(folder.path().join("resources"))?;
    fs::write(folder.path().join("resources/prompts.meta.yaml"), "[]\n")?;
    let node = |n: usize| {
        let before: Vec<String> = n.checked_sub(1).map(|n| format!("n{n}")).into_iter().collect();
        json!({"id": format!("n{n}"), "dependsOn": before})
    };
    let graph = json!({"nodes": (0..100_000).map(node).collect::<Vec<_>>()});
    fs::write(folder.path().join("resources/default-graph.json"), graph.to_string())?;
    let began = Instant::now();
    let output =
        Command::new(rutter).args(["plan", "--json"]).current_dir(folder.path()).output()?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned().into());
    }
    Ok(began.elapsed().as_secs_f64())
}
