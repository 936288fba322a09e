//! What is measured, in which order.

use std::io;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::machine;
use crate::session::{Memory, Program, Server, Session, Wire};

/// How often each server is started.
const STARTS: usize = 200;
/// Node.js is started in one round of this many; it takes as long as all of the others.
const TYPESCRIPT_EVERY: usize = 10;
/// How many processes memory is measured on.
const MEMORY_PROCESSES: usize = 9;
/// Calls before the first that is measured.
const WARM_UP: usize = 500;
/// Servers take turns of this many calls, so that a disturbance hits all of them.
const BLOCK: usize = 50;
/// How many turns each server has.
const BLOCKS: usize = 100;

/// A server that takes part.
#[derive(Debug)]
pub(crate) struct Participant {
    /// Who it is.
    pub(crate) server: Server,
    /// How it is started.
    pub(crate) program: Program,
    /// Which version it says it is.
    pub(crate) version: String,
}

impl Participant {
    /// Starts the program once to ask for its version; its files are in the page cache then.
    pub(crate) fn new(server: Server, program: Program) -> io::Result<Self> {
        let folder = TempDir::new()?;
        let said = Session::start(&program, folder.path(), Wire::Pipes)?.initialize()?;
        let version = said.pointer("/serverInfo/version").and_then(Value::as_str);
        Ok(Self { server, program, version: version.unwrap_or("unknown").to_owned() })
    }
}

/// Times, as they were measured.
#[derive(Debug, Clone, Default)]
pub(crate) struct Samples(Vec<Duration>);

impl Samples {
    fn add(&mut self, sample: Duration) {
        self.0.push(sample);
    }

    /// How many there are.
    pub(crate) fn count(&self) -> usize {
        self.0.len()
    }

    /// The one in the middle.
    pub(crate) fn median(&self) -> Duration {
        self.percentile(50)
    }

    /// Nineteen of twenty are not longer.
    pub(crate) fn p95(&self) -> Duration {
        self.percentile(95)
    }

    fn percentile(&self, percent: usize) -> Duration {
        let mut sorted = self.0.clone();
        sorted.sort();
        let rank = sorted.len().saturating_sub(1) * percent / 100;
        sorted.get(rank).copied().unwrap_or_default()
    }
}

/// One server on one kind of stream.
#[derive(Debug)]
pub(crate) struct Start {
    /// Which server.
    pub(crate) server: Server,
    /// Which streams.
    pub(crate) wire: Wire,
    /// From before it is spawned until it has answered `initialize`.
    pub(crate) times: Samples,
}

/// What is asked, again and again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Case {
    /// `ping`: what the transport and the SDK cost.
    Ping,
    /// A tool whose answer is short, from a file that is looked at each time.
    Short,
    /// A tool that fills in a prompt of the pack.
    Prompt,
    /// A tool that reads a document of the pack, as text and as structured content.
    Document,
}

impl Case {
    /// All of them, from the least to the most work.
    pub(crate) const ALL: [Self; 4] = [Self::Ping, Self::Short, Self::Prompt, Self::Document];

    /// What it is called in the report.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Ping => "`ping`",
            Self::Short => "`read_progress`, touching a file",
            Self::Prompt => "`design_decisions`, a prompt",
            Self::Document => "`read`, a document",
        }
    }

    /// Method and parameters for the product.
    fn question(self) -> (&'static str, Value) {
        match self {
            Self::Ping => ("ping", json!({})),
            Self::Short => ("tools/call", json!({"name": "read_progress", "arguments": {}})),
            Self::Prompt => ("tools/call", json!({"name": "design_decisions", "arguments": {}})),
            Self::Document => {
                let uri = "acdc://rutter/guides/getting-started";
                ("tools/call", json!({"name": "read", "arguments": {"uri": uri}}))
            }
        }
    }
}

/// One server on one kind of stream, asked the same thing again and again.
#[derive(Debug)]
pub(crate) struct Calls {
    /// What is asked.
    pub(crate) case: Case,
    /// Which server.
    pub(crate) server: Server,
    /// Which streams.
    pub(crate) wire: Wire,
    /// How long the answer is, in bytes of the line.
    pub(crate) bytes: usize,
    /// From before the request is written until the whole answer is read.
    pub(crate) times: Samples,
    /// How long the server computed for each.
    pub(crate) computed: Duration,
}

/// All that was measured.
#[derive(Debug)]
pub(crate) struct Run {
    /// Starts.
    pub(crate) starts: Vec<Start>,
    /// Memory of each server: the median of several processes.
    pub(crate) memory: Vec<(Server, Memory)>,
    /// Round trips.
    pub(crate) calls: Vec<Calls>,
    /// Whether client and server shared one core for the round trips.
    pub(crate) on_one_core: bool,
}

impl Run {
    /// Measures everything.
    pub(crate) fn new(participants: &[Participant]) -> io::Result<Self> {
        let starts = measure_starts(participants)?;
        let memory = measure_memory(participants)?;
        // Last: there is no way back to all cores.
        let on_one_core = machine::take_one_core();
        let mut calls = Vec::new();
        for case in Case::ALL {
            calls.extend(measure_calls(case, participants)?);
        }
        Ok(Self { starts, memory, calls, on_one_core })
    }

    /// The starts of a server.
    pub(crate) fn start(&self, server: Server, wire: Wire) -> Option<&Start> {
        self.starts.iter().find(|start| start.server == server && start.wire == wire)
    }

    /// The calls of a server.
    pub(crate) fn call(&self, case: Case, server: Server, wire: Wire) -> Option<&Calls> {
        self.calls
            .iter()
            .find(|calls| calls.case == case && calls.server == server && calls.wire == wire)
    }
}

fn measure_starts(participants: &[Participant]) -> io::Result<Vec<Start>> {
    let folder = TempDir::new()?;
    let mut runners: Vec<(&Participant, Start)> = each_wire(participants)
        .map(|(participant, wire)| {
            let start = Start { server: participant.server, wire, times: Samples::default() };
            (participant, start)
        })
        .collect();
    for round in 0..STARTS {
        for (participant, start) in &mut runners {
            if start.server == Server::TypeScript && round % TYPESCRIPT_EVERY != 0 {
                continue;
            }
            let began = Instant::now();
            let mut session = Session::start(&participant.program, folder.path(), start.wire)?;
            session.initialize()?;
            start.times.add(began.elapsed());
        }
        // Nobody always runs after Node.js.
        runners.rotate_left(1);
    }
    runners.sort_by_key(|(_, start)| (start.server as u8, start.wire as u8));
    Ok(runners.into_iter().map(|(_, start)| start).collect())
}

fn measure_memory(participants: &[Participant]) -> io::Result<Vec<(Server, Memory)>> {
    let folder = TempDir::new()?;
    let mut rows = Vec::new();
    for participant in participants {
        let mut processes = Vec::new();
        for _ in 0..MEMORY_PROCESSES {
            let mut session = Session::start(&participant.program, folder.path(), Wire::Pipes)?;
            session.initialize()?;
            session.initialized()?;
            let request = session.request("tools/list", &json!({}));
            session.exchange(&request)?;
            session.result()?;
            processes.push(session.memory()?);
        }
        processes.sort();
        let median = processes.get(processes.len() / 2).copied();
        rows.extend(median.map(|memory| (participant.server, memory)));
    }
    Ok(rows)
}

/// A server that is asked, and what of it is known so far.
struct Caller {
    session: Session,
    question: (&'static str, Value),
    calls: Calls,
}

impl Caller {
    fn turn(&mut self) -> io::Result<()> {
        let before = self.session.computed()?;
        let (method, params) = &self.question;
        for _ in 0..BLOCK {
            let request = self.session.request(method, params);
            let began = Instant::now();
            let bytes = self.session.exchange(&request)?;
            self.calls.times.add(began.elapsed());
            if bytes != self.calls.bytes {
                // Says which answer it was, if it was an error.
                self.session.result()?;
                return Err(io::Error::other("a server answered the same question differently"));
            }
        }
        self.calls.computed += self.session.computed()?.saturating_sub(before);
        Ok(())
    }
}

fn measure_calls(case: Case, participants: &[Participant]) -> io::Result<Vec<Calls>> {
    let folder = TempDir::new()?;
    if case == Case::Short {
        // What makes the product serve the board.
        std::fs::create_dir(folder.path().join(".ralph"))?;
    }
    let mut callers: Vec<Caller> = Vec::new();
    for (participant, wire) in each_wire(participants) {
        let mut session = Session::start(&participant.program, folder.path(), wire)?;
        session.initialize()?;
        session.initialized()?;
        let product = callers.iter().find(|caller| caller.calls.server == Server::Rutter);
        let question = match product.map(|caller| caller.calls.bytes) {
            Some(bytes) if participant.server != Server::Rutter && case != Case::Ping => {
                echo(&mut session, bytes)?
            }
            _ => case.question(),
        };
        let mut bytes = 0;
        for _ in 0..WARM_UP {
            let request = session.request(question.0, &question.1);
            bytes = session.exchange(&request)?;
            session.result()?;
        }
        let calls = Calls {
            case,
            server: participant.server,
            wire,
            bytes,
            times: Samples::default(),
            computed: Duration::ZERO,
        };
        callers.push(Caller { session, question, calls });
    }
    for _ in 0..BLOCKS {
        for caller in &mut callers {
            caller.turn()?;
        }
        callers.rotate_left(1);
    }
    callers.sort_by_key(|caller| (caller.calls.server as u8, caller.calls.wire as u8));
    let calls = u32::try_from(BLOCKS * BLOCK).unwrap_or(u32::MAX);
    Ok(callers
        .into_iter()
        .map(|caller| Calls { computed: caller.calls.computed / calls, ..caller.calls })
        .collect())
}

/// A call of `echo` whose answer is as long as that of the product: a long one is repeated lines,
/// so that it needs no long request and has escapes in it like a document.
fn echo(session: &mut Session, bytes: usize) -> io::Result<(&'static str, Value)> {
    const LINE: &str = "A line of Markdown, about as long as \"lines\" in a document tend to be.\n";
    let call = |text: &str, times: usize| json!({"name": "echo", "arguments": {"text": text, "times": times}});
    let request = session.request("tools/call", &call("", 1));
    let missing = bytes.saturating_sub(session.exchange(&request)?);
    session.result()?;
    // As JSON, without the quotes around it.
    let line = Value::from(LINE).to_string().len() - 2;
    let params = if missing < line * 8 {
        call(&"x".repeat(missing), 1)
    } else {
        call(LINE, (missing + line / 2) / line)
    };
    Ok(("tools/call", params))
}

/// Every server on both kinds of stream, the product first.
fn each_wire(participants: &[Participant]) -> impl Iterator<Item = (&Participant, Wire)> {
    participants.iter().flat_map(|participant| Wire::ALL.map(|wire| (participant, wire)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_samples() {
        let mut samples = Samples::default();
        for value in (0..=100).rev() {
            samples.add(Duration::from_millis(value));
        }
        assert_eq!(samples.median(), Duration::from_millis(50));
        assert_eq!(samples.p95(), Duration::from_millis(95));
        assert_eq!(Samples::default().median(), Duration::ZERO);
    }
}
