//! The server over HTTP, from raw bytes: what is let in, what is bounded, and what is not crossed.

mod calls;
mod credentials;
mod hostile;
mod older;
mod operations;
mod process;
mod sessions;

use std::sync::Arc;
use std::time::Duration;

use rutter_server::app::App;
use rutter_server::caller::Caller;
use rutter_server::config::HttpLimits;
use rutter_server::transport::http::{Certificate, Credentials, Listening, Proxies, Server};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use crate::server::Folder;

/// Nothing in these tests takes this long unless it is broken.
const PATIENCE: Duration = Duration::from_secs(30);

/// A server over HTTP in this process.
struct Site {
    address: String,
    shutdown: CancellationToken,
    app: Arc<App>,
    folder: Folder,
}

impl Drop for Site {
    fn drop(&mut self) {
        self.shutdown.cancel();
    }
}

/// What a server answered.
struct Answer {
    status: u16,
    head: String,
    body: String,
}

impl Answer {
    fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().find_map(|line| {
            let (found, value) = line.split_once(": ")?;
            found.eq_ignore_ascii_case(name).then_some(value)
        })
    }

    /// The last message, whether it came alone or on a stream.
    fn message(&self) -> Value {
        let line = self.body.lines().rev().find(|line| line.contains("jsonrpc"));
        let line = line.unwrap_or_else(|| panic!("no message: {}", self.body));
        let start = line.find('{').unwrap();
        serde_json::from_str(&line[start..]).unwrap()
    }
}

/// Limits, as a configuration file writes them.
fn limits(settings: Value) -> HttpLimits {
    serde_json::from_value(settings).unwrap()
}

impl Site {
    async fn open() -> Self {
        Self::with(Credentials::none(), HttpLimits::default()).await
    }

    async fn with_limits(settings: Value) -> Self {
        Self::with(Credentials::none(), limits(settings)).await
    }

    /// With two callers, `ada` and `bob`, whose keys are their names and `-key`.
    async fn with_keys(settings: Value) -> Self {
        let credentials = Credentials::none()
            .with_key("ada-key", Caller::with_key("ada"))
            .with_key("bob-key", Caller::with_key("bob"));
        Self::with(credentials, limits(settings)).await
    }

    async fn with(credentials: Credentials, limits: HttpLimits) -> Self {
        Self::start(Folder::empty(), credentials, limits, None).await
    }

    async fn start(
        folder: Folder,
        credentials: Credentials,
        limits: HttpLimits,
        certificate: Option<Arc<Certificate>>,
    ) -> Self {
        let setup = folder.setup().unwrap();
        let listening = Listening::on("127.0.0.1", 0).await.unwrap();
        let base = listening.base(false);
        let address = base.trim_start_matches("http://").to_owned();
        let shutdown = CancellationToken::new();
        let public_names = vec!["docs.example".to_owned()];
        let proxies = Proxies::new(&["127.0.0.1".to_owned()]).unwrap();
        let app = setup.app.clone();
        let server = Server { app, public_names, proxies, credentials, limits, certificate };
        tokio::spawn(listening.serve(server, shutdown.clone()));
        Self { address, shutdown, app: setup.app, folder }
    }

    async fn connect(&self) -> TcpStream {
        TcpStream::connect(&self.address).await.unwrap()
    }

    /// Everything that the server says to these bytes, until it closes the connection.
    async fn raw(&self, bytes: impl AsRef<[u8]>) -> String {
        let mut stream = self.connect().await;
        stream.write_all(bytes.as_ref()).await.unwrap();
        read_to_end(&mut stream).await
    }

    async fn ask(&self, method: &str, path: &str, headers: &str, body: &str) -> Answer {
        let length = if body.is_empty() {
            String::new()
        } else {
            format!("Content-Length: {}\r\n", body.len())
        };
        let host = if headers.starts_with("Host:") {
            String::new()
        } else {
            format!("Host: {}\r\n", self.address)
        };
        let request = format!(
            "{method} {path} HTTP/1.1\r\n{host}{headers}{length}Connection: close\r\n\r\n{body}"
        );
        parse(&self.raw(request).await)
    }

    async fn get(&self, path: &str, headers: &str) -> Answer {
        self.ask("GET", path, headers, "").await
    }

    /// A message to `/mcp`.
    async fn post(&self, headers: &str, message: &Value) -> Answer {
        let headers = format!("Content-Type: application/json\r\n{headers}");
        self.ask("POST", "/mcp", &headers, &message.to_string()).await
    }

    /// Sends a message to `/mcp` on a connection of its own, and does not wait for the answer.
    async fn begin(&self, headers: &str, message: &Value) -> TcpStream {
        let (mut stream, message) = (self.connect().await, message.to_string());
        let request = format!(
            "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n{headers}Content-Length: {}\r\n\r\n{message}",
            message.len()
        );
        stream.write_all(request.as_bytes()).await.unwrap();
        stream
    }

    /// Opens a session and gives its id.
    async fn session(&self, headers: &str) -> String {
        let answer = self.post(headers, &initialize()).await;
        assert_eq!(answer.status, 200, "{}", answer.body);
        let id = answer.header("mcp-session-id").unwrap().to_owned();
        let headers = format!("Mcp-Session-Id: {id}\r\n{headers}");
        let ready = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
        assert_eq!(self.post(&headers, &ready).await.status, 202);
        id
    }
}

fn initialize() -> Value {
    json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": {},
        "clientInfo": {"name": "it", "version": "1"}}})
}

fn ping(id: u64) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": "ping"})
}

async fn read_to_end(stream: &mut TcpStream) -> String {
    let mut said = Vec::new();
    let read = timeout(PATIENCE, stream.read_to_end(&mut said)).await;
    // A reset is an end as well.
    let _ = read.expect("the server should have closed the connection");
    String::from_utf8_lossy(&said).into_owned()
}

/// Reads a stream until it has said `sign`.
async fn read_until(stream: &mut TcpStream, sign: &str) -> String {
    let mut said = String::new();
    while !said.contains(sign) {
        let mut bytes = [0; 4096];
        let read = timeout(PATIENCE, stream.read(&mut bytes)).await.expect(sign).unwrap();
        assert!(read > 0, "the stream ended without `{sign}`: {said}");
        said.push_str(&String::from_utf8_lossy(&bytes[..read]));
    }
    said
}

fn parse(said: &str) -> Answer {
    let (head, body) = said.split_once("\r\n\r\n").unwrap_or((said, ""));
    let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0);
    Answer { status, head: head.to_owned(), body: body.to_owned() }
}
