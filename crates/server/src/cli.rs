//! The command line: one file a verb.

mod board;
mod check;
mod completions;
mod doctor;
mod eval;
mod health;
mod indexing;
mod init;
mod later;
mod plan;
mod reload;
mod scaffold;
mod screen;
mod search;
mod selftest;
mod serve;
mod session;
mod state;
mod tools;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use clap::{Args, CommandFactory, Parser, Subcommand};
use rutter_base::failure::{Kind, Report};
use rutter_base::root::Root;
use rutter_process::workflow::Workflow;

use crate::profiles::Profile;
use crate::settings::Environment;
use crate::setup::{Request, Setup};
use later::Later;
use screen::Screen;

/// One MCP server for what agents need to know, how work is done, and where it is recorded
#[derive(Debug, Parser)]
#[command(name = "rutter", version, propagate_version = true, arg_required_else_help = true)]
#[command(after_help = "Examples:
  rutter serve                        serve this folder to a client over stdio
  rutter serve --transport http       serve it to many clients over HTTP
  claude mcp add rutter -- rutter serve
  rutter init                         make this folder a project of your own
  rutter board next                   what can be worked on now
  rutter tools --profile acm          what an agent would see, and what it costs
  rutter doctor                       what is served, what is wrong, how to mend it")]
struct Cli {
    /// The project's folder [default: the working directory]
    #[arg(short = 'C', long, global = true, value_name = "DIR")]
    directory: Option<PathBuf>,
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// Serve this folder to MCP clients
    #[command(visible_alias = "mcp")]
    Serve(Later<serve::Serve>),
    /// Make this folder a project: configuration, editable content, client wiring
    Init(Later<init::Init>),
    /// Search the documents from the terminal
    Search(Later<search::Search>),
    /// Measure whether queries find the documents that they should
    Eval(Later<eval::Eval>),
    /// Show what is done, ready and blocked in the workflow
    Plan(Later<plan::Plan>),
    /// Show or change what is recorded as done
    State(Later<state::StateVerb>),
    /// Have running servers read the workflow again
    Reload(Later<reload::Reload>),
    /// Ask a server over HTTP whether it is well
    Health(Later<health::Health>),
    /// Make the skeleton of a repository that builds, with continuous integration
    Scaffold(Later<scaffold::Scaffold>),
    /// Check the content for mistakes
    Check(Later<check::Check>),
    /// Show the tools that a session would see, and what they cost
    Tools(Later<tools::Tools>),
    /// See and change the board: tasks, their graph, who changed what, backups
    Board(Later<board::Board>),
    /// Prepare, start, list and end the sessions of agents
    Session(Later<session::Session>),
    /// Prove that this disk loses nothing of a board when many write and some are killed
    Selftest(Later<selftest::Selftest>),
    /// Say what is served, what is wrong and how to mend it
    Doctor(Later<doctor::Doctor>),
    /// Print the completion script of a shell
    Completions(Later<completions::Completions>),
}

/// What decides what is served.
#[derive(Debug, Clone, Args)]
struct Serving {
    /// The configuration file [default: rutter.yaml or mcp-metadata.yaml, if there is one]
    #[arg(short, long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Show only one kind of server's surface
    #[arg(long, value_name = "NAME")]
    profile: Option<Profile>,
    /// The context file of the session [default: .ralph/mcp/context.json, if there is one]
    #[arg(long, value_name = "FILE")]
    context: Option<PathBuf>,
    /// Hide every tool that writes
    #[arg(long)]
    read_only: bool,
    /// How many documents a search gives [default: 10]
    #[arg(short = 'm', long, value_name = "COUNT")]
    search_max_results: Option<usize>,
    /// What a match in a document's keywords weighs [default: 3]
    #[arg(long, value_name = "WEIGHT")]
    search_keywords_boost: Option<f32>,
    /// What a match in its name weighs [default: 2]
    #[arg(long, value_name = "WEIGHT")]
    search_name_boost: Option<f32>,
    /// What a match in its text weighs [default: 1]
    #[arg(long, value_name = "WEIGHT")]
    search_content_boost: Option<f32>,
}

impl Serving {
    fn setup(&self, surroundings: &Surroundings) -> Result<Setup, Report> {
        let request = Request {
            config: self.config.clone(),
            profile: self.profile,
            read_only: self.read_only,
            context: self.context.clone(),
            search: crate::config::Search {
                max_results: self.search_max_results,
                keywords_boost: self.search_keywords_boost,
                name_boost: self.search_name_boost,
                content_boost: self.search_content_boost,
            },
        };
        Setup::new(&request, &surroundings.environment, &surroundings.folder)
    }
}

/// What decides which workflow a command is about.
#[derive(Debug, Clone, Args)]
struct Project {
    /// The configuration file [default: rutter.yaml or mcp-metadata.yaml, if there is one]
    #[arg(short, long, value_name = "FILE")]
    config: Option<PathBuf>,
}

impl Project {
    fn workflow(&self, surroundings: &Surroundings) -> Result<Arc<Workflow>, Report> {
        let request = Request { config: self.config.clone(), ..Request::default() };
        let setup = Setup::new(&request, &surroundings.environment, &surroundings.folder)?;
        setup.app.workflow().cloned()
    }
}

/// Waits for work that the board does.
fn wait<T>(work: impl Future<Output = Result<T, Report>>) -> Result<T, Report> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| {
        Report::new(Kind::Internal, format!("the program cannot start: {}", error.kind()))
    })?;
    runtime.block_on(work)
}

/// Where the command runs.
struct Surroundings {
    folder: PathBuf,
    environment: Environment,
}

impl Surroundings {
    fn look(project: Option<&Path>) -> Result<Self, Report> {
        let unusable = |error: std::io::Error| {
            Report::new(
                Kind::Invalid,
                match project {
                    Some(_) => format!("the project's folder cannot be used: {}", error.kind()),
                    None => format!("the working directory cannot be used: {}", error.kind()),
                },
            )
        };
        let here = std::env::current_dir().map_err(unusable)?;
        let folder = project.map_or(here.clone(), |project| here.join(project));
        let environment = Environment::load(&Root::open(&folder).map_err(unusable)?)?;
        Ok(Self { folder, environment })
    }
}

/// Everything went well.
const FINE: u8 = 0;
/// The content has errors.
const FOUND_ERRORS: u8 = 1;
/// The command line or the configuration is wrong.
const MISUSED: u8 = 2;

/// Runs a command.
pub fn run(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    let cli = match Cli::try_parse_from(arguments) {
        Ok(cli) => cli,
        Err(error) => {
            // Help and version are no errors: they go to standard output with code 0.
            let _ = error.print();
            return ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(MISUSED));
        }
    };
    let outcome =
        Surroundings::look(cli.directory.as_deref()).and_then(|surroundings| match cli.verb {
            Verb::Serve(Later(verb)) => verb.run(&surroundings),
            Verb::Init(Later(verb)) => verb.run(&surroundings, &mut Screen::stdout()),
            Verb::Search(Later(verb)) => verb.run(&surroundings, &mut Screen::stdout()),
            Verb::Eval(Later(verb)) => verb.run(&surroundings, &mut Screen::stdout()),
            Verb::Plan(Later(verb)) => verb.run(&surroundings, &mut Screen::stdout()),
            Verb::State(Later(verb)) => verb.run(&surroundings, &mut Screen::stdout()),
            Verb::Reload(Later(verb)) => verb.run(&surroundings, &mut Screen::stdout()),
            Verb::Health(Later(verb)) => Ok(verb.run(&surroundings, &mut Screen::stdout())),
            Verb::Scaffold(Later(verb)) => verb.run(&surroundings, &mut Screen::stdout()),
            Verb::Check(Later(verb)) => verb.run(&surroundings, &mut Screen::stdout()),
            Verb::Tools(Later(verb)) => verb.run(&surroundings, &mut Screen::stdout()),
            Verb::Board(Later(verb)) => verb.run(&surroundings, &mut Screen::stdout()),
            Verb::Selftest(Later(verb)) => verb.run(&surroundings, &mut Screen::stdout()),
            Verb::Session(Later(verb)) => verb.run(&surroundings, &mut Screen::stdout()),
            Verb::Doctor(Later(verb)) => Ok(verb.run(&surroundings, &mut Screen::stdout())),
            Verb::Completions(Later(verb)) => {
                Ok(verb.run(&mut Cli::command(), &mut Screen::stdout()))
            }
        });
    match outcome {
        Ok(code) => ExitCode::from(code),
        Err(report) => {
            Screen::stderr()
                .line(&format!("rutter: {}", rutter_base::text::one_line(&report.to_string())));
            ExitCode::from(MISUSED)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_does_not_contradict_itself() {
        Cli::command().debug_assert();
    }
}
