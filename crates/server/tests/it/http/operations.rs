//! What operators rely on: counters, encryption, HTTP/2, an orderly end.

use std::path::Path;
use std::time::Instant;

use http_body_util::{BodyExt, Empty};
use hyper::body::Bytes;
use hyper_util::rt::{TokioExecutor, TokioIo};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName};

use super::*;

#[tokio::test]
async fn what_happened_is_counted() {
    let site = Site::with_keys(json!({})).await;
    let ada = "X-API-Key: ada-key\r\n";
    let (mut stream, _) = (site.connect().await, site.get("/mcp", "X-API-Key: no\r\n").await);
    stream
        .write_all(format!("GET /sse HTTP/1.1\r\nHost: localhost\r\n{ada}\r\n").as_bytes())
        .await
        .unwrap();
    read_until(&mut stream, "endpoint").await;
    site.get("/health", "Host: evil.example\r\n").await;
    let answer = site.get("/metrics", ada).await;
    assert!(answer.header("content-type").unwrap().starts_with("text/plain; version=0.0.4"));
    for line in [
        "rutter_http_requests_total{route=\"/mcp\",status=\"401\"} 1",
        "rutter_http_requests_total{route=\"/sse\",status=\"200\"} 1",
        "rutter_http_request_duration_seconds_count{route=\"/sse\"} 1",
        "rutter_denied_total{reason=\"credential\"} 1",
        "rutter_denied_total{reason=\"host\"} 1",
        "rutter_sessions 1",
    ] {
        assert!(answer.body.contains(line), "{line}\n\n{}", answer.body);
    }
    // The stream and the question; connections before them may take a moment to end.
    let ended = async {
        while !site.get("/metrics", ada).await.body.contains("rutter_connections 2") {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    timeout(PATIENCE, ended).await.expect("connections that ended are not open");
    assert!(!answer.body.contains("rutter_documents 0"), "{}", answer.body);
}

#[tokio::test]
async fn http_2_is_spoken_to_those_who_begin_with_it() {
    let site = Site::open().await;
    let io = TokioIo::new(site.connect().await);
    let (mut sender, connection) =
        hyper::client::conn::http2::handshake(TokioExecutor::new(), io).await.unwrap();
    tokio::spawn(connection);
    for (authority, status) in [("localhost", 200), ("evil.example", 403)] {
        let request = hyper::Request::get(format!("http://{authority}/health"));
        let answer =
            sender.send_request(request.body(Empty::<Bytes>::new()).unwrap()).await.unwrap();
        assert_eq!(answer.status(), status);
        answer.into_body().collect().await.unwrap();
    }
}

#[tokio::test]
async fn a_connection_of_http_2_lasts_as_long_as_it_is_used() {
    let site = Site::with_limits(json!({"header_seconds": 2})).await;
    let io = TokioIo::new(site.connect().await);
    let (mut sender, connection) =
        hyper::client::conn::http2::handshake(TokioExecutor::new(), io).await.unwrap();
    let connection = tokio::spawn(connection);
    let began = Instant::now();
    while began.elapsed() < Duration::from_secs(5) {
        let request = hyper::Request::get("http://localhost/health");
        let answer = sender.send_request(request.body(Empty::<Bytes>::new()).unwrap()).await;
        answer.expect("a connection in use is not closed").into_body().collect().await.unwrap();
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
    // It is told when it is idle, and that is no error.
    let ended = timeout(PATIENCE, connection).await.expect("an idle connection ends").unwrap();
    ended.unwrap();
}

#[tokio::test]
async fn connections_are_encrypted_with_the_certificate_that_was_given() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/http");
    let (chain, key) = (here.join("localhost.pem"), here.join("localhost.key"));
    assert!(Certificate::read(key.clone(), key.clone()).is_err());
    assert!(Certificate::read(chain.clone(), chain.clone()).is_err());
    let certificate = Arc::new(Certificate::read(chain.clone(), key).unwrap());
    let folder = Folder::empty();
    let (none, limits) = (Credentials::none(), HttpLimits::default());
    let site = Site::start(folder, none, limits, Some(certificate)).await;
    let mut roots = rustls::RootCertStore::empty();
    roots.add(CertificateDer::from_pem_file(chain).unwrap()).unwrap();
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let config = rustls::ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    let connector = tokio_rustls::TlsConnector::from(Arc::new(config));
    let name = ServerName::try_from("localhost").unwrap();
    let mut stream = connector.connect(name, site.connect().await).await.unwrap();
    stream
        .write_all(b"GET /health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        .await
        .unwrap();
    let mut said = String::new();
    let _ = timeout(PATIENCE, stream.read_to_string(&mut said)).await.unwrap();
    assert!(said.starts_with("HTTP/1.1 200"), "{said}");
    // Whoever does not encrypt is not understood.
    let said = site.raw("GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n").await;
    assert!(!said.contains("modules"), "{said}");
}

#[tokio::test]
async fn streams_end_when_the_server_does() {
    let site = Site::open().await;
    let id = site.session("").await;
    let mut streams = Vec::new();
    for (path, headers) in [
        ("/sse", String::new()),
        ("/mcp", format!("Accept: text/event-stream\r\nMcp-Session-Id: {id}\r\n")),
    ] {
        let mut stream = site.connect().await;
        let request = format!("GET {path} HTTP/1.1\r\nHost: localhost\r\n{headers}\r\n");
        stream.write_all(request.as_bytes()).await.unwrap();
        read_until(&mut stream, "data:").await;
        streams.push(stream);
    }
    site.shutdown.cancel();
    for mut stream in streams {
        read_to_end(&mut stream).await;
    }
}
