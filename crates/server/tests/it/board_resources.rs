//! The board's records as resources, and hearing of their changes.

use rutter_server::profiles::Profile;
use serde_json::{Value, json};

use crate::board::{board, did};
use crate::server::{Client, Folder};

async fn read(client: &mut Client, uri: &str) -> Value {
    let mut result = client.result("resources/read", json!({"uri": uri})).await;
    result["contents"][0].take()
}

#[tokio::test]
async fn records_are_read_as_resources() {
    let mut client = board().await;
    let c = &mut client;
    did(c, "create_task", json!({"feature": "auth", "discipline": "backend", "title": "Log in"}))
        .await;
    did(c, "append_learning", json!({"text": "learned"})).await;
    let list = c.result("resources/list", json!({})).await;
    let uris: Vec<&str> =
        list["resources"].as_array().unwrap().iter().map(|r| r["uri"].as_str().unwrap()).collect();
    assert_eq!(
        uris,
        [
            "ralph://disciplines/backend",
            "ralph://features/auth",
            "ralph://learnings",
            "ralph://progress"
        ]
    );
    let templates = c.result("resources/templates/list", json!({})).await;
    let templates: Vec<&str> = templates["resourceTemplates"]
        .as_array()
        .unwrap()
        .iter()
        .map(|template| template["uriTemplate"].as_str().unwrap())
        .collect();
    assert_eq!(
        templates,
        ["ralph://disciplines/{name}", "ralph://features/{name}", "ralph://tasks/{id}"]
    );
    for (uri, key, value) in [
        ("ralph://tasks/1", "title", "Log in"),
        ("ralph://features/auth", "acronym", "AUTH"),
        ("ralph://disciplines/backend", "icon", "server"),
    ] {
        let contents = read(c, uri).await;
        assert_eq!(
            (&contents["uri"], &contents["mimeType"]),
            (&json!(uri), &json!("application/json"))
        );
        let record: Value = serde_json::from_str(contents["text"].as_str().unwrap()).unwrap();
        assert_eq!(record[key], value);
    }
    assert_eq!(read(c, "ralph://learnings").await["text"], "learned\n");
    assert_eq!(read(c, "ralph://progress").await["text"], "");
    for uri in [
        "ralph://tasks/9",
        "ralph://tasks/01",
        "ralph://tasks/x",
        "ralph://features/nope",
        "ralph://features/../x",
        "ralph://",
        "ralph://session/x",
    ] {
        let (code, text) = c.error("resources/read", json!({"uri": uri})).await;
        assert_eq!((code, text.as_str()), (-32002, "resource not found"), "{uri}");
    }
}

#[tokio::test]
async fn variables_are_completed() {
    let mut client = board().await;
    let c = &mut client;
    for title in ["a", "b"] {
        did(c, "create_task", json!({"feature": "auth", "discipline": "backend", "title": title}))
            .await;
    }
    for (uri, name, typed, expected) in [
        ("ralph://features/{name}", "name", "au", json!(["auth"])),
        ("ralph://disciplines/{name}", "name", "", json!(["backend"])),
        ("ralph://tasks/{id}", "id", "", json!(["1", "2"])),
        ("ralph://tasks/{id}", "id", "2", json!(["2"])),
        ("ralph://tasks/{id}", "id", "%", json!([])),
    ] {
        let params = json!({"ref": {"type": "ref/resource", "uri": uri}, "argument": {"name": name, "value": typed}});
        let result = c.result("completion/complete", params).await;
        assert_eq!(result["completion"]["values"], expected, "{uri} {typed}");
    }
}

/// Another process with the same board.
async fn another(client: &Client) -> Client {
    let path = client.folder.path().join(".ralph");
    let config = format!("board: {{path: {}}}\n", path.display());
    Folder::with(&[("rutter.yaml", &config)]).profile(Profile::Ralph).connect().await
}

#[tokio::test]
async fn a_session_hears_what_any_process_changed() {
    let mut client = board().await;
    let mut other = another(&client).await;
    let new = json!({"feature": "auth", "discipline": "backend", "title": "x"});
    did(&mut other, "create_task", new).await;
    for uri in ["ralph://tasks/1", "ralph://features/auth", "ralph://progress"] {
        client.result("resources/subscribe", json!({"uri": uri})).await;
    }
    let (code, _) = client.error("resources/subscribe", json!({"uri": "ralph://tasks/9"})).await;
    assert_eq!(code, -32002);
    for (tool, arguments, uri) in [
        ("set_task_status", json!({"id": 1, "status": "done"}), "ralph://tasks/1"),
        ("add_task_comment", json!({"task_id": 1, "author": "a", "body": "b"}), "ralph://tasks/1"),
        (
            "append_feature_learning",
            json!({"feature_name": "auth", "text": "one two"}),
            "ralph://features/auth",
        ),
        ("append_progress", json!({"text": "x"}), "ralph://progress"),
    ] {
        did(&mut other, tool, arguments).await;
        let updated = client.notification("notifications/resources/updated").await;
        assert_eq!(updated["params"]["uri"], uri, "{tool}");
    }
    did(&mut other, "create_feature", json!({"name": "billing", "display_name": "B"})).await;
    client.notification("notifications/resources/list_changed").await;
}

#[tokio::test]
async fn a_stream_of_the_newer_era_hears_it_too() {
    let mut writer = board().await;
    let path = writer.folder.path().join(".ralph");
    let config = format!("board: {{path: {}}}\n", path.display());
    let mut client =
        Folder::with(&[("rutter.yaml", &config)]).profile(Profile::Ralph).connect_modern();
    client
        .send(
            "subscriptions/listen",
            json!({"notifications": {"resourceSubscriptions": ["ralph://features/auth"]}}),
        )
        .await;
    client.notification("notifications/subscriptions/acknowledged").await;
    // The look that counts is the one before this: asked for in turn, the answer comes after it.
    client.result("resources/list", json!({})).await;
    did(&mut writer, "update_feature", json!({"name": "auth", "boundaries": "none"})).await;
    let updated = client.notification("notifications/resources/updated").await;
    assert_eq!(updated["params"]["uri"], "ralph://features/auth");
}
