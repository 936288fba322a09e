//! A server as a child process, and the lines that go to and fro.

use std::ffi::OsString;
use std::fmt;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use serde_json::{Value, json};

/// Who is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Server {
    /// The product.
    Rutter,
    /// The least on `rmcp`.
    Bare,
    /// The least on the official TypeScript SDK.
    TypeScript,
}

impl fmt::Display for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Rutter => "rutter",
            Self::Bare => "bare rmcp",
            Self::TypeScript => "TypeScript SDK",
        })
    }
}

/// How the client holds the server's streams.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wire {
    /// As Python, Rust and shells do.
    Pipes,
    /// As Node.js does: a Unix socket pair for each stream.
    Sockets,
}

impl Wire {
    /// Both.
    pub(crate) const ALL: [Self; 2] = [Self::Pipes, Self::Sockets];
}

impl fmt::Display for Wire {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Pipes => "pipes",
            Self::Sockets => "sockets",
        })
    }
}

/// What is started.
#[derive(Debug)]
pub(crate) struct Program {
    /// The executable.
    pub(crate) path: PathBuf,
    /// What it is started with.
    pub(crate) arguments: Vec<OsString>,
}

/// A running server. It ends when this is dropped.
pub(crate) struct Session {
    child: Child,
    input: Box<dyn Write>,
    output: BufReader<Box<dyn Read>>,
    line: Vec<u8>,
    last_id: u32,
}

impl Session {
    /// Starts a server in `folder`; its log goes nowhere.
    pub(crate) fn start(program: &Program, folder: &Path, wire: Wire) -> io::Result<Self> {
        let mut command = Command::new(&program.path);
        command.args(&program.arguments).current_dir(folder).env_clear().stderr(Stdio::null());
        let (child, input, output): (_, Box<dyn Write>, Box<dyn Read>) = match wire {
            Wire::Pipes => {
                command.stdin(Stdio::piped()).stdout(Stdio::piped());
                let mut child = command.spawn()?;
                let (Some(input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
                    return Err(io::Error::other("a child has no streams"));
                };
                (child, Box::new(input), Box::new(output))
            }
            Wire::Sockets => {
                let (input, its_input) = UnixStream::pair()?;
                let (output, its_output) = UnixStream::pair()?;
                command.stdin(OwnedFd::from(its_input)).stdout(OwnedFd::from(its_output));
                (command.spawn()?, Box::new(input), Box::new(output))
            }
        };
        // Large enough for every answer here, so that one read takes one answer.
        let output = BufReader::with_capacity(256 * 1024, output);
        // Ids of one length, so that answers to equal requests are of equal length.
        Ok(Self { child, input, output, line: Vec::new(), last_id: 1_000_000 })
    }

    /// Opens the protocol; returns what the server says of itself.
    pub(crate) fn initialize(&mut self) -> io::Result<Value> {
        let params = json!({
            "protocolVersion": "2025-11-25",
            "capabilities": {},
            "clientInfo": {"name": "bench", "version": "0"},
        });
        let request = self.request("initialize", &params);
        self.exchange(&request)?;
        while !self.answered() {
            self.exchange(b"")?;
        }
        self.result()
    }

    /// Says that the client is ready, as the protocol asks.
    pub(crate) fn initialized(&mut self) -> io::Result<()> {
        self.input.write_all(b"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n")
    }

    /// A request as a line.
    pub(crate) fn request(&mut self, method: &str, params: &Value) -> Vec<u8> {
        self.last_id += 1;
        let request =
            json!({"jsonrpc": "2.0", "id": self.last_id, "method": method, "params": params});
        format!("{request}\n").into_bytes()
    }

    /// Writes a request and reads a line; returns how long that line is.
    pub(crate) fn exchange(&mut self, request: &[u8]) -> io::Result<usize> {
        self.line.clear();
        self.input.write_all(request)?;
        match self.output.read_until(b'\n', &mut self.line)? {
            0 => Err(io::Error::other("a server ended without an answer")),
            length => Ok(length),
        }
    }

    /// Whether the line that was read last is an answer, and not something that a server asks or tells.
    pub(crate) fn answered(&self) -> bool {
        serde_json::from_slice::<Value>(&self.line)
            .map_or(true, |message| message.get("method").is_none())
    }

    /// The result in the line that was read last; anything but a good answer is an error.
    pub(crate) fn result(&self) -> io::Result<Value> {
        let answer: Value = serde_json::from_slice(&self.line)?;
        let answers = answer.get("id").and_then(Value::as_u64) == Some(self.last_id.into());
        match answer.get("result") {
            Some(result) if answers && result.get("isError") != Some(&Value::Bool(true)) => {
                Ok(result.clone())
            }
            _ => Err(io::Error::other(format!("a server answered: {answer}"))),
        }
    }

    /// Resident memory.
    pub(crate) fn memory(&self) -> io::Result<Memory> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id()))?;
        let kib = |name: &str| {
            let line = status.lines().find_map(|line| line.strip_prefix(name));
            line.and_then(|value| value.split_whitespace().next()?.parse().ok())
                .ok_or_else(|| io::Error::other(format!("no {name} in /proc")))
        };
        Ok(Memory { resident_kib: kib("VmRSS:")?, private_kib: kib("RssAnon:")? })
    }

    /// How long the server has computed so far, over all of its threads.
    pub(crate) fn computed(&self) -> io::Result<Duration> {
        let mut total = 0;
        for task in std::fs::read_dir(format!("/proc/{}/task", self.child.id()))? {
            let text = std::fs::read_to_string(task?.path().join("schedstat"))?;
            let nanoseconds = text.split_whitespace().next().and_then(|first| first.parse().ok());
            total += nanoseconds.unwrap_or(0);
        }
        Ok(Duration::from_nanos(total))
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        // It may have ended by itself; either way it is gone before the next one starts.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The memory of a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Memory {
    /// All of it that is resident, shared pages of the program and its libraries included.
    pub(crate) resident_kib: u32,
    /// What only this process has: its heap and stacks.
    pub(crate) private_kib: u32,
}
