//! The embedded pack is as good as what we ask of others.

use std::collections::BTreeSet;

use serde_json::json;

use crate::server::Folder;

#[test]
fn the_pack_has_no_problems() {
    let app = Folder::empty().setup().unwrap().app;
    assert_eq!(app.problems(), []);
}

#[tokio::test]
async fn an_empty_folder_serves_something_of_every_kind() {
    let mut client = Folder::empty().connect().await;
    for (method, list, least) in [
        ("tools/list", "tools", 10),
        ("resources/list", "resources", 10),
        ("prompts/list", "prompts", 3),
    ] {
        let result = client.result(method, json!({})).await;
        assert!(result[list].as_array().unwrap().len() >= least, "{method}");
    }
    for stage in ["discover", "design", "develop"] {
        let (text, failed) = client.tool("get_stage", json!({"stage": stage})).await;
        assert!(!failed && text.contains("## "), "{stage}");
    }
}

#[tokio::test]
async fn links_between_documents_lead_somewhere() {
    let mut client = Folder::empty().connect().await;
    let list = client.result("resources/list", json!({})).await;
    let uris: BTreeSet<String> = list["resources"]
        .as_array()
        .unwrap()
        .iter()
        .map(|r| r["uri"].as_str().unwrap().to_owned())
        .collect();
    let mut followed = 0;
    for uri in &uris {
        let read = client.result("resources/read", json!({"uri": uri})).await;
        let text = read["contents"][0]["text"].as_str().unwrap().to_owned();
        for target in text.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            let linked = target.split('#').next().unwrap();
            if linked.starts_with("acdc://") {
                assert!(uris.contains(linked), "{uri} links to {target}");
                followed += 1;
            }
        }
    }
    assert!(followed > 10, "{followed}");
}

#[test]
fn the_configuration_that_the_guide_shows_is_understood() {
    let guide = include_str!("../../../../pack/content/mcp-resources/guides/configure.md");
    let shown = guide.split("```yaml").nth(1).and_then(|rest| rest.split("```").next()).unwrap();
    let config = rutter_server::config::Config::parse("configure.md", shown).unwrap();
    assert!(config.content.is_some() && config.process.is_some() && config.workflow.is_some());
}
