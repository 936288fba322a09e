//! The real process: what its configuration means, its file descriptors, its end.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use crate::binary::{Running, run, rutter, started, text};
use crate::server::Folder;

const LISTENING: &[&str] = &["\"listening\""];
const SERVE: [&str; 7] = ["serve", "--transport", "http", "--port", "0", "--host", "127.0.0.1"];

fn ask(address: &str, request: &str) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(super::PATIENCE)).unwrap();
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

fn meta() -> Value {
    json!({"io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "it", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {}})
}

/// What a key is answered.
fn answer(address: &str, key: &str, method: &str, mut params: Value) -> Value {
    params["_meta"] = meta();
    let named = params["uri"].as_str().or(params["name"].as_str());
    let named = named.map(|name| format!("Mcp-Name: {name}\r\n"));
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).to_string();
    let answer = ask(
        address,
        &format!(
            "POST /mcp HTTP/1.1\r\nHost: {address}\r\nX-API-Key: {key}\r\nContent-Type: application/json\r\n\
             MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: {method}\r\n{}Content-Length: {}\r\n\
             Connection: close\r\n\r\n{body}",
            named.unwrap_or_default(),
            body.len()
        ),
    );
    let (_, body) = answer.split_once("\r\n\r\n").unwrap();
    serde_json::from_str(body).unwrap_or_else(|_| panic!("{answer}"))
}

/// The names of the tools that a key sees.
fn tools(address: &str, key: &str) -> Vec<String> {
    let answer = answer(address, key, "tools/list", json!({}));
    let tools = answer["result"]["tools"].as_array().unwrap_or_else(|| panic!("{answer}"));
    tools.iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
}

fn serving(folder: &Path, variables: &[(&str, &str)]) -> Running {
    let mut command = rutter(folder, &SERVE);
    command.envs(variables.iter().copied());
    started(command, LISTENING)
}

#[test]
fn each_key_sees_only_what_it_is_for() {
    let folder = Folder::with(&[
        (
            "rutter.yaml",
            "http:\n  keys:\n    - {name: builder, key_file: builder.key, recipe: task_execution}\n    \
             - {name: reader, key_env: READER_KEY, modules: [knowledge], read_only: true}\n    \
             - {name: watcher, key_env: WATCHER_KEY, read_only: true}\n",
        ),
        ("builder.key", "builder-key-0123456789\n"),
    ]);
    assert_eq!(run(folder.path(), &["init", "--with", "board"]).status.code(), Some(0));
    let variables =
        [("READER_KEY", "reader-key-0123456789"), ("WATCHER_KEY", "watcher-key-0123456789")];
    let server = serving(folder.path(), &variables);
    assert!(!server.lines.concat().contains("key-0123456789"), "{:?}", server.lines);
    let address = server.address();
    assert_eq!(tools(&address, "reader-key-0123456789"), ["read", "search"]);
    let session = ["tools", "--recipe", "task_execution", "--json"];
    let listed: Value = serde_json::from_slice(&run(folder.path(), &session).stdout).unwrap();
    let listed = listed["tools"].as_array().unwrap().iter();
    let listed: Vec<_> = listed.map(|tool| tool["name"].as_str().unwrap()).collect();
    assert!(listed.len() > 2, "{listed:?}");
    assert_eq!(tools(&address, "builder-key-0123456789"), listed);
    let watcher = tools(&address, "watcher-key-0123456789");
    assert!(watcher.contains(&"list_tasks".to_owned()), "{watcher:?}");
    assert!(!watcher.contains(&"create_task".to_owned()), "{watcher:?}");
    // Each reads what its own session is for.
    let session = |key| answer(&address, key, "resources/read", json!({"uri": "ralph://session"}));
    let own = session("builder-key-0123456789");
    let text = own["result"]["contents"][0]["text"].as_str().unwrap_or_else(|| panic!("{own}"));
    assert_eq!(serde_json::from_str::<Value>(text).unwrap()["recipe"], "task_execution");
    let none = session("watcher-key-0123456789");
    assert_eq!(none["error"]["message"], "resource not found", "{none}");
    let stranger = ask(
        &address,
        &format!("GET /mcp HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n"),
    );
    assert!(stranger.starts_with("HTTP/1.1 401"), "{stranger}");
    server.kill();
}

#[test]
fn the_holder_of_a_key_is_named_and_told_what_changes_for_it() {
    let folder = Folder::with(&[(
        "rutter.yaml",
        "http:\n  keys:\n    - {name: builder, key_env: BUILDER_KEY, recipe: task_execution, discipline: backend}\n    \
         - {name: admin, key_env: ADMIN_KEY}\n",
    )]);
    assert_eq!(run(folder.path(), &["init", "--with", "board"]).status.code(), Some(0));
    let (builder, admin) = ("builder-key-0123456789", "admin-key-0123456789");
    let server = serving(folder.path(), &[("BUILDER_KEY", builder), ("ADMIN_KEY", admin)]);
    let address = server.address();
    let post = |session: &str, message: Value| {
        let message = message.to_string();
        let length = message.len();
        ask(
            &address,
            &format!(
                "POST /mcp HTTP/1.1\r\nHost: {address}\r\nX-API-Key: {builder}\r\n{session}Content-Type: application/json\r\n\
                 Content-Length: {length}\r\nConnection: close\r\n\r\n{message}"
            ),
        )
    };
    let opened = post("", super::initialize());
    let id = opened.lines().find_map(|line| line.strip_prefix("mcp-session-id: ")).unwrap();
    let session = format!("Mcp-Session-Id: {id}\r\n");
    post(&session, json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
    post(&session, json!({"jsonrpc": "2.0", "id": 2, "method": "tools/list"}));
    let subscribe = json!({"jsonrpc": "2.0", "id": 3, "method": "resources/subscribe",
        "params": {"uri": "ralph://session"}});
    assert!(post(&session, subscribe).contains("\"result\""));
    let mut stream = TcpStream::connect(&address).unwrap();
    stream.set_read_timeout(Some(super::PATIENCE)).unwrap();
    write!(
        stream,
        "GET /mcp HTTP/1.1\r\nHost: {address}\r\nX-API-Key: {builder}\r\n{session}Accept: text/event-stream\r\n\r\n"
    )
    .unwrap();
    let fewer = json!({"name": "update_discipline", "arguments": {"name": "backend",
        "mcp_tool_overrides": {"additional_disabled": ["append_learning"]}}});
    let changed = answer(&address, admin, "tools/call", fewer);
    assert_ne!(changed["result"]["isError"], true, "{changed}");
    assert!(changed["result"].is_object(), "{changed}");
    let mut said = String::new();
    let mut bytes = [0; 4096];
    while !(said.contains("tools/list_changed") && said.contains("ralph://session")) {
        let length = stream.read(&mut bytes).unwrap();
        assert!(length > 0, "{said}");
        said.push_str(&text(&bytes[..length]));
    }
    assert!(!tools(&address, builder).contains(&"append_learning".to_owned()));
    let journal = text(&run(folder.path(), &["board", "log", "--json"]).stdout);
    assert!(journal.contains("\"session\": \"admin\""), "{journal}");
    server.kill();
}

#[test]
fn settings_that_contradict_themselves_stop_the_start() {
    let cases: [(&str, &str); 11] = [
        (
            "http: {public_names: [a.example, \"https://b.example\"]}",
            "`http.public_names[1]`: expected a name",
        ),
        (
            "http: {trusted_proxies: [10.0.0.0/8, proxy.example]}",
            "`http.trusted_proxies[1]`: expected an address or a network",
        ),
        (
            "http: {keys: [{name: a, key_env: NO_SUCH}]}",
            "`http.keys[0]`: the variable `NO_SUCH` is not set",
        ),
        ("http: {keys: [{name: a}]}", "`http.keys[0]`: expected `key_file` or `key_env`"),
        ("http: {keys: [{name: a, key_file: empty}]}", "`http.keys[0]`: `apikey` needs keys"),
        (
            "http: {keys: [{name: a, key_file: gone}]}",
            "`http.keys[0]`: the file `gone` cannot be used",
        ),
        (
            "http: {keys: [{name: a, key_file: key}, {name: b, key_file: key}]}",
            "`http.keys[1]`: the same key is there twice",
        ),
        ("http: {keys: [{name: a, key_file: key, recipe: nonsense}]}", "`http.keys[0].recipe`: "),
        (
            "http: {auth: none, keys: [{name: a, key_file: key}]}",
            "`http.auth`: there are credentials",
        ),
        ("http: {auth: oauth}", "`http.oauth`: `oauth` needs an issuer"),
        (
            "http: {oauth: {issuer: https://a.example, audience: b, jwks: https://a.example/keys}}",
            "`http.oauth.jwks`: requests to other servers are off",
        ),
    ];
    for (config, expected) in cases {
        let folder =
            Folder::with(&[("rutter.yaml", config), ("key", "secret-of-this-key"), ("empty", "")]);
        let output = run(folder.path(), &SERVE);
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{config}: {said}");
        assert!(said.contains(expected), "{config}: {said}");
        assert!(!said.contains("secret-of-this-key"), "{said}");
    }
    let limits = "http: {limits: {sessions: 0}}";
    let folder = Folder::with(&[("rutter.yaml", limits)]);
    let said = text(&run(folder.path(), &SERVE).stderr);
    assert!(said.contains("`http.limits.sessions`"), "{said}");
}

#[cfg(unix)]
#[test]
fn without_file_descriptors_the_server_waits_and_goes_on() {
    let folder = Folder::with(&[(".ralph/.keep", "")]);
    let mut command = Command::new("sh");
    command
        .args(["-c", "ulimit -n 40; exec \"$0\" \"$@\"", env!("CARGO_BIN_EXE_rutter")])
        .args(SERVE)
        .current_dir(folder.path());
    let server = started(command, LISTENING);
    let address = server.address();
    let all = tools(&address, "any");
    assert!(all.contains(&"create_task".to_owned()), "{all:?}");
    let mut inside = TcpStream::connect(&address).unwrap();
    write!(inside, "GET /health HTTP/1.1\r\nHost: {address}\r\n\r\n").unwrap();
    let mut bytes = [0; 4096];
    assert!(inside.read(&mut bytes).unwrap() > 0);
    let held: Vec<TcpStream> = (0..100).filter_map(|_| TcpStream::connect(&address).ok()).collect();
    assert!(held.len() > 50, "{}", held.len());
    std::thread::sleep(std::time::Duration::from_millis(500));
    // Whoever is inside cannot be served now, and loses nothing for good.
    let list =
        json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"_meta": meta()}});
    let list = list.to_string();
    write!(
        inside,
        "POST /mcp HTTP/1.1\r\nHost: {address}\r\nContent-Type: application/json\r\n\
         MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/list\r\nContent-Length: {}\r\n\r\n{list}",
        list.len()
    )
    .unwrap();
    assert!(inside.read(&mut bytes).unwrap() > 0);
    drop(held);
    assert_eq!(tools(&address, "any"), all);
    let health = format!("GET /health HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n");
    assert!(ask(&address, &health).starts_with("HTTP/1.1 200"));
    server.kill();
}

#[cfg(unix)]
#[test]
fn a_server_with_open_streams_ends_in_order() {
    let folder = Folder::empty();
    let mut server = serving(folder.path(), &[]);
    let address = server.address();
    let mut stream = TcpStream::connect(&address).unwrap();
    write!(stream, "GET /sse HTTP/1.1\r\nHost: {address}\r\n\r\n").unwrap();
    let mut first = [0; 12];
    stream.read_exact(&mut first).unwrap();
    assert_eq!(&first, b"HTTP/1.1 200");
    let pid = server.child.id().to_string();
    assert!(Command::new("kill").args(["-TERM", &pid]).status().unwrap().success());
    let mut rest = Vec::new();
    stream.read_to_end(&mut rest).unwrap();
    assert_eq!(server.child.wait().unwrap().code(), Some(0));
}

#[test]
fn health_is_asked_for_from_the_terminal() {
    let folder = Folder::empty();
    let server = serving(folder.path(), &[]);
    let url = format!("http://{}", server.address());
    let output = run(folder.path(), &["health", &url]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    assert!(text(&output.stdout).starts_with("ok, version "), "{}", text(&output.stdout));
    server.kill();
    let output = run(folder.path(), &["health", &url]);
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stderr).contains("cannot be reached"), "{}", text(&output.stderr));
}

#[test]
fn keys_of_the_file_and_of_the_environment_have_names_of_their_own() {
    let config = "http: {keys: [{name: key 1, key_env: FILE_KEY}]}";
    let folder = Folder::with(&[("rutter.yaml", config)]);
    let mut command = rutter(folder.path(), &SERVE);
    command.args(["--auth-type", "apikey"]).env("FILE_KEY", "file-key-0123456789");
    let output = command.env("RUTTER_AUTH_API_KEYS", "other-key-0123456789").output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    let said = text(&output.stderr);
    assert!(
        said.contains("`http.keys`: `key 1` is what a key of RUTTER_AUTH_API_KEYS is called"),
        "{said}"
    );
    assert!(!said.contains("key-0123456789"), "{said}");
}

#[cfg(target_os = "linux")]
#[test]
fn systemd_is_told_when_the_server_is_ready_and_when_it_stops() {
    use std::os::unix::net::UnixDatagram;
    let folder = Folder::empty();
    let socket = folder.path().join("notify");
    let told = UnixDatagram::bind(&socket).unwrap();
    told.set_read_timeout(Some(super::PATIENCE)).unwrap();
    let server = serving(folder.path(), &[("NOTIFY_SOCKET", socket.to_str().unwrap())]);
    let hear = || {
        let mut bytes = [0; 256];
        let length = told.recv(&mut bytes).unwrap();
        text(&bytes[..length])
    };
    assert!(hear().contains("READY=1"));
    let pid = server.child.id().to_string();
    assert!(Command::new("kill").args(["-TERM", &pid]).status().unwrap().success());
    assert!(hear().contains("STOPPING=1"));
    server.kill();
}
