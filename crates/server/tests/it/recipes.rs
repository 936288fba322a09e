//! What a recipe leaves of the tools, of their arguments and of their targets.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::server::{Client, Folder};

const RECIPES: [&str; 7] =
    ["braindump", "discuss", "enrichment", "opus_review", "ramble", "task_execution", "yap"];

/// A board whose default context is this.
pub(crate) fn session(context: &Value) -> Folder {
    Folder::with(&[(".ralph/mcp/context.json", &context.to_string())])
}

pub(crate) async fn tool_names(client: &mut Client) -> Vec<String> {
    let result = client.result("tools/list", json!({})).await;
    let name = |tool: &Value| tool["name"].as_str().unwrap().to_owned();
    result["tools"].as_array().unwrap().iter().map(name).collect()
}

/// Two features, two disciplines and a task, made by someone without a recipe.
pub(crate) async fn furnish(folder: Folder) -> Folder {
    let mut client = folder.connect().await;
    for name in ["auth", "shop"] {
        let feature = json!({"name": name, "display_name": name});
        assert!(!client.tool("create_feature", feature).await.1);
    }
    for name in ["frontend", "backend"] {
        let discipline =
            json!({"name": name, "display_name": name, "icon": "box", "color": "#123456"});
        assert!(!client.tool("create_discipline", discipline).await.1);
    }
    let task = json!({"feature": "auth", "discipline": "frontend", "title": "Log in"});
    assert!(!client.tool("create_task", task).await.1);
    client.into_folder().await
}

/// A furnished board whose default context is this.
async fn furnished(context: &Value) -> Client {
    let folder = furnish(Folder::with(&[(".ralph/.keep", "")])).await;
    folder.write(".ralph/mcp/context.json", context.to_string());
    folder.connect().await
}

#[tokio::test]
async fn each_recipe_has_exactly_its_tools() {
    let mut sets = BTreeMap::new();
    for recipe in RECIPES {
        let context = json!({"recipe": recipe, "discipline": "frontend", "feature": "auth"});
        let mut client = session(&context).connect().await;
        sets.insert(recipe, tool_names(&mut client).await);
        // What is not listed is not there: said as of a tool that does not exist.
        let hidden = client.error("tools/call", json!({"name": "delete_task"})).await;
        let absent = client.error("tools/call", json!({"name": "xelete_taskx"})).await;
        assert_eq!(
            hidden.1.replace("delete_task", ""),
            absent.1.replace("xelete_taskx", ""),
            "{recipe}"
        );
    }
    insta::assert_json_snapshot!(sets);
}

#[tokio::test]
async fn without_a_recipe_there_is_everything() {
    let mut client = Folder::with(&[(".ralph/.keep", "")])
        .profile(rutter_server::profiles::Profile::Ralph)
        .connect()
        .await;
    let names = tool_names(&mut client).await;
    assert_eq!(names.len(), 30, "{names:?}");
}

#[tokio::test]
async fn a_session_that_executes_one_task_pays_little() {
    let mut client = session(&json!({"recipe": "task_execution"})).connect().await;
    let list = client.result("tools/list", json!({})).await;
    let paid = |tool: &Value| {
        let part = json!([tool["name"], tool["description"], tool["inputSchema"]]);
        part.to_string().len()
    };
    let bytes: usize = list["tools"].as_array().unwrap().iter().map(paid).sum();
    assert!(bytes <= 2_600, "{bytes} bytes");
}

fn definition(list: &Value, name: &str) -> Value {
    let mut tools = list["tools"].as_array().unwrap().iter();
    tools.find(|tool| tool["name"] == name).unwrap().clone()
}

#[tokio::test]
async fn a_review_changes_priority_and_description_of_a_task_alone() {
    let mut client = furnished(&json!({"recipe": "opus_review"})).await;
    let list = client.result("tools/list", json!({})).await;
    let update = definition(&list, "update_task");
    let mut shown: Vec<&String> =
        update["inputSchema"]["properties"].as_object().unwrap().keys().collect();
    shown.sort();
    assert_eq!(shown, ["description", "id", "priority"]);
    assert_eq!(update["inputSchema"]["required"], json!(["id"]));

    let call = |arguments: Value| json!({"name": "update_task", "arguments": arguments});
    for field in ["title", "tags", "no_such_field"] {
        let (code, message) = client.error("tools/call", call(json!({"id": 1, field: "x"}))).await;
        assert_eq!(code, -32602);
        assert!(
            message.starts_with(&format!("/{field}: unknown argument; expected `id`")),
            "{message}"
        );
        assert!(!message.contains("acceptance_criteria"), "{message}");
    }
    let (text, failed) = client.tool("update_task", json!({"id": 1, "priority": "high"})).await;
    assert!(!failed && text.contains("\"high\""), "{text}");
    // Nobody's schema but this session's is narrowed.
    let mut other = session(&json!({"recipe": "enrichment"})).connect().await;
    let list = other.result("tools/list", json!({})).await;
    assert!(definition(&list, "update_task")["inputSchema"]["properties"]["title"].is_object());
}

#[tokio::test]
async fn a_discussion_changes_its_own_discipline_alone() {
    let mut client = furnished(&json!({"recipe": "discuss", "discipline": "frontend"})).await;
    let list = client.result("tools/list", json!({})).await;
    let name = &definition(&list, "update_discipline")["inputSchema"]["properties"]["name"];
    assert_eq!(name["enum"], json!(["frontend"]));

    let update = |name: &str| json!({"name": name, "conventions": "Be kind."});
    let (text, failed) = client.tool("update_discipline", update("backend")).await;
    assert!(failed);
    assert_eq!(
        text,
        "/name: this session works on the discipline `frontend` alone; use `frontend`, or leave the other discipline as it is"
    );
    let (text, failed) = client.tool("get_discipline", json!({"name": "backend"})).await;
    assert!(!failed && !text.contains("Be kind"), "{text}");
    assert!(!client.tool("update_discipline", update("frontend")).await.1);
    let missing = json!({"name": "update_discipline", "arguments": {"conventions": "x"}});
    assert_eq!(client.error("tools/call", missing).await, (-32602, "/name: required".into()));
}

#[tokio::test]
async fn a_ramble_changes_its_own_feature_alone() {
    let mut client = furnished(&json!({"recipe": "ramble", "feature": "auth"})).await;
    for (tool, own, other) in [
        (
            "update_feature",
            json!({"name": "auth", "description": "d"}),
            json!({"name": "shop", "description": "d"}),
        ),
        (
            "append_feature_learning",
            json!({"feature_name": "auth", "text": "tokens expire"}),
            json!({"feature_name": "shop", "text": "tokens expire"}),
        ),
        (
            "add_feature_context_file",
            json!({"feature_name": "auth", "file_path": "src/a.rs"}),
            json!({"feature_name": "shop", "file_path": "src/a.rs"}),
        ),
    ] {
        let (text, failed) = client.tool(tool, other).await;
        assert!(failed && text.contains("works on the feature `auth` alone"), "{tool}: {text}");
        let (text, failed) = client.tool(tool, own).await;
        assert!(!failed, "{tool}: {text}");
    }
    let new = json!({"name": "search", "display_name": "Search"});
    assert!(!client.tool("create_feature", new).await.1);
}

#[tokio::test]
async fn a_session_without_what_it_is_about_changes_nothing() {
    let mut client = furnished(&json!({"recipe": "discuss"})).await;
    let (text, failed) = client.tool("update_discipline", json!({"name": "frontend"})).await;
    assert!(failed);
    assert_eq!(
        text,
        "this session has no discipline; prepare one with `rutter session prepare --discipline`"
    );
}

#[tokio::test]
async fn the_recipe_decides_whatever_the_files_own_list_says() {
    let context = json!({"recipe": "discuss", "discipline": "frontend", "disabled_tools": []});
    let mut client = session(&context).connect().await;
    assert_eq!(tool_names(&mut client).await.len(), 4);
    let context =
        json!({"recipe": "discuss", "disabled_tools": ["get_discipline", "no_such_tool"]});
    let mut client = session(&context).connect().await;
    assert_eq!(
        tool_names(&mut client).await,
        ["get_project_info", "list_disciplines", "update_discipline"]
    );
    let mut client = session(&json!({"disabled_tools": ["delete_task"]})).connect().await;
    let names = tool_names(&mut client).await;
    assert!(names.contains(&"create_task".into()) && !names.contains(&"delete_task".into()));
}

const OWN: &str = "recipes:
  worker:
    description: Any work
    tools: [list_ready_tasks, claim_task, get_task, search]
  quiet:
    extends: task_execution
    without: [append_learning, append_progress]
    targets: {get_task: {id: task}}
";

#[tokio::test]
async fn a_project_has_recipes_of_its_own() {
    let own = |context: Value| {
        let folder = session(&context);
        folder.write("rutter.yaml", OWN);
        folder
    };
    let mut client = own(json!({"recipe": "worker"})).connect().await;
    let names = tool_names(&mut client).await;
    assert_eq!(names, ["claim_task", "get_task", "list_ready_tasks", "search"]);
    let mut client = own(json!({"recipe": "quiet", "task_id": 7})).connect().await;
    assert_eq!(tool_names(&mut client).await.len(), 7);
    let (text, failed) = client.tool("get_task", json!({"id": 8})).await;
    assert!(failed && text.contains("works on the task `7` alone"), "{text}");
}

#[tokio::test]
async fn a_recipe_that_would_widen_another_ends_the_start() {
    let folder = Folder::with(&[(
        "rutter.yaml",
        "recipes: {mine: {extends: discuss, tools: [delete_discipline]}}\n",
    )]);
    assert_eq!(
        folder.setup().unwrap_err(),
        "rutter.yaml: the recipe `mine` cannot add the tool `delete_discipline` to `discuss`, which it extends; \
         a recipe that extends another only takes away"
    );
    let folder = Folder::with(&[("rutter.yaml", "recipes: {mine: {tols: []}}\n")]);
    assert_eq!(
        folder.setup().unwrap_err(),
        "rutter.yaml:1: unknown key `tols` in `recipes.mine`; did you mean `tools`?"
    );
    let folder = Folder::with(&[
        (".ralph/.keep", ""),
        (
            "rutter.yaml",
            "recipes: {mine: {tools: [get_tsk, get_task], fields: {get_task: [idd]}}}\n",
        ),
    ]);
    let problems = folder.setup().unwrap().problems;
    assert_eq!(
        problems.iter().map(ToString::to_string).collect::<Vec<_>>(),
        [
            "rutter.yaml: the recipe `mine` names the argument `idd`, which the tool `get_task` does not have",
            "rutter.yaml: the recipe `mine` leaves the tool `get_task` without `id`, which every call needs",
            "rutter.yaml: `recipes` allows `get_tsk`, which is no tool here",
        ]
    );
}
