//! Files change, and clients of both eras hear of it.

use serde_json::json;

use crate::server::{Folder, page};

fn folder() -> Folder {
    let folder = Folder::with(&[("rutter.yaml", "content: [{name: kb, path: kb}]\n")]);
    folder.write("kb/mcp-resources/a.md", page("A"));
    folder.write("kb/mcp-prompts/p.md", "---\nname: p\n---\none\n");
    folder
}

#[tokio::test]
async fn a_session_is_told_what_it_subscribed_to() {
    let mut client = folder().connect().await;
    client.result("resources/list", json!({})).await;
    client.result("resources/subscribe", json!({"uri": "acdc://kb/a"})).await;
    client.folder.write("kb/mcp-resources/a.md", page("Another"));
    let updated = client.notification("notifications/resources/updated").await;
    assert_eq!(updated["params"]["uri"], "acdc://kb/a");
    let list = client.result("resources/list", json!({})).await;
    assert_eq!(list["resources"][0]["name"], "Another");
    client.result("resources/unsubscribe", json!({"uri": "acdc://kb/a"})).await;
}

#[tokio::test]
async fn a_session_is_told_of_new_resources_and_prompts() {
    let mut client = folder().connect().await;
    client.result("prompts/list", json!({})).await;
    client.folder.write("kb/mcp-resources/b.md", page("B"));
    client.notification("notifications/resources/list_changed").await;
    client.folder.write("kb/mcp-prompts/p.md", "---\nname: p\n---\ntwo\n");
    client.notification("notifications/prompts/list_changed").await;
    let got = client.result("prompts/get", json!({"name": "kb:p"})).await;
    assert_eq!(got["messages"][0]["content"]["text"], "two\n");
}

#[tokio::test]
async fn a_stream_of_the_newer_era_hears_what_it_asked_for() {
    let mut client = folder().connect_modern();
    client.result("resources/list", json!({})).await;
    let id = client
        .send(
            "subscriptions/listen",
            json!({"notifications": {"resourcesListChanged": true, "resourceSubscriptions": ["acdc://kb/a"]}}),
        )
        .await;
    client.notification("notifications/subscriptions/acknowledged").await;
    client.folder.write("kb/mcp-resources/a.md", page("Other"));
    let changed = client.notification("notifications/resources/list_changed").await;
    assert_eq!(
        changed["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"], id,
        "{changed}"
    );
    client.notification("notifications/resources/updated").await;
}

#[tokio::test]
async fn a_client_that_set_a_level_gets_messages() {
    let mut client = folder().connect().await;
    client.result("logging/setLevel", json!({"level": "warning"})).await;
    client.result("resources/list", json!({})).await;
    // A broken file is worth a warning; the rest is still served.
    client.folder.write("kb/mcp-resources/broken.md", "no frontmatter");
    client.folder.write("kb/mcp-resources/c.md", page("C"));
    let message = client.notification("notifications/message").await;
    assert_eq!(message["params"]["level"], "warning");
    let list = client.result("resources/list", json!({})).await;
    let mut uris = list["resources"].as_array().unwrap().iter().map(|r| r["uri"].as_str().unwrap());
    assert!(uris.clone().any(|uri| uri == "acdc://kb/c"), "{list}");
    assert!(!uris.any(|uri| uri == "acdc://kb/broken"), "{list}");
}

#[tokio::test]
async fn subscribing_to_nothing_is_an_error() {
    let mut client = folder().connect().await;
    let (code, message) =
        client.error("resources/subscribe", json!({"uri": "acdc://kb/none"})).await;
    assert_eq!((code, message.as_str()), (-32002, "resource not found"));
}
