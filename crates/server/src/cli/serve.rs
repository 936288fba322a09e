//! `rutter serve`

mod auth;
mod http;

use std::io::IsTerminal;

use clap::{Args, ValueEnum};
use rutter_base::failure::{Kind, Report};
use rutter_base::secret::Secrets;
use tokio_util::sync::CancellationToken;
use tracing::level_filters::LevelFilter;

use super::screen::Screen;
use super::{FINE, Serving, Surroundings};
use crate::logging::{self, Format};
use crate::settings::Variable;
use crate::setup::Setup;
use crate::transport::stdio;

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  rutter serve                                  over stdio, for one client that starts it
  rutter serve --transport http --port 8080     over HTTP, at http://127.0.0.1:8080/mcp
  rutter serve --profile acm --read-only        only the process tools, nothing that writes
  rutter serve --log-format text                with a log for people, on standard error")]
pub(super) struct Serve {
    #[command(flatten)]
    serving: Serving,
    /// How clients connect [default: stdio]
    #[arg(short, long)]
    transport: Option<Transport>,
    #[command(flatten)]
    http: http::OverHttp,
    /// The least grave level that is logged [default: info]
    #[arg(long, value_name = "LEVEL", value_parser = ["off", "error", "warn", "info", "debug", "trace"])]
    log_level: Option<String>,
    /// How the log on standard error looks [default: json]
    #[arg(long, value_name = "FORMAT")]
    log_format: Option<Format>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Transport {
    /// Standard input and output
    Stdio,
    /// HTTP: at /mcp, and at /sse for older clients
    Http,
    /// The same as http
    Sse,
}

impl Serve {
    pub(super) fn run(&self, surroundings: &Surroundings) -> Result<u8, Report> {
        let environment = &surroundings.environment;
        let transport = match self.transport {
            Some(transport) => transport,
            None => environment
                .parse(
                    Variable::TRANSPORT,
                    |name| Transport::from_str(name, true).ok(),
                    "stdio, http or sse",
                )?
                .unwrap_or(Transport::Stdio),
        };
        let level = match &self.log_level {
            Some(name) => logging::level(name),
            None => environment.parse(
                Variable::LOG_LEVEL,
                logging::level,
                "error, warn, info, debug or trace",
            )?,
        };
        let format = match self.log_format {
            Some(format) => Some(format),
            None => environment.parse(
                Variable::LOG_FORMAT,
                |name| Format::from_str(name, true).ok(),
                "json or text",
            )?,
        };
        let setup = self.serving.setup(surroundings)?;
        let mut secrets = environment.secrets(&surroundings.folder);
        secrets.extend(auth::secrets(surroundings, &setup));
        logging::start(
            level.unwrap_or(LevelFilter::INFO),
            format.unwrap_or_default(),
            Secrets::new(secrets),
        );
        log_start(&setup, surroundings, transport);
        for problem in &setup.problems {
            tracing::warn!(
                event = "configuration_problem",
                file = problem.file,
                "{}",
                problem.message
            );
        }
        match transport {
            Transport::Stdio => over_stdio(&setup)?,
            Transport::Http | Transport::Sse => self.http.run(&setup, surroundings)?,
        }
        log_usage(&setup);
        tracing::info!(event = "server_stop", "the server stopped");
        Ok(FINE)
    }
}

fn over_stdio(setup: &Setup) -> Result<(), Report> {
    if std::io::stdin().is_terminal() {
        explain(&mut Screen::stderr());
    }
    // One thread: a message has nowhere to wait for another one.
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| no_runtime(&error))?;
    runtime.block_on(async {
        let shutdown = stop_on_signals();
        let _watches = watch(setup);
        reload_on_hangup(setup, || {});
        tracing::debug!(event = "client_waiting", "waiting for a client on standard input");
        stdio::serve(setup.app.clone(), shutdown).await;
    });
    // A thread may still wait for standard input, and nothing can wake it.
    runtime.shutdown_background();
    Ok(())
}

fn no_runtime(error: &std::io::Error) -> Report {
    Report::new(Kind::Internal, format!("the server cannot start: {}", error.kind()))
}

/// Loads what is served, says what is wrong with it, and follows its files. The first answer
/// waits for none of it.
fn watch(setup: &Setup) -> Vec<rutter_base::watch::Watch> {
    if !setup.app.is_immutable() {
        let app = setup.app.clone();
        tokio::task::spawn_blocking(move || app.log_problems());
    }
    setup.app.watch(setup.watch).unwrap_or_else(|error| {
        tracing::warn!(event = "watch_failed", cause = %error, "changes of files are not noticed");
        Vec::new()
    })
}

/// Reads the files again when the process gets a hangup signal, and does what else there is to do.
#[cfg(unix)]
fn reload_on_hangup(setup: &Setup, also: impl Fn() + Send + Sync + 'static) {
    use tokio::signal::unix::{SignalKind, signal};
    let Ok(mut hangup) = signal(SignalKind::hangup()) else { return };
    let app = setup.app.clone();
    tokio::spawn(async move {
        while hangup.recv().await.is_some() {
            also();
            let app = app.clone();
            // A defect in it is in the log, and the server goes on.
            let _ = tokio::task::spawn_blocking(move || app.reload()).await;
        }
    });
}

/// There is no such signal.
#[cfg(not(unix))]
fn reload_on_hangup(_: &Setup, _: impl Fn() + Send + Sync + 'static) {}

/// Says how the tools were used: over stdio nobody else asks.
fn log_usage(setup: &Setup) {
    let usage = setup.app.metrics().usage();
    let calls: u64 = usage.values().map(|tool| tool.calls).sum();
    if calls > 0 {
        tracing::info!(event = "usage", calls, tools = logging::object(&usage), "calls by tool");
    }
}

/// A token that is cancelled when the process is asked to end.
///
/// The signals are caught from the moment this returns, not from the first time the task runs.
#[cfg(unix)]
fn stop_on_signals() -> CancellationToken {
    use tokio::signal::unix::{SignalKind, signal};
    let shutdown = CancellationToken::new();
    let token = shutdown.clone();
    if let (Ok(mut interrupt), Ok(mut terminate)) =
        (signal(SignalKind::interrupt()), signal(SignalKind::terminate()))
    {
        tokio::spawn(async move {
            tokio::select! {
                _ = interrupt.recv() => {}
                _ = terminate.recv() => {}
            }
            token.cancel();
        });
    }
    shutdown
}

/// A token that is cancelled when the process is asked to end.
#[cfg(not(unix))]
fn stop_on_signals() -> CancellationToken {
    let shutdown = CancellationToken::new();
    let token = shutdown.clone();
    tokio::spawn(async move {
        if tokio::signal::ctrl_c().await.is_ok() {
            token.cancel();
        }
    });
    shutdown
}

fn log_start(setup: &Setup, surroundings: &Surroundings, transport: Transport) {
    let identity = setup.app.identity();
    let config = setup.config_file.as_deref().map(|path| path.display().to_string());
    let origins: Vec<String> =
        setup.origins.iter().map(|origin| format!("{}: {}", origin.kind, origin.place)).collect();
    tracing::info!(
        event = "server_start",
        name = identity.name,
        version = identity.version,
        transport = ?transport,
        profile = setup.profile.map(super::Profile::as_str),
        read_only = setup.read_only,
        config,
        content = origins.join("; "),
        watch = ?setup.watch,
        payload_limit = setup.app.limits().payload,
        environment = logging::object(&surroundings.environment.shown()),
        "the server started"
    );
}

/// A person started the server by hand: it is waiting for JSON, and says what to do instead.
fn explain(screen: &mut Screen) {
    screen.line(
        "This is an MCP server: it waits for a client on standard input. Connect one:\n\
         \n  Claude Code   claude mcp add rutter -- rutter serve\
         \n  Codex         codex mcp add rutter -- rutter serve\
         \n  Gemini        gemini mcp add rutter rutter serve\
         \n  Cursor        .cursor/mcp.json   {\"mcpServers\": {\"rutter\": {\"command\": \"rutter\", \"args\": [\"serve\"]}}}\
         \n  VS Code       .vscode/mcp.json   {\"servers\": {\"rutter\": {\"command\": \"rutter\", \"args\": [\"serve\"]}}}\
         \n\nPress Ctrl-C to end.",
    );
}
