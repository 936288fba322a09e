//! The workflow from the terminal, and signals.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};

use crate::binary::{run, rutter, text};

const META: &str = "[{id: first, title: First, produces: [a]}, {id: second, dependsOn: [first], path: prompts/first.md}]";

fn project() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir_all(folder.path().join("resources/prompts")).unwrap();
    std::fs::write(folder.path().join("resources/prompts.meta.yaml"), META).unwrap();
    std::fs::write(folder.path().join("resources/prompts/first.md"), "Go.").unwrap();
    folder
}

/// A server that was started, with the lines of its log.
struct Served {
    child: Child,
    log: BufReader<std::process::ChildStderr>,
    answers: BufReader<std::process::ChildStdout>,
    seen: String,
}

impl Served {
    fn start(folder: &Path, arguments: &[&str], variables: &[(&str, &str)]) -> Self {
        let mut child = rutter(folder, arguments)
            .envs(variables.iter().copied())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let log = BufReader::new(child.stderr.take().unwrap());
        let answers = BufReader::new(child.stdout.take().unwrap());
        let mut served = Self { child, log, answers, seen: String::new() };
        served.wait_for("client_waiting");
        served
    }

    /// Reads the log up to a line with this event.
    fn wait_for(&mut self, event: &str) {
        loop {
            let from = self.seen.len();
            let read = self.log.read_line(&mut self.seen).unwrap();
            assert!(read > 0, "the log ended without {event}:\n{}", self.seen);
            if self.seen[from..].contains(event) {
                return;
            }
        }
    }

    fn signal(&self, name: &str) {
        let pid = self.child.id().to_string();
        assert!(Command::new("kill").args([name, &pid]).status().unwrap().success());
    }

    fn call(&mut self, tool: &str, arguments: &Value) -> Value {
        let meta = json!({"io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientInfo": {"name": "it", "version": "1"},
            "io.modelcontextprotocol/clientCapabilities": {}});
        let request = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call",
            "params": {"name": tool, "arguments": arguments, "_meta": meta}});
        writeln!(self.child.stdin.as_mut().unwrap(), "{request}").unwrap();
        let mut line = String::new();
        self.answers.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap()
    }

    fn end(mut self) -> (Option<i32>, String) {
        drop(self.child.stdin.take());
        let code = self.child.wait().unwrap().code();
        std::io::Read::read_to_string(&mut self.log, &mut self.seen).unwrap();
        (code, self.seen)
    }
}

const SERVE: [&str; 3] = ["serve", "--log-level", "debug"];

#[test]
fn given_sigint_when_received_then_process_exits_after_logging_server_stop() {
    let folder = project();
    let mut served = Served::start(folder.path(), &SERVE, &[]);
    served.call("suggest_next_calls", &json!({}));
    served.signal("-INT");
    let (code, log) = served.end();
    assert_eq!(code, Some(0));
    let lines: Vec<Value> = log.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines.last().unwrap()["event"], "server_stop");
    // Over stdio nobody scrapes: how the tools were used is in the log.
    let usage = lines.iter().find(|line| line["event"] == "usage").unwrap();
    assert_eq!(usage["tools"]["suggest_next_calls"]["calls"], 1, "{usage}");
}

#[test]
fn given_environment_variables_with_secret_like_names_when_server_start_logs_then_log_output_shows_redacted_values()
 {
    let folder = project();
    let secrets = [
        ("RUTTER_STATE_KEY", "hunter2hunter2"),
        ("MY_TOKEN", "t0ken-t0ken"),
        ("API_SECRET", "s3cret-s3cret"),
    ];
    let (_, log) = Served::start(folder.path(), &SERVE, &secrets).end();
    let start: Value = serde_json::from_str(log.lines().next().unwrap()).unwrap();
    for (name, value) in secrets {
        assert_eq!(start["environment"][name], "[redacted]");
        assert!(!log.contains(value), "{name}");
    }
}

#[test]
fn given_modified_default_graph_when_server_receives_sighup_or_hot_reload_command_then_new_graph_is_used_without_crashing()
 {
    let folder = project();
    let variables = [("RUTTER_WATCH", "off")];
    let mut served = Served::start(folder.path(), &SERVE, &variables);
    let ready = |served: &mut Served| {
        let answer = served.call("suggest_next_calls", &json!({}));
        let list = answer["result"]["structuredContent"]["suggestions"].clone();
        list.as_array()
            .unwrap()
            .iter()
            .map(|s| s["id"].as_str().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(ready(&mut served), ["first"]);
    let graph = folder.path().join("resources/default-graph.json");
    std::fs::write(
        &graph,
        r#"{"nodes": [{"id": "first", "dependsOn": ["second"]}, {"id": "second"}]}"#,
    )
    .unwrap();
    served.signal("-HUP");
    served.wait_for("workflow_reloaded");
    assert_eq!(ready(&mut served), ["second"]);
    std::fs::write(&graph, r#"{"nodes": [{"id": "first"}, {"id": "second"}]}"#).unwrap();
    let output = run(folder.path(), &["reload"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    served.wait_for("workflow_reloaded");
    assert_eq!(ready(&mut served), ["first", "second"]);
    // A broken one is told to who asks, and changes nothing.
    std::fs::write(&graph, r#"{"nodes": [{"id": "first", "dependsOn": ["first"]}]}"#).unwrap();
    let output = run(folder.path(), &["reload"]);
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(text(&output.stderr), "rutter: default-graph.json: `first` depends on itself\n");
    served.signal("-HUP");
    served.wait_for("stays as it was");
    assert_eq!(ready(&mut served), ["first", "second"]);
    assert_eq!(served.end().0, Some(0));
}

#[test]
fn plan_shows_what_is_done_ready_and_blocked() {
    let folder = project();
    let shown = text(&run(folder.path(), &["plan"]).stdout);
    assert_eq!(
        shown,
        "no phase\n├─ ▶ first   First\n└─ · second  second (waits for first)\n\n0 done, 1 ready, 1 blocked\n"
    );
    Served::start(folder.path(), &SERVE, &[]).call("advance_state", &json!({"id": "first"}));
    let listing: Value =
        serde_json::from_slice(&run(folder.path(), &["plan", "--json"]).stdout).unwrap();
    assert_eq!((&listing["done"], &listing["steps"][1]["standing"]), (&json!(1), &json!("ready")));
    for (format, mark) in
        [("mermaid", "s_first --> s_second"), ("dot", "\"first\" -> \"second\";"), ("svg", "<svg ")]
    {
        let drawn = text(&run(folder.path(), &["plan", "--graph", format]).stdout);
        assert!(drawn.contains(mark), "{drawn}");
    }
}

#[test]
fn state_is_shown_undone_reset_and_rekeyed() {
    let folder = project();
    let at = folder.path();
    let say = |arguments: &[&str], variables: &[(&str, &str)]| {
        let output = rutter(at, arguments).envs(variables.iter().copied()).output().unwrap();
        (output.status.code().unwrap(), text(&output.stdout) + &text(&output.stderr))
    };
    assert_eq!(say(&["state", "show"], &[]), (0, "nothing is recorded as done\n".into()));
    assert_eq!(say(&["state", "undo"], &[]).1, "there is nothing to undo\n");
    let mut served = Served::start(at, &SERVE, &[]);
    for id in ["first", "second"] {
        served.call("advance_state", &json!({"id": id, "artifacts": {"a": format!("{id}.md")}}));
    }
    served.end();
    assert_eq!(say(&["state", "undo"], &[]), (0, "`second` is not done any more\n".into()));
    let shown: Value = serde_json::from_str(&say(&["state", "show", "--json"], &[]).1).unwrap();
    assert_eq!(shown["artifacts"], json!({"a": "first.md"}));
    assert_eq!(shown["log"].as_array().unwrap().len(), 3);

    let key = [("RUTTER_STATE_NEW_KEY", "first passphrase")];
    assert!(say(&["state", "rekey"], &[]).1.starts_with("rutter: there is no new key"));
    assert_eq!(say(&["state", "rekey"], &key).0, 0);
    let refused = say(&["state", "show"], &[]);
    assert!(refused.0 == 2 && refused.1.contains("there is no key"), "{}", refused.1);
    std::fs::write(at.join("old.key"), "first passphrase\n").unwrap();
    std::fs::write(at.join("new.key"), "42".repeat(32)).unwrap();
    let files = [("RUTTER_STATE_KEY_FILE", "old.key"), ("RUTTER_STATE_NEW_KEY_FILE", "new.key")];
    assert_eq!(say(&["state", "rekey"], &files).0, 0);
    assert_eq!(say(&["state", "show"], &files).0, 2);
    let new = [("RUTTER_STATE_KEY_FILE", "new.key")];
    assert!(say(&["state", "show"], &new).1.starts_with("✓ first"));
    std::fs::write(at.join("empty.key"), "").unwrap();
    assert_eq!(say(&["state", "show"], &[("RUTTER_STATE_KEY_FILE", "empty.key")]).0, 2);
    assert_eq!(say(&["state", "rekey", "--plain"], &new).0, 0);

    let unasked = say(&["state", "reset"], &[]);
    assert_eq!(
        unasked,
        (2, "rutter: nobody can be asked: say --yes to forget everything\n".into())
    );
    assert_eq!(say(&["state", "reset", "--yes"], &[]).0, 0);
    let shown: Value = serde_json::from_str(&say(&["state", "show", "--json"], &[]).1).unwrap();
    assert_eq!(shown["completed"], json!({}));
    assert_eq!(shown["log"].as_array().unwrap().last().unwrap()["change"], "reset");
    let backup = std::fs::read_to_string(at.join(".mcp/state.json.bak")).unwrap();
    assert!(backup.contains("first.md"));
}

#[test]
fn given_implement_stub_run_then_repo_scaffold_exists_and_build_passes_in_ci() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    // The prompt says which command makes the skeleton.
    let mut served = Served::start(at, &SERVE, &[]);
    let answer = served.call("implement_stub", &json!({"language": "rust"}));
    let said = answer["result"]["content"][0]["text"].as_str().unwrap();
    assert!(said.contains("rutter scaffold --kind rust"), "{said}");
    served.end();
    for (kind, tool) in [("rust", "cargo"), ("node", "node"), ("python", "python3")] {
        let output = run(
            at,
            &["scaffold", "--kind", kind, &format!("my-{kind}-with-a-name-of-some-length")],
        );
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
        let made = at.join(format!("my-{kind}-with-a-name-of-some-length"));
        let ci = std::fs::read_to_string(made.join(".github/workflows/ci.yml")).unwrap();
        assert!(ci.contains("run: sh scripts/check"), "{kind}");
        let leftover = text(
            &run(
                at,
                &[
                    "scaffold",
                    "--kind",
                    kind,
                    &format!("my-{kind}-with-a-name-of-some-length"),
                    "--json",
                ],
            )
            .stdout,
        );
        assert!(!leftover.contains("\"written\": true"), "nothing is overwritten: {leftover}");
        // What continuous integration runs, with the tools of this machine; each is in CI as well.
        let there = Command::new(tool).arg("--version").output().is_ok_and(|o| o.status.success());
        assert!(there, "{tool} is needed for the tests");
        let check = Command::new("sh")
            .arg("scripts/check")
            .current_dir(&made)
            .env("CARGO_NET_OFFLINE", "true")
            .env_remove("CARGO_TARGET_DIR")
            .output()
            .unwrap();
        assert!(check.status.success(), "{kind}: {}{}", text(&check.stdout), text(&check.stderr));
    }
    for (arguments, reason) in [
        (vec!["scaffold", "--kind", "rust", "../out"], "the folder is not a path below the folder"),
        (vec!["scaffold", "--kind", "rust", "x", "--name", "A b"], "`A b` cannot name a project"),
    ] {
        let output = run(at, &arguments);
        assert_eq!(output.status.code(), Some(2));
        assert!(text(&output.stderr).contains(reason), "{}", text(&output.stderr));
    }
}
