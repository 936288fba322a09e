//! The real binary, as a person starts it. Few: each costs a process.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStderr, Command, Output, Stdio};

use serde_json::{Value, json};

pub(crate) fn rutter(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_rutter"));
    command
        .args(arguments)
        .current_dir(folder)
        .env_clear()
        .env("PATH", "/usr/bin:/bin")
        .stdin(Stdio::null());
    command
}

/// A server that runs, what it will log, and what it logged so far.
pub(crate) struct Running {
    pub(crate) child: Child,
    log: BufReader<ChildStderr>,
    pub(crate) lines: Vec<String>,
}

/// Starts a server and reads its log until a line that has one of `signs`.
pub(crate) fn started(mut command: Command, signs: &[&str]) -> Running {
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let mut log = BufReader::new(child.stderr.take().unwrap());
    let mut lines: Vec<String> = Vec::new();
    while !lines.last().is_some_and(|line| signs.iter().any(|sign| line.contains(sign))) {
        let mut line = String::new();
        assert!(log.read_line(&mut line).unwrap() > 0, "the server is gone: {lines:?}");
        lines.push(line);
    }
    Running { child, log, lines }
}

impl Running {
    /// Where a server over HTTP said that it listens.
    pub(crate) fn address(&self) -> String {
        let listening: Value = serde_json::from_str(self.lines.last().unwrap()).unwrap();
        let url = listening["url"].as_str().unwrap();
        url.trim_start_matches("http://").split('/').next().unwrap().to_owned()
    }

    pub(crate) fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

#[track_caller]
pub(crate) fn run(folder: &Path, arguments: &[&str]) -> Output {
    rutter(folder, arguments).output().unwrap()
}

pub(crate) fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

#[test]
fn a_wrong_configuration_ends_the_start_with_one_line_and_code_2() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("rutter.yaml"), "server: {}\ncontnet: []\n").unwrap();
    for verb in ["serve", "tools", "check"] {
        let output = run(folder.path(), &[verb]);
        assert_eq!(output.status.code(), Some(2), "{verb}");
        assert_eq!(text(&output.stdout), "");
        assert_eq!(
            text(&output.stderr),
            "rutter: rutter.yaml:2: unknown key `contnet`; did you mean `content`?\n"
        );
    }
    let output = run(folder.path(), &["doctor"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(
        text(&output.stdout).contains("would not start: rutter.yaml:2"),
        "{}",
        text(&output.stdout)
    );
    let output = run(folder.path(), &["serve", "--config", "nowhere.yaml"]);
    assert_eq!(
        text(&output.stderr),
        "rutter: the configuration file `nowhere.yaml` cannot be used: there is no such file\n"
    );
}

#[test]
fn what_is_misspelt_is_suggested() {
    let folder = tempfile::tempdir().unwrap();
    for (arguments, hint) in [(["serv", ""], "'serve'"), (["tools", "--profil"], "'--profile'")] {
        let arguments: Vec<&str> =
            arguments.into_iter().filter(|argument| !argument.is_empty()).collect();
        let output = run(folder.path(), &arguments);
        assert_eq!(output.status.code(), Some(2));
        assert!(text(&output.stderr).contains(hint), "{}", text(&output.stderr));
    }
}

#[test]
fn check_finds_problems_and_says_so_in_three_formats() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    std::fs::write(at.join("rutter.yaml"), "content: [{name: kb, path: kb}]\n").unwrap();
    std::fs::create_dir_all(at.join("kb/mcp-resources")).unwrap();
    std::fs::create_dir_all(at.join("kb/mcp-prompts")).unwrap();
    std::fs::write(at.join("kb/mcp-resources/bad.md"), "---\nname: x\n---\n").unwrap();
    std::fs::write(at.join("kb/mcp-prompts/p.md"), "---\nname: p\n---\n{{undeclared}}\n").unwrap();
    let output = run(at, &["check"]);
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(
        text(&output.stdout),
        "warning: kb/mcp-prompts/p.md: `{{undeclared}}` is no declared argument and stays as it is\n\
         error: kb/mcp-resources/bad.md:1: `description` is missing in the frontmatter\n1 errors, 1 warnings\n"
    );
    let json: Value = serde_json::from_slice(&run(at, &["check", "--json"]).stdout).unwrap();
    assert_eq!((&json["errors"], &json["problems"][1]["line"]), (&json!(1), &json!(1)));
    let github = text(&run(at, &["check", "--format", "github"]).stdout);
    assert!(
        github.contains("::error file=kb/mcp-resources/bad.md,line=1::`description` is missing"),
        "{github}"
    );
}

#[test]
fn check_looks_at_the_project_and_makes_what_it_lacks() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let fine = run(at, &["check"]);
    assert_eq!((fine.status.code(), text(&fine.stdout)), (Some(0), "no problems found\n".into()));
    let output = run(at, &["check", "--project"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(
        text(&output.stdout).starts_with("error: .claude/CLAUDE.md: missing\n")
            && text(&output.stdout)
                .ends_with("project: 0 of 22 checks passed\n9 errors, 0 warnings\n"),
        "{}",
        text(&output.stdout)
    );
    std::fs::create_dir_all(at.join("docs")).unwrap();
    std::fs::write(at.join("docs/intent.md"), "# Mine\n").unwrap();
    std::fs::write(at.join("status.md"), "# Mine\n").unwrap();
    let github = text(&run(at, &["check", "--format", "github"]).stdout);
    assert!(
        github.contains("::error file=docs/intent.md::no heading says `Outcome`\n"),
        "{github}"
    );
    assert!(github.contains("::error file=docs/brief.md::missing\n"), "{github}");

    let refused = run(at, &["check", "--fix", "--read-only"]);
    assert_eq!(refused.status.code(), Some(2), "{}", text(&refused.stdout));
    let refused = run(at, &["check", "--fix", "--type", "game"]);
    assert_eq!(
        text(&refused.stderr),
        "rutter: there is no project type `game`; use one of `app`, `workflow`, `artifact`\n"
    );
    assert!(!at.join(".claude").exists() && !at.join("README.md").exists());
    let output = run(at, &["check", "--fix", "--type", "workflow", "--json"]);
    let json: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(
        json["project"]["made"],
        json!([
            ".claude/CLAUDE.md",
            ".claude/rules/constraints.md",
            "docs/brief.md",
            "docs/inbox/.gitkeep",
            "_archive/.gitkeep",
            "README.md"
        ])
    );
    assert_eq!(std::fs::read(at.join("status.md")).unwrap(), b"# Mine\n");
    assert_eq!(output.status.code(), Some(1), "what a person wrote is for a person to mend");

    let fresh = tempfile::tempdir().unwrap();
    let output = run(fresh.path(), &["check", "--fix"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stdout));
    assert!(
        text(&output.stdout).ends_with("project: 22 of 22 checks passed\nno problems found\n"),
        "{}",
        text(&output.stdout)
    );
    let again = text(&run(fresh.path(), &["check", "--fix"]).stdout);
    assert_eq!(again, "project: 22 of 22 checks passed\nno problems found\n");
    let elsewhere = run(at, &["check", "--project", &fresh.path().display().to_string(), "--json"]);
    let json: Value = serde_json::from_slice(&elsewhere.stdout).unwrap();
    assert_eq!(json["project"]["passed"], 22);
    let nowhere = run(at, &["check", "--project", "no\u{1b}where"]);
    assert_eq!(
        text(&nowhere.stderr),
        "rutter: --project: the folder `no\u{FFFD}where` cannot be opened: entity not found\n"
    );
}

/// What the process never does: the calls that open for writing, make, move or remove.
#[cfg(target_os = "linux")]
#[test]
fn the_process_opens_nothing_for_writing() {
    if Command::new("strace").arg("-V").output().is_err() {
        // `nothing_in_a_project_is_changed` holds the same from the outside.
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    run(folder.path(), &["check", "--fix"]);
    let trace = tempfile::NamedTempFile::new().unwrap();
    let mut child = Command::new("strace")
        .args(["-f", "-qq", "-e", "trace=%file,ftruncate,fchmod,fchown", "-o"])
        .arg(trace.path())
        .args([env!("CARGO_BIN_EXE_rutter"), "serve", "--profile", "acm"])
        .current_dir(folder.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    let mut output = std::io::BufReader::new(child.stdout.take().unwrap());
    let mut answer = || {
        let mut line = String::new();
        assert!(std::io::BufRead::read_line(&mut output, &mut line).unwrap() > 0);
        serde_json::from_str::<Value>(&line).unwrap()
    };
    let opening = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
        "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "it", "version": "1"}}});
    writeln!(input, "{opening}").unwrap();
    answer();
    for (name, arguments) in crate::process::every_call() {
        let params = json!({"name": name, "arguments": arguments});
        writeln!(
            input,
            "{}",
            json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params})
        )
        .unwrap();
        assert!(answer()["result"]["content"].is_array(), "{name}");
    }
    drop(input);
    assert!(child.wait().unwrap().success());
    let calls = std::fs::read_to_string(trace.path()).unwrap();
    assert!(calls.contains("status.md"), "the trace shows what was read");
    // Its own standard streams it may write to.
    let own =
        |call: &str| ["\"/dev/null\"", "\"/proc/self/fd/"].iter().any(|path| call.contains(path));
    let writing = calls.lines().filter(|call| {
        let opens = ["O_WRONLY", "O_RDWR", "O_CREAT", "O_TRUNC", "O_APPEND"];
        let changes = [
            "creat(", "mkdir", "rename", "unlink", "rmdir", "link(", "linkat(", "truncate",
            "chmod", "chown", "utime", "mknod",
        ];
        let changes = changes.iter().any(|name| call.contains(name)) && !call.contains("readlink");
        (opens.iter().any(|flag| call.contains(flag)) || changes) && !own(call)
    });
    assert_eq!(writing.collect::<Vec<_>>(), [""; 0]);
}

#[test]
fn over_http_only_configured_folders_are_looked_at() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir_all(folder.path().join("shared/p")).unwrap();
    std::fs::write(folder.path().join("rutter.yaml"), "process: {project_roots: [shared]}\n")
        .unwrap();
    let command = rutter(folder.path(), &["serve", "--transport", "http", "--port", "0"]);
    let server = started(command, &["\"listening\""]);
    let address = server.address();
    for (path, expected) in [
        (json!("shared/p"), "Project Structure Check: shared/p"),
        (json!("."), "below a folder that the operator named in `process.project_roots`"),
        (json!("~/"), "below a folder that the operator named in `process.project_roots`"),
        (Value::Null, "below a folder that the operator named in `process.project_roots`"),
    ] {
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {
            "name": "check_project_structure", "arguments": {"project_path": path}, "_meta": {
                "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                "io.modelcontextprotocol/clientInfo": {"name": "it", "version": "1"},
                "io.modelcontextprotocol/clientCapabilities": {}}}})
        .to_string();
        let mut stream = std::net::TcpStream::connect(&address).unwrap();
        write!(
            stream,
            "POST /mcp HTTP/1.1\r\nhost: {address}\r\ncontent-type: application/json\r\n\
             accept: application/json, text/event-stream\r\nmcp-protocol-version: 2026-07-28\r\n\
             mcp-method: tools/call\r\nmcp-name: check_project_structure\r\nconnection: close\r\n\
             content-length: {}\r\n\r\n{body}",
            body.len()
        )
        .unwrap();
        let mut answer = String::new();
        std::io::Read::read_to_string(&mut stream, &mut answer).unwrap();
        assert!(answer.contains(expected), "{path}: {answer}");
    }
    server.kill();
}

#[test]
fn check_reads_the_documents() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    std::fs::create_dir_all(at.join("docs")).unwrap();
    std::fs::write(at.join("docs/a.md"), "# A\n\n[b](b.md)\nx\u{202E}y\n").unwrap();
    let output = run(at, &["check"]);
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(
        text(&output.stdout),
        "error: docs/a.md:3: links to `b.md`, which does not exist\n\
         warning: docs/a.md:4: has U+202E (changes the order in which text is shown): remove it\n1 errors, 1 warnings\n"
    );
    let json: Value =
        serde_json::from_slice(&run(at, &["check", "--format", "json"]).stdout).unwrap();
    assert_eq!(
        json["problems"][0],
        json!({"module": "knowledge", "file": "docs/a.md", "line": 3, "severity": "error",
            "message": "links to `b.md`, which does not exist"})
    );
    let github = text(&run(at, &["check", "--format", "github"]).stdout);
    assert!(github.starts_with("::error file=docs/a.md,line=3::links to `b.md`"), "{github}");
    // Starting does not read every document, and neither does a diagnosis.
    assert_eq!(run(at, &["doctor"]).status.code(), Some(0));
}

#[test]
fn a_description_of_a_tool_that_is_not_there_is_a_warning() {
    let folder = tempfile::tempdir().unwrap();
    let config = "tools:\n  - {name: read, description: Mine}\n  - {name: serch, description: x}\n";
    std::fs::write(folder.path().join("rutter.yaml"), config).unwrap();
    let output = run(folder.path(), &["check"]);
    assert_eq!(output.status.code(), Some(0));
    let expected = "warning: rutter.yaml: `tools` describes `serch`, which is no tool here\n0 errors, 1 warnings\n";
    assert_eq!(text(&output.stdout), expected);
}

#[test]
fn tools_adds_up_what_a_session_costs() {
    let folder = tempfile::tempdir().unwrap();
    let listing: Value =
        serde_json::from_slice(&run(folder.path(), &["tools", "--json"]).stdout).unwrap();
    let tools = listing["tools"].as_array().unwrap();
    let sum: u64 = tools.iter().map(|tool| tool["bytes"].as_u64().unwrap()).sum();
    assert_eq!(listing["total"]["bytes"], sum);
    let acm: Value = serde_json::from_slice(
        &run(folder.path(), &["tools", "--json", "--profile", "acm"]).stdout,
    )
    .unwrap();
    assert_eq!(acm["tools"].as_array().unwrap().len(), 13);
    let plain = text(&run(folder.path(), &["tools"]).stdout);
    assert!(!plain.contains('\u{1b}'), "colours without a terminal");
}

#[test]
fn completions_are_scripts() {
    let folder = tempfile::tempdir().unwrap();
    for shell in ["bash", "zsh", "fish"] {
        let script = text(&run(folder.path(), &["completions", shell]).stdout);
        assert!(script.contains("rutter") && script.contains("doctor"), "{shell}");
    }
}

#[test]
fn stdout_is_for_messages_alone_and_the_log_says_start_and_stop() {
    let folder = tempfile::tempdir().unwrap();
    let mut command = rutter(folder.path(), &["serve"]);
    command.env("MY_API_TOKEN", "hunter2-hunter2").env("RUTTER_STATE_KEY", "hunter3-hunter3");
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let opening = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "hunter3-hunter3", "version": "1"}}});
    // No line feed at the end: it is a line all the same.
    write!(child.stdin.take().unwrap(), "{opening}").unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    let stdout = text(&output.stdout);
    assert_eq!(stdout.lines().count(), 1, "{stdout}");
    let answer: Value = serde_json::from_str(&stdout).unwrap();
    assert_eq!(answer["result"]["serverInfo"]["name"], "rutter");
    let stderr = text(&output.stderr);
    let log: Vec<Value> = stderr.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(log.first().unwrap()["event"], "server_start");
    assert_eq!(log.first().unwrap()["environment"]["MY_API_TOKEN"], "[redacted]");
    assert_eq!(log.last().unwrap()["event"], "server_stop");
    assert!(
        log.iter()
            .all(|line| ["ts", "level", "event", "msg"].iter().all(|key| line[key].is_string()))
    );
    assert!(log.iter().any(|line| line["correlation_id"].is_string()));
    assert!(!stderr.contains("hunter"), "{stderr}");
}

#[test]
fn a_server_that_shall_be_locked_is_never_left_open() {
    let folder = tempfile::tempdir().unwrap();
    for (variables, expected) in [
        (
            &[("ACDC_MCP_AUTH_TYPE", "digest")][..],
            "RUTTER_AUTH_TYPE: expected none, basic, apikey or oauth",
        ),
        (&[("ACDC_MCP_AUTH_TYPE", "basic")], "RUTTER_AUTH_BASIC_USERNAME: `basic` needs a name"),
        (
            &[("RUTTER_AUTH_TYPE", "basic"), ("RUTTER_AUTH_BASIC_USERNAME", "ada")],
            "RUTTER_AUTH_BASIC_PASSWORD: `basic` needs a password",
        ),
        (&[("RUTTER_AUTH_TYPE", "apikey")], "RUTTER_AUTH_API_KEYS: `apikey` needs keys"),
        (
            &[("RUTTER_AUTH_TYPE", "apikey"), ("RUTTER_AUTH_API_KEYS", "one,,two")],
            "RUTTER_AUTH_API_KEYS: `apikey` needs keys, and none may be empty",
        ),
        (&[("RUTTER_AUTH_API_KEYS", "one")], "RUTTER_AUTH_TYPE: there are credentials"),
    ] {
        let mut command = rutter(folder.path(), &["serve", "--transport", "http", "--port", "0"]);
        let output = command.envs(variables.iter().copied()).output().unwrap();
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.contains(expected), "{said}");
    }
}

#[test]
fn over_http_only_callers_with_a_key_are_answered() {
    let folder = tempfile::tempdir().unwrap();
    let mut command =
        rutter(folder.path(), &["serve", "--transport", "http", "--port", "0", "-H", "127.0.0.1"]);
    command.env("ACDC_MCP_AUTH_TYPE", "apikey");
    command.env("ACDC_MCP_AUTH_API_KEYS", "first-key, second-key");
    let server = started(command, &["\"listening\""]);
    let address = server.address();
    let told = server.lines.iter().any(|line| line.contains("first-key"));
    assert!(!told, "{:?}", server.lines);
    for (path, key, status) in [
        ("/metrics", "", 401),
        ("/metrics", "x-api-key: third-key\r\n", 401),
        ("/mcp", "", 401),
        ("/nowhere", "", 401),
        ("/metrics", "x-api-key: second-key\r\n", 200),
    ] {
        let mut stream = std::net::TcpStream::connect(&address).unwrap();
        write!(stream, "GET {path} HTTP/1.1\r\nhost: {address}\r\n{key}connection: close\r\n\r\n")
            .unwrap();
        let mut answer = String::new();
        std::io::Read::read_to_string(&mut stream, &mut answer).unwrap();
        assert!(answer.starts_with(&format!("HTTP/1.1 {status}")), "{path} {key}: {answer}");
    }
    server.kill();
}

#[cfg(unix)]
#[test]
fn signals_end_the_server_with_code_0() {
    let folder = tempfile::tempdir().unwrap();
    for signal in ["-INT", "-TERM"] {
        for transport in [
            &["serve", "--log-level", "debug"][..],
            &["serve", "--transport", "http", "--port", "0"][..],
        ] {
            let mut command = rutter(folder.path(), transport);
            command.stdin(Stdio::piped());
            // From these lines on, signals are caught.
            let Running { mut child, mut log, .. } =
                started(command, &["client_waiting", "listening"]);
            assert!(
                Command::new("kill")
                    .args([signal, &child.id().to_string()])
                    .status()
                    .unwrap()
                    .success()
            );
            assert_eq!(child.wait().unwrap().code(), Some(0), "{signal} {transport:?}");
            let mut rest = String::new();
            std::io::Read::read_to_string(&mut log, &mut rest).unwrap();
            assert!(rest.lines().last().unwrap().contains("server_stop"), "{rest}");
        }
    }
}

#[test]
fn search_and_eval_answer_in_the_terminal() {
    let folder = tempfile::tempdir().unwrap();
    let found = text(&run(folder.path(), &["search", "acceptance", "criteria"]).stdout);
    assert!(
        found.starts_with("Acceptance criteria")
            && found.contains("acdc://rutter/practice/acceptance-criteria"),
        "{found}"
    );
    assert!(!found.contains("**") && !found.contains('\u{1b}'), "{found}");
    let json: Value = serde_json::from_slice(
        &run(folder.path(), &["search", "troubleshooting", "--json", "-m", "1"]).stdout,
    )
    .unwrap();
    assert_eq!(json.as_array().unwrap().len(), 1);

    let queries = "queries:\n  - {query: acceptance criteria, expect: [acdc://rutter/practice/acceptance-criteria]}\n  \
                   - {query: zebra, expect: [acdc://rutter/none]}\n";
    std::fs::write(folder.path().join("q.yaml"), queries).unwrap();
    let output = run(folder.path(), &["eval", "q.yaml", "--min-mrr", "0.6"]);
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(
        text(&output.stdout),
        "missed  zebra  (expected `acdc://rutter/none`)\n2 queries: MRR@10 0.500, Recall@10 0.500\n"
    );
    assert_eq!(run(folder.path(), &["eval", "q.yaml", "--min-mrr", "0.5"]).status.code(), Some(0));
    std::fs::write(folder.path().join("q.yaml"), "queries:\n  - {query: x}\n").unwrap();
    let output = run(folder.path(), &["eval", "q.yaml"]);
    assert_eq!(
        (output.status.code(), text(&output.stderr).contains("q.yaml:2: missing field")),
        (Some(2), true)
    );
}

#[test]
fn the_pack_is_findable() {
    let folder = tempfile::tempdir().unwrap();
    let queries = concat!(env!("CARGO_MANIFEST_DIR"), "/../../pack/queries.yaml");
    let output = run(folder.path(), &["eval", queries, "--min-mrr", "0.9"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stdout));
}
