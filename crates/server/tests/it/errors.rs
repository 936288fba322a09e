//! Every error text: errors are the next prompt.

use std::fmt::Write;

use serde_json::{Value, json};

use crate::server::Folder;

#[tokio::test]
async fn every_error_text() {
    let folder = Folder::with(&[(".ralph/.keep", ""), ("docs/a.md", "# A\n")]);
    let mut client = folder.connect().await;
    let cases: &[(&str, Value)] = &[
        ("tools/call", json!({"name": "red"})),
        ("tools/call", json!({"name": "zzz"})),
        ("tools/call", json!({"name": "read"})),
        ("tools/call", json!({"name": "read", "arguments": {"uri": 1}})),
        (
            "tools/call",
            json!({"name": "read", "arguments": {"uri": "acdc://docs/a", "section": "x"}}),
        ),
        ("tools/call", json!({"name": "read", "arguments": {"uri": "acdc://docs/b"}})),
        ("tools/call", json!({"name": "read", "arguments": {"uri": "/etc/passwd"}})),
        ("tools/call", json!({"name": "read", "arguments": []})),
        ("tools/call", json!({})),
        ("tools/call", json!({"name": "get_stage", "arguments": {"stage": "deliver"}})),
        ("tools/call", json!({"name": "append_learning", "arguments": {"text": " "}})),
        ("tools/call", json!({"name": "append_learning", "arguments": {"text": "\u{1b}[2J"}})),
        ("tools/call", json!({"name": "discover_research", "arguments": {}})),
        (
            "tools/call",
            json!({"name": "discover_research", "arguments": {"topic": "t", "depth": "deep"}}),
        ),
        (
            "tools/call",
            json!({"name": "discover_research", "arguments": {"topic": "t", "tpoic": "x"}}),
        ),
        ("resources/read", json!({"uri": "acdc://docs/none"})),
        ("resources/read", json!({"uri": "acdc://docs/../a"})),
        ("resources/read", json!({"uri": "file:///etc/passwd"})),
        ("resources/read", json!({"uri": ""})),
        ("resources/read", json!({})),
        ("resources/list", json!({"cursor": "x"})),
        ("prompts/get", json!({"name": "rutter:create-adrs"})),
        ("prompts/get", json!({"name": "zzz"})),
        ("prompts/get", json!({"name": "rutter:create-adr"})),
        ("prompts/get", json!({"name": "rutter:create-adr", "arguments": {"topic": ""}})),
        (
            "prompts/get",
            json!({"name": "rutter:create-adr", "arguments": {"topic": "t", "topics": "u"}}),
        ),
        ("prompts/get", json!({"name": "rutter:create-adr", "arguments": {"topic": 1}})),
        ("logging/setLevel", json!({"level": "loud"})),
        ("no/such", json!({})),
    ];
    let mut texts = String::new();
    for (method, params) in cases {
        let response = client.call(method, params.clone()).await;
        let said = if let Some(error) = response.get("error") {
            format!("{} {}", error["code"], error["message"].as_str().unwrap())
        } else {
            assert_eq!(response["result"]["isError"], true, "{method} {params}: {response}");
            format!("isError {}", response["result"]["content"][0]["text"].as_str().unwrap())
        };
        writeln!(texts, "{method} {params}\n    {said}").unwrap();
    }
    insta::assert_snapshot!(texts);
}

#[test]
fn every_configuration_error() {
    let cases: &[(&str, &[(&str, &str)])] = &[
        ("unknown key", &[("rutter.yaml", "server: {name: a}\ncontnet: []\n")]),
        ("wrong type", &[("rutter.yaml", "content: docs\n")]),
        ("missing folder", &[("rutter.yaml", "content:\n  - name: docs\n    path: nowhere\n")]),
        (
            "a file as folder",
            &[("rutter.yaml", "content:\n  - name: docs\n    path: a.md\n"), ("a.md", "")],
        ),
        ("bad source name", &[("rutter.yaml", "content:\n  - name: my docs\n    path: .\n")]),
        (
            "two of one name",
            &[("rutter.yaml", "content:\n  - {name: a, path: .}\n  - {name: a, path: .}\n")],
        ),
        ("missing process", &[("rutter.yaml", "\nprocess: {root: nowhere}\n")]),
        (
            "broken manifest",
            &[
                ("rutter.yaml", "process: {root: p}\n"),
                ("p/process.yaml", "version: 1\nstage: []\n"),
            ],
        ),
        ("missing workflow", &[("rutter.yaml", "workflow: {prompts: nowhere.yaml}\n")]),
        ("twice the same prompt", &[("resources/prompts.meta.yaml", "[{id: a}, {id: a}]")]),
        ("a prompt named as a tool", &[("resources/prompts.meta.yaml", "[{id: read}]")]),
        ("small payload", &[("rutter.yaml", "limits: {payload: 3}\n")]),
        ("an escape sequence", &[("mcp-metadata.yaml", "server: \u{1b}[2J\n")]),
    ];
    let mut texts = String::new();
    for (what, files) in cases {
        let report = Folder::with(files).setup().unwrap_err();
        assert_eq!(report.lines().count(), 1, "{report}");
        writeln!(texts, "{what}\n    {report}").unwrap();
    }
    insta::assert_snapshot!(texts);
}
