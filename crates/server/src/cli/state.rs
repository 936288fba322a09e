//! `rutter state`

use std::io::{BufRead, IsTerminal};

use clap::{Args, Subcommand};
use rutter_base::failure::{Kind, Report};
use rutter_process::workflow::{Change, Key, STATE_PATH, State, StateError, What, Workflow};
use serde::Serialize;

use super::screen::{Screen, Style};
use super::{FINE, Project, Surroundings};
use crate::settings::Variable;

#[derive(Debug, Args)]
#[command(
    after_help = "The state is .mcp/state.json in the workspace; the one before the last change is .mcp/state.json.bak.

Examples:
  rutter state show
  rutter state undo                    take back the last completion
  rutter state reset --yes             forget everything; the log of changes is kept
  RUTTER_STATE_NEW_KEY_FILE=new.key rutter state rekey
  rutter state rekey --plain           decrypt it"
)]
pub(super) struct StateVerb {
    #[command(subcommand)]
    action: Action,
    #[command(flatten)]
    project: Project,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Show what is recorded
    Show {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Take back the last completion
    Undo,
    /// Forget all completions and artifacts
    Reset {
        /// Do not ask
        #[arg(long)]
        yes: bool,
    },
    /// Encrypt the state with another key: `RUTTER_STATE_NEW_KEY`, or its file
    Rekey {
        /// Decrypt it instead
        #[arg(long)]
        plain: bool,
    },
}

impl StateVerb {
    pub(super) fn run(
        &self,
        surroundings: &Surroundings,
        screen: &mut Screen,
    ) -> Result<u8, Report> {
        let workflow = self.project.workflow(surroundings)?;
        match &self.action {
            Action::Show { json } => show(&workflow, *json, screen)?,
            Action::Undo => undo(&workflow, screen)?,
            Action::Reset { yes } => reset(&workflow, *yes, screen)?,
            Action::Rekey { plain } => rekey(&workflow, *plain, surroundings, screen)?,
        }
        Ok(FINE)
    }
}

#[derive(Serialize)]
struct Shown<'a> {
    #[serde(flatten)]
    state: &'a State,
    #[serde(skip_serializing_if = "Option::is_none")]
    warning: Option<&'a str>,
}

fn show(workflow: &Workflow, json: bool, screen: &mut Screen) -> Result<(), Report> {
    let loaded = workflow.store().load()?;
    let state = &*loaded.state;
    if json {
        screen.json(&Shown { state, warning: loaded.warning.as_deref() });
        return Ok(());
    }
    if let Some(warning) = &loaded.warning {
        screen.line(&format!("{} {warning}", screen.styled(Style::Warning, "!")));
    }
    if state.completed().is_empty() {
        screen.line("nothing is recorded as done");
    }
    for (id, completion) in state.completed() {
        let at = screen.styled(Style::Faint, &completion.at);
        screen.line(&format!("{} {id}  {at}", screen.styled(Style::Good, "✓")));
    }
    if !state.artifacts().is_empty() {
        screen.line(&format!("\n{}", screen.styled(Style::Heading, "artifacts")));
        for (key, path) in state.artifacts() {
            screen.line(&format!("  {key}  {path}"));
        }
    }
    if !state.log().is_empty() {
        screen.line(&format!("\n{}", screen.styled(Style::Heading, "changes, latest first")));
        for Change { at, change, id, .. } in state.log().iter().rev().take(LATEST) {
            let what = match change {
                What::Completed => "completed",
                What::Undone => "undone",
                What::Reset => "reset",
            };
            let id = id.as_deref().unwrap_or_default();
            screen.line(format!("  {}  {what} {id}", screen.styled(Style::Faint, at)).trim_end());
        }
    }
    Ok(())
}

/// How many changes are shown; `--json` shows all.
const LATEST: usize = 20;

fn undo(workflow: &Workflow, screen: &mut Screen) -> Result<(), Report> {
    let mut undone = None;
    workflow.store().update(|state, now| {
        undone = state.undo(now);
        Ok::<_, StateError>(undone.is_some())
    })?;
    match undone {
        Some(id) => screen.line(&format!("`{id}` is not done any more")),
        None => screen.line("there is nothing to undo"),
    }
    Ok(())
}

fn reset(workflow: &Workflow, yes: bool, screen: &mut Screen) -> Result<(), Report> {
    let count = workflow.store().load()?.state.completed().len();
    if !yes {
        confirm(&format!("Forget {count} completed steps in {STATE_PATH}? [y/N] "), screen)?;
    }
    workflow.store().update(|state, now| {
        state.reset(now);
        Ok::<_, StateError>(true)
    })?;
    screen.line(&format!("{count} steps are forgotten; {STATE_PATH}.bak has what was there"));
    Ok(())
}

fn confirm(question: &str, screen: &mut Screen) -> Result<(), Report> {
    let refused = |message: &str| Err(Report::new(Kind::Refused, message));
    if !std::io::stdin().is_terminal() {
        return refused("nobody can be asked: say --yes to forget everything");
    }
    let _ = write!(screen.raw(), "{question}");
    let _ = screen.raw().flush();
    let mut answer = String::new();
    let _ = std::io::stdin().lock().read_line(&mut answer);
    if matches!(answer.trim(), "y" | "Y" | "yes") { Ok(()) } else { refused("nothing was changed") }
}

fn rekey(
    workflow: &Workflow,
    plain: bool,
    surroundings: &Surroundings,
    screen: &mut Screen,
) -> Result<(), Report> {
    let (value, file) = (Variable::STATE_NEW_KEY, Variable::STATE_NEW_KEY_FILE);
    let next = surroundings.environment.secret(value, file, &surroundings.folder)?;
    match (next, plain) {
        (Some(_), true) => Err(Report::new(
            Kind::Invalid,
            format!("--plain and {} exclude each other", value.name),
        )),
        (None, false) => Err(Report::new(Kind::Invalid, "there is no new key").hint(format!(
            "set {} or {}, for example to what `openssl rand -hex 32` prints; or say --plain",
            value.name, file.name
        ))),
        (None, true) => {
            workflow.store().rekey(None)?;
            screen.line("the state is plain text now; start the server without RUTTER_STATE_KEY");
            Ok(())
        }
        (Some(text), false) => {
            let wrong = |error| Report::new(Kind::Invalid, format!("{}: {error}", value.name));
            let key = Key::new(&text).map_err(wrong)?;
            workflow.store().rekey(Some(&key))?;
            screen.line("the state is encrypted with the new key; set RUTTER_STATE_KEY to it");
            Ok(())
        }
    }
}
