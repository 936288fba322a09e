//! What profiles and `--read-only` leave, at the list and at the call.

use rutter_server::profiles::Profile;
use serde_json::{Value, json};

use crate::server::{Client, Folder};

async fn names(client: &mut Client, method: &str, list: &str, key: &str) -> Vec<String> {
    let result = client.result(method, json!({})).await;
    let of = |item: &Value| item[key].as_str().unwrap().to_owned();
    result[list].as_array().unwrap().iter().map(of).collect()
}

fn project() -> Folder {
    Folder::with(&[
        (".ralph/.keep", ""),
        ("docs/a.md", "# A\n"),
        ("mcp/resources/adr/001-rust.md", "# Rust\n"),
        ("resources/prompts.meta.yaml", "[{id: first}]"),
        ("resources/prompts/first.md", "Go."),
    ])
}

#[tokio::test]
async fn each_profile_shows_its_surface() {
    let surface = |profile: Profile| async move {
        let mut client = project().profile(profile).connect().await;
        let tools = names(&mut client, "tools/list", "tools", "name").await;
        let resources = names(&mut client, "resources/list", "resources", "uri").await;
        (tools, resources)
    };
    let strings = |list: &[&str]| list.iter().map(|&text| text.to_owned()).collect::<Vec<_>>();
    assert_eq!(
        surface(Profile::Acdc).await,
        (strings(&["read", "search"]), strings(&["acdc://docs/a"]))
    );
    assert_eq!(
        surface(Profile::Architecture).await,
        (strings(&[]), strings(&["architecture://adr/001-rust"]))
    );
    let (tools, resources) = surface(Profile::Acm).await;
    assert_eq!((tools.len(), resources.len()), (13, 0), "{tools:?}");
    let (tools, resources) = surface(Profile::Prompts).await;
    assert_eq!(tools, ["advance_state", "export_task_list", "first", "suggest_next_calls"]);
    assert_eq!(resources.len(), 1, "{resources:?}");
    let file = resources[0].strip_prefix("file:///").unwrap();
    assert!(file.ends_with("/resources/prompts/first.md"), "{file}");
    let (tools, resources) = surface(Profile::Ralph).await;
    insta::assert_snapshot!(tools.join(" "));
    assert_eq!(tools.len(), 30);
    assert_eq!(resources, ["ralph://learnings", "ralph://progress"]);
}

#[tokio::test]
async fn each_profile_has_its_name() {
    for (profile, name, version) in [
        (Profile::Acm, "acm", "1.0.0"),
        (Profile::Architecture, "architecture", "1.0.0"),
        (Profile::Prompts, "prompts-mcp-server", "0.1.0"),
        (Profile::Ralph, "ralph-project", "1.0.0"),
    ] {
        let setup = project().profile(profile).setup().unwrap();
        let identity = setup.app.identity();
        assert_eq!((identity.name.as_str(), identity.version.as_str()), (name, version));
    }
    let folder = Folder::with(&[(
        "mcp-metadata.yaml",
        "server: {name: Ours, version: 3.1.0, instructions: Hello.}\n",
    )]);
    let setup = folder.profile(Profile::Acdc).setup().unwrap();
    let identity = setup.app.identity();
    assert_eq!((identity.name.as_str(), identity.version.as_str()), ("Ours", "3.1.0"));
    assert!(
        identity
            .instructions
            .as_deref()
            .unwrap()
            .starts_with("Hello.\n\nSources of documents:\n- rutter")
    );
}

#[tokio::test]
async fn read_only_hides_what_writes_and_refuses_to_call_it() {
    let mut client = project().connect().await;
    assert_eq!(
        client.tool("append_learning", json!({"text": "one"})).await,
        ("recorded".into(), false)
    );
    assert_eq!(client.tool("read_learnings", json!({})).await, ("one\n".into(), false));

    let mut client = project().read_only().connect().await;
    let tools = names(&mut client, "tools/list", "tools", "name").await;
    assert!(
        ["read", "read_progress", "list_tasks"].iter().all(|tool| tools.contains(&(*tool).into()))
    );
    assert!(!tools.iter().any(|tool| tool.starts_with("append_") || tool.starts_with("create_")));
    let hidden = client
        .error("tools/call", json!({"name": "append_learning", "arguments": {"text": "x"}}))
        .await;
    assert_eq!(hidden.0, -32602);
    assert!(!client.folder.path().join(".ralph/learnings.txt").exists());
}

#[tokio::test]
async fn a_hidden_tool_answers_exactly_as_one_that_does_not_exist() {
    let mut with_board = project().read_only().connect().await;
    let mut without_board = Folder::with(&[
        ("docs/a.md", "# A\n"),
        ("resources/prompts.meta.yaml", "[{id: first}]"),
        ("resources/prompts/first.md", "Go."),
    ])
    .connect()
    .await;
    // The suggestion comes from what is visible, so the visible tools must be the same.
    let call = json!({"name": "append_zzz", "arguments": {}});
    let unknown = without_board.error("tools/call", call.clone()).await;
    assert_eq!(with_board.error("tools/call", call).await, unknown);
    let hidden = with_board.error("tools/call", json!({"name": "append_learning"})).await;
    assert_eq!(hidden.1, "unknown tool `append_learning`; list the tools to see what there is");
}

#[tokio::test]
async fn resources_and_prompts_of_hidden_modules_cannot_be_read() {
    let mut client = project().profile(Profile::Acm).connect().await;
    assert_eq!(
        client.error("resources/read", json!({"uri": "acdc://docs/a"})).await.1,
        "resource not found"
    );
    assert_eq!(client.error("prompts/get", json!({"name": "rutter:create-adr"})).await.0, -32602);
    let mut client = project().profile(Profile::Acdc).connect().await;
    assert_eq!(
        client.error("resources/read", json!({"uri": "architecture://adr/001-rust"})).await.0,
        -32002
    );
}
