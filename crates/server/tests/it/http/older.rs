//! The older pair: `GET /sse` and `POST /messages`.

use super::*;

const JSON: &str = "Content-Type: application/json\r\n";

/// A stream, and the address for its messages.
async fn connect(site: &Site, headers: &str) -> (TcpStream, String) {
    let mut stream = site.connect().await;
    let request = format!("GET /sse HTTP/1.1\r\nHost: localhost\r\n{headers}\r\n");
    stream.write_all(request.as_bytes()).await.unwrap();
    let said = read_until(&mut stream, "sessionId=").await;
    assert!(said.contains("content-type: text/event-stream"), "{said}");
    assert!(said.contains("event: endpoint\ndata: /messages?sessionId="), "{said}");
    let at = said.find("/messages").unwrap();
    (stream, said[at..].lines().next().unwrap().to_owned())
}

#[tokio::test]
async fn a_client_of_the_older_pair_is_served() {
    let site = Site::open().await;
    let (mut stream, address) = connect(&site, "").await;
    let answer = site.ask("POST", &address, JSON, &initialize().to_string()).await;
    assert_eq!(answer.status, 202, "{}", answer.body);
    let said = read_until(&mut stream, "protocolVersion").await;
    assert!(said.contains("event: message\ndata: {\"jsonrpc\""), "{said}");
    for (body, status) in [("{", 400), ("[]", 400), ("{\"jsonrpc\":\"2.0\",\"method\":\"x\"}", 202)]
    {
        assert_eq!(site.ask("POST", &address, JSON, body).await.status, status, "{body}");
    }
    assert_eq!(site.ask("POST", &address, "", "{}").await.status, 415);
    let list = json!({"jsonrpc": "2.0", "id": "a", "method": "tools/list"});
    site.ask("POST", &address, JSON, &list.to_string()).await;
    assert!(read_until(&mut stream, "\"id\":\"a\"").await.contains("\"tools\""));
}

#[tokio::test]
async fn a_session_ends_with_its_stream_and_is_nobody_elses() {
    let site = Site::with_keys(json!({"sessions": 1})).await;
    let ada = "X-API-Key: ada-key\r\n";
    let (stream, address) = connect(&site, ada).await;
    let message = ping(1).to_string();
    let as_ada = format!("{JSON}{ada}");
    let as_bob = format!("{JSON}X-API-Key: bob-key\r\n");
    assert_eq!(site.ask("POST", &address, &as_bob, &message).await.status, 404);
    assert_eq!(site.ask("POST", &address, &as_ada, &message).await.status, 202);
    assert_eq!(site.ask("POST", "/messages", &as_ada, &message).await.status, 400);
    assert_eq!(site.ask("POST", "/messages?sessionId=1", &as_ada, &message).await.status, 404);
    assert_eq!(site.get("/sse", ada).await.status, 503);
    drop(stream);
    let ended = async {
        while site.ask("POST", &address, &as_ada, &message).await.status != 404 {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    timeout(PATIENCE, ended).await.expect("the session should have ended with its stream");
    connect(&site, ada).await;
}

#[tokio::test]
async fn whoever_asks_for_more_than_it_reads_waits() {
    let site = Site::with_limits(json!({"queue": 2})).await;
    let (mut stream, address) = connect(&site, "").await;
    let list = |id: usize| json!({"jsonrpc": "2.0", "id": id, "method": "tools/list"}).to_string();
    let mut asked = 0;
    let waits = loop {
        assert!(asked < 2_000, "all of them were taken");
        let message = list(asked);
        let answer = site.ask("POST", &address, JSON, &message);
        match timeout(Duration::from_secs(2), answer).await {
            Ok(answer) => assert_eq!(answer.status, 202, "{}", answer.body),
            Err(_) => break asked,
        }
        asked += 1;
    };
    // Once it reads, it goes on.
    let last = format!("\"id\":{},", waits - 1);
    read_until(&mut stream, &last).await;
    assert_eq!(site.ask("POST", &address, JSON, &list(9_999)).await.status, 202);
    read_until(&mut stream, "\"id\":9999").await;
}
