//! Measures Rutter against the least that a server can be, in Rust and in TypeScript.
//!
//! Every figure of a run comes from the same minutes on the same machine, in turns, so that the
//! ratios hold where the absolute figures do not. This side speaks JSON-RPC in plain lines: no
//! SDK stands between the clock and the server.
#![expect(
    clippy::disallowed_methods,
    reason = "a bench reads /proc, makes what it measures and rewrites its own page; it serves nobody"
)]

mod machine;
mod measure;
mod process;
mod report;
mod session;
mod workflow;

use std::error::Error;
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, Parser};

use measure::{Participant, Run};
use session::{Program, Server};

/// Measures the product
#[derive(Debug, Parser)]
enum Suite {
    /// Start, memory and round trips of stdio servers
    Servers(Arguments),
    /// The tools of the process
    Process(process::Arguments),
    /// The planner and the state of the workflow
    Workflow(workflow::Arguments),
}

#[derive(Debug, Args)]
struct Arguments {
    /// The product's binary
    #[arg(long)]
    rutter: PathBuf,
    /// The bare server's binary
    #[arg(long)]
    bare: PathBuf,
    /// Node.js, for the TypeScript server
    #[arg(long, requires = "typescript")]
    node: Option<PathBuf>,
    /// The folder of the TypeScript server
    #[arg(long, requires = "node")]
    typescript: Option<PathBuf>,
    /// A page whose figures are replaced
    #[arg(long, value_name = "PAGE")]
    write: Option<PathBuf>,
}

fn main() -> ExitCode {
    let outcome = match Suite::parse() {
        Suite::Servers(arguments) => run(&arguments),
        Suite::Process(arguments) => process::run(&arguments),
        Suite::Workflow(arguments) => workflow::run(&arguments),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let _ = writeln!(std::io::stderr(), "bench: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &Arguments) -> Result<(), Box<dyn Error>> {
    // Before anything is measured: a run loads the machine, and ends on one core.
    let machine = machine::describe();
    if let Some(load) = machine::busy() {
        let warning = format!("the machine is busy (load {load}): expect noise, and run it again");
        writeln!(std::io::stderr(), "bench: {warning}")?;
    }
    let participants = participants(arguments)?;
    let run = Run::new(&participants)?;
    let figures = report::render(&run, &machine, &participants);
    writeln!(std::io::stdout(), "{figures}")?;
    if let Some(page) = &arguments.write {
        let text = std::fs::read_to_string(page)?;
        let text = report::splice(&text, &figures).ok_or("the page has no place for figures")?;
        std::fs::write(page, text)?;
    }
    Ok(())
}

fn participants(arguments: &Arguments) -> Result<Vec<Participant>, Box<dyn Error>> {
    // Servers run in another folder than this program does.
    let rutter =
        Program { path: arguments.rutter.canonicalize()?, arguments: vec!["serve".into()] };
    let bare = Program { path: arguments.bare.canonicalize()?, arguments: Vec::new() };
    let mut participants =
        vec![Participant::new(Server::Rutter, rutter)?, Participant::new(Server::Bare, bare)?];
    if let (Some(node), Some(typescript)) = (&arguments.node, &arguments.typescript) {
        let script = typescript.join("server.mjs").canonicalize()?;
        let program = Program { path: node.canonicalize()?, arguments: vec![script.into()] };
        let mut participant = Participant::new(Server::TypeScript, program)?;
        participant.version = machine::typescript_version(node, typescript)?;
        participants.push(participant);
    }
    Ok(participants)
}
