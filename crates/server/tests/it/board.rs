//! The board's tools as an agent meets them.

use rutter_server::profiles::Profile;
use serde_json::{Value, json};

use crate::server::{Client, Folder};

/// A board with the feature `auth` and the discipline `backend`.
pub(crate) async fn board() -> Client {
    let mut client = Folder::with(&[(".ralph/.keep", "")]).profile(Profile::Ralph).connect().await;
    did(&mut client, "create_feature", json!({"name": "auth", "display_name": "Auth"})).await;
    let discipline =
        json!({"name": "backend", "display_name": "Backend", "icon": "server", "color": "#00f"});
    did(&mut client, "create_discipline", discipline).await;
    client
}

/// Calls a tool that works, and gives its data, which the text says as well.
pub(crate) async fn did(client: &mut Client, name: &str, arguments: Value) -> Value {
    let params = json!({"name": name, "arguments": arguments});
    let mut result = client.result("tools/call", params).await;
    assert_ne!(result["isError"], true, "{name}: {result}");
    let text = result["content"][0]["text"].as_str().unwrap();
    let data = result["structuredContent"].clone();
    if text.starts_with('{') {
        assert_eq!(serde_json::from_str::<Value>(text).unwrap(), data, "{name}");
    }
    result["structuredContent"].take()
}

/// Calls a tool that refuses, and gives the reason.
async fn refused(client: &mut Client, name: &str, arguments: Value) -> String {
    let (text, failed) = client.tool(name, arguments).await;
    assert!(failed, "{name}: {text}");
    text
}

async fn task(client: &mut Client, title: &str, more: Value) -> i64 {
    let mut arguments = json!({"feature": "auth", "discipline": "backend", "title": title});
    for (name, value) in more.as_object().unwrap() {
        arguments[name] = value.clone();
    }
    did(client, "create_task", arguments).await["id"].as_i64().unwrap()
}

#[tokio::test]
async fn every_tool_does_its_job() {
    let mut client = board().await;
    let c = &mut client;
    let first =
        task(c, "Log in", json!({"status": "draft", "tags": ["ui"], "estimated_turns": 3})).await;
    let second = task(c, "Log out", json!({"depends_on": [first], "priority": "high"})).await;
    let enriched = did(c, "enrich_task", json!({"id": first, "pseudocode": "ask, check"})).await;
    assert_eq!(
        (&enriched["status"], &enriched["pseudocode"]),
        (&json!("pending"), &json!("ask, check"))
    );
    let ready = did(c, "list_ready_tasks", json!({})).await;
    assert_eq!(ready["tasks"].as_array().unwrap().len(), 1);
    let claimed = did(c, "claim_task", json!({"owner": "me"})).await;
    assert_eq!((&claimed["id"], &claimed["claimed_by"]), (&json!(first), &json!("me")));
    let comment = json!({"task_id": first, "author": "me", "body": "begun", "discipline": "backend", "priority": "low"});
    let comment = did(c, "add_task_comment", comment).await;
    let edited = json!({"task_id": first, "comment_id": comment["id"], "body": "done"});
    assert_eq!(did(c, "update_task_comment", edited).await["body"], "done");
    let moved = did(c, "set_task_status", json!({"id": first, "status": "done"})).await;
    assert_eq!(moved["status"], "done");
    assert!(moved["completed"].is_string());
    let updated =
        did(c, "update_task", json!({"id": second, "description": "End the session"})).await;
    assert_eq!(
        (&updated["description"], &updated["priority"]),
        (&json!("End the session"), &json!("high"))
    );
    let shown = did(c, "get_task", json!({"id": first})).await;
    assert_eq!(shown["comments"][0]["body"], "done");
    assert_eq!(shown["tags"], json!(["ui"]));
    did(c, "delete_task_comment", json!({"task_id": first, "comment_id": comment["id"]})).await;
    let found = did(c, "list_tasks", json!({"filter_text": "SESSION"})).await;
    assert_eq!(
        found,
        json!({"tasks": [{"id": 2, "title": "Log out", "status": "pending",
        "priority": "high", "feature": "auth", "discipline": "backend"}]})
    );

    let feature = did(c, "update_feature", json!({"name": "auth", "architecture": "tokens"})).await;
    assert_eq!((&feature["architecture"], &feature["acronym"]), (&json!("tokens"), &json!("AUTH")));
    let learning = json!({"feature_name": "auth", "text": "Tokens expire after an hour", "source": "human", "task_id": first});
    assert_eq!(did(c, "append_feature_learning", learning.clone()).await["hit_count"], 1);
    assert_eq!(did(c, "append_feature_learning", learning).await["hit_count"], 2);
    let file = json!({"feature_name": "auth", "file_path": "src/auth.rs"});
    assert_eq!(
        did(c, "add_feature_context_file", file).await["context_files"],
        json!(["src/auth.rs"])
    );
    let feature = did(c, "get_feature", json!({"name": "auth"})).await;
    assert_eq!(feature["learnings"][0]["source"], "human");
    let features = did(c, "list_features", json!({})).await;
    assert_eq!(
        features,
        json!({"features": [{"name": "auth", "display_name": "Auth", "acronym": "AUTH"}]})
    );

    let overrides = json!({"name": "backend", "mcp_tool_overrides": {"additional_disabled": ["create_task"]},
        "mcp_servers": [{"name": "s", "command": "c"}]});
    did(c, "update_discipline", overrides).await;
    let discipline = did(c, "get_discipline", json!({"name": "backend"})).await;
    assert_eq!(discipline["mcp_tool_overrides"]["additional_disabled"], json!(["create_task"]));
    assert_eq!(discipline["mcp_servers"], json!([{"name": "s", "command": "c"}]));
    assert_eq!(did(c, "list_disciplines", json!({})).await["disciplines"][0]["name"], "backend");

    assert!(did(c, "get_project_info", json!({})).await["title"].is_string());
    let progress = did(c, "get_project_progress", json!({})).await;
    assert_eq!((&progress["total"], &progress["done"]), (&json!(2), &json!(1)));
    assert_eq!(progress["by_feature"]["auth"], json!({"total": 2, "done": 1}));

    did(c, "append_progress", json!({"text": "half"})).await;
    assert_eq!(did(c, "read_progress", json!({})).await, json!({"text": "half\n"}));
    assert_eq!(did(c, "append_learning", json!({"text": "x"})).await, json!({"recorded": true}));
    assert_eq!(did(c, "read_learnings", json!({})).await["text"], "x\n");

    assert_eq!(
        did(c, "delete_task", json!({"id": second})).await,
        json!({"id": 2, "deleted": true})
    );
    did(c, "delete_task", json!({"id": first})).await;
    assert_eq!(did(c, "delete_feature", json!({"name": "auth"})).await["deleted"], true);
    did(c, "delete_discipline", json!({"name": "backend"})).await;
}

#[tokio::test]
async fn what_cannot_be_done_says_what_to_do() {
    let mut client = board().await;
    let c = &mut client;
    let id = task(c, "a", json!({})).await;
    task(c, "b", json!({"depends_on": [id]})).await;
    let mut texts = Vec::new();
    for (tool, arguments) in [
        ("create_task", json!({"feature": "nope", "discipline": "backend", "title": "x"})),
        ("create_task", json!({"feature": "auth", "discipline": "nope", "title": "x"})),
        (
            "create_task",
            json!({"feature": "auth", "discipline": "backend", "title": "x", "depends_on": [9]}),
        ),
        ("get_task", json!({"id": 9})),
        ("get_feature", json!({"name": "nope"})),
        ("get_discipline", json!({"name": "nope"})),
        ("update_task", json!({"id": 1, "depends_on": [2]})),
        ("delete_task", json!({"id": 1})),
        ("delete_feature", json!({"name": "auth"})),
        ("delete_discipline", json!({"name": "backend"})),
        ("enrich_task", json!({"id": 1, "pseudocode": "x"})),
        ("claim_task", json!({"owner": "me", "id": 2})),
        ("update_task_comment", json!({"task_id": 1, "comment_id": 9, "body": "x"})),
        ("create_feature", json!({"name": "auth", "display_name": "A"})),
    ] {
        texts.push(format!("{tool}: {}", refused(c, tool, arguments).await));
    }
    for (tool, arguments) in [
        ("create_task", json!({"feature": "auth", "discipline": "backend", "title": ""})),
        (
            "create_task",
            json!({"feature": "auth", "discipline": "backend", "title": "x", "status": "done"}),
        ),
        ("create_task", json!({"feature": "auth", "discipline": "backend", "title": "a\u{0}"})),
        ("set_task_status", json!({"id": 1, "status": "finished"})),
        ("list_tasks", json!({"cursor": "x"})),
        ("list_tasks", json!({"limit": 1000})),
        ("get_task", json!({"id": "1"})),
        ("create_feature", json!({"name": "Bad Name", "display_name": "A"})),
        ("create_feature", json!({"name": "b", "display_name": "B", "acronym": "b"})),
        ("add_feature_context_file", json!({"feature_name": "auth", "file_path": "/etc/passwd"})),
        ("update_discipline", json!({"name": "backend", "mcp_servers": [{"name": "s"}]})),
    ] {
        let (code, text) =
            c.error("tools/call", json!({"name": tool, "arguments": arguments})).await;
        assert_eq!(code, -32602, "{text}");
        texts.push(format!("{tool}: {text}"));
    }
    insta::assert_snapshot!(texts.join("\n"));
}

#[tokio::test]
async fn a_page_of_tasks_is_lean() {
    let mut client = board().await;
    for n in 0..60 {
        task(&mut client, &format!("Write the chapter about number {n}"), json!({})).await;
    }
    let mut cursor = Value::Null;
    let mut seen = 0;
    loop {
        let arguments = json!({"name": "list_tasks", "arguments": {"cursor": cursor}});
        let result = client.result("tools/call", arguments).await;
        assert!(result.to_string().len() < 4_000, "{}", result.to_string().len());
        seen += result["structuredContent"]["tasks"].as_array().unwrap().len();
        cursor = result["structuredContent"]["next_cursor"].clone();
        if cursor.is_null() {
            break;
        }
    }
    assert_eq!(seen, 60);
}

/// What an agent pays for tools: name, description and input schema.
async fn cost(client: &mut Client, only: Option<&[&str]>) -> usize {
    let list = client.result("tools/list", json!({})).await;
    let tools = list["tools"].as_array().unwrap().iter();
    let wanted =
        tools.filter(|tool| only.is_none_or(|only| only.contains(&tool["name"].as_str().unwrap())));
    wanted
        .map(|tool| {
            let bytes = |key: &str| tool[key].as_str().unwrap().len();
            bytes("name") + bytes("description") + tool["inputSchema"].to_string().len()
        })
        .sum()
}

#[tokio::test]
async fn what_an_agent_pays_stays_small() {
    let mut client = board().await;
    let all = cost(&mut client, None).await;
    assert!(all <= 12_000, "{all}");
    let task_execution = [
        "get_task",
        "set_task_status",
        "add_task_comment",
        "append_learning",
        "append_progress",
        "add_feature_context_file",
        "read_learnings",
        "read_progress",
        "get_project_info",
    ];
    let few = cost(&mut client, Some(&task_execution)).await;
    assert!(few <= 2_600, "{few}");
    println!("{all} bytes for all tools, {few} for task_execution");
}

#[tokio::test]
async fn tools_say_what_they_do_to_the_board() {
    let mut client = board().await;
    let list = client.result("tools/list", json!({})).await;
    for tool in list["tools"].as_array().unwrap() {
        let name = tool["name"].as_str().unwrap();
        let hints = &tool["annotations"];
        let reads = ["list_", "get_", "read_"].iter().any(|start| name.starts_with(start));
        assert_eq!(hints["readOnlyHint"], reads, "{name}");
        if !reads {
            assert_eq!(hints["destructiveHint"], name.starts_with("delete_"), "{name}");
        }
        assert_eq!(tool["outputSchema"]["type"], "object", "{name}");
    }
}

#[tokio::test]
async fn nothing_is_begun_before_it_is_asked_for() {
    let mut client = Folder::with(&[(".ralph/.keep", "")]).connect().await;
    client.result("tools/list", json!({})).await;
    client.result("resources/list", json!({})).await;
    assert!(!client.folder.path().join(".ralph/db").exists());
    did(&mut client, "get_project_info", json!({})).await;
    assert!(client.folder.path().join(".ralph/db/ralph.db").exists());
}

#[tokio::test]
async fn reading_alone_begins_nothing_and_hides_what_writes() {
    let folder = Folder::with(&[(".ralph/.keep", "")]).profile(Profile::Ralph).read_only();
    let mut client = folder.connect().await;
    let list = client.result("tools/list", json!({})).await;
    let names: Vec<&str> = list["tools"]
        .as_array()
        .unwrap()
        .iter()
        .map(|tool| tool["name"].as_str().unwrap())
        .collect();
    assert_eq!(
        names,
        [
            "get_discipline",
            "get_feature",
            "get_project_info",
            "get_project_progress",
            "get_task",
            "list_disciplines",
            "list_features",
            "list_ready_tasks",
            "list_tasks",
            "read_learnings",
            "read_progress"
        ]
    );
    let text = refused(&mut client, "list_tasks", json!({})).await;
    assert!(text.starts_with("there is no board yet"), "{text}");
    assert!(!client.folder.path().join(".ralph/db").exists());
}
