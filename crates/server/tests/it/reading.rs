//! Reading: whole documents, sections, pieces, and links that an agent can follow.

use serde_json::{Value, json};

use crate::server::{Client, Folder};

const GUIDE: &str = "# Guide\n\nSee [setup](sub/setup.md#first-steps), [r] and `[no](sub/setup.md)`.\n\n\
    [r]: ./sub/setup.md \"Setup\"\n\n## Usage\n\nUse it: ![picture](sub/setup.md).\n\n## Notes\n\n[gone](gone.md)\n";

fn folder() -> Folder {
    Folder::with(&[
        ("docs/guide.md", GUIDE),
        ("docs/sub/setup.md", "# Setup\n\n## First steps\n\n[back](../guide.md) [up](#setup)\n"),
    ])
}

async fn read(client: &mut Client, arguments: Value) -> Value {
    let params = json!({"name": "read", "arguments": arguments});
    let mut result = client.result("tools/call", params).await;
    assert_eq!(result["isError"], false, "{result}");
    result["structuredContent"].take()
}

#[tokio::test]
async fn links_between_documents_can_be_followed() {
    let mut client = folder().connect().await;
    let guide = GUIDE
        .replace("(sub/setup.md#first-steps)", "(acdc://docs/sub/setup#first-steps)")
        .replace("./sub/setup.md \"", "acdc://docs/sub/setup \"");
    let whole = read(&mut client, json!({"uri": "acdc://docs/guide"})).await;
    assert_eq!(whole, json!({"uri": "acdc://docs/guide", "name": "Guide", "text": guide}));
    let resource = client.result("resources/read", json!({"uri": "acdc://docs/guide"})).await;
    assert_eq!(resource["contents"][0]["text"], guide);
    let linked = read(&mut client, json!({"uri": "acdc://docs/sub/setup#first-steps"})).await;
    assert_eq!(linked["text"], "## First steps\n\n[back](acdc://docs/guide) [up](#setup)\n");
    assert_eq!(linked["uri"], "acdc://docs/sub/setup");
}

#[tokio::test]
async fn links_lead_from_one_source_to_another() {
    let config = "content: [{name: one, path: ./a/../one}, {name: two, path: two/docs}]\n";
    let folder = Folder::with(&[
        ("rutter.yaml", config),
        ("a/.keep", ""),
        ("one/x.md", "# X\n\n[y](../two/docs/sub/y.md) [z](../two/z.md) [k](../two/docs/sub/)\n"),
        ("two/docs/sub/y.md", "# Y\n\n[x](../../../one/x.md#x)\n"),
        ("two/z.md", "# Z\n"),
    ]);
    let mut client = folder.connect().await;
    let x = read(&mut client, json!({"uri": "acdc://one/x"})).await;
    assert_eq!(x["text"], "# X\n\n[y](acdc://two/sub/y) [z](../two/z.md) [k](../two/docs/sub/)\n");
    let y = read(&mut client, json!({"uri": "acdc://two/sub/y"})).await;
    assert_eq!(y["text"], "# Y\n\n[x](acdc://one/x#x)\n");
}

#[tokio::test]
async fn a_section_is_read_by_its_anchor() {
    let mut client = folder().connect().await;
    let arguments = json!({"uri": "acdc://docs/guide.md", "section": "usage"});
    let usage = "## Usage\n\nUse it: ![picture](sub/setup.md).\n\n";
    assert_eq!(read(&mut client, arguments).await["text"], usage);
    let (said, failed) =
        client.tool("read", json!({"uri": "acdc://docs/guide", "section": "usge"})).await;
    assert!(failed);
    assert_eq!(
        said,
        "`acdc://docs/guide` has no section `usge`; did you mean `usage`?; its sections are `guide`, `usage`, `notes`"
    );
}

#[tokio::test]
async fn a_document_is_read_piece_by_piece() {
    let lines: Vec<_> = (0..200).map(|n| format!("Line {n} of the größte document.\n")).collect();
    let text = lines.concat();
    let mut client = Folder::with(&[("docs/a.md", text.as_str())]).connect().await;
    let mut arguments = json!({"uri": "acdc://docs/a", "max_bytes": 1_000});
    let mut pieces = Vec::new();
    loop {
        let result =
            client.result("tools/call", json!({"name": "read", "arguments": arguments})).await;
        let piece = &result["structuredContent"];
        let got = piece["text"].as_str().unwrap();
        assert!(got.len() <= 1_000 && got.ends_with('\n'), "{}", got.len());
        assert_eq!(result["content"][0]["text"], got);
        pieces.push(got.to_owned());
        let Some(cursor) = piece["next_cursor"].as_str() else {
            assert_eq!(result["content"].as_array().unwrap().len(), 1);
            break;
        };
        // Who sees the text alone can go on as well.
        assert!(result["content"][1]["text"].as_str().unwrap().contains(cursor));
        arguments = json!({"uri": "acdc://docs/a", "cursor": cursor});
    }
    assert!(pieces.len() > 5, "{}", pieces.len());
    assert_eq!(pieces.concat(), text);
}

#[tokio::test]
async fn what_was_cut_at_the_limit_can_be_read_on() {
    let text = "ä".repeat(3_000);
    let files = [("rutter.yaml", "limits: {payload: 2000}\ncontent: [{name: docs, path: docs}]\n")];
    let folder = Folder::with(&files);
    folder.write("docs/a.md", &text);
    let mut client = folder.connect().await;
    let (shown, _) = client.tool("read", json!({"uri": "acdc://docs/a"})).await;
    assert!(shown.len() <= 2_000 && shown.ends_with(" bytes]"), "{shown}");
    let mut piece = read(&mut client, json!({"uri": "acdc://docs/a"})).await;
    let mut got = piece["text"].as_str().unwrap().to_owned();
    while let Some(cursor) = piece["next_cursor"].as_str() {
        piece = read(&mut client, json!({"uri": "acdc://docs/a", "cursor": cursor})).await;
        got.push_str(piece["text"].as_str().unwrap());
    }
    assert_eq!(got, text);
}

#[tokio::test]
async fn a_cursor_is_good_for_one_text() {
    let long = |word: &str| format!("# {word}\n\n{}", format!("{word} ").repeat(200));
    let folder = Folder::with(&[("docs/a.md", &long("one")), ("docs/b.md", &long("one"))]);
    let mut client = folder.connect().await;
    let first = read(&mut client, json!({"uri": "acdc://docs/a", "max_bytes": 300})).await;
    let cursor = first["next_cursor"].clone();
    let refused = |uri: &str| {
        format!(
            "the cursor does not fit `{uri}`: it is of another part or document, or the file has changed since; \
             read again from the start, without a cursor"
        )
    };
    let other = client.tool("read", json!({"uri": "acdc://docs/b", "cursor": cursor})).await;
    assert_eq!(other, (refused("acdc://docs/b"), true));
    client.folder.write("docs/a.md", long("two"));
    let changed = client.tool("read", json!({"uri": "acdc://docs/a", "cursor": cursor})).await;
    assert_eq!(changed, (refused("acdc://docs/a"), true));
    let arguments = json!({"name": "read", "arguments": {"uri": "acdc://docs/a", "cursor": "x"}});
    let (code, message) = client.error("tools/call", arguments).await;
    assert_eq!(code, -32602);
    assert_eq!(message, "/cursor: not a cursor of `read`; read from the start, without a cursor");
}

#[tokio::test]
async fn a_size_that_makes_no_sense_is_an_invalid_argument() {
    let mut client = folder().connect().await;
    for size in [-1, 0, 255, 1_048_577] {
        let arguments = json!({"uri": "acdc://docs/guide", "max_bytes": size});
        let params = json!({"name": "read", "arguments": arguments});
        let said = client.error("tools/call", params).await;
        let expected = format!("/max_bytes: expected a number from 256 to 1048576, not {size}");
        assert_eq!(said, (-32602, expected));
    }
    for size in [256, 1_048_576] {
        read(&mut client, json!({"uri": "acdc://docs/guide", "max_bytes": size})).await;
    }
}

#[tokio::test]
async fn the_definition_of_read_is_short() {
    let mut client = folder().connect().await;
    let list = client.result("tools/list", json!({})).await;
    let read = list["tools"].as_array().unwrap().iter().find(|tool| tool["name"] == "read");
    let bytes = read.unwrap().to_string().len();
    assert!(bytes < 900, "{bytes}");
}

#[test]
fn the_pack_passes_its_own_review() {
    let app = Folder::empty().setup().unwrap().app;
    let found: Vec<_> = app.modules().iter().flat_map(|module| module.review()).collect();
    assert_eq!(found, []);
}
