//! Measures the tools of the process: on the embedded pack, and on a root of a thousand documents.
//!
//! The time of a call is the one that the server itself logs: from the arguments to the answer,
//! without the pipe and without this side. A call over a pipe costs some microseconds more.

use std::collections::BTreeMap;
use std::error::Error;
use std::fmt::Write as _;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use clap::Args;
use serde_json::{Value, json};

use crate::machine;

/// How often each tool is called, after as many calls to warm up as a session has.
const CALLS: usize = 300;
const WARM_UP: usize = 20;
/// How many articles, and how many capabilities, the large root has.
const DOCUMENTS: usize = 1_000;
/// The targets of the project, in milliseconds.
const MAX_ON_THE_PACK: f64 = 1.0;
const MAX_ON_A_ROOT: f64 = 5.0;

#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// The product's binary
    #[arg(long)]
    rutter: PathBuf,
}

/// The logged milliseconds of each tool's calls, in order of size.
pub(crate) type Times = BTreeMap<String, Vec<f64>>;

/// Measures, and prints the figures.
pub(crate) fn run(arguments: &Arguments) -> Result<(), Box<dyn Error>> {
    let machine = machine::describe();
    let rutter = arguments.rutter.canonicalize()?;
    let folder = tempfile::tempdir()?;
    let (project, root) = (folder.path().join("project"), folder.path().join("root"));
    fs::create_dir(&project)?;
    let made = Command::new(&rutter).args(["check", "--fix"]).current_dir(&project).output()?;
    if !made.status.success() {
        return Err("no project could be made from the stubs".into());
    }
    make_root(&root)?;
    let pack = measure(&rutter, &project, None)?;
    let large = measure(&rutter, &project, Some(&root))?;
    let figures = render(&machine, &pack, &large);
    writeln!(std::io::stdout(), "{figures}")?;
    Ok(())
}

/// The pack's process, with a thousand articles and a thousand capabilities.
fn make_root(root: &Path) -> Result<(), Box<dyn Error>> {
    let pack = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../pack/process"));
    copy(pack, root)?;
    let articles = root.join("kb");
    fs::create_dir_all(&articles)?;
    let paragraph =
        "A paragraph about how work is done, long enough to be one of a real page. ".repeat(8);
    let mut inventory = Vec::new();
    for number in 0..DOCUMENTS {
        let body = format!("{paragraph}\n\n").repeat(7);
        let needle = if number % 100 == 0 { "Here is the Needle.\n" } else { "" };
        let text =
            format!("---\ntitle: Article {number}\n---\n# Article {number}\n\n{body}{needle}");
        fs::write(articles.join(format!("article-{number:04}.md")), text)?;
        let id = format!("capability-{number:04}");
        let registry = root.join("capabilities-registry/capabilities").join(&id);
        fs::create_dir_all(&registry)?;
        fs::write(
            registry.join("capability.yaml"),
            format!("id: {id}\nname: {id}\ntype: skill\ninstall_level: user\ntags: [a, b]\n"),
        )?;
        let tag = if number % 20 == 0 { "rare" } else { "common" };
        inventory.push(
            json!({"id": id, "name": id, "type": "skill", "description": paragraph, "tags": [tag]}),
        );
    }
    let inventory = json!({ "capabilities": inventory }).to_string();
    fs::write(root.join("capabilities-registry/inventory.json"), inventory)?;
    Ok(())
}

fn copy(from: &Path, to: &Path) -> Result<(), Box<dyn Error>> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy(&entry.path(), &target)?;
        } else {
            fs::copy(entry.path(), target)?;
        }
    }
    Ok(())
}

fn calls(on_the_pack: bool) -> Vec<(&'static str, Value)> {
    let (word, tag, id) = if on_the_pack {
        ("review", "review", "rutter-workflow")
    } else {
        ("needle", "rare", "capability-0500")
    };
    vec![
        ("get_stage", json!({"stage": "design"})),
        ("get_review_prompt", json!({"stage": "design", "phase": "internal"})),
        ("get_transition_prompt", json!({"transition": "discover_to_design", "validate": true})),
        ("get_artifact_spec", json!({"artifact": "brief"})),
        ("get_artifact_stub", json!({"artifact": "claude_md", "project_type": "workflow"})),
        ("get_project_type_guidance", json!({"type": "app", "scale": "personal", "scope": "mvp"})),
        ("check_project_structure", json!({})),
        ("check_project_health", json!({})),
        ("get_rules_spec", json!({})),
        ("get_context_spec", json!({"level": "project"})),
        ("query_capabilities", json!({"tags": [tag]})),
        ("get_capability_detail", json!({"capability_id": id})),
        ("query_knowledge", json!({"query": word})),
    ]
}

fn measure(rutter: &Path, project: &Path, root: Option<&Path>) -> Result<Times, Box<dyn Error>> {
    let mut command = Command::new(rutter);
    command.args(["serve", "--profile", "acm"]).current_dir(project).env_clear();
    if let Some(root) = root {
        command.env("ACM_ROOT", root);
    }
    let all = calls(root.is_none());
    logged(command, (0..WARM_UP + CALLS).flat_map(|_| all.clone()), WARM_UP)
}

/// Calls tools one after the other, and gives the times that the server logged, without the first
/// `warm_up` of each tool.
pub(crate) fn logged(
    mut command: Command,
    calls: impl Iterator<Item = (&'static str, Value)>,
    warm_up: usize,
) -> Result<Times, Box<dyn Error>> {
    let log = tempfile::NamedTempFile::new()?;
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(log.reopen()?).spawn()?;
    let mut input = child.stdin.take().ok_or("a child has no streams")?;
    let mut output = BufReader::new(child.stdout.take().ok_or("a child has no streams")?);
    let mut exchange = |request: Value| -> Result<Value, Box<dyn Error>> {
        writeln!(input, "{request}")?;
        let mut line = String::new();
        output.read_line(&mut line)?;
        Ok(serde_json::from_str(&line)?)
    };
    exchange(json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "bench", "version": "0"}}}))?;
    for (name, arguments) in calls {
        let answer = exchange(json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call",
            "params": {"name": name, "arguments": arguments}}))?;
        if answer.pointer("/result/isError") == Some(&Value::Bool(true))
            || answer.get("result").is_none()
        {
            return Err(format!("{name}: {answer}").into());
        }
    }
    drop(input);
    child.wait()?;
    Ok(times(&fs::read_to_string(log.path())?, warm_up))
}

fn times(log: &str, warm_up: usize) -> Times {
    let mut times = Times::new();
    let lines = log.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    for line in lines.filter(|line| line.get("event") == Some(&json!("tool_call"))) {
        if let (Some(tool), Some(ms)) =
            (line.get("tool").and_then(Value::as_str), line.get("ms").and_then(Value::as_f64))
        {
            times.entry(tool.to_owned()).or_default().push(ms);
        }
    }
    for times in times.values_mut() {
        times.drain(..warm_up.min(times.len()));
        times.sort_by(f64::total_cmp);
    }
    times
}

pub(crate) fn quantile(times: &[f64], part: usize) -> f64 {
    times.get(times.len() * part / 100).copied().unwrap_or(f64::NAN)
}

fn render(machine: &str, pack: &Times, large: &Times) -> String {
    let mut text = format!(
        "Machine: {machine}.\n\n\
         | tool | pack: median | p95 | {DOCUMENTS} documents: median | p95 | within {MAX_ON_THE_PACK} and {MAX_ON_A_ROOT} ms |\n\
         |---|--:|--:|--:|--:|---|"
    );
    for (tool, on_pack) in pack {
        let on_root = large.get(tool).map(Vec::as_slice).unwrap_or_default();
        let (a, b) = (quantile(on_pack, 50), quantile(on_root, 50));
        let met = if a < MAX_ON_THE_PACK && b < MAX_ON_A_ROOT { "yes" } else { "**no**" };
        let _ = write!(
            text,
            "\n| `{tool}` | {a:.3} ms | {:.3} ms | {b:.3} ms | {:.3} ms | {met} |",
            quantile(on_pack, 95),
            quantile(on_root, 95)
        );
    }
    text
}
