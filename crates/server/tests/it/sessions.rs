//! A session's context: what it takes away while the server runs, and what happens when it
//! cannot be understood.

use std::os::unix::fs::symlink;

use rutter_base::root::Root;
use rutter_board::{
    Actor, Board, DisciplinePatch, LogFilter, Options, Status, TaskId, ToolOverrides,
};
use serde_json::{Value, json};

use crate::recipes::{furnish, session, tool_names};
use crate::server::{Client, Folder};

const CONTEXT: &str = ".ralph/mcp/sessions/one.json";

fn board() -> Folder {
    Folder::with(&[(".ralph/.keep", "")])
}

/// The board itself, as another process has it.
fn direct(client: &Client) -> Board {
    let root = Root::open(&client.folder.path().join(".ralph")).unwrap();
    Board::new(&root, Options::default())
}

/// A server that runs in a named session with this context.
async fn named(context: &str) -> Client {
    let folder = board().context(CONTEXT);
    folder.write(CONTEXT, context);
    folder.connect().await
}

/// Without tools, with the reason, and with everything else as it was.
#[track_caller]
fn assert_reason(reason: &str, expected: &str, folder: &Folder) {
    assert!(reason.contains(expected), "{reason}");
    assert!(reason.starts_with("this session has no tools: the context file `"), "{reason}");
    assert!(!reason.contains(folder.path().to_str().unwrap()), "{reason}");
    assert!(!reason.chars().any(char::is_control), "{reason:?}");
}

async fn assert_closed(client: &mut Client, expected: &str) {
    assert_eq!(tool_names(client).await, [""; 0]);
    for tool in ["get_project_info", "no_such_tool"] {
        let (code, reason) = client.error("tools/call", json!({"name": tool})).await;
        assert_eq!(code, -32602);
        assert_reason(&reason, expected, &client.folder);
    }
    let resources = client.result("resources/list", json!({})).await;
    assert!(!resources["resources"].as_array().unwrap().is_empty());
}

#[tokio::test]
async fn a_context_that_cannot_be_understood_leaves_no_tools() {
    let hostile = "\u{1b}[2J\u{202e}recipe";
    for (context, expected) in [
        ("", "cannot be understood: it is not JSON, from line 1 on"),
        ("{\"recipe\": \"yap\"", "it is not JSON"),
        ("[]", "it is not a JSON object"),
        ("{\"task_id\": \"7\"}", "/task_id: expected integer"),
        ("{\"disabled_tools\": \"all\"}", "/disabled_tools: expected array"),
        ("{\"recpie\": \"yap\"}", "/recpie: unknown key"),
        ("{\"recipe\": \"yapp\"}", "there is no recipe `yapp`; did you mean `yap`?"),
        ("{\"recipe\": \"\"}", "there is no recipe ``; the recipes are `braindump`"),
        (&json!({"recipe": hostile}).to_string(), "there is no recipe `\u{FFFD}[2J\u{FFFD}recipe`"),
    ] {
        assert_closed(&mut named(context).await, expected).await;
    }
    let folder = session(&json!({"recipe": "yapp"}));
    assert_closed(&mut folder.connect().await, "`mcp/context.json` cannot be followed").await;
}

#[tokio::test]
async fn what_is_no_plain_file_below_the_project_leaves_no_tools() {
    let outside = tempfile::tempdir().unwrap();
    let target = outside.path().join("context.json");
    std::fs::write(&target, "{}").unwrap();
    let place = |folder: &Folder| folder.path().join(CONTEXT);
    let with = |make: &dyn Fn(&Folder)| {
        let folder = board().context(CONTEXT);
        folder.write(".ralph/mcp/sessions/.keep", "");
        make(&folder);
        folder
    };

    let mut client = with(&|_| {}).connect().await;
    assert_closed(&mut client, "is missing").await;
    let link = |folder: &Folder| symlink(&target, place(folder)).unwrap();
    assert_closed(&mut with(&link).connect().await, "leads out of its folder").await;
    let folder = |folder: &Folder| std::fs::create_dir(place(folder)).unwrap();
    assert_closed(&mut with(&folder).connect().await, "not a regular file").await;
    let huge = |folder: &Folder| {
        let file = std::fs::File::create(place(folder)).unwrap();
        file.set_len(100 * 1024 * 1024).unwrap();
    };
    assert_closed(&mut with(&huge).connect().await, "more than the limit of 65536").await;
    let binary = |folder: &Folder| folder.write(CONTEXT, [0xff, 0xfe, 0x00]);
    assert_closed(&mut with(&binary).connect().await, "not UTF-8").await;
    // A folder on the way that leads out is no better than the file.
    let way = |folder: &Folder| {
        std::fs::remove_dir_all(folder.path().join(".ralph/mcp")).unwrap();
        std::fs::create_dir(outside.path().join("sessions")).unwrap();
        std::fs::write(outside.path().join("sessions/one.json"), "{}").unwrap();
        symlink(outside.path(), folder.path().join(".ralph/mcp")).unwrap();
    };
    assert_closed(&mut with(&way).connect().await, "leads out of its folder").await;
    // The default file is held to the same.
    let folder = board();
    folder.write(".ralph/mcp/.keep", "");
    symlink(&target, folder.path().join(".ralph/mcp/context.json")).unwrap();
    assert_closed(&mut folder.connect().await, "leads out of its folder").await;
}

#[tokio::test]
async fn an_agent_without_tools_is_told_why_when_it_connects() {
    let mut client = board().context("no/such/file.json").serve();
    let opening = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "it", "version": "1"}});
    let result = client.result("initialize", opening).await;
    let instructions = result["instructions"].as_str().unwrap();
    assert!(
        instructions.starts_with(
            "this session has no tools: the context file `no/such/file.json` is missing; prepare"
        ),
        "{instructions}"
    );
}

#[tokio::test]
async fn a_named_file_may_be_elsewhere() {
    let elsewhere = tempfile::tempdir().unwrap();
    let path = elsewhere.path().join("context.json");
    std::fs::write(&path, r#"{"recipe": "discuss"}"#).unwrap();
    let mut client = board().context(path.to_str().unwrap()).connect().await;
    assert_eq!(tool_names(&mut client).await.len(), 4);
}

#[tokio::test]
async fn what_a_context_takes_away_is_gone_at_once_and_for_good() {
    let mut client = named(r#"{"recipe": "task_execution"}"#).await;
    assert_eq!(tool_names(&mut client).await.len(), 9);
    let less = r#"{"recipe": "task_execution", "disabled_tools": ["append_learning"]}"#;
    client.folder.write(CONTEXT, less);
    // At the call, without any listing in between.
    let call = json!({"name": "append_learning", "arguments": {"text": "x"}});
    assert_eq!(client.error("tools/call", call).await.0, -32602);
    client.notification("notifications/tools/list_changed").await;
    assert_eq!(tool_names(&mut client).await.len(), 8);
    // Another recipe leaves what both allow; no recipe gives nothing back.
    client.folder.write(CONTEXT, r#"{"recipe": "opus_review"}"#);
    let both = [
        "add_task_comment",
        "append_progress",
        "get_project_info",
        "get_task",
        "read_learnings",
        "read_progress",
        "set_task_status",
    ];
    assert_eq!(tool_names(&mut client).await, both);
    for wider in ["{}", r#"{"recipe": "task_execution"}"#] {
        client.folder.write(CONTEXT, wider);
        assert_eq!(tool_names(&mut client).await, both);
    }
    // Broken, and mended again.
    client.folder.write(CONTEXT, "{");
    assert_closed(&mut client, "it is not JSON").await;
    client.folder.write(CONTEXT, "{}");
    assert_closed(&mut client, "it is not JSON").await;
}

#[tokio::test]
async fn a_named_file_that_is_deleted_takes_all_tools_along() {
    let mut client = named(r#"{"recipe": "discuss"}"#).await;
    assert_eq!(tool_names(&mut client).await.len(), 4);
    std::fs::remove_file(client.folder.path().join(CONTEXT)).unwrap();
    assert_closed(&mut client, "is missing").await;
}

#[tokio::test]
async fn the_default_file_can_come_and_go_and_only_takes_away() {
    let mut client = board().connect().await;
    let all = tool_names(&mut client).await;
    assert!(all.len() > 30);
    client.folder.write(".ralph/mcp/context.json", r#"{"recipe": "discuss"}"#);
    let few = tool_names(&mut client).await;
    assert_eq!(few.len(), 4);
    std::fs::remove_file(client.folder.path().join(".ralph/mcp/context.json")).unwrap();
    assert_eq!(tool_names(&mut client).await, few);
}

#[tokio::test]
async fn the_default_file_is_for_those_who_see_the_board() {
    let folder = session(&json!({"recipe": "discuss"}));
    let mut client = folder.profile(rutter_server::profiles::Profile::Acdc).connect().await;
    assert_eq!(tool_names(&mut client).await, ["read", "search"]);
}

#[tokio::test]
async fn a_discipline_takes_tools_away_while_its_sessions_run() {
    let folder = furnish(board()).await;
    folder.write(".ralph/mcp/context.json", r#"{"recipe": "yap", "discipline": "frontend"}"#);
    let mut client = folder.connect().await;
    assert_eq!(tool_names(&mut client).await.len(), 8);
    let other = direct(&client);
    let disable = async |tools: &[&str]| {
        let additional_disabled = tools.iter().map(|&tool| tool.to_owned()).collect();
        let mcp_tool_overrides = Some(ToolOverrides { additional_disabled });
        let fields = DisciplinePatch { mcp_tool_overrides, ..DisciplinePatch::default() };
        other.update_discipline(&Actor::of("test"), "frontend", fields).await.unwrap();
    };
    disable(&["create_task", "set_task_status"]).await;
    let call = json!({"name": "create_task", "arguments": {}});
    let (code, message) = client.error("tools/call", call).await;
    assert_eq!((code, message.starts_with("unknown tool `create_task`")), (-32602, true));
    assert_eq!(tool_names(&mut client).await.len(), 6);
    // What the discipline allows again, a running session does not get back, but a new one does.
    disable(&[]).await;
    assert_eq!(tool_names(&mut client).await.len(), 6);
    let mut new = client.other(board()).await;
    assert_eq!(tool_names(&mut new).await.len(), 8);
}

#[tokio::test]
async fn a_discipline_that_cannot_be_read_leaves_no_tools_until_it_can() {
    let folder = furnish(board()).await;
    folder.write(".ralph/mcp/context.json", r#"{"recipe": "yap", "discipline": "frontend"}"#);
    let mut client = folder.connect().await;
    assert_eq!(tool_names(&mut client).await.len(), 8);
    let database = client.folder.path().join(".ralph/db");
    let aside = client.folder.path().join("aside");
    std::fs::rename(&database, &aside).unwrap();
    assert_eq!(tool_names(&mut client).await, [""; 0]);
    let (_, reason) = client.error("tools/call", json!({"name": "list_tasks"})).await;
    let expected = "this session has no tools while its discipline cannot be read: ";
    assert!(reason.starts_with(expected), "{reason}");
    assert!(!reason.contains(client.folder.path().to_str().unwrap()), "{reason}");
    std::fs::rename(&aside, &database).unwrap();
    assert_eq!(tool_names(&mut client).await.len(), 8);
}

#[tokio::test]
async fn clients_are_told_that_their_tools_became_fewer() {
    let mut client = named(r#"{"recipe": "task_execution"}"#).await;
    assert_eq!(tool_names(&mut client).await.len(), 9);
    client.folder.write(CONTEXT, r#"{"recipe": "discuss"}"#);
    // Nothing is asked: the server notices by itself.
    client.notification("notifications/tools/list_changed").await;
    assert_eq!(tool_names(&mut client).await, ["get_project_info"]);
}

#[tokio::test]
async fn two_sessions_at_once_see_their_own_context() {
    let folder = board().context(CONTEXT);
    folder.write(CONTEXT, r#"{"session_id": "one", "recipe": "discuss"}"#);
    folder.write(".ralph/mcp/sessions/two.json", r#"{"session_id": "two", "recipe": "yap"}"#);
    let mut one = folder.connect().await;
    let mut two = one.other(board().context(".ralph/mcp/sessions/two.json")).await;
    assert_eq!(tool_names(&mut one).await.len(), 4);
    assert_eq!(tool_names(&mut two).await.len(), 8);
    for (client, name) in [(&mut one, "one"), (&mut two, "two")] {
        let read = client.result("resources/read", json!({"uri": "ralph://session"})).await;
        let session: Value =
            serde_json::from_str(read["contents"][0]["text"].as_str().unwrap()).unwrap();
        assert_eq!(session["session_id"], name);
    }
}

#[tokio::test]
async fn the_journal_knows_the_session() {
    let folder = furnish(board()).await;
    let context =
        json!({"session_id": "s-1", "recipe": "task_execution", "discipline": "frontend"});
    folder.write(".ralph/mcp/context.json", context.to_string());
    let mut client = folder.connect().await;
    let (text, failed) =
        client.tool("set_task_status", json!({"id": 1, "status": "in_progress"})).await;
    assert!(!failed, "{text}");
    let log = direct(&client).log(LogFilter::default(), 1).await.unwrap();
    assert_eq!(
        log[0].actor,
        Actor {
            session: Some("s-1".into()),
            recipe: Some("task_execution".into()),
            discipline: Some("frontend".into()),
            tool: "set_task_status".into(),
        }
    );
}

#[tokio::test]
async fn a_session_can_read_what_it_is_about() {
    let folder = furnish(board()).await;
    let context = json!({"session_id": "s-1", "recipe": "task_execution", "discipline": "frontend",
        "feature": "auth", "task_id": 1});
    folder.write(".ralph/mcp/context.json", context.to_string());
    let mut client = folder.connect().await;
    let list = client.result("resources/list", json!({})).await;
    let mut uris = list["resources"].as_array().unwrap().iter().map(|resource| &resource["uri"]);
    assert!(uris.any(|uri| uri == "ralph://session"));
    let read = client.result("resources/read", json!({"uri": "ralph://session"})).await;
    let session: Value =
        serde_json::from_str(read["contents"][0]["text"].as_str().unwrap()).unwrap();
    assert_eq!(session["recipe"], "task_execution");
    assert_eq!(session["task"]["title"], "Log in");
    assert_eq!(session["feature"]["name"], "auth");
    assert_eq!(session["discipline"]["name"], "frontend");

    // Whoever follows it hears of a change of what it is about.
    client.result("resources/subscribe", json!({"uri": "ralph://session"})).await;
    let actor = Actor::of("test");
    direct(&client).set_task_status(&actor, TaskId(1), Status::InProgress).await.unwrap();
    let updated = client.notification("notifications/resources/updated").await;
    assert_eq!(updated["params"]["uri"], "ralph://session");

    let mut without = board().connect().await;
    let missing = without.error("resources/read", json!({"uri": "ralph://session"})).await;
    assert_eq!(missing.1, "resource not found");
}
