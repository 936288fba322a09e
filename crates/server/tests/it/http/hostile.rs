//! Those who send half of something, too much of it, or something else altogether.

use super::*;

#[tokio::test]
async fn a_name_that_is_not_ours_is_refused_on_every_route() {
    let site = Site::with_keys(json!({})).await;
    for path in ["/", "/health", "/mcp", "/sse", "/messages", "/metrics", "/search?q=a", "/nowhere"]
    {
        for headers in [
            "Host: evil.example\r\nX-API-Key: ada-key\r\n",
            "Host: localhost\r\nOrigin: https://evil.example\r\nX-API-Key: ada-key\r\n",
            "Host: localhost\r\nOrigin: null\r\nX-API-Key: ada-key\r\n",
        ] {
            assert_eq!(site.get(path, headers).await.status, 403, "{path} {headers}");
        }
        let nameless = site.raw(format!("GET {path} HTTP/1.1\r\nConnection: close\r\n\r\n")).await;
        assert!(nameless.starts_with("HTTP/1.1 400"), "{path}: {nameless}");
    }
    for headers in ["Host: docs.example\r\n", "Origin: http://localhost:3000\r\n"] {
        assert_eq!(site.get("/health", headers).await.status, 200, "{headers}");
    }
}

#[tokio::test]
async fn half_sent_headers_end_and_others_are_served_meanwhile() {
    let site = Site::with_limits(json!({"header_seconds": 1})).await;
    let mut half = Vec::new();
    for begun in ["", "G", "P", "PRI * HTTP/2.0", "GET /health HTTP/1.1\r\nHost: local"] {
        for _ in 0..40 {
            let mut stream = site.connect().await;
            stream.write_all(begun.as_bytes()).await.unwrap();
            half.push(stream);
        }
    }
    assert_eq!(site.get("/health", "").await.status, 200);
    for stream in &mut half {
        // What it was told, if anything, is that this is no request.
        let said = read_to_end(stream).await;
        assert!(said.is_empty() || said.starts_with("HTTP/1.1 4"), "{said}");
    }
}

#[tokio::test]
async fn a_connection_of_http_2_without_a_request_ends() {
    let site = Site::with_limits(json!({"header_seconds": 1})).await;
    let mut stream = site.connect().await;
    let settings = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0";
    stream.write_all(settings).await.unwrap();
    // Half of the headers of a request: END_HEADERS never comes.
    stream.write_all(b"\0\0\x01\x01\0\0\0\0\x01\x82").await.unwrap();
    read_to_end(&mut stream).await;
}

#[tokio::test]
async fn a_reader_of_http_2_that_takes_nothing_is_given_up() {
    const SETTINGS: u8 = 4;
    const PING: u8 = 6;
    const ACK: u8 = 1;
    let site = Site::with_limits(json!({"stall_seconds": 1})).await;
    let mut stream = site.connect().await;
    // A window of no bytes, and a request for /health.
    let mut hello =
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\x06\x04\0\0\0\0\0\0\x04\0\0\0\0".to_vec();
    hello.extend_from_slice(b"\0\0\x16\x01\x05\0\0\0\x01\x82\x86\x04\x07/health\x01\x09localhost");
    stream.write_all(&hello).await.unwrap();
    let mut answered = false;
    let given_up = async {
        let mut head = [0; 9];
        while stream.read_exact(&mut head).await.is_ok() {
            let length = u32::from_be_bytes([0, head[0], head[1], head[2]]);
            let mut payload = vec![0; length as usize];
            if stream.read_exact(&mut payload).await.is_err() {
                return;
            }
            answered |= head[3] == 1;
            // It is alive, and says so.
            if matches!(head[3], SETTINGS | PING) && head[4] & ACK == 0 {
                let payload = if head[3] == PING { payload } else { Vec::new() };
                let length = u8::try_from(payload.len()).unwrap();
                let mut frame = vec![0, 0, length, head[3], ACK, 0, 0, 0, 0];
                frame.extend(payload);
                if stream.write_all(&frame).await.is_err() {
                    return;
                }
            }
        }
    };
    timeout(PATIENCE, given_up).await.expect("the connection ends");
    assert!(answered);
}

#[tokio::test]
async fn a_body_that_comes_a_byte_at_a_time_is_given_up() {
    let site = Site::with_limits(json!({"body_seconds": 1})).await;
    let mut stream = site.connect().await;
    let head = format!(
        "POST /mcp HTTP/1.1\r\nHost: {}\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n",
        site.address
    );
    stream.write_all(head.as_bytes()).await.unwrap();
    let (mut reader, mut writer) = stream.split();
    let dripping = async {
        while writer.write_all(b" ").await.is_ok() {
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        std::future::pending::<()>().await;
    };
    let mut first = [0; 12];
    tokio::select! {
        read = timeout(PATIENCE, reader.read_exact(&mut first)) => { read.unwrap().unwrap(); }
        () = dripping => {}
    }
    assert_eq!(&first, b"HTTP/1.1 408");
}

#[tokio::test]
async fn a_body_that_is_too_large_is_refused() {
    let site = Site::with_limits(json!({"body_bytes": 1000})).await;
    let announced = "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 1001\r\n\r\n";
    assert!(site.raw(announced).await.starts_with("HTTP/1.1 413"));
    let chunked = format!(
        "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n3e9\r\n{}\r\n0\r\n\r\n",
        " ".repeat(1001)
    );
    assert!(site.raw(chunked).await.starts_with("HTTP/1.1 413"));
}

#[tokio::test]
async fn bodies_that_are_no_messages_are_errors_without_the_parsers_words() {
    let site = Site::open().await;
    let json = "Content-Type: application/json\r\n";
    for (body, code) in [
        ("{", -32700),
        ("\u{1}", -32700),
        (" ", -32700),
        ("[]", -32600),
        ("1", -32600),
        ("{\"id\": 1}", -32600),
        ("{\"jsonrpc\": \"1.0\", \"id\": 1, \"method\": \"ping\"}", -32600),
    ] {
        let answer = site.ask("POST", "/mcp", json, body).await;
        assert_eq!(answer.status, 400, "{body}: {}", answer.body);
        assert_eq!(answer.message()["error"]["code"], code, "{body}: {}", answer.body);
        for word in ["column", "expected", "serde", "line 1"] {
            assert!(!answer.body.contains(word), "{}", answer.body);
        }
    }
    let deep = "[".repeat(100_000);
    assert_eq!(site.ask("POST", "/mcp", json, &deep).await.message()["error"]["code"], -32700);
    for kind in ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data"] {
        let kind = format!("Content-Type: {kind}\r\n");
        assert_eq!(site.ask("POST", "/mcp", &kind, "{}").await.status, 415);
    }
}

#[tokio::test]
async fn a_message_that_is_written_oddly_is_answered() {
    let site = Site::open().await;
    let id = site.session("").await;
    let headers = format!("Content-Type: application/json\r\nMcp-Session-Id: {id}\r\n");
    for body in [
        "\u{feff}{\"jsonrpc\": \"2.0\", \"id\": 1, \"method\": \"ping\"}",
        r#"{"jsonrpc": "2.0", "id": 2, "id": 1, "method": "ping"}"#,
        r#" {"method": "tools/list", "id": 1, "jsonrpc": "2.0", "method": "ping"} "#,
    ] {
        let answer = site.ask("POST", "/mcp", &headers, body).await;
        let expected = json!({"jsonrpc": "2.0", "id": 1, "result": {}});
        assert_eq!((answer.status, answer.message()), (200, expected), "{body}");
    }
}

/// Each of these means one thing to one server and another to the next.
#[tokio::test]
async fn requests_that_hide_another_are_answered_once_and_the_connection_ends() {
    let site = Site::open().await;
    let hidden = "GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n";
    let body = format!("0\r\n\r\n{hidden}");
    let length = body.len();
    for headers in [
        format!("Content-Length: {length}\r\nTransfer-Encoding: chunked\r\n"),
        format!("Transfer-Encoding: chunked\r\nContent-Length: {length}\r\n"),
        "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n".to_owned(),
        "Transfer-Encoding: xchunked\r\n".to_owned(),
        "Transfer-Encoding : chunked\r\n".to_owned(),
        "Transfer-Encoding: identity, chunked, identity\r\n".to_owned(),
        format!("Content-Length: 4\r\nContent-Length: {length}\r\n"),
        "Content-Length: +4\r\n".to_owned(),
        "Content-Length: 0x4\r\n".to_owned(),
        "Content-Length: -1\r\n".to_owned(),
        format!("Content-Length: 4, {length}\r\n"),
    ] {
        let request = format!(
            "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n{headers}\r\n{body}"
        );
        let said = site.raw(&request).await;
        let answers = said.matches("HTTP/1.1 ").count();
        assert!(answers <= 1, "{headers}: {said}");
        assert!(!said.contains("\"modules\""), "{headers}: {said}");
    }
}

#[tokio::test]
async fn headers_without_end_are_refused() {
    let site = Site::open().await;
    let many = format!("X: {}\r\n", "y".repeat(20)).repeat(2_000);
    let said = site.raw(format!("GET /health HTTP/1.1\r\nHost: localhost\r\n{many}\r\n")).await;
    assert!(said.is_empty() || said.starts_with("HTTP/1.1 431"), "{said}");
    let long = format!("GET /{} HTTP/1.1\r\nHost: localhost\r\n\r\n", "a".repeat(100_000));
    let said = site.raw(long).await;
    assert!(said.is_empty() || said.starts_with("HTTP/1.1 4"), "{said}");
}

#[tokio::test]
async fn connections_beyond_the_limit_wait_until_there_is_a_place() {
    let site = Site::with_limits(json!({"connections": 2})).await;
    let (first, second) = (site.connect().await, site.connect().await);
    let waiting = site.get("/health", "");
    tokio::pin!(waiting);
    assert!(timeout(Duration::from_millis(300), &mut waiting).await.is_err());
    drop((first, second));
    assert_eq!(timeout(PATIENCE, waiting).await.unwrap().status, 200);
}
