//! `rutter session` and `rutter init --with board`, as a person runs them.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use rutter_base::root::Root;
use rutter_board::{
    Actor, Board, DisciplinePatch, NewFeature, NewTask, Options, PageRequest, ToolOverrides,
    ToolServer,
};
use serde_json::{Value, json};

const RUTTER: &str = env!("CARGO_BIN_EXE_rutter");

pub(crate) fn rutter(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(RUTTER);
    command.args(arguments).current_dir(folder).env_clear().env("PATH", "/usr/bin:/bin");
    command.stdin(Stdio::null()).output().unwrap()
}

#[track_caller]
pub(crate) fn fine(folder: &Path, arguments: &[&str]) -> String {
    let output = rutter(folder, arguments);
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    assert_eq!(output.status.code(), Some(0), "{arguments:?}: {}", text(&output.stderr));
    text(&output.stdout)
}

#[track_caller]
pub(crate) fn refused(folder: &Path, arguments: &[&str]) -> String {
    let output = rutter(folder, arguments);
    assert_eq!(output.status.code(), Some(2), "{arguments:?}");
    assert!(output.stdout.is_empty());
    String::from_utf8(output.stderr).unwrap()
}

/// A project with a board, a feature and a task.
fn project() -> (tempfile::TempDir, tokio::runtime::Runtime, Board) {
    let folder = tempfile::tempdir().unwrap();
    fine(folder.path(), &["init", "--with", "board", "--title", "Shop"]);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let root = Root::open(&folder.path().join(".ralph")).unwrap();
    let board = Board::new(&root, Options::default());
    runtime.block_on(async {
        let actor = Actor::of("test");
        let feature = NewFeature {
            name: "auth".into(),
            display_name: "Auth".into(),
            ..NewFeature::default()
        };
        board.create_feature(&actor, feature).await.unwrap();
        let task = NewTask {
            feature: "auth".into(),
            discipline: "frontend".into(),
            title: "Log in".into(),
            ..NewTask::default()
        };
        board.create_task(&actor, task).await.unwrap();
    });
    (folder, runtime, board)
}

fn change(runtime: &tokio::runtime::Runtime, board: &Board, fields: DisciplinePatch) {
    let actor = Actor::of("test");
    runtime.block_on(board.update_discipline(&actor, "frontend", fields)).unwrap();
}

fn read(folder: &Path, file: &Value) -> Value {
    let file = file.as_str().unwrap();
    assert!(!Path::new(file).is_absolute(), "{file}");
    serde_json::from_slice(&std::fs::read(folder.join(file)).unwrap()).unwrap()
}

#[test]
fn init_makes_a_board_and_keeps_what_is_there() {
    let folder = tempfile::tempdir().unwrap();
    let made = fine(
        folder.path(),
        &["init", "--with", "board", "--title", "Shop", "--disciplines", "security,data", "--json"],
    );
    let made: Value = serde_json::from_str(&made).unwrap();
    let named = |file: &str| {
        let mut all = made.as_array().unwrap().iter();
        all.find(|done| done["file"] == file).map(|done| done["what"].clone())
    };
    assert_eq!(named(".ralph/db/ralph.db"), Some(json!("created")));
    assert_eq!(named(".ralph/learnings.txt"), Some(json!("created")));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let board = Board::new(&Root::open(&folder.path().join(".ralph")).unwrap(), Options::default());
    let title = || runtime.block_on(board.project()).unwrap().title;
    let disciplines = || {
        let listed = runtime.block_on(board.list_disciplines(PageRequest::default())).unwrap();
        listed.entries.into_iter().map(|entry| entry.name.to_string()).collect::<Vec<_>>()
    };
    assert_eq!((title().as_str(), disciplines()), ("Shop", vec!["data".into(), "security".into()]));

    // Again: nothing is lost, and nothing comes that was not asked for.
    fine(folder.path(), &["init", "--with", "board"]);
    assert_eq!((title().as_str(), disciplines().len()), ("Shop", 2));
    fine(folder.path(), &["init", "--with", "board", "--disciplines", "docs"]);
    assert_eq!(disciplines(), ["data", "docs", "security"]);

    let empty = tempfile::tempdir().unwrap();
    let wrong = refused(empty.path(), &["init", "--with", "board", "--disciplines", "cooking"]);
    assert!(
        wrong.contains("there is no discipline `cooking` to begin with; choose from `frontend`"),
        "{wrong}"
    );
    assert!(!empty.path().join(".ralph").exists());
    let wrong = refused(empty.path(), &["init", "--title", "Shop"]);
    assert!(wrong.contains("add `--with board`"), "{wrong}");
}

#[test]
fn a_prepared_session_is_the_same_bytes_for_the_same_question() {
    let (folder, runtime, board) = project();
    let folder = folder.path();
    let question = ["session", "prepare", "--recipe", "task_execution", "--task", "1", "--json"];
    let answer = fine(folder, &question);
    let paths: Value = serde_json::from_str(&answer).unwrap();
    let bytes = || {
        ["context", "mcp_config"]
            .map(|file| std::fs::read(folder.join(paths[file].as_str().unwrap())).unwrap())
    };
    let first = bytes();
    assert_eq!(fine(folder, &question), answer);
    assert_eq!(bytes(), first);

    let context = read(folder, &paths["context"]);
    assert_eq!(context["recipe"], "task_execution");
    // What the task says of itself need not be said again.
    assert_eq!((&context["discipline"], &context["feature"]), (&json!("frontend"), &json!("auth")));
    assert_eq!(context["task_id"], 1);
    let disabled = context["disabled_tools"].as_array().unwrap();
    assert_eq!(disabled.len(), 21, "{disabled:?}");
    assert!(disabled.contains(&json!("create_task")) && !disabled.contains(&json!("get_task")));

    // Another state of the project, another answer.
    let additional_disabled = vec!["read_progress".to_owned()];
    change(
        &runtime,
        &board,
        DisciplinePatch {
            mcp_tool_overrides: Some(ToolOverrides { additional_disabled }),
            ..DisciplinePatch::default()
        },
    );
    assert_eq!(fine(folder, &question), answer);
    let context = read(folder, &paths["context"]);
    assert!(context["disabled_tools"].as_array().unwrap().contains(&json!("read_progress")));
}

#[test]
fn the_servers_of_a_discipline_come_along_and_must_not_clash() {
    let (folder, runtime, board) = project();
    let server = |name: &str| ToolServer {
        name: name.into(),
        command: "npx".into(),
        args: vec!["-y".into(), "shadcn".into()],
        env: [("MODE".to_owned(), "dev".to_owned())].into(),
    };
    let servers = |names: &[&str]| DisciplinePatch {
        mcp_servers: Some(names.iter().map(|name| server(name)).collect()),
        ..DisciplinePatch::default()
    };
    change(&runtime, &board, servers(&["shadcn-ui"]));
    let question = ["session", "prepare", "--recipe", "yap", "--discipline", "frontend", "--json"];
    let paths: Value = serde_json::from_str(&fine(folder.path(), &question)).unwrap();
    let config = read(folder.path(), &paths["mcp_config"]);
    assert_eq!(
        config["mcpServers"]["shadcn-ui"],
        json!({"command": "npx", "args": ["-y", "shadcn"], "env": {"MODE": "dev"}})
    );
    assert!(config["mcpServers"]["ralph"]["command"].is_string());

    change(&runtime, &board, servers(&["shadcn-ui", "ralph"]));
    assert_eq!(
        refused(folder.path(), &question),
        "rutter: the discipline `frontend` has an MCP server called `ralph`, and so has the session; \
         give the discipline's server another name\n"
    );
}

#[test]
fn what_cannot_be_prepared_is_refused_with_the_reason() {
    let (folder, ..) = project();
    let folder = folder.path();
    for (arguments, expected) in [
        (&["--recipe", "yapp"][..], "there is no recipe `yapp`; did you mean `yap`?"),
        (&["--recipe", "y\u{1b}[2J"], "there is no recipe `y\u{FFFD}[2J`"),
        (&["--recipe", "yap", "--discipline", "cooking"], "there is no discipline `cooking`"),
        (&["--recipe", "yap", "--feature", "x"], "there is no feature `x`"),
        (&["--recipe", "yap", "--task", "99"], "there is no task `99`"),
        (&["--recipe", "yap", "--name", "../up"], "`../up` cannot be the name of a session"),
        (&["--recipe", "yap", "--name", "a.mcp"], "`a.mcp` cannot be the name of a session"),
    ] {
        let wrong = refused(folder, &[&["session", "prepare"], arguments].concat());
        assert!(wrong.contains(expected), "{wrong}");
    }
    assert_eq!(fine(folder, &["session", "list"]), "no session is prepared\n");
    let outside = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink(outside.path(), folder.join(".ralph/mcp")).unwrap();
    let wrong = refused(folder, &["session", "prepare", "--recipe", "yap"]);
    assert!(wrong.contains("cannot be written"), "{wrong}");
    assert_eq!(std::fs::read_dir(outside.path()).unwrap().count(), 0);

    let bare = tempfile::tempdir().unwrap();
    let wrong = refused(bare.path(), &["session", "prepare", "--recipe", "yap"]);
    assert!(wrong.contains("there is no board here; make one with `rutter init --with board`"));
}

/// The tools that a client sees which starts what a configuration says, from anywhere.
fn tools_of(config: &Value) -> Vec<String> {
    let server = &config["mcpServers"]["ralph"];
    let arguments = server["args"].as_array().unwrap().iter().map(|text| text.as_str().unwrap());
    let mut child = Command::new(server["command"].as_str().unwrap())
        .args(arguments)
        .current_dir("/")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let open = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "it", "version": "1"}}});
    let list = json!({"jsonrpc": "2.0", "id": 2, "method": "tools/list"});
    write!(child.stdin.take().unwrap(), "{open}\n{list}\n").unwrap();
    let output = String::from_utf8(child.wait_with_output().unwrap().stdout).unwrap();
    let answers = output.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let answer = answers.into_iter().find(|answer| answer["id"] == 2).unwrap();
    let name = |tool: &Value| tool["name"].as_str().unwrap().to_owned();
    answer["result"]["tools"].as_array().unwrap().iter().map(name).collect()
}

#[test]
fn clients_of_two_sessions_see_their_own_tools_and_lose_them_at_the_end() {
    let (folder, ..) = project();
    let folder = folder.path();
    let prepare = |recipe: &str| -> Value {
        let question =
            ["session", "prepare", "--recipe", recipe, "--discipline", "frontend", "--json"];
        let paths: Value = serde_json::from_str(&fine(folder, &question)).unwrap();
        read(folder, &paths["mcp_config"])
    };
    let (discuss, yap) = (prepare("discuss"), prepare("yap"));
    let expected = ["get_discipline", "get_project_info", "list_disciplines", "update_discipline"];
    assert_eq!(tools_of(&discuss), expected);
    assert_eq!(tools_of(&yap).len(), 8);
    let listed: Value =
        serde_json::from_str(&fine(folder, &["session", "list", "--json"])).unwrap();
    assert_eq!(listed[0]["name"], "discuss.discipline-frontend");
    assert_eq!(listed[1]["recipe"], "yap");
    fine(folder, &["session", "end", "discuss.discipline-frontend"]);
    assert_eq!(tools_of(&discuss), [""; 0]);
    assert_eq!(tools_of(&yap).len(), 8);
    let wrong = refused(folder, &["session", "end", "discuss.discipline-frontend"]);
    assert!(wrong.contains("there is no session `discuss.discipline-frontend`"), "{wrong}");
}

#[test]
fn a_client_is_started_in_its_session_which_ends_with_it() {
    let (folder, ..) = project();
    let folder = folder.path();
    // Something that is called `claude` and tells what it was started with.
    let claude = folder.join("claude");
    std::fs::write(
        &claude,
        "#!/bin/sh\necho \"$@\"\necho $RUTTER_CONTEXT\nls .ralph/mcp/sessions\nexit 7\n",
    )
    .unwrap();
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(&claude, mode).unwrap();
    let launch = |command: &[&str]| {
        let mut arguments = vec!["session", "launch", "--recipe", "yap", "--"];
        arguments.extend(command);
        rutter(folder, &arguments)
    };
    let output = launch(&["./claude", "-p", "go"]);
    assert_eq!(output.status.code(), Some(7));
    assert_eq!(
        String::from_utf8(output.stdout).unwrap(),
        "-p go --mcp-config .ralph/mcp/sessions/yap.mcp.json --strict-mcp-config\n\
         .ralph/mcp/sessions/yap.json\nyap.json\nyap.mcp.json\n"
    );
    assert_eq!(fine(folder, &["session", "list"]), "no session is prepared\n");

    // One that is prepared already is not taken from whoever prepared it.
    fine(folder, &["session", "prepare", "--recipe", "yap"]);
    let output = launch(&["/bin/echo", "{mcp_config}", "{context}"]);
    assert_eq!(
        String::from_utf8(output.stdout).unwrap(),
        ".ralph/mcp/sessions/yap.2.mcp.json .ralph/mcp/sessions/yap.2.json\n"
    );
    assert_eq!(fine(folder, &["session", "list"]), "yap  yap\n");

    let output = launch(&["./no-such-client"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(
        String::from_utf8(output.stderr).unwrap().contains("`./no-such-client` cannot be started")
    );
    assert_eq!(fine(folder, &["session", "list"]), "yap  yap\n");
}

#[test]
fn being_asked_to_end_is_passed_on_to_the_client() {
    let (folder, ..) = project();
    let script = "trap 'exit 5' TERM; echo ready; while :; do sleep 0.05; done";
    let mut child = Command::new(RUTTER)
        .args(["session", "launch", "--recipe", "yap", "--", "sh", "-c", script])
        .current_dir(folder.path())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    let mut output = std::io::BufReader::new(child.stdout.take().unwrap());
    std::io::BufRead::read_line(&mut output, &mut line).unwrap();
    assert_eq!(line, "ready\n");
    let id = child.id().to_string();
    assert!(Command::new("kill").args(["-TERM", &id]).status().unwrap().success());
    assert_eq!(child.wait().unwrap().code(), Some(5));
    assert_eq!(fine(folder.path(), &["session", "list"]), "no session is prepared\n");
}

#[test]
fn tools_shows_what_a_recipe_costs() {
    let (folder, runtime, board) = project();
    let cost = |arguments: &[&str]| -> Value {
        serde_json::from_str(&fine(folder.path(), &[&["tools", "--json"], arguments].concat()))
            .unwrap()
    };
    let count = |listing: &Value| listing["tools"].as_array().unwrap().len();
    let execution = cost(&["--recipe", "task_execution"]);
    assert_eq!(count(&execution), 9);
    let review = cost(&["--recipe", "opus_review"]);
    let whole = cost(&["--recipe", "enrichment"]);
    let update = |listing: &Value| {
        let mut tools = listing["tools"].as_array().unwrap().iter();
        tools.find(|tool| tool["name"] == "update_task").unwrap()["bytes"].as_u64().unwrap()
    };
    assert!(update(&review) < update(&whole));
    let additional_disabled = vec!["get_task".to_owned()];
    let fields = DisciplinePatch {
        mcp_tool_overrides: Some(ToolOverrides { additional_disabled }),
        ..DisciplinePatch::default()
    };
    change(&runtime, &board, fields);
    let frontend = cost(&["--recipe", "task_execution", "--discipline", "frontend"]);
    assert_eq!(count(&frontend), 8);
    let wrong = refused(folder.path(), &["tools", "--recipe", "nope"]);
    assert!(wrong.contains("there is no recipe `nope`"), "{wrong}");
    let doctor = |arguments: &[&str]| -> Value {
        let output = rutter(folder.path(), &[&["doctor", "--json"], arguments].concat());
        serde_json::from_slice(&output.stdout).unwrap()
    };
    std::fs::write(folder.path().join("c.json"), r#"{"recipe": "discuss"}"#).unwrap();
    let diagnosis = doctor(&["--context", "c.json"]);
    assert_eq!((&diagnosis["recipe"], &diagnosis["tools"]), (&json!("discuss"), &json!(4)));
    let diagnosis = doctor(&["--context", "nope.json"]);
    assert_eq!(diagnosis["tools"], 0);
    assert!(diagnosis["problems"].to_string().contains("`nope.json` is missing"), "{diagnosis}");
    let wrong = refused(folder.path(), &["tools", "--context", "nope.json"]);
    assert!(wrong.contains("the context file `nope.json` is missing"), "{wrong}");
}
