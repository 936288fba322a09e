#![expect(clippy::disallowed_methods, reason = "tests write the files that are served")]

use std::fs;

use serde_json::{Map, Value, json};

use super::*;

struct Files {
    folder: tempfile::TempDir,
}

impl Files {
    fn new(meta: &str, graph: Option<&str>) -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("prompts")).unwrap();
        let files = Self { folder };
        files.write("prompts/one.md", "Do {{what}}{{if .why}} for {{why}}{{end}}.");
        files.write("meta.yaml", meta);
        if let Some(graph) = graph {
            files.write(GRAPH, graph);
        }
        files
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(self.folder.path().join(name), text).unwrap();
    }

    fn open(&self, gating: Gating) -> Result<Workflow, String> {
        let sources = Sources {
            root: Root::open(self.folder.path()).unwrap(),
            meta: RelativePath::new("meta.yaml").unwrap(),
            graph: None,
        };
        let store = Store::new(self.folder.path().to_owned(), None);
        Workflow::open(sources, gating, store).map_err(|problem| problem.to_string())
    }
}

const META: &str = "prompts:\n  - id: one\n    title: One\n    phase: 1\n    produces: [sum]\n    inputs:\n      \
    - {name: what, type: string, required: true}\n      - {name: why, enum: [fun, profit]}\n      \
    - {name: times, type: integer, default: 3}\n  - {id: two, dependsOn: [one], path: prompts/one.md, \
    variables: [{name: what}, {name: why}]}\n";

fn render(
    workflow: &Workflow,
    index: usize,
    values: &Value,
    limit: usize,
) -> Result<Rendered, String> {
    let snapshot = workflow.snapshot();
    let values: Map<String, Value> = values.as_object().unwrap().clone();
    let loaded = workflow.store().load();
    let state = match &loaded {
        Ok(loaded) => Ok(&*loaded.state),
        Err(_) => Err(StateError::Damaged),
    };
    let rendering = Rendering { values: &values, limit, records: false };
    workflow
        .render(&snapshot, &snapshot.prompts[index], state, rendering)
        .map_err(|error| Report::from(error).to_string())
}

#[test]
fn inputs_are_checked_and_put_in() {
    let files = Files::new(META, None);
    let workflow = files.open(Gating::Warn).unwrap();
    let render = |values: Value| render(&workflow, 0, &values, 10_000).map(|done| done.text);
    assert_eq!(
        render(json!({"what": "it {{why}}", "why": "fun"})).unwrap(),
        "Do it {{why}} for fun.\n\n---\nPrompt `one` · phase: 1 · depends on: nothing · \
         produces: `sum` · next: `two`\n"
    );
    assert_eq!(render(json!({})).unwrap_err(), "/what: required");
    assert_eq!(render(json!({"what": 1})).unwrap_err(), "/what: expected string");
    assert_eq!(
        render(json!({"what": "a", "why": "x"})).unwrap_err(),
        "/why: expected one of fun, profit"
    );
    assert_eq!(render(json!({"what": "a", "times": 1.5})).unwrap_err(), "/times: expected integer");
    assert_eq!(
        render(json!({"what": "a", "x": 1})).unwrap_err(),
        "/x: unknown argument; expected `what`, `why`, `times`"
    );
}

#[test]
fn the_footer_survives_a_cut() {
    let files = Files::new(META, None);
    let workflow = files.open(Gating::Warn).unwrap();
    let text = render(&workflow, 0, &json!({"what": "x".repeat(1_000)}), 200).unwrap().text;
    assert!(
        text.len() <= 200 && text.contains("truncated") && text.ends_with("next: `two`\n"),
        "{text}"
    );
}

#[test]
fn out_of_order_is_a_warning_or_an_error() {
    let files = Files::new(META, None);
    let waits = "out of order: `two` waits for `one`";
    let warned = render(&files.open(Gating::Warn).unwrap(), 1, &json!({}), 10_000).unwrap();
    assert_eq!(warned.warnings, [waits]);
    assert!(
        warned.text.ends_with(&format!("next: nothing\nWarning: {waits}\n")),
        "{}",
        warned.text
    );
    let strict = files.open(Gating::Strict).unwrap();
    assert_eq!(
        render(&strict, 1, &json!({}), 10_000).unwrap_err(),
        "`two` is out of order: it waits for `one`; call `suggest_next_calls` to see what can be done now"
    );
    strict.advance(Advance { id: "one".into(), ..Advance::default() }).unwrap();
    assert!(render(&strict, 1, &json!({}), 10_000).unwrap().warnings.is_empty());
}

#[test]
fn bad_metadata_is_told_apart() {
    let refused = |meta: &str| Files::new(meta, None).open(Gating::Warn).unwrap_err();
    assert_eq!(refused("[{id: a}, {id: a}]"), "meta.yaml: two prompts have the id `a`");
    assert_eq!(
        refused("[{id: a, dependsOn: [b]}]"),
        "meta.yaml: `a` depends on `b`, which is no node"
    );
    assert_eq!(
        refused("[{id: a, dependsOn: [b]}, {id: b, dependsOn: [a]}]"),
        "meta.yaml: a cycle: `b` → `a` → `b`"
    );
    let files = Files::new(
        "[{id: 'a b'}, {id: two, path: ../x.md}, {id: one, inputs: [{name: what}]}]",
        None,
    );
    let problems: Vec<String> =
        files.open(Gating::Warn).unwrap().problems().iter().map(ToString::to_string).collect();
    assert_eq!(
        problems,
        [
            "meta.yaml: `a b` cannot name a tool: use 1 to 64 letters, digits, `_` and `-`",
            "../x.md: the file of prompt `two` cannot be read; run `rutter check` to see why",
            "prompts/one.md: `{{why}}` is no declared input and stays as it is",
        ]
    );
}

#[test]
fn the_graph_wins_and_what_it_lacks_comes_from_the_prompts() {
    let files = Files::new(
        META,
        Some(
            r#"{"version": 1, "nodes": [{"id": "two", "dependsOn": ["zero"], "requiresArtifacts": ["x"]}, {"id": "zero"}]}"#,
        ),
    );
    let workflow = files.open(Gating::Warn).unwrap();
    let snapshot = workflow.snapshot();
    let graph = &snapshot.graph;
    assert_eq!(graph.before(graph.node("two").unwrap()).collect::<Vec<_>>(), ["zero"]);
    assert!(graph.node("one").unwrap().has_prompt);
    let problems: Vec<String> = workflow.problems().iter().map(ToString::to_string).collect();
    assert_eq!(
        problems,
        [
            "default-graph.json: `two` requires `x`, which no step produces",
            "default-graph.json: there is no prompt for the step `zero`",
        ]
    );
    files.write(GRAPH, "{\"nodes\": [\n{\"id\": 1}]}");
    assert_eq!(
        files.open(Gating::Warn).unwrap_err(),
        "default-graph.json:2: this is not a graph: invalid type: integer `1`, expected a string"
    );
}

#[test]
fn a_broken_change_leaves_everything_as_it_was() {
    let files = Files::new(META, None);
    let workflow = files.open(Gating::Warn).unwrap();
    let admit = |_: &Snapshot| Ok(());
    files.write("meta.yaml", "[{id: one, dependsOn: [one]}]");
    let problem = workflow.reload(admit).unwrap_err();
    assert_eq!(
        problem.to_string(),
        "meta.yaml: `one` depends on itself; the workflow stays as it was"
    );
    assert_eq!(workflow.snapshot().prompts.len(), 2);
    assert_eq!(workflow.problems(), [problem]);
    files.write("meta.yaml", &format!("{META}  - {{id: three, path: prompts/one.md, inputs: [{{name: what}}, {{name: why}}]}}\n"));
    let no = |_: &Snapshot| Err(Problem::error("meta.yaml", "no"));
    assert!(workflow.reload(no).is_err());
    assert_eq!(workflow.snapshot().prompts.len(), 2);
    let difference = workflow.reload(admit).unwrap();
    assert!(difference.prompts && difference.graph && difference.updated.is_empty());
    assert!(workflow.problems().is_empty());
    assert!(workflow.reload(admit).unwrap().is_empty());
    files.write("prompts/one.md", "Another {{what}}");
    assert_eq!(workflow.reload(admit).unwrap().updated, [0, 1, 2]);
}

#[test]
fn a_step_is_marked_as_done_with_what_it_unlocks_and_what_is_odd() {
    let files = Files::new(META, None);
    let workflow = files.open(Gating::Warn).unwrap();
    let advance = |id: &str, artifacts: &[(&str, &str)]| {
        let artifacts = artifacts.iter().map(|&(key, path)| (key.into(), path.into())).collect();
        let advance = Advance { id: id.into(), outputs: None, artifacts: Some(artifacts) };
        workflow.advance(advance).map_err(|error| Report::from(error).to_string())
    };
    let done = advance("two", &[]).unwrap();
    assert_eq!(done.warnings, ["out of order: `two` waits for `one`"]);
    let done = advance("one", &[("sun", "docs/sum.md")]).unwrap();
    assert_eq!(
        done.warnings,
        [
            "no step produces or requires the artifact `sun`; did you mean `sum`?",
            "`one` produces `sum`, which is not recorded: pass its path in `artifacts`",
        ]
    );
    assert_eq!(advance("one", &[("sum", "/etc/shadow")]).unwrap().warnings.len(), 0);
    assert_eq!(advance("ona", &[]).unwrap_err(), "there is no step `ona`; did you mean `one`?");
    let long = "k".repeat(1 << 20);
    for (key, path) in [
        ("", "p"),
        (" ", "p"),
        (long.as_str(), "p"),
        ("a\u{1b}", "p"),
        ("a", ""),
        ("a", "p\n"),
        ("a", &long),
    ] {
        let error = advance("one", &[(key, path)]).unwrap_err();
        assert!(
            error.starts_with("/artifacts/") && error.contains("printable") && error.len() < 200,
            "{error}"
        );
    }
    let outputs = json!({"text": long}).as_object().cloned();
    let error =
        workflow.advance(Advance { id: "one".into(), outputs, artifacts: None }).unwrap_err();
    assert!(error.to_string().starts_with("/outputs: expected at most 65536 bytes"), "{error}");
}
