//! Prompts in both formats, as a client meets them.

use rutter_server::profiles::Profile;
use serde_json::{Value, json};

use crate::server::{Client, Folder};

const BUILT_IN: [&str; 3] = ["create-adr", "review-code-against-patterns", "suggest-patterns"];

const EXPLAIN: &str = r#"{
  "name": "explain",
  "description": "Explain a pattern.",
  "author": "someone",
  "arguments": [
    {"name": "pattern", "description": "Its name"},
    {"name": "depth", "required": false, "enum": ["short", "long"]}
  ],
  "messages": [
    {"role": "user", "content": "Explain {{pattern}} from:\n\n{{resource:architecture://patterns/*}}"},
    {"role": "assistant", "content": {"type": "text", "text": "In {{depth}}:"}}
  ]
}"#;

fn project() -> Folder {
    Folder::with(&[
        ("mcp/resources/patterns/retry.md", "# Retry\n\nTry again.\n"),
        ("mcp/resources/adr/001-use-rust.md", "# Use Rust\n\nAccepted.\n"),
        ("mcp/prompts/explain.json", EXPLAIN),
    ])
}

async fn prompts(client: &mut Client) -> Vec<String> {
    let list = client.result("prompts/list", json!({})).await;
    let list = list["prompts"].as_array().unwrap();
    list.iter().map(|prompt| prompt["name"].as_str().unwrap().to_owned()).collect()
}

async fn get(client: &mut Client, name: &str, arguments: Value) -> Result<Value, (i64, String)> {
    let params = json!({"name": name, "arguments": arguments});
    let mut response = client.call("prompts/get", params).await;
    match response.get("error") {
        None => Ok(response["result"].take()),
        Some(error) => {
            Err((error["code"].as_i64().unwrap(), error["message"].as_str().unwrap().to_owned()))
        }
    }
}

#[tokio::test]
async fn a_json_prompt_with_roles_and_documents() {
    let mut client = project().connect().await;
    let list = client.result("prompts/list", json!({})).await;
    let listed = list["prompts"].as_array().unwrap();
    let listed = listed.iter().find(|prompt| prompt["name"] == "explain").unwrap();
    assert_eq!(
        *listed,
        json!({"name": "explain", "description": "Explain a pattern.", "arguments": [
            {"name": "pattern", "description": "Its name", "required": true},
            {"name": "depth", "required": false},
        ]})
    );
    let got = get(&mut client, "explain", json!({"pattern": "{{depth}}", "depth": "short"})).await;
    assert_eq!(
        got.unwrap(),
        json!({"description": "Explain a pattern.", "messages": [
            {"role": "user", "content": {"type": "text", "text":
                "Explain {{depth}} from:\n\n## Retry (architecture://patterns/retry)\n\n# Retry\n\nTry again."}},
            {"role": "assistant", "content": {"type": "text", "text": "In short:"}},
        ]})
    );
}

#[tokio::test]
async fn arguments_that_do_not_fit_are_invalid_params() {
    let mut client = project().connect().await;
    let long = "ä".repeat(2_001);
    let code = "ä".repeat(10_001);
    for (name, arguments, message) in [
        ("explain", json!({}), "/pattern: required"),
        ("explain", json!({"pattern": ""}), "/pattern: required"),
        ("explain", json!({"pattern": 1}), "/pattern: expected string"),
        ("explain", json!({"pattern": long}), "/pattern: at most 2000 characters"),
        ("suggest-patterns", json!({"problem": long}), "/problem: at most 2000 characters"),
        ("review-code-against-patterns", json!({"code": code}), "/code: at most 10000 characters"),
        (
            "explain",
            json!({"pattern": "x", "depth": "deep"}),
            "/depth: expected one of `short`, `long`",
        ),
        (
            "explain",
            json!({"pattern": "x", "patern": "y"}),
            "/patern: unknown argument; did you mean `pattern`?",
        ),
    ] {
        let error = get(&mut client, name, arguments).await.unwrap_err();
        assert_eq!(error, (-32602, message.to_owned()));
    }
    let fits = json!({"code": "ä".repeat(10_000), "language": "rust"});
    assert!(get(&mut client, "review-code-against-patterns", fits).await.is_ok());
}

#[tokio::test]
async fn the_architecture_profile_shows_its_prompts_and_no_others() {
    let mut expected = BUILT_IN.map(str::to_owned).to_vec();
    for folder in [
        Folder::empty(),
        Folder::with(&[("docs/mcp-prompts/p.md", "---\nname: p\n---\n")]),
        Folder::with(&[
            ("rutter.yaml", "content: [{name: kb, path: kb}]\n"),
            ("kb/mcp-prompts/p.md", "---\nname: p\n---\n"),
        ]),
    ] {
        let mut client = folder.profile(Profile::Architecture).connect().await;
        assert_eq!(prompts(&mut client).await, expected);
        for hidden in ["rutter:create-adr", "docs:p", "kb:p"] {
            assert_eq!(get(&mut client, hidden, json!({})).await.unwrap_err().0, -32602);
        }
        assert!(get(&mut client, "create-adr", json!({"topic": "queues"})).await.is_ok());
    }
    expected.insert(1, "explain".into());
    let mut client = project().profile(Profile::Architecture).connect().await;
    assert_eq!(prompts(&mut client).await, expected);
    let read = client.result("resources/read", json!({"uri": "architecture://adr/1"})).await;
    assert_eq!(read["contents"][0]["uri"], "architecture://adr/001-use-rust");
}

#[tokio::test]
async fn the_built_in_prompts_are_shown_once() {
    let mut client = project().connect().await;
    let mut expected = BUILT_IN.map(str::to_owned).to_vec();
    expected.insert(1, "explain".into());
    assert_eq!(prompts(&mut client).await, expected);
    let mut client = Folder::empty().connect().await;
    assert_eq!(prompts(&mut client).await, BUILT_IN.map(|name| format!("rutter:{name}")));
    let mut client = project().profile(Profile::Acdc).connect().await;
    assert_eq!(prompts(&mut client).await, BUILT_IN.map(|name| format!("rutter:{name}")));
    // Sources that were configured bring what their layout promises.
    let configured = project();
    configured.write("rutter.yaml", "content: [{name: ours, path: mcp}]\n");
    let mut client = configured.connect().await;
    assert_eq!(prompts(&mut client).await, expected);
}

#[tokio::test]
async fn a_file_replaces_a_built_in_prompt_and_gives_it_back() {
    let folder = project();
    folder.write("mcp/prompts/a.json", r#"{"name": "create-adr", "template": "Our own."}"#);
    let mut client = folder.connect().await;
    let text = |got: Value| got["messages"][0]["content"]["text"].as_str().unwrap().to_owned();
    let own = get(&mut client, "create-adr", json!({})).await.unwrap();
    assert_eq!(text(own), "Our own.");
    std::fs::remove_file(client.folder.path().join("mcp/prompts/a.json")).unwrap();
    client.notification("notifications/prompts/list_changed").await;
    let built_in = get(&mut client, "create-adr", json!({"topic": "queues"})).await.unwrap();
    assert!(text(built_in).contains("<topic>\nqueues\n</topic>"));
}

#[tokio::test]
async fn a_broken_prompt_keeps_its_last_good_version_until_it_is_mended() {
    let mut client = project().connect().await;
    client.result("logging/setLevel", json!({"level": "warning"})).await;
    prompts(&mut client).await;
    client.folder.write("mcp/prompts/explain.json", &EXPLAIN[..40]);
    let message = client.notification("notifications/message").await;
    assert_eq!(message["params"]["level"], "warning", "{message}");
    assert!(get(&mut client, "explain", json!({"pattern": "retry"})).await.is_ok());
    client.folder.write("mcp/prompts/explain.json", EXPLAIN.replace("Explain {{", "Describe {{"));
    client.notification("notifications/prompts/list_changed").await;
    let got = get(&mut client, "explain", json!({"pattern": "retry"})).await.unwrap();
    let text = got["messages"][0]["content"]["text"].as_str().unwrap();
    assert!(text.starts_with("Describe retry"), "{text}");
}

#[tokio::test]
async fn completion_offers_the_values_that_are_declared() {
    let mut client = project().connect().await;
    for (argument, typed, expected) in [
        ("depth", "", json!(["short", "long"])),
        ("depth", "L", json!(["long"])),
        ("pattern", "", json!([])),
        ("none", "", json!([])),
    ] {
        let question = json!({
            "ref": {"type": "ref/prompt", "name": "explain"},
            "argument": {"name": argument, "value": typed},
        });
        let answer = client.result("completion/complete", question).await;
        assert_eq!(answer["completion"]["values"], expected, "{argument} {typed}");
    }
    let mut client = project().profile(Profile::Acm).connect().await;
    let question = json!({
        "ref": {"type": "ref/prompt", "name": "explain"},
        "argument": {"name": "depth", "value": ""},
    });
    let answer = client.result("completion/complete", question).await;
    assert_eq!(answer["completion"]["values"], json!([]), "what is hidden has no completions");
}

#[tokio::test]
async fn markdown_prompts_embed_documents_as_well() {
    let folder = Folder::with(&[("rutter.yaml", "content: [{name: kb, path: kb}]\n")]);
    folder.write("kb/mcp-resources/guides/a.md", crate::server::page("A"));
    folder.write("kb/mcp-prompts/p.md", "---\nname: p\n---\n{{resource:acdc://kb/guides/*}}");
    folder.write("kb/mcp-prompts/q.md", "---\nname: q\n---\n{{resource:acdc://kb/nothing}}");
    let problems = folder.setup().unwrap().app.problems();
    let problems: Vec<String> = problems.iter().map(|(_, problem)| problem.to_string()).collect();
    assert_eq!(
        problems,
        ["kb/mcp-prompts/q.md: `{{resource:acdc://kb/nothing}}` matches no document"]
    );
    let mut client = folder.connect().await;
    let got = get(&mut client, "kb:p", json!({})).await.unwrap();
    assert_eq!(
        got["messages"][0]["content"]["text"],
        "## A (acdc://kb/guides/a)\n\n# A\n\nText of A."
    );
    let got = get(&mut client, "kb:q", json!({})).await.unwrap();
    assert_eq!(
        got["messages"][0]["content"]["text"],
        "(There is no document `acdc://kb/nothing`.)"
    );
}

#[tokio::test]
async fn a_readme_beside_docs_is_served_with_them() {
    let folder = Folder::with(&[
        ("docs/README.md", "# The docs\n"),
        ("README.md", "# Ours\n\nWhat it is.\n"),
        ("CHANGELOG.md", "# Changes\n"),
    ]);
    let mut client = folder.profile(Profile::Acdc).connect().await;
    let list = client.result("resources/list", json!({})).await;
    let uris: Vec<_> =
        list["resources"].as_array().unwrap().iter().map(|r| r["uri"].as_str().unwrap()).collect();
    assert_eq!(uris, ["acdc://docs/README", "acdc://project/README"]);
    client.folder.write("README.md", "# Theirs\n");
    client.notification("notifications/resources/list_changed").await;
    let read = client.result("resources/read", json!({"uri": "acdc://project/README.md"})).await;
    assert_eq!(read["contents"][0]["text"], "# Theirs\n");

    let folder = Folder::with(&[("mcp/server.py", ""), ("README.md", "# Ours\n")]);
    let mut client = folder.connect().await;
    let list = client.result("resources/list", json!({})).await;
    let first = list["resources"][0]["uri"].as_str().unwrap();
    assert!(first.starts_with("acdc://rutter/"), "a folder of another kind is not served: {first}");
}
