//! Calls of the newer era: the same answer whichever way they take, and one for each.

use std::fs::File;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::AsyncWriteExt;

use super::{Site, parse, read_to_end, read_until};

const STANDARD: &str = "MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\n";
const BOTH: &str = "Accept: application/json, text/event-stream\r\n";

fn call(name: &str, arguments: &Value, more: &Value) -> Value {
    let mut meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "it", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    meta.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    let params = json!({"name": name, "arguments": arguments, "_meta": meta});
    json!({"jsonrpc": "2.0", "id": "call-1", "method": "tools/call", "params": params})
}

fn headers(name: &str) -> String {
    format!("{STANDARD}Mcp-Name: {name}\r\n{BOTH}")
}

#[tokio::test]
async fn a_call_has_the_same_answer_whether_it_wants_progress_or_not() {
    let site = Site::open().await;
    for (name, arguments, sign) in [
        ("get_rules_spec", json!({}), "\"content\""),
        ("search", json!({"query": "rules", "limit": 2}), "structuredContent"),
        ("get_rules_spec", json!({"nothing": 1}), "-32602"),
        ("read", json!({"uri": "acdc://missing"}), "isError"),
        ("get_rule_spec", json!({}), "did you mean"),
    ] {
        let plain = site.post(&headers(name), &call(name, &arguments, &json!({}))).await;
        assert!(plain.body.contains(sign), "{}", plain.body);
        assert_eq!(plain.header("content-type"), Some("application/json"));
        for more in
            [json!({"progressToken": "p"}), json!({"io.modelcontextprotocol/logLevel": "debug"})]
        {
            let more = call(name, &arguments, &more);
            let followed = site.post(&headers(name), &more).await;
            assert_eq!(plain.message(), followed.message(), "{name}");
            assert_eq!(plain.status, followed.status, "{name}");
        }
    }
}

/// Clients refuse an answer that lacks what the schema requires.
#[tokio::test]
async fn an_answer_has_what_its_schema_requires() {
    let site = Site::open().await;
    let meta = call("x", &json!({}), &json!({}))["params"]["_meta"].clone();
    let list =
        json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"_meta": meta}});
    let listing = "MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/list\r\n";
    let listed = site.post(listing, &list).await.message();
    let mut required = 0;
    for (name, arguments) in [
        ("search", json!({"query": "rules"})),
        ("read", json!({"uri": "acdc://rutter/guides/configure"})),
        ("suggest_next_calls", json!({})),
        ("advance_state", json!({"id": "discover_research"})),
    ] {
        let tools = listed["result"]["tools"].as_array().unwrap();
        let Some(tool) = tools.iter().find(|tool| tool["name"] == name) else { continue };
        let answer = site.post(&headers(name), &call(name, &arguments, &json!({}))).await.message();
        let data = &answer["result"]["structuredContent"];
        for field in tool["outputSchema"]["required"].as_array().into_iter().flatten() {
            assert!(!data[field.as_str().unwrap()].is_null(), "{name} lacks {field}: {answer}");
            required += 1;
        }
    }
    assert!(required > 5, "{required}");
}

#[tokio::test]
async fn headers_that_say_something_else_than_the_call_are_refused() {
    const HEADER_MISMATCH: i64 = -32020;
    let site = Site::open().await;
    let right = call("get_rules_spec", &json!({}), &json!({}));
    for wrong in [
        format!("{STANDARD}Mcp-Name: search\r\n"),
        STANDARD.to_owned(),
        "MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/list\r\nMcp-Name: get_rules_spec\r\n"
            .to_owned(),
        "MCP-Protocol-Version: 2025-11-25\r\nMcp-Method: tools/call\r\nMcp-Name: get_rules_spec\r\n"
            .to_owned(),
    ] {
        let answer = site.post(&wrong, &right).await;
        assert_eq!(answer.status, 400, "{wrong}: {}", answer.body);
        assert_eq!(answer.message()["error"]["code"], HEADER_MISMATCH, "{wrong}");
    }
    let mut bare = right.clone();
    let meta = &mut bare["params"]["_meta"];
    meta.as_object_mut().unwrap().remove("io.modelcontextprotocol/clientCapabilities");
    let answer = site.post(&headers("get_rules_spec"), &bare).await;
    assert_eq!((answer.status, &answer.message()["error"]["code"]), (400, &json!(-32602)));
}

#[tokio::test]
async fn what_a_client_takes_and_sends_may_be_written_in_any_way() {
    let site = Site::open().await;
    let message = call("get_rules_spec", &json!({}), &json!({})).to_string();
    let listed = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list",
        "params": {"_meta": call("x", &json!({}), &json!({}))["params"]["_meta"]}});
    let list = "MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/list\r\n";
    let call = format!("{STANDARD}Mcp-Name: get_rules_spec\r\n");
    for (how, status) in [
        ("Content-Type: Application/JSON; charset=utf-8\r\n", 200),
        ("Content-Type: application/json\r\nAccept: */*\r\n", 200),
        (
            "Content-Type: application/json\r\nAccept: text/event-stream\r\nAccept: application/json;q=0.5\r\n",
            200,
        ),
        ("Content-Type: application/json\r\nAccept: application/json\r\n", 406),
        ("Content-Type: application/json\r\nAccept: text/html\r\n", 406),
        ("Content-Type: text/json\r\n", 415),
    ] {
        for (headers, body) in [(call.as_str(), &message), (list, &listed.to_string())] {
            let answer = site.ask("POST", "/mcp", &format!("{headers}{how}"), body).await;
            assert_eq!(answer.status, status, "{how}: {}", answer.body);
            assert_eq!(status == 200, answer.body.contains("\"result\""), "{how}: {}", answer.body);
        }
    }
}

#[tokio::test]
async fn a_call_that_is_in_work_is_answered_before_the_server_ends() {
    let site = Site::open().await;
    let (session, other) = (site.session("").await, site.session("").await);
    let state = site.folder.path().join(".mcp");
    std::fs::create_dir_all(&state).unwrap();
    let lock = File::create(state.join("state.lock")).unwrap();
    lock.lock().unwrap();
    // On every transport there is one call that waits for the lock.
    let arguments = json!({"id": "discover_research"});
    let newer = headers("advance_state");
    let of = |session| format!("Mcp-Session-Id: {session}\r\nMCP-Protocol-Version: 2025-11-25\r\n");
    let (older, other) = (of(session), of(other));
    let plain = call("advance_state", &arguments, &json!({}));
    let followed = call("advance_state", &arguments, &json!({"progressToken": 1}));
    let old = json!({"jsonrpc": "2.0", "id": "call-1", "method": "tools/call",
        "params": {"name": "advance_state", "arguments": arguments}});
    let mut waiting = Vec::new();
    for (headers, message) in [(&newer, &plain), (&newer, &followed), (&older, &old)] {
        waiting.push(site.begin(headers, message).await);
    }
    let mut stream = site.connect().await;
    stream.write_all(b"GET /sse HTTP/1.1\r\nHost: localhost\r\n\r\n").await.unwrap();
    let said = read_until(&mut stream, "sessionId").await;
    let to = said.lines().find_map(|line| line.strip_prefix("data: ")).unwrap();
    let accepted =
        site.ask("POST", to, "Content-Type: application/json\r\n", &old.to_string()).await;
    assert_eq!(accepted.status, 202, "{}", accepted.body);
    waiting.push(stream);
    // One whose client lost its connection and came back.
    let mut broken = site.begin(&other, &old).await;
    let said = read_until(&mut broken, "id: 0/").await;
    let said =
        if said.contains("retry") { said } else { said + &read_until(&mut broken, "retry").await };
    let event = said.lines().find_map(|line| line.strip_prefix("id: ")).unwrap().to_owned();
    drop(broken);
    let mut again = site.connect().await;
    let request = format!(
        "GET /mcp HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n{other}Last-Event-ID: {event}\r\n\r\n"
    );
    again.write_all(request.as_bytes()).await.unwrap();
    waiting.push(again);
    tokio::time::sleep(Duration::from_secs(1)).await;
    site.shutdown.cancel();
    // Longer than the SDK waits for what it was told to break off.
    tokio::time::sleep(Duration::from_millis(2_500)).await;
    lock.unlock().unwrap();
    for mut stream in waiting {
        let said = read_to_end(&mut stream).await;
        assert!(said.contains("call-1") && said.contains("unlocked"), "{said}");
        assert!(said.contains(": message") || parse(&said).status == 200, "{said}");
    }
}

#[tokio::test]
async fn a_message_that_has_begun_when_the_server_ends_is_answered() {
    let site = Site::open().await;
    let session = site.session("").await;
    let meta = call("x", &json!({}), &json!({}))["params"]["_meta"].clone();
    let list =
        json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"_meta": meta}});
    let newer = "MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/list\r\n".to_owned();
    let older = format!("Mcp-Session-Id: {session}\r\nMCP-Protocol-Version: 2025-11-25\r\n");
    let old = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"});
    let mut begun = Vec::new();
    for (headers, message) in [(newer, list), (older, old)] {
        let mut stream = site.connect().await;
        let message = message.to_string();
        let request = format!(
            "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n{headers}Expect: 100-continue\r\nContent-Length: {}\r\n\r\n",
            message.len()
        );
        stream.write_all(request.as_bytes()).await.unwrap();
        // The server says so when it begins to read the body.
        read_until(&mut stream, "100 Continue").await;
        begun.push((stream, message));
    }
    site.shutdown.cancel();
    tokio::time::sleep(Duration::from_millis(200)).await;
    for (mut stream, message) in begun {
        stream.write_all(message.as_bytes()).await.unwrap();
        let said = read_to_end(&mut stream).await;
        assert!(said.contains("\"tools\":["), "{said}");
    }
}
