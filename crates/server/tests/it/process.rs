//! The process as agents meet it: 13 tools over the pack, over a process of one's own, and over
//! projects of every sort.

use std::collections::BTreeMap;
use std::path::Path;

use rutter_server::profiles::Profile;
use serde_json::{Value, json};

use crate::server::{Client, Folder};

async fn schemas(client: &mut Client) -> BTreeMap<String, Value> {
    let mut list = client.result("tools/list", json!({})).await;
    let tools = list["tools"].as_array_mut().unwrap();
    tools.iter_mut().map(|tool| (tool["name"].as_str().unwrap().to_owned(), tool.take())).collect()
}

fn choices(tool: &Value, argument: &str) -> Vec<String> {
    let choices = tool["inputSchema"]["properties"][argument]["enum"].as_array().unwrap();
    choices.iter().map(|choice| choice.as_str().unwrap().to_owned()).collect()
}

/// Calls a tool that must work, and gives its text and its data.
async fn ask(client: &mut Client, name: &str, arguments: Value) -> (String, Value) {
    let mut result =
        client.result("tools/call", json!({"name": name, "arguments": arguments})).await;
    let text = result["content"][0]["text"].as_str().unwrap().to_owned();
    assert_ne!(result["isError"], true, "{name} {arguments}: {text}");
    (text, result["structuredContent"].take())
}

/// Calls a tool that must fail, and gives its text.
async fn refused(client: &mut Client, name: &str, arguments: Value) -> String {
    let (text, failed) = client.tool(name, arguments.clone()).await;
    assert!(failed, "{name} {arguments}: {text}");
    assert!(!text.contains("/tmp") && text.lines().count() == 1, "{text}");
    text
}

#[tokio::test]
async fn the_profile_is_exactly_thirteen_tools_that_read() {
    let mut client = Folder::empty().profile(Profile::Acm).connect().await;
    let tools = schemas(&mut client).await;
    let names: Vec<&str> = tools.keys().map(String::as_str).collect();
    assert_eq!(
        names,
        [
            "check_project_health",
            "check_project_structure",
            "get_artifact_spec",
            "get_artifact_stub",
            "get_capability_detail",
            "get_context_spec",
            "get_project_type_guidance",
            "get_review_prompt",
            "get_rules_spec",
            "get_stage",
            "get_transition_prompt",
            "query_capabilities",
            "query_knowledge",
        ]
    );
    assert!(tools.values().all(|tool| tool["annotations"]["readOnlyHint"] == true));
    assert_eq!(choices(&tools["get_stage"], "stage"), ["discover", "design", "develop"]);
    assert_eq!(choices(&tools["get_artifact_spec"], "artifact").len(), 12);
    assert_eq!(
        choices(&tools["get_project_type_guidance"], "scope"),
        ["mvp", "full", "full-build"]
    );
}

/// Whatever a schema offers, the pack has.
#[tokio::test]
async fn every_choice_of_every_schema_is_answered() {
    let mut client = Folder::empty().profile(Profile::Acm).connect().await;
    let tools = schemas(&mut client).await;
    let mut texts = Vec::new();
    for (name, arguments) in [
        ("get_stage", &["stage"][..]),
        ("get_review_prompt", &["stage", "phase"]),
        ("get_transition_prompt", &["transition"]),
        ("get_artifact_spec", &["artifact"]),
        ("get_artifact_stub", &["artifact", "project_type"]),
        ("get_context_spec", &["level"]),
        ("get_project_type_guidance", &["type", "scale", "scope"]),
    ] {
        let mut calls = vec![serde_json::Map::new()];
        for argument in arguments {
            let values = choices(&tools[name], argument);
            let with = |call: &serde_json::Map<String, Value>, value: &String| {
                let mut call = call.clone();
                call.insert((*argument).to_owned(), json!(value));
                call
            };
            calls = calls.iter().flat_map(|call| values.iter().map(|v| with(call, v))).collect();
        }
        for call in calls {
            let (text, _) = ask(&mut client, name, Value::Object(call.clone())).await;
            assert!(text.contains("\n#") || text.starts_with('#'), "{name} {call:?}: {text}");
            assert!(!text.contains("says nothing about"), "{name} {call:?}: {text}");
            texts.push(text);
        }
    }
    assert!(texts.len() > 60, "{}", texts.len());
    assert!(ask(&mut client, "get_rules_spec", json!({})).await.0.contains('#'));
}

#[tokio::test]
async fn what_is_unknown_is_answered_with_what_there_is() {
    let mut client = Folder::empty().connect().await;
    for (name, arguments, expected) in [
        (
            "get_stage",
            json!({"stage": "deliver"}),
            "Stage 'deliver' is not yet supported. Supported stages: discover, design, develop. See backlog item B15.",
        ),
        (
            "get_review_prompt",
            json!({"stage": "design", "phase": "both"}),
            "there is no review phase `both`; use one of `internal`, `external`",
        ),
        (
            "get_context_spec",
            json!({"level": "team"}),
            "there is no level `team`; use one of `global`, `project`",
        ),
        (
            "get_capability_detail",
            json!({"capability_id": "no-such-thing"}),
            "there is no capability `no-such-thing`; query_capabilities shows what there is",
        ),
    ] {
        assert_eq!(refused(&mut client, name, arguments).await, expected);
    }
    let bad = json!({"name": "get_capability_detail", "arguments": {"capability_id": "../x"}});
    let error = client.error("tools/call", bad).await;
    assert_eq!(error.0, -32602);
    assert!(error.1.starts_with("/capability_id: expected"), "{}", error.1);
}

#[tokio::test]
async fn a_process_of_ones_own_shapes_the_schemas() {
    let folder = Folder::with(&[
        ("rutter.yaml", "process: {root: p}\n"),
        (
            "p/process.yaml",
            "stages:\n  - {id: plan, file: plan.md}\n  - {id: ship, file: ship.md}\n\
             transitions:\n  - {id: plan_to_ship, from: plan, to: ship, file: go.md}\n",
        ),
        ("p/plan.md", "# Plan\n"),
        ("p/ship.md", ""),
        ("p/go.md", "Go.\n"),
        ("p/capabilities-registry/inventory.json", "[{\"name\": \"own\"}]"),
        ("p/kb/one.md", "# One\nneedle\n"),
    ]);
    let mut client = folder.connect().await;
    let tools = schemas(&mut client).await;
    assert_eq!(choices(&tools["get_stage"], "stage"), ["plan", "ship"]);
    assert_eq!(choices(&tools["get_transition_prompt"], "transition"), ["plan_to_ship"]);
    assert!(tools["get_review_prompt"]["inputSchema"]["properties"]["stage"].get("enum").is_none());
    assert_eq!(ask(&mut client, "get_stage", json!({"stage": "plan"})).await.0, "# Plan\n");
    assert_eq!(
        refused(&mut client, "get_stage", json!({"stage": "ship"})).await,
        "`ship.md` of the process is empty; put the file back, or name another in process.yaml"
    );
    assert!(refused(&mut client, "get_rules_spec", json!({})).await.contains("ACM-RULES-SPEC.md"));
    let (_, data) = ask(&mut client, "query_capabilities", json!({})).await;
    assert_eq!(
        data,
        json!({"capabilities": [{"id": "own", "name": "own", "tags": []}], "total": 1})
    );
    let (text, data) = ask(&mut client, "query_knowledge", json!({"query": "NEEDLE"})).await;
    assert_eq!(text, "1 knowledge base entry matches 'NEEDLE':\n\n- **One** (one.md)\n  needle");
    assert_eq!(data["articles"][0]["snippet"], "needle");
    client.folder.write("p/process.yaml", "stages: [{id: dream, file: plan.md}]\n");
    client.notification("notifications/tools/list_changed").await;
    let tools = schemas(&mut client).await;
    assert_eq!(choices(&tools["get_stage"], "stage"), ["dream"]);
    client.folder.write("p/process.yaml", "stages: [{id: plan, file: plan.md}]\n");
    client.folder.write("p/plan.md", "# Plan, changed\n");
    assert_eq!(
        ask(&mut client, "get_stage", json!({"stage": "plan"})).await.0,
        "# Plan, changed\n"
    );
}

#[tokio::test]
async fn the_registry_of_the_pack_answers_by_word_type_and_tag() {
    let mut client = Folder::empty().connect().await;
    let (_, all) = ask(&mut client, "query_capabilities", json!({})).await;
    let all = all["capabilities"].as_array().unwrap();
    assert!(all.len() >= 20, "{}", all.len());
    for one in all {
        let arguments = json!({"capability_id": one["id"], "type": one["type"]});
        let (text, detail) = ask(&mut client, "get_capability_detail", arguments).await;
        assert!(text.contains("capability.yaml:\n\n"), "{text}");
        assert_eq!(
            (&detail["type"], &detail["install_level"]),
            (&one["type"], &one["install_level"]),
            "{}",
            one["id"]
        );
    }
    let tag = all[0]["tags"][0].clone();
    let question = json!({"type": all[0]["type"], "tags": [tag]});
    let (text, some) = ask(&mut client, "query_capabilities", question).await;
    assert!(some["total"].as_u64().unwrap() < all.len() as u64);
    assert!(text.contains(&format!("**{}**", all[0]["name"].as_str().unwrap())), "{text}");
    let (text, none) = ask(&mut client, "query_capabilities", json!({"query": "zzzz"})).await;
    assert_eq!(none["total"], 0);
    assert!(text.starts_with("No capabilities match."), "{text}");
}

#[tokio::test]
async fn the_knowledge_base_of_the_pack_can_be_read_on() {
    let mut client = Folder::empty().connect().await;
    let (text, found) =
        ask(&mut client, "query_knowledge", json!({"query": "acceptance criteria"})).await;
    assert!(text.contains("knowledge base entr"), "{text}");
    let article = &found["articles"][0];
    let (body, _) = ask(&mut client, "read", json!({"uri": article["uri"]})).await;
    assert!(body.to_lowercase().contains("acceptance criteria"));
    let (text, none) = ask(&mut client, "query_knowledge", json!({"query": "zz\u{1b}zz"})).await;
    assert_eq!(none["total"], 0);
    assert!(
        text.starts_with("No knowledge base entries match 'zz\u{FFFD}zz'. Try a shorter term.")
    );
    let mut client = Folder::empty().profile(Profile::Acm).connect().await;
    let (_, found) = ask(&mut client, "query_knowledge", json!({"query": "review"})).await;
    assert!(found["articles"][0].get("uri").is_none(), "the profile has no `read`");
}

fn scaffold(client: &[(&str, String)], folder: &Folder) {
    for (path, text) in client {
        folder.write(path, text);
    }
}

/// The project that the tools themselves give the stubs of.
async fn made_from_stubs(client: &mut Client, kind: &str) -> Folder {
    let folder = Folder::with(&[
        ("docs/inbox/.gitkeep", ""),
        ("_archive/.gitkeep", ""),
        ("README.md", "# Project\n"),
    ]);
    let mut files = Vec::new();
    for (artifact, path) in [
        ("brief", "docs/brief.md"),
        ("intent", "docs/intent.md"),
        ("status", "status.md"),
        ("rules_constraints", ".claude/rules/constraints.md"),
        ("claude_md", ".claude/CLAUDE.md"),
    ] {
        let arguments = json!({"artifact": artifact, "project_type": kind});
        files.push((path, ask(client, "get_artifact_stub", arguments).await.0));
    }
    scaffold(&files, &folder);
    folder
}

#[tokio::test]
async fn a_project_made_from_the_stubs_passes_every_check() {
    let mut client = Folder::empty().profile(Profile::Acm).connect().await;
    for kind in ["app", "workflow", "artifact"] {
        let project = made_from_stubs(&mut client, kind).await;
        let mut inside = project.profile(Profile::Acm).connect().await;
        let (text, data) = ask(&mut inside, "check_project_health", json!({})).await;
        assert_eq!(data["ok"], true, "{kind}: {text}");
        let (text, data) = ask(&mut inside, "check_project_structure", json!({})).await;
        assert!(text.ends_with("Result: 8/8 passed."), "{text}");
        assert_eq!((&data["passed"], &data["total"]), (&json!(8), &json!(8)));
        let arguments = json!({"transition": "discover_to_design", "validate": true});
        let (text, data) = ask(&mut inside, "get_transition_prompt", arguments).await;
        let (summary, prompt) = text.split_once("\n\n---\n\n").unwrap();
        assert!(
            summary.starts_with(
                "Transition Validation (discover → design): .\n✓ the stage is discover"
            ),
            "{summary}"
        );
        assert_eq!(data["validation"]["ok"], false, "a fresh project is not ready: {summary}");
        assert_eq!(data["prompt"], prompt);
        let (plain, data) =
            ask(&mut inside, "get_transition_prompt", json!({"transition": "discover_to_design"}))
                .await;
        assert_eq!((plain.as_str(), data.get("validation")), (prompt, None));
    }
}

#[tokio::test]
async fn a_project_elsewhere_is_looked_at_only_where_projects_may_be() {
    let elsewhere = Folder::with(&[("README.md", "# x\n")]);
    let outside = elsewhere.path().display().to_string();
    let mut client = Folder::with(&[("sub/README.md", "")]).connect().await;
    let (text, _) =
        ask(&mut client, "check_project_structure", json!({"project_path": "sub"})).await;
    assert!(
        text.starts_with("Project Structure Check: sub\n") && text.contains("✓ README.md"),
        "{text}"
    );
    for path in [outside.as_str(), "/etc", "/etc/passwd", "/no/such", "..", "../.."] {
        let (text, failed) =
            client.tool("check_project_health", json!({"project_path": path})).await;
        assert!(failed, "{path}");
        assert_eq!(
            text,
            format!(
                "the project `{path}` is not in a folder that may be looked at; use one below the working \
             directory, your home or a root of your client, or have the operator add its folder to \
             `process.project_roots`"
            )
        );
    }
    let hostile = json!({"project_path": "a\n\u{1b}]0;x\u{7}b"});
    assert_eq!(
        refused(&mut client, "check_project_health", hostile).await,
        "the project `a\u{FFFD}\u{FFFD}]0;x\u{FFFD}b` cannot be looked at: there is no such folder; pass the path of a \
         project's folder as project_path"
    );

    let config = format!("process: {{project_roots: ['{outside}']}}\n");
    let mut client = Folder::with(&[("rutter.yaml", &config)]).connect().await;
    let (text, _) =
        ask(&mut client, "check_project_structure", json!({"project_path": outside})).await;
    assert!(text.contains("✓ README.md"), "{text}");
}

#[tokio::test]
async fn a_root_of_the_client_is_a_place_for_projects() {
    let elsewhere = Folder::with(&[("my project/README.md", "# x\n")]);
    let root = elsewhere.path().join("my project").display().to_string();
    for (capable, expected) in [(true, "✓ README.md"), (false, "is not in a folder")] {
        let mut client = Folder::empty().serve();
        let capabilities = if capable { json!({"roots": {}}) } else { json!({}) };
        client
            .result(
                "initialize",
                json!({"protocolVersion": "2025-06-18", "capabilities": capabilities,
                       "clientInfo": {"name": "it", "version": "1"}}),
            )
            .await;
        client.notify("notifications/initialized", json!({})).await;
        let call = json!({"name": "check_project_structure", "arguments": {"project_path": root}});
        let id = client.send("tools/call", call).await;
        if capable {
            let question = client.notification("roots/list").await;
            let uri = format!("file://{}", root.replace(' ', "%20"));
            let answer = json!({"jsonrpc": "2.0", "id": question["id"], "result": {"roots": [{"uri": uri}]}});
            client.raw(answer.to_string()).await;
        }
        let response = client.response(id).await;
        let text = response["result"]["content"][0]["text"].as_str().unwrap();
        assert!(text.contains(expected), "{text}");
    }
    let mut client = Folder::empty().connect_modern();
    let (_, failed) = client.tool("check_project_structure", json!({"project_path": root})).await;
    assert!(failed, "the newer era has no requests of the server");
}

#[tokio::test]
async fn odd_projects_are_told_of_and_never_end_the_server() {
    let folder = Folder::with(&[("docs/brief.md", "# no frontmatter\n")]);
    assert!(
        std::process::Command::new("mkfifo")
            .arg(folder.path().join("status.md"))
            .status()
            .unwrap()
            .success()
    );
    std::os::unix::fs::symlink("/etc/passwd", folder.path().join("docs/intent.md")).unwrap();
    let mut client = folder.connect().await;
    let (text, data) = ask(&mut client, "check_project_health", json!({})).await;
    assert!(text.contains("✗ status.md — not a regular file"), "{text}");
    assert!(text.contains("✗ docs/intent.md — a link that leads out of the project"), "{text}");
    assert!(text.contains("✗ docs/brief.md — no frontmatter") && !text.contains("root:"), "{text}");
    assert_eq!(data["ok"], false);
    let arguments = json!({"transition": "discover_to_design", "validate": true});
    assert_eq!(
        refused(&mut client, "get_transition_prompt", arguments.clone()).await,
        "`status.md` of the project cannot be used: not a regular file; put a text file in its place"
    );
    let mut client = Folder::empty().connect().await;
    assert!(
        refused(&mut client, "get_transition_prompt", arguments)
            .await
            .starts_with("the project has no status: looked for `status.md`, `docs/status.md`; ")
    );
}

/// The example in the guide is a process that works.
#[tokio::test]
async fn the_manifest_that_the_guide_shows_is_served() {
    let guide = include_str!("../../../../docs/process.md");
    let shown = guide.split("```yaml").nth(1).and_then(|rest| rest.split("```").next()).unwrap();
    let pitch = "---\nstatus: complete\n---\n## Problem\n## Appetite\n";
    let folder = Folder::with(&[
        ("rutter.yaml", "process: {root: p}\n"),
        ("p/process.yaml", shown),
        ("p/stages/shape.md", "# Shape\n"),
        ("p/prompts/build.md", "Build it.\n"),
        ("docs/pitch.md", pitch),
        ("status.md", "---\nstage: Shape\nphase: complete\n---\n## Current State\n"),
        ("CLAUDE.md", "# P\n## Orientation\n"),
    ]);
    let mut client = folder.connect().await;
    let tools = schemas(&mut client).await;
    assert_eq!(choices(&tools["get_stage"], "stage"), ["shape", "build"]);
    assert_eq!(choices(&tools["get_review_prompt"], "phase"), ["peer"]);
    assert_eq!(choices(&tools["get_artifact_stub"], "project_type"), ["app", "library"]);
    let (text, data) = ask(&mut client, "check_project_health", json!({})).await;
    assert_eq!((&data["ok"], &data["total"]), (&json!(true), &json!(9)), "{text}");
    let arguments = json!({"transition": "shape_to_build", "validate": true});
    let (text, data) = ask(&mut client, "get_transition_prompt", arguments).await;
    assert_eq!(data["validation"]["ok"], true, "{text}");
    assert!(text.ends_with("\n\nResult: 4/4 passed.\n\n---\n\nBuild it.\n"), "{text}");
}

fn snapshot(folder: &Path) -> BTreeMap<String, (u64, std::time::SystemTime)> {
    let mut all = BTreeMap::new();
    let mut pending = vec![folder.to_owned()];
    while let Some(folder) = pending.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let entry = entry.unwrap();
            let metadata = entry.metadata().unwrap();
            all.insert(
                entry.path().display().to_string(),
                (metadata.len(), metadata.modified().unwrap()),
            );
            if metadata.is_dir() {
                pending.push(entry.path());
            }
        }
    }
    all
}

/// A call of every tool, on the project in the working directory.
pub(crate) fn every_call() -> Vec<(&'static str, Value)> {
    vec![
        ("get_stage", json!({"stage": "design"})),
        ("get_review_prompt", json!({"stage": "design", "phase": "internal"})),
        ("get_transition_prompt", json!({"transition": "discover_to_design", "validate": true})),
        ("get_artifact_spec", json!({"artifact": "brief"})),
        ("get_artifact_stub", json!({"artifact": "claude_md"})),
        ("get_project_type_guidance", json!({"type": "app", "scale": "personal", "scope": "mvp"})),
        ("check_project_structure", json!({})),
        ("check_project_health", json!({})),
        ("get_rules_spec", json!({})),
        ("get_context_spec", json!({"level": "project"})),
        ("query_capabilities", json!({"query": "a"})),
        ("get_capability_detail", json!({"capability_id": "none"})),
        ("query_knowledge", json!({"query": "review"})),
    ]
}

#[tokio::test]
async fn nothing_in_a_project_is_changed() {
    let mut client = Folder::empty().connect().await;
    let project = made_from_stubs(&mut client, "app").await;
    let before = snapshot(project.path());
    let mut client = project.profile(Profile::Acm).connect().await;
    for (name, arguments) in every_call() {
        client.tool(name, arguments).await;
    }
    assert_eq!(snapshot(client.folder.path()), before);
}
