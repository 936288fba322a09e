//! Measures the board: creations by one process, mixed work by eight, lists over many tasks.
//!
//! The floor is `SQLite` itself: one durable insert a transaction, from Python's standard library,
//! on the same disk in the same run. This side speaks JSON-RPC in plain lines.
#![expect(clippy::disallowed_methods, reason = "a bench makes its own folders; it serves nobody")]

/// Appends a row; writing to a string does not fail.
macro_rules! row {
    ($table:expr, $($cell:tt)*) => {{ let _ = write!($table, "\n| {} |", format_args!($($cell)*)); }};
}

#[expect(dead_code, reason = "the other bench uses the rest")]
mod machine;
mod peers;
#[expect(dead_code, reason = "the other bench uses the rest")]
mod session;

use std::collections::BTreeSet;
use std::error::Error;
use std::fmt::Write as _;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::{Duration, Instant};

use clap::Parser;
use peers::Peers;
use serde_json::{Value, json};
use session::{Program, Session, Wire};
use tempfile::TempDir;

/// How many tasks one process creates.
const CREATIONS: usize = 1_000;
/// How many processes work at once, and how much each does.
const PROCESSES: usize = 8;
const OPERATIONS: usize = 500;
/// How many times a list is asked for.
const LISTS: usize = 200;
/// The board that is listed.
const MANY: usize = 100_000;

/// Inserts rows one by one, each durable; prints the seconds that took.
const RAW: &str = "
import sqlite3, sys, time
c = sqlite3.connect(sys.argv[1], isolation_level=None)
c.execute('pragma journal_mode = wal'); c.execute('pragma synchronous = full')
c.execute('create table t (id integer primary key, title text, note text)')
began = time.perf_counter()
for n in range(int(sys.argv[2])):
    c.execute('insert into t (title, note) values (?, ?)', (f'task {n}', 'x' * 200))
print(time.perf_counter() - began)
";

/// Fills a board with tasks of which each but the first two depends on two before it.
const FILL: &str = "
import sqlite3, sys
c = sqlite3.connect(sys.argv[1]); many = int(sys.argv[2])
ranks = ['low', 'medium', 'high', 'critical']
needs = lambda n: sorted({max(1, n // 2), max(1, n - 1)}) if n > 2 else []
c.executemany('insert into tasks (id, feature, discipline, title, status, priority, depends_on, waiting_for) values (?, ?, ?, ?, ?, ?, ?, ?)',
  ((n, 'auth', 'backend', f'Task number {n}', 'done' if n <= many // 2 else 'pending', ranks[n % 4],
    str(needs(n)).replace(' ', ''), sum(1 for d in needs(n) if d > many // 2)) for n in range(1, many + 1)))
c.executemany('insert into task_dependencies values (?, ?)', ((n, d) for n in range(1, many + 1) for d in needs(n)))
c.commit()
print(c.execute('select count(*) from task_dependencies').fetchone()[0])
";

/// Measures the board
#[derive(Debug, Parser)]
struct Arguments {
    /// The product's binary
    #[arg(long)]
    rutter: PathBuf,
    /// Node.js, to run the peers with
    #[arg(long, requires = "peers")]
    node: Option<PathBuf>,
    /// The folder in which the peers are installed
    #[arg(long, requires = "node")]
    peers: Option<PathBuf>,
}

fn main() -> ExitCode {
    match run(&Arguments::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let _ = writeln!(io::stderr(), "bench: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &Arguments) -> Result<(), Box<dyn Error>> {
    let machine = machine::describe();
    let program = Program {
        path: arguments.rutter.canonicalize()?,
        arguments: ["serve", "--profile", "ralph"].map(Into::into).into(),
    };
    let mut figures =
        format!("Machine: {machine}.\n\n| what | limit | measured | met |\n|---|--:|--:|---|");
    create(&program, &mut figures)?;
    if let (Some(node), Some(folder)) = (&arguments.node, &arguments.peers) {
        let peers = Peers { node: node.canonicalize()?, folder: folder.canonicalize()? };
        peers::measure(&peers, created(&program, peers::CREATIONS)?, &mut figures)?;
        let prompts = Program {
            path: program.path.clone(),
            arguments: ["serve", "--profile", "prompts"].map(Into::into).into(),
        };
        peers::exchange(&peers, &prompts, &mut figures)?;
    }
    work_together(&program, &mut figures)?;
    list(&program, &mut figures)?;
    writeln!(io::stdout(), "{figures}")?;
    Ok(())
}

/// A project on the disk that holds the build: the system's folder for temporary files may be memory.
fn project(program: &Program) -> io::Result<(TempDir, Session)> {
    let beside = program.path.parent().unwrap_or(Path::new("."));
    let folder = TempDir::new_in(beside)?;
    std::fs::create_dir(folder.path().join(".ralph"))?;
    let mut session = open(program, folder.path())?;
    call(&mut session, "create_feature", &json!({"name": "auth", "display_name": "Auth"}))?;
    let discipline =
        json!({"name": "backend", "display_name": "Backend", "icon": "server", "color": "#00f"});
    call(&mut session, "create_discipline", &discipline)?;
    Ok((folder, session))
}

fn open(program: &Program, folder: &Path) -> io::Result<Session> {
    let mut session = Session::start(program, folder, Wire::Pipes)?;
    session.initialize()?;
    session.initialized()?;
    Ok(session)
}

fn call(session: &mut Session, tool: &str, arguments: &Value) -> io::Result<Value> {
    let params = json!({"name": tool, "arguments": arguments});
    let request = session.request("tools/call", &params);
    session.exchange(&request)?;
    Ok(session.result()?.get("structuredContent").cloned().unwrap_or_default())
}

fn new_task(title: &str) -> Value {
    json!({"feature": "auth", "discipline": "backend", "title": title, "description": "x".repeat(200)})
}

fn python(script: &str, file: &Path, number: usize) -> io::Result<f64> {
    let output =
        Command::new("python3").args(["-c", script]).arg(file).arg(number.to_string()).output()?;
    let text = String::from_utf8_lossy(&output.stdout);
    text.trim()
        .parse()
        .map_err(|_| io::Error::other(String::from_utf8_lossy(&output.stderr).into_owned()))
}

/// One process creates tasks, between two runs of the floor.
fn create(program: &Program, table: &mut String) -> Result<(), Box<dyn Error>> {
    let folder = TempDir::new_in(program.path.parent().unwrap_or(Path::new(".")))?;
    let before = python(RAW, &folder.path().join("before.db"), CREATIONS)?;
    let took = created(program, CREATIONS)?.as_secs_f64();
    let after = python(RAW, &folder.path().join("after.db"), CREATIONS)?;
    let floor = f64::midpoint(before, after);
    let ratio = floor / took;
    row!(table, "{CREATIONS} tasks by one process | | {took:.2} s | ");
    row!(
        table,
        "{CREATIONS} durable inserts by SQLite itself, before and after | | {before:.2} s, {after:.2} s | "
    );
    row!(
        table,
        "`create_task`, of the rate of one durable insert | ≥ 0.70 | {ratio:.2} | {}",
        yes(ratio >= 0.7)
    );
    Ok(())
}

/// How long one process takes to create so many tasks on a new board.
fn created(program: &Program, count: usize) -> Result<Duration, Box<dyn Error>> {
    let (_folder, mut session) = project(program)?;
    let began = Instant::now();
    for n in 0..count {
        call(&mut session, "create_task", &new_task(&format!("task {n}")))?;
    }
    Ok(began.elapsed())
}

/// Eight processes do everything at once.
fn work_together(program: &Program, table: &mut String) -> Result<(), Box<dyn Error>> {
    let (folder, mut session) = project(program)?;
    let began = Instant::now();
    let outcomes: Vec<io::Result<Worked>> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..PROCESSES)
            .map(|worker| {
                scope.spawn({
                    let folder = folder.path();
                    move || work(program, folder, worker)
                })
            })
            .collect();
        let lost = || Err(io::Error::other("a worker panicked"));
        workers.into_iter().map(|worker| worker.join().unwrap_or_else(|_| lost())).collect()
    });
    let took = began.elapsed();
    let (mut times, mut ids) = (Vec::new(), BTreeSet::new());
    for outcome in outcomes {
        let worked = outcome?;
        times.extend(worked.times);
        for id in worked.created {
            if !ids.insert(id) {
                return Err(format!("the id {id} was given out twice").into());
            }
        }
    }
    let progress = call(&mut session, "get_project_progress", &json!({}))?;
    let total = progress.get("total").and_then(Value::as_u64).unwrap_or_default();
    if total != ids.len() as u64 {
        return Err(format!("{} tasks were created and {total} are there", ids.len()).into());
    }
    let p99 = percentile(&mut times, 99);
    row!(
        table,
        "{PROCESSES} processes, {OPERATIONS} mixed operations each: errors, lost or repeated ids | 0 | 0 | yes"
    );
    row!(table, "… all of it | | {:.1} s | ", took.as_secs_f64());
    row!(table, "… median | | {:.1} ms | ", milliseconds(percentile(&mut times, 50)));
    row!(
        table,
        "… 99 of 100 | ≤ 250 ms | {:.1} ms | {}",
        milliseconds(p99),
        yes(milliseconds(p99) <= 250.0)
    );
    Ok(())
}

struct Worked {
    times: Vec<Duration>,
    created: Vec<i64>,
}

fn work(program: &Program, folder: &Path, worker: usize) -> io::Result<Worked> {
    let mut session = open(program, folder)?;
    let mut worked = Worked { times: Vec::new(), created: Vec::new() };
    for n in 0..OPERATIONS {
        let last = worked.created.last().copied().unwrap_or_default();
        let (tool, arguments) = match n % 10 {
            1 => ("set_task_status", json!({"id": last, "status": "in_progress"})),
            2 => ("add_task_comment", json!({"task_id": last, "author": "bench", "body": "begun"})),
            3 => ("update_task", json!({"id": last, "priority": "high", "depends_on": []})),
            4 => ("get_task", json!({"id": last})),
            5 => ("list_tasks", json!({"filter_status": "pending"})),
            6 => ("list_ready_tasks", json!({})),
            7 => ("set_task_status", json!({"id": last, "status": "done"})),
            _ => ("create_task", new_task(&format!("task {worker}-{n}"))),
        };
        let began = Instant::now();
        let answer = call(&mut session, tool, &arguments)?;
        worked.times.push(began.elapsed());
        if tool == "create_task" {
            worked.created.extend(answer.get("id").and_then(Value::as_i64));
        }
    }
    Ok(worked)
}

/// Lists over a board with many tasks.
fn list(program: &Program, table: &mut String) -> Result<(), Box<dyn Error>> {
    let (folder, mut session) = project(program)?;
    let dependencies = python(FILL, &folder.path().join(".ralph/db/ralph.db"), MANY)?;
    row!(
        table,
        "tasks and dependencies of the board that is listed | | {MANY}, {dependencies:.0} | "
    );
    for (tool, arguments, limit) in [
        ("list_tasks", json!({}), 10.0),
        ("list_tasks", json!({"filter_status": "pending"}), 10.0),
        ("list_tasks", json!({"cursor": "99000", "limit": 50}), 10.0),
        ("list_ready_tasks", json!({}), 20.0),
    ] {
        let mut times = Vec::new();
        for _ in 0..LISTS {
            let began = Instant::now();
            call(&mut session, tool, &arguments)?;
            times.push(began.elapsed());
        }
        let (median, p99) =
            (milliseconds(percentile(&mut times, 50)), milliseconds(percentile(&mut times, 99)));
        row!(
            table,
            "`{tool}` {arguments}, a round trip: median, 99 of 100 | ≤ {limit} ms | {median:.2} ms, {p99:.2} ms | {}",
            yes(p99 <= limit)
        );
    }
    Ok(())
}

fn percentile(times: &mut [Duration], percent: usize) -> Duration {
    times.sort_unstable();
    times.get(times.len().saturating_sub(1) * percent / 100).copied().unwrap_or_default()
}

fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

fn yes(met: bool) -> &'static str {
    if met { "yes" } else { "**no**" }
}
