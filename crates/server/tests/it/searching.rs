//! Documents are found.

use rutter_server::profiles::Profile;
use serde_json::{Value, json};

use crate::server::{Client, Folder, page};

async fn search(client: &mut Client, arguments: Value) -> (String, Value) {
    let result =
        client.result("tools/call", json!({"name": "search", "arguments": arguments})).await;
    assert_ne!(result["isError"], true, "{result}");
    (result["content"][0]["text"].as_str().unwrap().to_owned(), result["structuredContent"].clone())
}

fn first(structured: &Value) -> &str {
    structured["results"][0]["uri"].as_str().unwrap_or_default()
}

fn handbook() -> Folder {
    let folder = Folder::with(&[(
        "mcp-metadata.yaml",
        "content:\n  - {name: kb, path: kb}\n  - {name: other, path: other}\n",
    )]);
    folder.write(
        "kb/mcp-resources/configure.md",
        "---\nname: Configuration\ndescription: How to set it up.\n---\n# Configuration\n\nPut the configuration into a file.\n\n\
         ## Reloading\n\nThe server notices changes. Call getUserName or set snake_case_value.\n",
    );
    folder.write(
        "kb/mcp-resources/deploy.md",
        "---\nname: Deploying\ndescription: Roll it out.\nkeywords: [rollout]\n---\nA rolling update replaces one by one.\n",
    );
    folder.write("other/mcp-resources/deploy.md", page("Deploying elsewhere"));
    folder
}

#[tokio::test]
async fn the_answer_has_the_form_of_the_specification() {
    let mut client = handbook().profile(Profile::Acdc).connect().await;
    let (text, structured) = search(&mut client, json!({"query": "rolling updates"})).await;
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines[..2], ["Search results for 'rolling updates':", ""]);
    let line = lines[2];
    assert!(line.starts_with("- [kb] [Deploying](acdc://kb/deploy): "), "{line}");
    assert!(line.contains("A **rolling** **update** replaces one by one."), "{line}");
    let relevance = line.rsplit_once("(relevance: ").unwrap().1.trim_end_matches(')');
    assert_eq!(relevance.split_once('.').unwrap().1.len(), 2, "{line}");
    assert_eq!(structured["results"][0]["name"], "Deploying");

    let (text, structured) =
        search(&mut client, json!({"query": "deploying", "source": "other"})).await;
    assert!(
        text.starts_with("Search results for 'deploying' in source 'other':\n\n- [other] "),
        "{text}"
    );
    assert_eq!(structured["results"].as_array().unwrap().len(), 1);

    let (text, _) = search(&mut client, json!({"query": "zebra"})).await;
    assert!(text.starts_with("No results found for 'zebra'."), "{text}");
    let (text, failed) = client.tool("search", json!({"query": "x", "source": "kbb"})).await;
    assert_eq!(
        (text.as_str(), failed),
        ("there is no source `kbb`; the sources are `kb`, `other`", true)
    );
}

#[tokio::test]
async fn words_are_found_in_other_forms_misspelt_and_by_their_parts() {
    let mut client = handbook().connect().await;
    for (query, uri) in [
        ("configuring", "acdc://kb/configure#configuration"),
        ("configuraton", "acdc://kb/configure#configuration"),
        ("getUserName", "acdc://kb/configure#reloading"),
        ("getusername", "acdc://kb/configure#reloading"),
        ("user name", "acdc://kb/configure#reloading"),
        ("snake_case_value", "acdc://kb/configure#reloading"),
        ("rollout", "acdc://kb/deploy"),
        ("\"rolling update\"", "acdc://kb/deploy"),
    ] {
        let (text, structured) = search(&mut client, json!({"query": query})).await;
        assert_eq!(first(&structured), uri, "{query}: {text}");
    }
}

#[tokio::test]
async fn nothing_that_is_asked_is_an_error() {
    let mut client = handbook().connect().await;
    let many = "word ".repeat(10_000);
    let long = "x".repeat(1 << 20);
    for query in [
        "",
        " ",
        "\"",
        "\"\"",
        "a AND (b OR",
        "name:x^2",
        "* ? ~",
        "\u{0}\u{1b}[2J",
        "+-!",
        &many,
        &long,
        "the",
    ] {
        let (text, _) = search(&mut client, json!({"query": query})).await;
        assert!(!text.contains('\u{1b}') && text.len() < 4_000, "{text}");
    }
    let (code, message) = client
        .error("tools/call", json!({"name": "search", "arguments": {"query": "a", "limit": 0}}))
        .await;
    assert_eq!((code, message.as_str()), (-32602, "/limit: expected a number from 1 to 50"));
}

#[tokio::test]
async fn the_index_follows_the_files() {
    let mut client = handbook().connect().await;
    assert_eq!(first(&search(&mut client, json!({"query": "zeppelin"})).await.1), "");
    client.folder.write("kb/mcp-resources/airship.md", page("Zeppelin"));
    client.notification("notifications/resources/list_changed").await;
    assert_eq!(
        first(&search(&mut client, json!({"query": "zeppelin"})).await.1),
        "acdc://kb/airship#zeppelin"
    );
    client.folder.write("kb/mcp-resources/airship.md", page("Balloon"));
    client.notification("notifications/resources/list_changed").await;
    assert_eq!(first(&search(&mut client, json!({"query": "zeppelin"})).await.1), "");
    std::fs::remove_file(client.folder.path().join("kb/mcp-resources/airship.md")).unwrap();
    client.notification("notifications/resources/list_changed").await;
    assert_eq!(first(&search(&mut client, json!({"query": "balloon"})).await.1), "");
}

#[tokio::test]
async fn an_exact_word_outranks_a_near_one() {
    let folder = Folder::with(&[
        ("docs/a.md", "# A\n\nThe pods run.\n"),
        ("docs/b.md", "# B\n\nThe pots boil.\n"),
    ]);
    let mut client = folder.connect().await;
    let (_, structured) = search(&mut client, json!({"query": "pots"})).await;
    assert_eq!(structured["results"].as_array().unwrap().len(), 1);
    assert_eq!(first(&structured), "acdc://docs/b#b");
}
