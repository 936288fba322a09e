//! `rutter session launch`

use std::ffi::OsString;
use std::path::Path;
use std::process::{Child, Command, ExitStatus};

use clap::Args;
use rutter_base::failure::{Kind, Report};
use rutter_base::text::one_line;
#[cfg(unix)]
use tokio::signal::unix::{Signal, SignalKind, signal};

use super::super::{Surroundings, wait};
use super::{For, Paths};
use crate::session::Files;
use crate::settings::Variable;

/// What stands for the client configuration in the command.
const MCP_CONFIG: &str = "{mcp_config}";
/// What stands for the context in the command.
const CONTEXT: &str = "{context}";
/// The code of a client that a signal ended.
const SIGNALLED: u8 = 128;

#[derive(Debug, Args)]
#[command(
    after_help = "`claude` gets the client configuration as its own flags. In any other command, {mcp_config} and
{context} stand for the two files; both are also in RUTTER_MCP_CONFIG and RUTTER_CONTEXT.

Examples:
  rutter session launch --recipe task_execution --task 7 -- claude -p \"do your task\"
  rutter session launch --recipe yap -- my-client --servers {mcp_config}"
)]
pub(super) struct Launch {
    #[command(flatten)]
    purpose: For,
    /// The client and its arguments
    #[arg(last = true, required = true, value_name = "COMMAND")]
    command: Vec<OsString>,
}

impl Launch {
    pub(super) fn run(&self, surroundings: &Surroundings) -> Result<u8, Report> {
        wait(async {
            let (board, ready, paths) = self.purpose.prepare(surroundings, true).await?;
            // Before the client starts, so that none goes unnoticed.
            let signals = Signals::catch();
            let ended = match self.command(surroundings, &paths)?.spawn() {
                Ok(client) => signals.follow(client).await,
                Err(error) => Err(self.cannot_start(&error)),
            };
            // Whatever became of the client, its session is over.
            Files::new(&board).end(&ready.name)?;
            Ok(code(ended?))
        })
    }

    fn command(&self, surroundings: &Surroundings, paths: &Paths) -> Result<Command, Report> {
        let (program, arguments) = self
            .command
            .split_first()
            .ok_or_else(|| Report::new(Kind::Invalid, "there is no client to start"))?;
        let mut named = false;
        let mut command = Command::new(program);
        for argument in arguments {
            let filled = argument.to_str().map(|text| {
                named |= text.contains(MCP_CONFIG);
                text.replace(MCP_CONFIG, &paths.mcp_config).replace(CONTEXT, &paths.context)
            });
            command.arg(filled.map_or_else(|| argument.clone(), OsString::from));
        }
        if Path::new(program).file_stem().is_some_and(|name| name == "claude") && !named {
            command.args(["--mcp-config", &paths.mcp_config, "--strict-mcp-config"]);
        }
        command
            .current_dir(&surroundings.folder)
            .env(Variable::CONTEXT.name, &paths.context)
            .env("RUTTER_MCP_CONFIG", &paths.mcp_config);
        Ok(command)
    }

    fn cannot_start(&self, error: &std::io::Error) -> Report {
        let program = self.command.first().map(|name| name.to_string_lossy().into_owned());
        let program = one_line(&program.unwrap_or_default());
        Report::new(Kind::Invalid, format!("`{program}` cannot be started: {}", error.kind()))
    }
}

/// The signals that would end this program before its client.
struct Signals {
    #[cfg(unix)]
    caught: Option<(Signal, Signal)>,
}

impl Signals {
    #[cfg(unix)]
    fn catch() -> Self {
        let caught = signal(SignalKind::interrupt()).ok().zip(signal(SignalKind::terminate()).ok());
        Self { caught }
    }

    #[cfg(not(unix))]
    fn catch() -> Self {
        Self {}
    }

    /// Waits for the client. A signal from the keyboard reaches it by itself; being asked to end
    /// is passed on.
    async fn follow(self, mut client: Child) -> Result<ExitStatus, Report> {
        #[cfg(unix)]
        let id = client.id();
        let mut ended = tokio::task::spawn_blocking(move || client.wait());
        #[cfg(unix)]
        if let Some((mut interrupt, mut terminate)) = self.caught {
            loop {
                tokio::select! {
                    status = &mut ended => return status.map_err(lost)?.map_err(lost),
                    _ = interrupt.recv() => {}
                    _ = terminate.recv() => pass_on(id),
                }
            }
        }
        (&mut ended).await.map_err(lost)?.map_err(lost)
    }
}

fn lost(error: impl std::error::Error + 'static) -> Report {
    Report::new(Kind::Internal, "the client cannot be waited for").because(&error)
}

/// Asks the client to end.
#[cfg(unix)]
fn pass_on(id: u32) {
    use rustix::process::{Pid, kill_process};
    let id = i32::try_from(id).ok().and_then(Pid::from_raw);
    if let Some(id) = id {
        // One that has ended meanwhile needs no signal.
        let _ = kill_process(id, rustix::process::Signal::TERM);
    }
}

fn code(status: ExitStatus) -> u8 {
    match status.code() {
        Some(code) => u8::try_from(code).unwrap_or(1),
        #[cfg(unix)]
        None => {
            let signal = std::os::unix::process::ExitStatusExt::signal(&status).unwrap_or_default();
            SIGNALLED.saturating_add(u8::try_from(signal).unwrap_or_default())
        }
        #[cfg(not(unix))]
        None => SIGNALLED,
    }
}
