//! Two other boards for agents, each asked over MCP to create tasks, as the product is; and whether
//! one of them reads what the product exports for it.

use std::ffi::OsString;
use std::fmt::Write as _;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::session::{Program, Session, Wire};

/// How many tasks each creates: one of them takes the fifth part of a second for one.
pub(crate) const CREATIONS: usize = 100;

/// Where the peers are.
#[derive(Debug)]
pub(crate) struct Peers {
    /// Node.js.
    pub(crate) node: PathBuf,
    /// The folder with `node_modules`.
    pub(crate) folder: PathBuf,
}

struct Peer {
    package: &'static str,
    /// Its program for the terminal, below the package.
    program: &'static str,
    /// What makes a project.
    init: &'static [&'static str],
    /// What serves it, below the package.
    serve: &'static [&'static str],
    tool: &'static str,
}

const BACKLOG: Peer = Peer {
    package: "backlog.md",
    program: "cli.js",
    init: &["init", "bench", "--defaults"],
    serve: &["cli.js", "mcp", "start"],
    tool: "task_create",
};

const TASK_MASTER: Peer = Peer {
    package: "task-master-ai",
    program: "dist/task-master.js",
    init: &["init", "--yes"],
    serve: &["dist/mcp-server.js"],
    tool: "add_task",
};

/// Measures the peers, next to what the product took for as many tasks.
pub(crate) fn measure(peers: &Peers, product: Duration, table: &mut String) -> io::Result<()> {
    let product = product.as_secs_f64();
    row!(table, "{CREATIONS} tasks by one process: rutter | | {product:.3} s | ");
    for peer in [BACKLOG, TASK_MASTER] {
        let version = peers.version(&peer)?;
        let took = peers.create(&peer)?.as_secs_f64();
        row!(
            table,
            "… {} {version}, `{}` over MCP | | {took:.2} s, {:.1}× as long | ",
            peer.package,
            peer.tool,
            took / product
        );
    }
    Ok(())
}

/// Whether task-master-ai finds every step, its status and its dependencies in what
/// `export_task_list` writes for it.
pub(crate) fn exchange(peers: &Peers, product: &Program, table: &mut String) -> io::Result<()> {
    let folder = TempDir::new()?;
    let mut session = Session::start(product, folder.path(), Wire::Pipes)?;
    session.initialize()?;
    session.initialized()?;
    let mut call = |name: &str, arguments: Value| {
        ask(&mut session, &json!({"name": name, "arguments": arguments}))
    };
    call("advance_state", json!({"id": "discover_research"}))?;
    let exported = call("export_task_list", json!({"format": "taskmaster"}))?;
    let exported = exported.get("structuredContent").cloned().unwrap_or_default();
    let tasks = folder.path().join(".taskmaster/tasks");
    std::fs::create_dir_all(&tasks)?;
    std::fs::write(tasks.join("tasks.json"), exported.to_string())?;
    let output = peers
        .command(&TASK_MASTER, TASK_MASTER.program, folder.path())
        .args(["list", "--json"])
        .output()?;
    // Something for people may follow the list.
    let mut printed = serde_json::Deserializer::from_slice(&output.stdout).into_iter::<Value>();
    let listed = printed.next().transpose()?.unwrap_or_default();
    let ours = facts(exported.pointer("/master/tasks"));
    let same = !ours.is_empty() && ours == facts(listed.get("tasks"));
    row!(
        table,
        "`task-master list` shows what `export_task_list` wrote for it | {0} of {0} | {1} | {2}",
        ours.len(),
        if same { format!("{0} of {0}", ours.len()) } else { "differs".to_owned() },
        crate::yes(same)
    );
    Ok(())
}

/// What both say of a task: they write its numbers differently.
fn facts(tasks: Option<&Value>) -> Vec<[String; 4]> {
    let text = |value: Option<&Value>| value.map(|v| v.to_string().replace('"', ""));
    let fact = |task: &Value| {
        ["id", "title", "status", "dependencies"]
            .map(|name| text(task.get(name)).unwrap_or_default())
    };
    tasks.and_then(Value::as_array).into_iter().flatten().map(fact).collect()
}

impl Peers {
    fn package(&self, peer: &Peer) -> PathBuf {
        self.folder.join("node_modules").join(peer.package)
    }

    fn version(&self, peer: &Peer) -> io::Result<String> {
        let text = std::fs::read_to_string(self.package(peer).join("package.json"))?;
        let about: Value = serde_json::from_str(&text)?;
        Ok(about.get("version").and_then(Value::as_str).unwrap_or("?").to_owned())
    }

    /// Runs a file of a peer in `folder`, which is its home as well.
    fn command(&self, peer: &Peer, file: &str, folder: &Path) -> Command {
        let mut command = Command::new("env");
        command.args(self.line(peer, &[file], folder)).current_dir(folder).stdin(Stdio::null());
        command
    }

    /// The arguments of `env` that start it: a server gets no environment but this.
    fn line(&self, peer: &Peer, file: &[&str], folder: &Path) -> Vec<OsString> {
        let mut home = OsString::from("HOME=");
        home.push(folder);
        let mut path = OsString::from("PATH=");
        path.push(self.node.parent().unwrap_or(Path::new("/usr/bin")));
        path.push(":/usr/bin:/bin");
        // One of them shows few of its tools unless it is told to show all.
        let tools = "TASK_MASTER_TOOLS=all".into();
        let mut line = vec!["-i".into(), home, path, tools, self.node.clone().into()];
        let (file, rest) = file.split_first().map_or(("", &[][..]), |(file, rest)| (*file, rest));
        line.push(self.package(peer).join(file).into());
        line.extend(rest.iter().map(Into::into));
        line
    }

    fn create(&self, peer: &Peer) -> io::Result<Duration> {
        // On the disk that holds the build, as the product's.
        let folder = TempDir::new_in(&self.folder)?;
        let at = folder.path();
        let made = Command::new("git").args(["init", "--quiet"]).current_dir(at).status()?;
        let init = self.command(peer, peer.program, at).args(peer.init).output()?;
        if !made.success() || !init.status.success() {
            let said = String::from_utf8_lossy(&init.stderr).into_owned();
            return Err(io::Error::other(format!("{}: {said}", peer.package)));
        }
        let program = Program { path: "env".into(), arguments: self.line(peer, peer.serve, at) };
        let mut session = Session::start(&program, at, Wire::Pipes)?;
        session.initialize()?;
        session.initialized()?;
        let mut create = |n: usize| {
            let mut arguments =
                json!({"title": format!("task {n}"), "description": "x".repeat(200)});
            if let Some(arguments) = arguments.as_object_mut()
                && peer.tool == TASK_MASTER.tool
            {
                arguments.insert("projectRoot".to_owned(), json!(at));
            }
            ask(&mut session, &json!({"name": peer.tool, "arguments": arguments}))
        };
        create(0)?;
        let began = Instant::now();
        for n in 1..=CREATIONS {
            create(n)?;
        }
        Ok(began.elapsed())
    }
}

/// Calls a tool. What a server says of itself in between is passed over.
fn ask(session: &mut Session, params: &Value) -> io::Result<Value> {
    let request = session.request("tools/call", params);
    session.exchange(&request)?;
    while !session.answered() {
        session.exchange(b"")?;
    }
    session.result()
}
