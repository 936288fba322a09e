//! A server in this process, and a client that says exactly what a test wants.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rutter_server::profiles::Profile;
use rutter_server::settings::Environment;
use rutter_server::setup::{Request, Setup};
use rutter_server::transport::stdio;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, ReadHalf, WriteHalf};
use tokio_util::sync::CancellationToken;

/// Nothing in these tests takes this long unless it is broken.
const PATIENCE: Duration = Duration::from_secs(20);

/// What is to be served.
pub(crate) struct Folder {
    place: Place,
    request: Request,
    variables: Vec<(String, String)>,
}

enum Place {
    Own(tempfile::TempDir),
    Shared(PathBuf),
}

impl Folder {
    /// An empty folder: the embedded pack is served.
    pub(crate) fn empty() -> Self {
        let place = Place::Own(tempfile::tempdir().unwrap());
        Self { place, request: Request::default(), variables: Vec::new() }
    }

    /// A folder with these files.
    pub(crate) fn with(files: &[(&str, &str)]) -> Self {
        let folder = Self::empty();
        for (path, text) in files {
            folder.write(path, text);
        }
        folder
    }

    pub(crate) fn profile(mut self, profile: Profile) -> Self {
        self.request.profile = Some(profile);
        self
    }

    pub(crate) fn read_only(mut self) -> Self {
        self.request.read_only = true;
        self
    }

    /// Sets an environment variable for the server.
    pub(crate) fn variable(mut self, name: &str, value: &str) -> Self {
        self.variables.push((name.to_owned(), value.to_owned()));
        self
    }

    /// With a context file that is named on the command line.
    pub(crate) fn context(mut self, path: &str) -> Self {
        self.request.context = Some(path.into());
        self
    }

    pub(crate) fn path(&self) -> &Path {
        match &self.place {
            Place::Own(folder) => folder.path(),
            Place::Shared(path) => path,
        }
    }

    pub(crate) fn write(&self, path: &str, text: impl AsRef<[u8]>) {
        let path = self.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    pub(crate) fn setup(&self) -> Result<Setup, String> {
        let environment = Environment::of(self.variables.clone());
        Setup::new(&self.request, &environment, self.path()).map_err(|report| report.to_string())
    }

    /// Starts a server, and a client that has not said anything yet.
    pub(crate) fn serve(self) -> Client {
        let setup = self.setup().unwrap();
        let (client, server) = tokio::io::duplex(64 * 1024);
        let (input, output) = tokio::io::split(server);
        let shutdown = CancellationToken::new();
        let watches = setup.app.watch(setup.watch).unwrap();
        let app = setup.app.clone();
        let stop = shutdown.clone();
        let served = tokio::spawn(async move {
            stdio::serve_on(app, input, output, stop).await;
            drop(watches);
        });
        let (reader, writer) = tokio::io::split(client);
        let reader = BufReader::new(reader);
        Client {
            folder: self,
            reader,
            writer,
            served,
            last_id: 0,
            notifications: VecDeque::new(),
            modern: false,
        }
    }

    /// Starts a server and opens a session of the older era.
    pub(crate) async fn connect(self) -> Client {
        self.connect_as("2025-11-25").await
    }

    pub(crate) async fn connect_as(self, version: &str) -> Client {
        let mut client = self.serve();
        let result = client
            .call(
                "initialize",
                json!({"protocolVersion": version, "capabilities": {}, "clientInfo": {"name": "it", "version": "1"}}),
            )
            .await;
        assert_eq!(result["result"]["protocolVersion"], version, "{result}");
        client.notify("notifications/initialized", json!({})).await;
        client
    }

    /// Starts a server for requests of the newer era, which describe themselves.
    pub(crate) fn connect_modern(self) -> Client {
        let mut client = self.serve();
        client.modern = true;
        client
    }
}

/// A client over a pipe.
pub(crate) struct Client {
    pub(crate) folder: Folder,
    reader: BufReader<ReadHalf<DuplexStream>>,
    writer: WriteHalf<DuplexStream>,
    served: tokio::task::JoinHandle<()>,
    last_id: u64,
    notifications: VecDeque<Value>,
    modern: bool,
}

impl Client {
    /// Asks, and waits for the whole response.
    pub(crate) async fn call(&mut self, method: &str, params: Value) -> Value {
        let id = self.send(method, params).await;
        self.response(id).await
    }

    /// Asks, and gives the result or panics.
    pub(crate) async fn result(&mut self, method: &str, params: Value) -> Value {
        let mut response = self.call(method, params).await;
        assert!(response.get("error").is_none(), "{method}: {response}");
        response["result"].take()
    }

    /// Asks, and gives code and message of the error.
    pub(crate) async fn error(&mut self, method: &str, params: Value) -> (i64, String) {
        let response = self.call(method, params).await;
        let error = response.get("error").unwrap_or_else(|| panic!("{method}: {response}"));
        (error["code"].as_i64().unwrap(), error["message"].as_str().unwrap().to_owned())
    }

    /// Calls a tool, and gives its text and whether it failed.
    pub(crate) async fn tool(&mut self, name: &str, arguments: Value) -> (String, bool) {
        let result = self.result("tools/call", json!({"name": name, "arguments": arguments})).await;
        let text = result["content"][0]["text"].as_str().unwrap().to_owned();
        (text, result["isError"] == true)
    }

    /// Calls a tool, and gives its structured content, which its text says as well.
    pub(crate) async fn data(&mut self, name: &str, arguments: Value) -> Value {
        let params = json!({"name": name, "arguments": arguments});
        let mut result = self.result("tools/call", params).await;
        assert_ne!(result["isError"], true, "{result}");
        result["structuredContent"].take()
    }

    /// Asks without waiting.
    pub(crate) async fn send(&mut self, method: &str, mut params: Value) -> u64 {
        self.last_id += 1;
        if self.modern {
            params["_meta"]["io.modelcontextprotocol/protocolVersion"] = json!("2026-07-28");
            params["_meta"]["io.modelcontextprotocol/clientInfo"] =
                json!({"name": "it", "version": "1"});
            params["_meta"]["io.modelcontextprotocol/clientCapabilities"] = json!({});
        }
        self.raw(
            &json!({"jsonrpc": "2.0", "id": self.last_id, "method": method, "params": params})
                .to_string(),
        )
        .await;
        self.last_id
    }

    pub(crate) async fn notify(&mut self, method: &str, params: Value) {
        self.raw(&json!({"jsonrpc": "2.0", "method": method, "params": params}).to_string()).await;
    }

    /// Sends a line as it is.
    pub(crate) async fn raw(&mut self, line: impl AsRef<[u8]>) {
        self.writer.write_all(line.as_ref()).await.unwrap();
        self.writer.write_all(b"\n").await.unwrap();
    }

    /// The next line that the server says.
    pub(crate) async fn line(&mut self) -> Value {
        let mut line = String::new();
        let read = tokio::time::timeout(PATIENCE, self.reader.read_line(&mut line)).await;
        assert!(read.expect("the server says nothing").unwrap() > 0, "the server is gone");
        serde_json::from_str(&line).unwrap()
    }

    /// The response to a request; notifications before it are kept.
    pub(crate) async fn response(&mut self, id: u64) -> Value {
        loop {
            let line = self.line().await;
            if line["id"] == id {
                return line;
            }
            self.notifications.push_back(line);
        }
    }

    /// The next notification with this method; others are dropped.
    pub(crate) async fn notification(&mut self, method: &str) -> Value {
        loop {
            let next = match self.notifications.pop_front() {
                Some(line) => line,
                None => self.line().await,
            };
            if next["method"] == method {
                return next;
            }
        }
    }

    /// Another client, with a server of its own, in the same folder.
    pub(crate) async fn other(&self, request: Folder) -> Self {
        let place = Place::Shared(self.folder.path().to_owned());
        Folder { place, ..request }.connect().await
    }

    /// Ends, and gives the folder back.
    pub(crate) async fn into_folder(mut self) -> Folder {
        self.writer.shutdown().await.unwrap();
        tokio::time::timeout(PATIENCE, self.served)
            .await
            .expect("the server does not end")
            .unwrap();
        self.folder
    }

    /// Closes the input and waits until the server has ended.
    pub(crate) async fn close(self) {
        drop(self.into_folder().await);
    }
}

/// A page of an acdc source.
pub(crate) fn page(name: &str) -> String {
    format!("---\nname: {name}\ndescription: About {name}.\n---\n# {name}\n\nText of {name}.\n")
}
