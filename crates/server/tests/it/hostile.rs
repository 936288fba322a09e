//! Hostile lines, files and URIs: answered or skipped, never followed, never shown.

use std::os::unix::fs::symlink;
use std::process::Command;

use rutter_server::profiles::Profile;
use serde_json::{Value, json};

use crate::server::{Folder, page};

#[tokio::test]
async fn hostile_lines_are_answered_and_the_session_goes_on() {
    let mut client = Folder::empty().connect().await;
    let long = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{}"}}"#, "x".repeat(5 << 20));
    let lines: [(&[u8], i64); 6] = [
        (b"{nonsense", -32700),
        (b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\xff\"}", -32700),
        (br#"{"jsonrpc":"2.0","id":1,"method":"\ud800"}"#, -32700),
        (long.as_bytes(), -32700),
        (b"[]", -32600),
        (br#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#, -32600),
    ];
    for (line, code) in lines {
        client.raw(line).await;
        let answer = client.line().await;
        assert_eq!(
            (&answer["id"], answer["error"]["code"].as_i64()),
            (&Value::Null, Some(code)),
            "{answer}"
        );
    }
    for line in [
        "",
        r#"{"jsonrpc":"2.0","method":"notifications/unheard_of"}"#,
        r#"{"jsonrpc":"2.0","id":99,"result":{}}"#,
    ] {
        client.raw(line).await;
    }
    assert_eq!(client.result("ping", json!({})).await, json!({}));
}

#[tokio::test]
async fn a_notification_before_the_handshake_does_not_end_the_server() {
    let mut client = Folder::empty().serve();
    client.notify("notifications/initialized", json!({})).await;
    client.raw(r#"{"jsonrpc":"2.0","id":1,"result":{}}"#).await;
    assert_eq!(client.result("ping", json!({})).await, json!({}));
}

#[tokio::test]
async fn every_unreadable_resource_gives_the_same_bytes() {
    let folder = Folder::with(&[
        ("rutter.yaml", "content: [{name: kb, path: kb}]\n"),
        ("secret.md", "secret"),
    ]);
    let resources = folder.path().join("kb/mcp-resources");
    folder.write("kb/mcp-resources/good.md", page("Good"));
    folder.write("kb/mcp-resources/latin.md", b"---\nname: caf\xe9\ndescription: d\n---\n");
    folder.write("kb/mcp-resources/no-frontmatter.md", "hello");
    symlink("../../secret.md", resources.join("out.md")).unwrap();
    symlink("/etc/passwd", resources.join("passwd.md")).unwrap();
    symlink("/dev/zero", resources.join("zero.md")).unwrap();
    assert!(Command::new("mkfifo").arg(resources.join("fifo.md")).status().unwrap().success());
    std::fs::File::create(resources.join("giant.md")).unwrap().set_len(2 << 30).unwrap();
    let mut client = folder.profile(Profile::Acdc).connect().await;
    let list = client.result("resources/list", json!({})).await;
    assert_eq!(list["resources"].as_array().unwrap().len(), 1);
    let uris = [
        "acdc://kb/none",
        "acdc://kb/latin",
        "acdc://kb/no-frontmatter",
        "acdc://kb/out",
        "acdc://kb/passwd",
        "acdc://kb/zero",
        "acdc://kb/fifo",
        "acdc://kb/giant",
        "acdc://kb/../secret",
        "acdc://kb/%2e%2e/secret",
        "acdc://other/good",
        "file:///etc/passwd",
        "acdc://kb/good%00",
        "nonsense",
        "",
    ];
    for uri in uris {
        let response = client.call("resources/read", json!({"uri": uri})).await;
        assert_eq!(
            response["error"],
            json!({"code": -32002, "message": "resource not found"}),
            "{uri}"
        );
    }
    assert!(
        client.result("resources/read", json!({"uri": "acdc://kb/good"})).await["contents"]
            .is_array()
    );
}

#[tokio::test]
async fn no_answer_shows_where_the_server_keeps_its_files() {
    let folder = Folder::with(&[
        ("rutter.yaml", "content: [{name: kb, path: kb}]\nprocess: {root: p}\n"),
        ("p/.keep", ""),
    ]);
    folder.write("kb/mcp-resources/a.md", page("A"));
    let secret = folder.path().to_str().unwrap().to_owned();
    let mut client = folder.connect().await;
    std::fs::remove_file(client.folder.path().join("kb/mcp-resources/a.md")).unwrap();
    for (method, params) in [
        ("resources/read", json!({"uri": "acdc://kb/a"})),
        ("tools/call", json!({"name": "read", "arguments": {"uri": "acdc://kb/a"}})),
        ("tools/call", json!({"name": "get_stage", "arguments": {"stage": "design"}})),
        ("resources/list", json!({})),
    ] {
        let response = client.call(method, params).await.to_string();
        assert!(!response.contains(&secret), "{response}");
    }
}

#[tokio::test]
async fn text_from_files_and_callers_comes_back_as_data() {
    let folder =
        Folder::with(&[("docs/a.md", "# \u{1b}]0;pwned\u{7}Title\n\n{{if}} \u{202e}evil\n")]);
    let mut client = folder.connect().await;
    let list = client.result("resources/list", json!({})).await;
    let name = list["resources"][0]["name"].as_str().unwrap();
    assert!(!name.chars().any(char::is_control), "{name:?}");
    let (text, _) = client.tool("read", json!({"uri": "acdc://docs/\u{1b}[31m"})).await;
    assert!(!text.contains('\u{1b}'), "{text:?}");
}

#[tokio::test]
async fn what_the_operator_named_may_be_a_link_to_anywhere() {
    let elsewhere = tempfile::tempdir().unwrap();
    std::fs::create_dir(elsewhere.path().join("pages")).unwrap();
    std::fs::write(elsewhere.path().join("pages/a.md"), "# A\n").unwrap();
    std::fs::write(elsewhere.path().join("shared.yaml"), "server: {name: linked}\n").unwrap();
    let folder = Folder::empty();
    symlink(elsewhere.path().join("pages"), folder.path().join("docs")).unwrap();
    symlink(elsewhere.path().join("shared.yaml"), folder.path().join("rutter.yaml")).unwrap();
    assert_eq!(folder.setup().unwrap().app.identity().name, "linked");
    let mut client = folder.connect().await;
    let list = client.result("resources/list", json!({})).await;
    assert_eq!(list["resources"][0]["uri"], "acdc://docs/a");
}

#[test]
fn odd_things_in_the_place_of_folders_and_files_do_not_block_the_start() {
    let folder = Folder::with(&[("docs", "a file"), (".ralph", "a file")]);
    assert!(folder.setup().is_ok());
    assert!(
        Command::new("mkfifo").arg(folder.path().join("rutter.yaml")).status().unwrap().success()
    );
    let report = folder.setup().unwrap_err();
    assert_eq!(
        report,
        "the configuration file `rutter.yaml` cannot be used: it is not a regular file"
    );
}
