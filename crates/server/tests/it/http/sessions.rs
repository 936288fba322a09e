//! Sessions: how many, whose, and how long.

use rutter_server::changes::Change;

use super::*;

#[tokio::test]
async fn sessions_are_counted_and_end_when_nobody_uses_them() {
    let site = Site::with_limits(json!({"sessions": 3, "idle_seconds": 1})).await;
    let mut opened = 0;
    for _ in 0..20 {
        let answer = site.post("", &initialize()).await;
        match answer.status {
            200 => opened += 1,
            503 => {
                assert!(answer.header("retry-after").is_some());
                assert!(!answer.body.contains("Encounter"), "{}", answer.body);
            }
            status => panic!("{status}: {}", answer.body),
        }
    }
    assert_eq!(opened, 3);
    assert_eq!(site.get("/sse", "").await.status, 503);
    // The newer era needs none.
    let discover = json!({"jsonrpc": "2.0", "id": 1, "method": "server/discover", "params": {"_meta": {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "it", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {}}}});
    let headers = "MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: server/discover\r\n";
    let answer = site.post(headers, &discover).await;
    assert_eq!(answer.status, 200, "{}", answer.body);
    assert_eq!(answer.header("content-type"), Some("application/json"));
    let freed = async {
        while site.post("", &initialize()).await.status != 200 {
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    };
    timeout(PATIENCE, freed).await.expect("idle sessions should have ended");
}

#[tokio::test]
async fn a_session_whose_client_listens_is_not_idle() {
    let site = Site::with_limits(json!({"idle_seconds": 1})).await;
    let id = site.session("").await;
    let mut stream = site.connect().await;
    let listen = format!(
        "GET /mcp HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\nMcp-Session-Id: {id}\r\n\r\n"
    );
    stream.write_all(listen.as_bytes()).await.unwrap();
    read_until(&mut stream, "retry:").await;
    tokio::time::sleep(Duration::from_secs(3)).await;
    let headers = format!("Mcp-Session-Id: {id}\r\n");
    assert_eq!(site.post(&headers, &ping(7)).await.message()["id"], 7);
}

#[tokio::test]
async fn a_session_belongs_to_the_credential_that_opened_it() {
    let site = Site::with_keys(json!({})).await;
    let id = site.session("X-API-Key: ada-key\r\n").await;
    let bob = format!("X-API-Key: bob-key\r\nMcp-Session-Id: {id}\r\nAccept: */*\r\n");
    assert_eq!(site.post(&bob, &ping(1)).await.status, 404);
    assert_eq!(site.get("/mcp", &bob).await.status, 404);
    assert_eq!(site.ask("DELETE", "/mcp", &bob, "").await.status, 404);
    let made_up = "X-API-Key: ada-key\r\nMcp-Session-Id: 00000000-0000-0000-0000-000000000000\r\n";
    assert_eq!(site.post(made_up, &ping(1)).await.status, 404);
    let ada = format!("X-API-Key: ada-key\r\nMcp-Session-Id: {id}\r\n");
    assert_eq!(site.post(&ada, &ping(1)).await.message()["id"], 1);
    assert_eq!(site.ask("DELETE", "/mcp", &ada, "").await.status, 204);
    assert_eq!(site.post(&ada, &ping(1)).await.status, 404);
}

#[tokio::test]
async fn the_same_id_from_two_clients_gets_two_answers() {
    let site = Site::open().await;
    let (one, other) = (site.session("").await, site.session("").await);
    let call = |session: &str, tool: &str| {
        let headers = format!("Mcp-Session-Id: {session}\r\n");
        let message = json!({"jsonrpc": "2.0", "id": 42, "method": "tools/call",
            "params": {"name": tool, "arguments": {"query": "release"}}});
        (headers, message)
    };
    for _ in 0..20 {
        let (search, suggest) = (call(&one, "search"), call(&other, "no_such_tool"));
        let (found, missing) =
            tokio::join!(site.post(&search.0, &search.1), site.post(&suggest.0, &suggest.1));
        assert_eq!(found.message()["id"], 42);
        assert!(found.message()["result"].is_object(), "{}", found.body);
        assert_eq!(missing.message()["error"]["code"], -32602, "{}", missing.body);
    }
}

/// Opens the stream of a session, from an event on.
async fn listen(site: &Site, session: &str, last: &str) -> TcpStream {
    let mut stream = site.connect().await;
    let request = format!(
        "GET /mcp HTTP/1.1\r\nHost: localhost\r\nMcp-Session-Id: {session}\r\nAccept: text/event-stream\r\n{last}\r\n"
    );
    stream.write_all(request.as_bytes()).await.unwrap();
    stream
}

#[tokio::test]
async fn a_stream_goes_on_where_it_broke_off() {
    let site = Site::open().await;
    let (session, other) = (site.session("").await, site.session("").await);
    let mut first = listen(&site, &session, "").await;
    read_until(&mut first, "id: 0").await;
    drop(first);
    // What happens while nobody listens is not lost.
    tokio::time::sleep(Duration::from_millis(200)).await;
    site.app.changes().announce(Change::Prompts);
    let mut again = listen(&site, &session, "Last-Event-ID: 0\r\n").await;
    let said = read_until(&mut again, "list_changed").await;
    assert!(said.contains("notifications/prompts/list_changed"), "{said}");
    // And nothing that was heard is said again.
    let heard = said.lines().filter_map(|line| line.strip_prefix("id: ")).next_back().unwrap();
    let heard = format!("Last-Event-ID: {heard}\r\n");
    drop(again);
    tokio::time::sleep(Duration::from_millis(200)).await;
    site.app.changes().announce(Change::Resources);
    let mut again = listen(&site, &session, &heard).await;
    let said = read_until(&mut again, "list_changed").await;
    assert!(said.contains("notifications/resources/list_changed"), "{said}");
    // An answer whose connection broke before it came is had again, and again.
    let list = json!({"jsonrpc": "2.0", "id": "lost", "method": "tools/list"});
    let mut broken = site.begin(&format!("Mcp-Session-Id: {session}\r\n"), &list).await;
    let said = read_until(&mut broken, "id: 0/").await;
    drop(broken);
    let event = said.lines().find_map(|line| line.strip_prefix("id: ")).unwrap().to_owned();
    for _ in 0..2 {
        let mut again = listen(&site, &session, &format!("Last-Event-ID: {event}\r\n")).await;
        read_until(&mut again, "\"id\":\"lost\"").await;
    }
    // Each session has its own stream: what one says is not said to another by its event's name.
    let call = json!({"jsonrpc": "2.0", "id": "mine", "method": "tools/list"});
    let answer = site.post(&format!("Mcp-Session-Id: {session}\r\n"), &call).await;
    let event = answer.body.lines().filter_map(|line| line.strip_prefix("id: ")).next_back();
    let last = format!("Last-Event-ID: {}\r\n", event.unwrap());
    let mut stranger = listen(&site, &other, &last).await;
    let mut said = Vec::new();
    let _ = timeout(Duration::from_secs(1), stranger.read_to_end(&mut said)).await;
    assert!(!String::from_utf8_lossy(&said).contains("mine"));
}
