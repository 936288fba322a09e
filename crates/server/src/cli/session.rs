//! `rutter session`

mod launch;

use std::path::PathBuf;

use clap::{Args, Subcommand};
use rutter_base::failure::Report;
use rutter_base::root::Root;
use serde::Serialize;

use super::screen::{Screen, Style};
use super::{FINE, Surroundings, init, wait};
use crate::session::prepare::{Purpose, Ready, Start, below, no_board, prepare};
use crate::session::{Context, Files};
use crate::setup::{Request, Setup};

#[derive(Debug, Args)]
pub(super) struct Session {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// Write the context and the client configuration of a session
    Prepare(Prepare),
    /// Prepare a session, start a client in it, and end it when the client has ended
    Launch(launch::Launch),
    /// List the prepared sessions
    List(List),
    /// End sessions: their servers have no tools from then on
    End(End),
}

#[derive(Debug, Args)]
#[command(after_help = "The same question on the same board writes the same bytes.

Examples:
  rutter session prepare --recipe task_execution --task 7
  rutter session prepare --recipe discuss --discipline frontend --json
  claude --mcp-config \"$(rutter session prepare --recipe yap --json | jq -r .mcp_config)\"")]
struct Prepare {
    #[command(flatten)]
    purpose: For,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// What a session is for.
#[derive(Debug, Args)]
struct For {
    /// The recipe, which decides the tools
    #[arg(long, value_name = "RECIPE")]
    recipe: String,
    /// The discipline that it works in [default: the task's]
    #[arg(long, value_name = "NAME")]
    discipline: Option<String>,
    /// The feature that it works on [default: the task's]
    #[arg(long, value_name = "NAME")]
    feature: Option<String>,
    /// The task that it works on
    #[arg(long, value_name = "ID")]
    task: Option<i64>,
    /// The name of the session [default: made from the above]
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
    /// The configuration file [default: rutter.yaml or mcp-metadata.yaml, if there is one]
    #[arg(short, long, value_name = "FILE")]
    config: Option<PathBuf>,
}

#[derive(Debug, Args)]
struct List {
    /// The configuration file [default: rutter.yaml or mcp-metadata.yaml, if there is one]
    #[arg(short, long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Args)]
struct End {
    /// The names of the sessions
    #[arg(required = true, value_name = "NAME")]
    names: Vec<String>,
    /// The configuration file [default: rutter.yaml or mcp-metadata.yaml, if there is one]
    #[arg(short, long, value_name = "FILE")]
    config: Option<PathBuf>,
}

/// Where the files of a session are, relative to the project.
#[derive(Debug, Serialize)]
struct Paths {
    context: String,
    mcp_config: String,
}

/// A session in a list.
#[derive(Debug, Serialize)]
struct Row {
    name: String,
    #[serde(flatten)]
    context: Option<Context>,
    #[serde(skip_serializing_if = "Option::is_none")]
    problem: Option<String>,
}

impl Session {
    pub(super) fn run(
        &self,
        surroundings: &Surroundings,
        screen: &mut Screen,
    ) -> Result<u8, Report> {
        match &self.verb {
            Verb::Prepare(verb) => verb.run(surroundings, screen),
            Verb::Launch(verb) => verb.run(surroundings),
            Verb::List(verb) => verb.run(surroundings, screen),
            Verb::End(verb) => verb.run(surroundings, screen),
        }
    }
}

impl For {
    /// Prepares the session; with `new`, one that nobody else has.
    async fn prepare(
        &self,
        surroundings: &Surroundings,
        new: bool,
    ) -> Result<(Root, Ready, Paths), Report> {
        let setup = setup(surroundings, self.config.as_ref())?;
        let purpose = Purpose {
            recipe: self.recipe.clone(),
            discipline: self.discipline.clone(),
            feature: self.feature.clone(),
            task: self.task,
            name: self.name.clone(),
        };
        let start = Start {
            command: init::command(),
            project: &surroundings.folder,
            config: self.config.as_deref(),
        };
        let ready = prepare(&setup, &purpose, &start, new).await?;
        let root = setup.board.ok_or_else(no_board)?;
        let shown = |file| below(&root, &start, file);
        let paths =
            Paths { context: shown(&ready.files.context), mcp_config: shown(&ready.files.client) };
        Ok((root, ready, paths))
    }
}

impl Prepare {
    fn run(&self, surroundings: &Surroundings, screen: &mut Screen) -> Result<u8, Report> {
        let (_, ready, paths) = wait(self.purpose.prepare(surroundings, false))?;
        if self.json {
            screen.json(&paths);
            return Ok(FINE);
        }
        screen.line(&format!("session     {}", ready.name));
        screen.line(&format!("context     {}", paths.context));
        screen.line(&format!("mcp_config  {}", paths.mcp_config));
        let start = format!("claude --mcp-config {} --strict-mcp-config", paths.mcp_config);
        screen.line(&screen.styled(Style::Faint, &format!("\nstart a client with it: {start}")));
        Ok(FINE)
    }
}

impl List {
    fn run(&self, surroundings: &Surroundings, screen: &mut Screen) -> Result<u8, Report> {
        let root = setup(surroundings, self.config.as_ref())?.board.ok_or_else(no_board)?;
        let rows = Files::new(&root).list().into_iter().map(|(name, context)| match context {
            Ok(context) => Row { name, context: Some(context), problem: None },
            Err(problem) => Row { name, context: None, problem: Some(problem) },
        });
        let rows: Vec<Row> = rows.collect();
        if self.json {
            screen.json(&rows);
            return Ok(FINE);
        }
        if rows.is_empty() {
            screen.line("no session is prepared");
        }
        for Row { name, context, problem } in rows {
            let what = match (context, problem) {
                (Some(context), _) => context.recipe.unwrap_or_else(|| "all tools".into()),
                (None, problem) => {
                    let problem = problem.unwrap_or_default();
                    screen.styled(Style::Bad, &format!("no tools: {problem}"))
                }
            };
            screen.line(&format!("{name}  {what}"));
        }
        Ok(FINE)
    }
}

impl End {
    fn run(&self, surroundings: &Surroundings, screen: &mut Screen) -> Result<u8, Report> {
        let root = setup(surroundings, self.config.as_ref())?.board.ok_or_else(no_board)?;
        for name in &self.names {
            Files::new(&root).end(name)?;
            screen.line(&format!("ended {name}"));
        }
        Ok(FINE)
    }
}

/// What is served here, whatever session this command itself may run in.
fn setup(surroundings: &Surroundings, config: Option<&PathBuf>) -> Result<Setup, Report> {
    let request = Request { config: config.cloned(), ..Request::default() };
    Setup::new(&request, &surroundings.environment, &surroundings.folder)
}
