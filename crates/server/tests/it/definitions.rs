//! Every tool definition, as agents see it: a change here is a change for every user.

use serde_json::json;

use crate::server::Folder;

#[tokio::test]
async fn every_tool_definition() {
    let mut client = Folder::with(&[(".ralph/.keep", "")]).connect().await;
    let list = client.result("tools/list", json!({})).await;
    insta::assert_json_snapshot!(list["tools"]);
}

#[tokio::test]
async fn definitions_are_plain_enough_for_every_client() {
    let mut client = Folder::with(&[(".ralph/.keep", "")]).connect().await;
    let list = client.result("tools/list", json!({})).await;
    for tool in list["tools"].as_array().unwrap() {
        let name = tool["name"].as_str().unwrap();
        let text = tool.to_string();
        assert!(
            name.len() <= 64 && name.chars().all(|c| c.is_ascii_lowercase() || c == '_'),
            "{name}"
        );
        assert_eq!(tool["inputSchema"]["type"], "object", "{name}");
        assert_eq!(tool["inputSchema"]["additionalProperties"], false, "{name}");
        assert!(tool["annotations"]["readOnlyHint"].is_boolean(), "{name}");
        assert!(tool["title"].is_string() && tool["description"].is_string(), "{name}");
        for noise in ["$schema", "$ref", "\"null\"", "\"format\":\""] {
            assert!(!text.contains(noise), "{name}: {noise}");
        }
    }
}
