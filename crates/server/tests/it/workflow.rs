//! The workflow through the server: each acceptance criterion of its specification by its name.

use rutter_server::config::HttpLimits;
use rutter_server::profiles::Profile;
use rutter_server::transport::http::{Credentials, Listening, Proxies, Server};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::server::{Client, Folder};

const META: &str = "prompts:\n  \
    - {id: gather, title: Gather facts, phase: P1, produces: [facts], inputs: [{name: topic, required: true}, \
       {name: depth, type: integer, default: 2}, {name: tone, enum: [dry, warm]}]}\n  \
    - {id: write, title: Write it, phase: P2, dependsOn: [gather]}\n";
const GRAPH: &str = r#"{"version": 1, "nodes": [{"id": "gather", "phase": "P1", "produces": ["facts"]},
    {"id": "write", "phase": "P2", "dependsOn": ["gather"], "requiresArtifacts": ["facts"]}]}"#;

fn project() -> Folder {
    Folder::with(&[
        ("resources/prompts.meta.yaml", META),
        ("resources/default-graph.json", GRAPH),
        ("resources/prompts/gather.md", "# Gather\n\nAbout {{topic}}, {{depth}} deep.\n"),
        ("resources/prompts/write.md", "# Write\n"),
    ])
}

async fn names(client: &mut Client, method: &str, list: &str, key: &str) -> Vec<String> {
    let result = client.result(method, json!({})).await;
    let of = |item: &Value| item[key].as_str().unwrap().to_owned();
    result[list].as_array().unwrap().iter().map(of).collect()
}

fn ids(list: &Value) -> Vec<&str> {
    list.as_array().unwrap().iter().map(|item| item["id"].as_str().unwrap()).collect()
}

fn state(client: &Client) -> Value {
    let path = client.folder.path().join(".mcp/state.json");
    serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
}

// 1. Dynamic prompt tools

#[tokio::test]
async fn given_a_prompt_entry_when_the_server_starts_then_a_tool_with_matching_id_is_registered() {
    let mut client = project().connect().await;
    let list = client.result("tools/list", json!({})).await;
    let tool = list["tools"].as_array().unwrap().iter().find(|tool| tool["name"] == "gather");
    let tool = tool.expect("a tool for the prompt");
    assert_eq!(tool["title"], "Gather facts");
    assert_eq!(
        tool["inputSchema"],
        json!({"type": "object", "properties": {"topic": {"type": "string"},
            "depth": {"type": "integer", "default": 2}, "tone": {"type": "string", "enum": ["dry", "warm"]}},
            "required": ["topic"], "additionalProperties": false})
    );
    assert_eq!(tool["outputSchema"]["required"], json!(["content", "next", "warnings"]));
}

#[tokio::test]
async fn given_a_tool_invocation_when_the_prompt_file_exists_then_the_response_contains_the_markdown_content_and_a_rendered_footer()
 {
    let mut client = project().connect().await;
    let call = json!({"name": "gather", "arguments": {"topic": "tides"}});
    let result = client.result("tools/call", call).await;
    let text = result["content"][0]["text"].as_str().unwrap();
    assert_eq!(
        text,
        "# Gather\n\nAbout tides, 2 deep.\n\n\n---\nPrompt `gather` · phase: P1 · depends on: nothing · \
         produces: `facts` · next: `write`\nWhen it is done, call `advance_state` with \
         {\"id\":\"gather\",\"artifacts\":{\"facts\":\"path/of/the/file\"}}\n"
    );
    assert_eq!(
        result["structuredContent"],
        json!({"content": text, "next": ["write"], "warnings": []})
    );
}

#[tokio::test]
async fn given_a_prompt_larger_than_1_mb_when_served_then_the_response_is_truncated_with_an_ellipsis_note()
 {
    let folder = project();
    folder.write("resources/prompts/write.md", "x".repeat(3 << 20));
    let mut client = folder.connect().await;
    let (text, failed) = client.tool("write", json!({})).await;
    assert!(!failed && text.len() <= 1 << 20 && text.len() > 1_000_000, "{}", text.len());
    assert!(text.contains("… [truncated ") && text.contains("\nPrompt `write` · phase: P2"));
}

// 2. Resources

#[tokio::test]
async fn given_a_prompt_with_resource_path_when_the_server_starts_then_a_resource_is_listed_with_a_file_uri_and_human_name()
 {
    let mut client = project().profile(Profile::Prompts).connect().await;
    let list = client.result("resources/list", json!({})).await;
    let path = client.folder.path().join("resources/prompts/gather.md");
    let listed = &list["resources"][0];
    assert_eq!(listed["uri"], format!("file://{}", path.to_str().unwrap()));
    assert_eq!(
        (&listed["name"], &listed["title"]),
        (&json!("Gather facts"), &json!("Gather facts"))
    );
    assert_eq!(listed["mimeType"], "text/markdown");
    let read = client.result("resources/read", json!({"uri": listed["uri"]})).await;
    assert_eq!(read["contents"][0]["mimeType"], "text/markdown");
    assert_eq!(read["contents"][0]["text"], "# Gather\n\nAbout {{topic}}, {{depth}} deep.\n");
}

#[tokio::test]
async fn given_an_oversized_resource_when_read_then_the_text_is_capped_to_1_mb_with_a_truncation_note()
 {
    let folder = project();
    folder.write("resources/prompts/gather.md", "y".repeat(2 << 20));
    let mut client = folder.profile(Profile::Prompts).connect().await;
    let uris = names(&mut client, "resources/list", "resources", "uri").await;
    let read = client.result("resources/read", json!({"uri": uris[0]})).await;
    let text = read["contents"][0]["text"].as_str().unwrap();
    assert_eq!(text.len(), 1 << 20);
    let cut = (2 << 20) - (text.find('…').unwrap());
    assert!(text.ends_with(&format!("… [truncated {cut} bytes]")), "{}", &text[text.len() - 60..]);
}

#[tokio::test]
async fn only_registered_prompts_can_be_read_as_files() {
    let folder = project();
    folder.write("resources/prompts/private.md", "not registered");
    folder.write("secret.md", "secret");
    let mut client = folder.connect().await;
    let at = format!("file://{}", client.folder.path().display());
    for uri in [
        format!("{at}/resources/prompts/private.md"),
        format!("{at}/resources/prompts/../../secret.md"),
        format!("{at}/resources/prompts/%67ather.md"),
        format!("{at}/resources/prompts/gather.md/"),
        "file:///etc/passwd".to_owned(),
        "rutter://pack/workflow/prompts/define_prd.md".to_owned(),
    ] {
        let (code, message) = client.error("resources/read", json!({"uri": uri})).await;
        assert_eq!((code, message.as_str()), (-32002, "resource not found"), "{uri}");
    }
}

#[tokio::test]
async fn embedded_prompts_have_a_stable_address() {
    let mut client = Folder::empty().profile(Profile::Prompts).connect().await;
    let uris = names(&mut client, "resources/list", "resources", "uri").await;
    assert!(uris.contains(&"rutter://pack/workflow/prompts/discover_research.md".to_owned()));
    for uri in uris {
        let read = client.result("resources/read", json!({"uri": uri})).await;
        assert!(read["contents"][0]["text"].as_str().unwrap().starts_with("# "), "{uri}");
    }
}

// 3. The planner

#[tokio::test]
async fn given_an_empty_state_when_suggest_next_calls_runs_then_it_returns_discover_research_as_the_first_candidate()
 {
    let mut client = Folder::empty().connect().await;
    let suggested = client.data("suggest_next_calls", json!({})).await;
    assert_eq!(
        suggested,
        json!({"suggestions": [{"id": "discover_research", "title": "Research the problem", "phase": "discover",
            "reason": "nothing must come before it", "produces": ["research_summary"]}]})
    );
}

#[tokio::test]
async fn given_discover_research_completed_with_research_summary_artifact_when_suggest_next_calls_runs_then_define_prd_appears_in_ranked_results()
 {
    let mut client = Folder::empty().connect().await;
    let done =
        json!({"id": "discover_research", "artifacts": {"research_summary": "docs/summary.md"}});
    let advanced = client.data("advance_state", done).await;
    assert_eq!(advanced["unlocked"], json!(["define_prd"]));
    let suggested = client.data("suggest_next_calls", json!({})).await;
    assert_eq!(ids(&suggested["suggestions"]), ["define_prd"]);
    assert_eq!(
        suggested["suggestions"][0]["reason"],
        "done: `discover_research`; recorded: `research_summary`"
    );
}

#[tokio::test]
async fn given_a_node_with_unmet_artifact_requirements_when_suggest_next_calls_runs_then_that_node_is_not_returned()
 {
    let mut client = project().connect().await;
    let advanced = client.data("advance_state", json!({"id": "gather"})).await;
    assert_eq!(
        advanced["warnings"],
        json!(["`gather` produces `facts`, which is not recorded: pass its path in `artifacts`"])
    );
    let suggested = client.data("suggest_next_calls", json!({"include_blocked": true})).await;
    assert_eq!(suggested["suggestions"], json!([]));
    assert_eq!(
        suggested["blocked"],
        json!([{"id": "write", "title": "Write it", "phase": "P2", "missing_steps": [],
            "missing_artifacts": ["facts"]}])
    );
}

#[tokio::test]
async fn the_default_workflow_can_be_walked_from_end_to_end() {
    let mut client = Folder::empty().connect().await;
    let mut walked = Vec::new();
    loop {
        let suggested = client.data("suggest_next_calls", json!({})).await;
        let Some(next) = suggested["suggestions"].as_array().unwrap().first().cloned() else {
            break;
        };
        let id = next["id"].as_str().unwrap().to_owned();
        let artifacts: serde_json::Map<String, Value> = next["produces"]
            .as_array()
            .unwrap()
            .iter()
            .map(|key| (key.as_str().unwrap().to_owned(), json!("docs/x.md")))
            .collect();
        let advanced =
            client.data("advance_state", json!({"id": id, "artifacts": artifacts})).await;
        assert_eq!(advanced["warnings"], json!([]), "{id}");
        walked.push(id);
    }
    assert!(walked.len() >= 10, "{walked:?}");
    assert_eq!(walked.first().unwrap(), "discover_research");
    assert!(walked.contains(&"implement_stub".to_owned()));
    let blocked = client.data("suggest_next_calls", json!({"include_blocked": true})).await;
    assert_eq!(blocked["blocked"], json!([]));
}

// 4. and 5. State and advance_state

#[tokio::test]
async fn given_a_completed_tool_when_advance_state_is_called_then_state_json_exists_and_includes_timestamp_outputs_and_artifacts()
 {
    let mut client = project().connect().await;
    let done =
        json!({"id": "gather", "outputs": {"words": 120}, "artifacts": {"facts": "docs/facts.md"}});
    client.data("advance_state", done.clone()).await;
    let first = state(&client);
    let at = first["completed"]["gather"]["at"].as_str().unwrap();
    assert!(at.len() == 24 && at.ends_with('Z') && at.contains('T'), "{at}");
    assert_eq!(first["version"], 1);
    assert_eq!(first["completed"]["gather"]["outputs"], json!({"words": 120}));
    assert_eq!(first["completed"]["gather"]["artifacts"], json!({"facts": "docs/facts.md"}));
    assert_eq!(first["artifacts"], json!({"facts": "docs/facts.md"}));
    // The same again changes nothing.
    client.data("advance_state", done).await;
    assert_eq!(state(&client), first);
}

#[tokio::test]
async fn given_concurrent_save_attempts_when_save_runs_then_the_final_file_is_valid_json() {
    let steps: Vec<String> =
        (0..24).map(|n| format!("{{id: s{n}, path: prompts/write.md}}")).collect();
    let folder = project();
    folder.write("resources/prompts.meta.yaml", format!("[{}]", steps.join(", ")));
    folder.write("resources/default-graph.json", r#"{"nodes": []}"#);
    let mut client = folder.connect().await;
    let mut sent = Vec::new();
    for n in 0..24 {
        let call = json!({"name": "advance_state", "arguments": {"id": format!("s{n}")}});
        sent.push(client.send("tools/call", call).await);
    }
    let mut answered: Vec<u64> = Vec::new();
    while answered.len() < sent.len() {
        let line = client.line().await;
        assert_eq!(line["result"]["structuredContent"]["ok"], true, "{line}");
        answered.push(line["id"].as_u64().unwrap());
    }
    assert_eq!(state(&client)["completed"].as_object().unwrap().len(), 24);
}

#[tokio::test]
async fn given_valid_input_with_id_when_calling_advance_state_then_it_returns_ok_true_and_a_state_path_under_mcp()
 {
    let mut client = project().connect().await;
    let call = json!({"name": "advance_state", "arguments": {"id": "gather", "artifacts": {"facts": "f"}}});
    let result = client.result("tools/call", call).await;
    let expected =
        json!({"ok": true, "statePath": ".mcp/state.json", "unlocked": ["write"], "warnings": []});
    assert_eq!(result["structuredContent"], expected);
    let text: Value = serde_json::from_str(result["content"][0]["text"].as_str().unwrap()).unwrap();
    assert_eq!(text, expected);
}

#[tokio::test]
async fn given_artifacts_in_input_when_calling_advance_state_then_state_artifacts_includes_each_key_with_provided_path()
 {
    let mut client = project().connect().await;
    let artifacts =
        json!({"facts": "docs/../docs/facts.md", "more": "/etc/shadow", "third": "C:\\x"});
    let done = json!({"id": "gather", "artifacts": artifacts});
    client.data("advance_state", done).await;
    assert_eq!(state(&client)["artifacts"], artifacts);
}

#[tokio::test]
async fn out_of_order_calls_warn_and_strict_gating_refuses_them() {
    let mut client = project().connect().await;
    let call = json!({"name": "write", "arguments": {}});
    let result = client.result("tools/call", call.clone()).await;
    let warning = "out of order: `write` waits for `gather` and the artifact `facts`";
    assert_eq!(result["structuredContent"]["warnings"], json!([warning]));
    let text = result["content"][0]["text"].as_str().unwrap();
    assert!(text.contains(&format!("\nWarning: {warning}\n")), "{text}");
    let advanced = client.data("advance_state", json!({"id": "write"})).await;
    assert_eq!(advanced["warnings"], json!([warning]));

    let folder = project();
    folder.write("rutter.yaml", "workflow: {gating: strict}\n");
    let mut client = folder.connect().await;
    let refused = "`write` is out of order: it waits for `gather` and the artifact `facts`; \
                   call `suggest_next_calls` to see what can be done now";
    assert_eq!(client.tool("write", json!({})).await, (refused.to_owned(), true));
    assert_eq!(
        client.tool("advance_state", json!({"id": "write"})).await,
        (refused.to_owned(), true)
    );
    assert!(!client.folder.path().join(".mcp/state.json").exists());
    let done = json!({"id": "gather", "artifacts": {"facts": "f"}});
    assert_eq!(client.data("advance_state", done).await["unlocked"], json!(["write"]));
    assert!(!client.tool("write", json!({})).await.1);
}

#[tokio::test]
async fn what_cannot_be_recorded_is_refused_and_nothing_is_written() {
    let mut client = project().connect().await;
    let (text, failed) = client.tool("advance_state", json!({"id": "gahter"})).await;
    assert_eq!(
        (text.as_str(), failed),
        ("there is no step `gahter`; did you mean `gather`?", true)
    );
    let long = "k".repeat(1 << 20);
    for (arguments, reason) in [
        (json!({}), "/id: required"),
        (json!({"id": 7}), "/id: expected string"),
        (json!({"id": "gather", "artifacts": {"facts": 1}}), "/artifacts/facts: expected string"),
        (
            json!({"id": "gather", "artifacts": {"": "p"}}),
            "/artifacts/: expected a key of 1 to 128",
        ),
        (json!({"id": "gather", "artifacts": {long: "p"}}), "/artifacts/kkk"),
        (
            json!({"id": "gather", "artifacts": {"facts": "a\nb"}}),
            "/artifacts/facts: expected a path",
        ),
        (json!({"id": "gather", "outputs": [1]}), "/outputs: expected object"),
        (json!({"id": "gather", "extra": 1}), "/extra: unknown argument"),
    ] {
        let call = json!({"name": "advance_state", "arguments": arguments});
        let (code, message) = client.error("tools/call", call).await;
        assert_eq!(code, -32602);
        assert!(message.starts_with(reason) && message.len() < 300, "{message}");
    }
    assert!(!client.folder.path().join(".mcp").join("state.json").exists());
}

#[tokio::test]
async fn read_only_records_nothing_and_says_nothing_of_it() {
    let mut client = project().read_only().connect().await;
    let tools = names(&mut client, "tools/list", "tools", "name").await;
    assert!(!tools.contains(&"advance_state".to_owned()));
    let (text, _) = client.tool("gather", json!({"topic": "x"})).await;
    assert!(!text.contains("advance_state"), "{text}");
    client.data("suggest_next_calls", json!({})).await;
    let call = json!({"name": "advance_state", "arguments": {"id": "gather"}});
    assert_eq!(client.error("tools/call", call).await.0, -32602);
    assert!(!client.folder.path().join(".mcp").exists());
}

// 6. The task list

#[tokio::test]
async fn given_metadata_when_export_task_list_runs_then_tasks_contains_all_prompt_ids_with_correct_dependencies()
 {
    let mut client = project().connect().await;
    client.data("advance_state", json!({"id": "gather"})).await;
    let exported = client.data("export_task_list", json!({})).await;
    assert_eq!(
        exported,
        json!({"tasks": [{"id": "gather", "title": "Gather facts", "dependsOn": [], "status": "done"},
            {"id": "write", "title": "Write it", "dependsOn": ["gather"], "status": "pending"}]})
    );
    let exported = client.data("export_task_list", json!({"format": "taskmaster"})).await;
    let tasks = exported["master"]["tasks"].as_array().unwrap();
    assert_eq!((&tasks[0]["id"], &tasks[0]["status"]), (&json!(1), &json!("done")));
    assert_eq!((&tasks[1]["id"], &tasks[1]["dependencies"]), (&json!(2), &json!([1])));
    let exported = client.data("export_task_list", json!({"format": "mermaid"})).await;
    let chart = exported["mermaid"].as_str().unwrap();
    assert!(
        chart.starts_with("flowchart LR\n") && chart.contains("s_gather --> s_write"),
        "{chart}"
    );
    let call = json!({"name": "export_task_list", "arguments": {"format": "xml"}});
    assert_eq!(
        client.error("tools/call", call).await,
        (-32602, "/format: expected one of json, taskmaster, mermaid".into())
    );
}

#[tokio::test]
async fn a_list_that_is_too_long_is_cut_as_whole_json() {
    let steps: Vec<String> =
        (0..2_000).map(|n| format!("{{id: s{n}, title: {}}}", "t".repeat(600))).collect();
    let folder =
        Folder::with(&[("resources/prompts.meta.yaml", &format!("[{}]", steps.join(",\n")))]);
    let mut client = folder.connect().await;
    for (tool, list) in [("suggest_next_calls", "suggestions"), ("export_task_list", "tasks")] {
        let (text, _) = client.tool(tool, json!({})).await;
        assert!(text.len() <= 1 << 20);
        let data: Value = serde_json::from_str(&text).unwrap();
        let shown = data[list].as_array().unwrap().len();
        assert_eq!(data["omitted"], 2_000 - shown, "{tool}");
    }
}

// 7. Safety

#[tokio::test]
async fn given_a_response_body_exceeding_cap_when_returned_then_it_includes_a_truncated_n_bytes_trailer()
 {
    let folder = project();
    folder.write("rutter.yaml", "limits: {payload: 1024}\n");
    folder.write("resources/prompts/write.md", "é".repeat(2_000));
    let mut client = folder.connect().await;
    let (text, _) = client.tool("write", json!({})).await;
    let (body, rest) = text.split_once("… [truncated ").unwrap();
    assert!(text.len() <= 1_024 && body.chars().all(|c| c == 'é'), "{text}");
    assert!(rest.starts_with(&format!("{} bytes]", 4_000 - body.len())), "{rest}");
}

// 8. and external HTTP

#[tokio::test(start_paused = true)]
async fn given_allow_http_1_when_making_n_requests_then_rate_limiter_enforces_capacity_and_refill()
{
    let setup = Folder::empty().setup().unwrap();
    assert!(setup.app.outbound().permit().await.is_err());
    let setup = Folder::empty().variable("ALLOW_HTTP", "1").setup().unwrap();
    let began = tokio::time::Instant::now();
    for _ in 0..20 {
        setup.app.outbound().permit().await.unwrap();
    }
    // Ten at once, then five a second.
    let took = began.elapsed().as_millis();
    assert!((2_000..2_050).contains(&took), "{took}");
}

// 9. Bootstrap

#[tokio::test]
async fn given_server_start_when_inspected_then_name_prompts_mcp_server_and_version_0_1_0_are_reported()
 {
    let mut client = project().profile(Profile::Prompts).serve();
    let opening = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "it", "version": "1"}});
    let result = client.result("initialize", opening).await;
    assert_eq!(result["serverInfo"]["name"], "prompts-mcp-server");
    assert_eq!(result["serverInfo"]["version"], "0.1.0");
    client.notify("notifications/initialized", json!({})).await;
    let tools = names(&mut client, "tools/list", "tools", "name").await;
    assert_eq!(
        tools,
        ["advance_state", "export_task_list", "gather", "suggest_next_calls", "write"]
    );
    let uris = names(&mut client, "resources/list", "resources", "uri").await;
    assert!(uris.len() == 2 && uris.iter().all(|uri| uri.starts_with("file:///")), "{uris:?}");
    assert!(names(&mut client, "prompts/list", "prompts", "name").await.is_empty());
}

// Future enhancements

#[tokio::test]
async fn given_invalid_tool_input_when_invoked_then_server_returns_structured_error_with_path_and_reason()
 {
    let mut client = project().connect().await;
    for (arguments, reason) in [
        (json!({}), "/topic: required"),
        (json!({"topic": "x", "depth": "deep"}), "/depth: expected integer"),
        (json!({"topic": "x", "tone": "cold"}), "/tone: expected one of dry, warm"),
        (
            json!({"topic": "x", "size": 1}),
            "/size: unknown argument; expected `topic`, `depth`, `tone`",
        ),
    ] {
        let call = json!({"name": "gather", "arguments": arguments});
        assert_eq!(client.error("tools/call", call).await, (-32602, reason.to_owned()));
    }
}

#[tokio::test]
async fn given_added_prompt_file_when_reloaded_then_a_new_tool_and_resource_appear() {
    let mut client = project().connect().await;
    assert_eq!(
        client.data("suggest_next_calls", json!({})).await["suggestions"][0]["id"],
        "gather"
    );
    client.folder.write("resources/prompts/zeal.md", "New.");
    client
        .folder
        .write("resources/prompts.meta.yaml", format!("{META}  - {{id: zeal, title: Zeal}}\n"));
    client.notification("notifications/tools/list_changed").await;
    client.notification("notifications/resources/list_changed").await;
    assert!(names(&mut client, "tools/list", "tools", "name").await.contains(&"zeal".to_owned()));
    assert!(client.tool("zeal", json!({})).await.0.starts_with("New."));
    let uris = names(&mut client, "resources/list", "resources", "uri").await;
    let uri = uris.iter().find(|uri| uri.ends_with("/zeal.md")).unwrap();
    client.result("resources/subscribe", json!({"uri": uri})).await;
    client.folder.write("resources/prompts/zeal.md", "Newer.");
    let updated = client.notification("notifications/resources/updated").await;
    assert_eq!(updated["params"]["uri"], **uri);
}

#[tokio::test]
async fn a_broken_change_keeps_the_old_workflow_and_says_why() {
    let mut client = project().connect().await;
    client.result("logging/setLevel", json!({"level": "info"})).await;
    for (file, text, reason) in [
        (
            "default-graph.json",
            GRAPH.replace(r#""phase": "P1","#, r#""dependsOn": ["write"],"#),
            "default-graph.json: a cycle: `write` → `gather` → `write`",
        ),
        ("default-graph.json", "{".to_owned(), "default-graph.json:1: this is not a graph"),
        (
            "prompts.meta.yaml",
            "[{id: read}]".to_owned(),
            "prompts/read.md: the prompt `read` has the name of a tool of the module `knowledge`",
        ),
    ] {
        client.folder.write(&format!("resources/{file}"), text);
        let message = client.notification("notifications/message").await;
        let said = message["params"]["data"].as_str().unwrap();
        assert!(said.contains(reason) && said.ends_with("stays as it was"), "{said}");
        let suggested = client.data("suggest_next_calls", json!({})).await;
        assert_eq!(ids(&suggested["suggestions"]), ["gather"]);
        client.folder.write("resources/default-graph.json", GRAPH);
    }
}

#[test]
fn a_name_that_two_tools_claim_stops_the_start() {
    let folder = Folder::with(&[("resources/prompts.meta.yaml", "[{id: advance_state}]")]);
    assert_eq!(
        folder.setup().unwrap_err(),
        "two tools are called `advance_state`: one of the module `workflow` and one of the module `workflow`; \
         rename one of them"
    );
}

#[tokio::test]
async fn given_metrics_enabled_when_tools_execute_then_counters_increase_and_can_be_scraped() {
    let folder = project();
    let setup = folder.setup().unwrap();
    let listening = Listening::on("127.0.0.1", 0).await.unwrap();
    let address = listening.base(false).strip_prefix("http://").unwrap().to_owned();
    let shutdown = tokio_util::sync::CancellationToken::new();
    let server = Server {
        app: setup.app.clone(),
        public_names: Vec::new(),
        proxies: Proxies::default(),
        credentials: Credentials::none(),
        limits: HttpLimits::default(),
        certificate: None,
    };
    let served = tokio::spawn(listening.serve(server, shutdown.clone()));
    let ask = |request: String| {
        let address = address.clone();
        async move {
            let mut stream = tokio::net::TcpStream::connect(&address).await.unwrap();
            stream.write_all(request.as_bytes()).await.unwrap();
            let mut answer = String::new();
            stream.read_to_string(&mut answer).await.unwrap();
            answer
        }
    };
    let scrape =
        || ask(format!("GET /metrics HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n"));
    assert!(!scrape().await.contains("suggest_next_calls"));
    let meta = json!({"io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "it", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {}});
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call",
        "params": {"name": "suggest_next_calls", "arguments": {}, "_meta": meta}})
    .to_string();
    let answer = ask(format!(
        "POST /mcp HTTP/1.1\r\nHost: {address}\r\nContent-Type: application/json\r\n\
         Accept: application/json, text/event-stream\r\nMCP-Protocol-Version: 2026-07-28\r\n\
         Mcp-Method: tools/call\r\nMcp-Name: suggest_next_calls\r\n\
         Content-Length: {}\r\nConnection: close\r\n\r\n{body}",
        body.len()
    ))
    .await;
    assert!(answer.contains("gather"), "{answer}");
    let page = scrape().await;
    assert!(
        page.contains("rutter_tool_calls_total{tool=\"suggest_next_calls\",outcome=\"ok\"} 1"),
        "{page}"
    );
    assert!(
        page.contains("rutter_tool_duration_seconds_count{tool=\"suggest_next_calls\"} 1"),
        "{page}"
    );
    shutdown.cancel();
    served.await.unwrap().unwrap();
}

#[tokio::test]
async fn given_encryption_key_when_saving_then_state_file_is_unreadable_without_the_key_and_loads_successfully_with_it()
 {
    let sealed = |folder: Folder| folder.variable("RUTTER_STATE_KEY", "a long passphrase");
    let mut client = sealed(project()).connect().await;
    let done = json!({"id": "gather", "artifacts": {"facts": "docs/secret-plan.md"}});
    client.data("advance_state", done).await;
    client.data("advance_state", json!({"id": "write"})).await;
    let files: Vec<_> = std::fs::read_dir(client.folder.path().join(".mcp"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    assert!(files.len() >= 2);
    for file in &files {
        let text = String::from_utf8_lossy(&std::fs::read(file).unwrap()).into_owned();
        assert!(!text.contains("gather") && !text.contains("secret-plan"), "{file:?}");
    }
    let copy = |key: Option<&str>| {
        let folder = project();
        for file in &files {
            let name = format!(".mcp/{}", file.file_name().unwrap().to_str().unwrap());
            folder.write(&name, std::fs::read(file).unwrap());
        }
        match key {
            Some(key) => folder.variable("RUTTER_STATE_KEY", key),
            None => folder,
        }
    };
    let mut with = copy(Some("a long passphrase")).connect().await;
    assert_eq!(with.data("suggest_next_calls", json!({})).await["suggestions"], json!([]));
    for (key, reason) in [
        (None, "the state is encrypted, and there is no key; set `RUTTER_STATE_KEY`"),
        (
            Some("another passphrase"),
            "the state cannot be decrypted: the key is wrong, or the file was changed",
        ),
    ] {
        let mut without = copy(key).connect().await;
        let before = std::fs::read(without.folder.path().join(".mcp/state.json")).unwrap();
        for (tool, arguments) in
            [("suggest_next_calls", json!({})), ("advance_state", json!({"id": "write"}))]
        {
            let (text, failed) = without.tool(tool, arguments).await;
            assert!(failed && text.starts_with(reason), "{text}");
        }
        assert_eq!(std::fs::read(without.folder.path().join(".mcp/state.json")).unwrap(), before);
        // A prompt is served all the same, and says so.
        let (text, failed) = without.tool("write", json!({})).await;
        assert!(!failed && text.contains(&format!("Warning: {reason}")), "{text}");
    }
}

#[tokio::test]
async fn given_two_roots_when_operating_then_their_state_files_are_isolated() {
    let mut one = project().connect().await;
    let mut two = project().connect().await;
    one.data("advance_state", json!({"id": "gather"})).await;
    assert_eq!(ids(&two.data("suggest_next_calls", json!({})).await["suggestions"]), ["gather"]);
    assert!(!two.folder.path().join(".mcp").exists());
    two.data("advance_state", json!({"id": "write"})).await;
    assert_eq!(state(&one)["completed"].as_object().unwrap().len(), 1);
    // A workspace can be named by configuration.
    let folder = project();
    folder.write("elsewhere/.keep", "");
    folder.write("rutter.yaml", "workflow: {workspace: elsewhere}\n");
    let mut third = folder.connect().await;
    third.data("advance_state", json!({"id": "gather"})).await;
    assert!(third.folder.path().join("elsewhere/.mcp/state.json").exists());
    assert!(!third.folder.path().join(".mcp").exists());
}

#[tokio::test]
async fn a_damaged_state_is_told_and_its_backup_used() {
    let mut client = project().connect().await;
    client.data("advance_state", json!({"id": "gather", "artifacts": {"facts": "f"}})).await;
    client.data("advance_state", json!({"id": "write"})).await;
    client.folder.write(".mcp/state.json", "{\"version\": 1, \"compl");
    let suggested = client.data("suggest_next_calls", json!({})).await;
    assert_eq!(ids(&suggested["suggestions"]), ["write"]);
    let warning =
        "`.mcp/state.json` is damaged: its backup is used, and the damaged file is kept aside";
    assert_eq!(suggested["warnings"], json!([warning]));
    let advanced = client.data("advance_state", json!({"id": "write"})).await;
    assert_eq!(advanced["warnings"], json!([warning]));
    assert_eq!(state(&client)["completed"].as_object().unwrap().len(), 2);
}
