//! Both eras of the protocol.

use std::collections::BTreeSet;

use rutter_server::profiles::Profile;
use serde_json::{Value, json};

use crate::server::{Client, Folder, page};

#[tokio::test]
async fn every_older_version_is_agreed_to() {
    for version in ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"] {
        let mut client = Folder::empty().connect_as(version).await;
        assert!(
            !client.result("tools/list", json!({})).await["tools"].as_array().unwrap().is_empty()
        );
    }
}

#[tokio::test]
async fn an_unknown_version_gets_the_newest_that_has_a_handshake() {
    for version in ["2026-07-28", "1999-01-01", "nonsense"] {
        let mut client = Folder::empty().serve();
        let info = json!({"name": "it", "version": "1"});
        let params = json!({"protocolVersion": version, "capabilities": {}, "clientInfo": info});
        let result = client.result("initialize", params).await;
        assert_eq!(result["protocolVersion"], "2025-11-25", "{version}");
    }
}

#[tokio::test]
async fn the_newer_era_needs_no_handshake() {
    let mut client = Folder::empty().connect_modern();
    let discovered = client.result("server/discover", json!({})).await;
    let versions: Vec<_> = discovered["supportedVersions"].as_array().unwrap().iter().collect();
    assert!(
        versions.contains(&&json!("2026-07-28")) && versions.contains(&&json!("2024-11-05")),
        "{versions:?}"
    );
    let tools = client.result("tools/list", json!({})).await;
    assert_eq!(tools["resultType"], "complete");
    assert_eq!((&tools["ttlMs"], &tools["cacheScope"]), (&json!(60_000), &json!("private")));
    let (code, _) = client.error("resources/read", json!({"uri": "acdc://rutter/none"})).await;
    assert_eq!(code, -32602);
}

#[tokio::test]
async fn cache_hints_are_true() {
    let mut client = Folder::with(&[("docs/a.md", "# A\n")]).connect_modern();
    let uri = "acdc://docs/a";
    assert_eq!(
        client.result("resources/read", json!({"uri": uri})).await["ttlMs"],
        0,
        "a file may change"
    );
    assert_eq!(client.result("resources/list", json!({})).await["ttlMs"], 0);
    let mut old = Folder::empty().connect().await;
    assert_eq!(
        old.result("tools/list", json!({})).await.get("ttlMs"),
        None,
        "the older era has no such field"
    );
}

async fn all_uris(client: &mut Client) -> (Vec<String>, usize) {
    let (mut uris, mut pages, mut cursor) = (Vec::new(), 0, Value::Null);
    loop {
        let params = if cursor.is_null() { json!({}) } else { json!({"cursor": cursor}) };
        let page = client.result("resources/list", params).await;
        uris.extend(
            page["resources"]
                .as_array()
                .unwrap()
                .iter()
                .map(|r| r["uri"].as_str().unwrap().to_owned()),
        );
        pages += 1;
        cursor = page["nextCursor"].clone();
        if cursor.is_null() {
            return (uris, pages);
        }
    }
}

#[tokio::test]
async fn long_lists_come_in_pages_that_show_everything_once_in_order() {
    let folder = Folder::empty();
    for number in 0..450 {
        folder.write(&format!("docs/page-{number}.md"), "# Page\n");
    }
    let mut client = folder.profile(Profile::Acdc).connect().await;
    let (uris, pages) = all_uris(&mut client).await;
    assert_eq!((uris.len(), pages), (450, 3));
    let ordered: BTreeSet<_> = uris.iter().cloned().collect();
    assert_eq!(ordered.into_iter().collect::<Vec<_>>(), uris);
    let (code, message) = client.error("resources/list", json!({"cursor": "made-up"})).await;
    assert_eq!(
        (code, message.as_str()),
        (-32602, "/cursor: not a cursor of this server; list from the beginning")
    );
}

#[tokio::test]
async fn documents_are_listed_with_what_a_client_shows() {
    let folder = Folder::with(&[(
        "mcp-metadata.yaml",
        "content:\n  - {name: kb, description: Ours, path: kb}\n",
    )]);
    folder.write("kb/mcp-resources/guides/start.md", page("Start"));
    let mut client = folder.connect().await;
    let list = client.result("resources/list", json!({})).await;
    let mut resource = list["resources"][0].clone();
    let modified = resource["annotations"]["lastModified"].take();
    assert!(modified.as_str().unwrap().starts_with("20"), "{modified}");
    assert_eq!(
        resource,
        json!({
            "uri": "acdc://kb/guides/start", "name": "Start", "title": "Start", "description": "About Start.",
            "mimeType": "text/markdown", "size": 24, "annotations": {"lastModified": null},
        })
    );
    let read = client.result("resources/read", json!({"uri": "acdc://kb/guides/start.md"})).await;
    assert_eq!(
        read["contents"],
        json!([{"uri": "acdc://kb/guides/start", "mimeType": "text/markdown", "text": "# Start\n\nText of Start.\n"}])
    );
}

#[tokio::test]
async fn a_tool_answers_with_text_and_data() {
    let mut client = Folder::with(&[("docs/a.md", "# A\n\nBody.\n")]).connect().await;
    let result = client
        .result("tools/call", json!({"name": "read", "arguments": {"uri": "acdc://docs/a"}}))
        .await;
    assert_eq!(
        result,
        json!({
            "content": [{"type": "text", "text": "# A\n\nBody.\n"}],
            "structuredContent": {"uri": "acdc://docs/a", "name": "A", "text": "# A\n\nBody.\n"},
            "isError": false,
        })
    );
}

#[tokio::test]
async fn a_large_document_is_cut_and_says_so() {
    let folder = Folder::with(&[("rutter.yaml", "limits: {payload: 2000}\n")]);
    folder.write("docs/big.md", format!("# Big\n\n{}", "ä".repeat(5_000)));
    let mut client = folder.connect().await;
    let (text, failed) = client.tool("read", json!({"uri": "acdc://docs/big"})).await;
    assert!(!failed && text.len() <= 2_000 && text.len() > 1_990, "{}", text.len());
    assert!(text.ends_with(" bytes]") && text.contains("… [truncated "), "{text}");
}

#[tokio::test]
async fn prompts_are_filled_in() {
    let mut client = Folder::empty().connect().await;
    let prompts = client.result("prompts/list", json!({})).await;
    let names: Vec<_> = prompts["prompts"]
        .as_array()
        .unwrap()
        .iter()
        .map(|p| p["name"].as_str().unwrap())
        .collect();
    assert_eq!(
        names,
        ["rutter:create-adr", "rutter:review-code-against-patterns", "rutter:suggest-patterns"]
    );
    let got = client
        .result(
            "prompts/get",
            json!({"name": "rutter:create-adr", "arguments": {"topic": "{{context}} and more"}}),
        )
        .await;
    assert_eq!(got["messages"][0]["role"], "user");
    assert!(
        got["messages"][0]["content"]["text"].as_str().unwrap().contains("{{context}} and more")
    );
}

#[tokio::test]
async fn template_variables_are_completed() {
    let mut client =
        Folder::with(&[("docs/guides/a.md", "# A\n"), ("docs/b.md", "# B\n")]).connect().await;
    let complete = |name: &str, value: &str| {
        json!({
            "ref": {"type": "ref/resource", "uri": "acdc://{source}/{+path}"},
            "argument": {"name": name, "value": value},
            "context": {"arguments": {"source": "docs"}},
        })
    };
    let sources = client.result("completion/complete", complete("source", "do")).await;
    assert_eq!(sources["completion"]["values"], json!(["docs"]));
    let paths = client.result("completion/complete", complete("path", "G")).await;
    assert_eq!(paths["completion"], json!({"values": ["guides/a"], "total": 1, "hasMore": false}));
}

#[tokio::test]
async fn several_requests_at_once_are_all_answered() {
    let mut client = Folder::empty().connect().await;
    let mut waiting = BTreeSet::new();
    for _ in 0..200 {
        waiting.insert(
            client
                .send("tools/call", json!({"name": "get_stage", "arguments": {"stage": "design"}}))
                .await,
        );
        // Reading as we go: the pipe between us is small.
        let answered = client.line().await["id"].as_u64().unwrap();
        assert!(waiting.remove(&answered));
    }
    assert!(waiting.is_empty());
}

#[tokio::test]
async fn the_end_of_the_input_ends_the_server_even_while_a_stream_listens() {
    let mut client = Folder::empty().connect_modern();
    client.send("subscriptions/listen", json!({"notifications": {"toolsListChanged": true}})).await;
    client.notification("notifications/subscriptions/acknowledged").await;
    client.close().await;
}

#[tokio::test]
async fn the_last_line_needs_no_line_feed() {
    let mut client = Folder::empty().serve();
    let id = client.send("ping", json!({})).await;
    client.response(id).await;
    client.close().await;
}
