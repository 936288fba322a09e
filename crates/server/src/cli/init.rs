//! `rutter init`: first everything is planned, then it is written. What cannot be done right is
//! an error before the first file is touched.

mod block;
mod board;
mod clients;
mod content;
mod edit;
mod plan;
mod skill;

use std::collections::BTreeSet;

use clap::Args;
use rutter_base::failure::{Kind, Report};
use rutter_base::root::Root;

use self::clients::Client;
pub(super) use self::clients::command;
use self::plan::{Plan, Step, What};
use super::screen::{Screen, Style};
use super::{FINE, Surroundings, wait};

#[derive(Debug, Args)]
#[command(
    after_help = "What a person wrote is never lost: content that exists is kept, client files and CLAUDE.md are
extended in place, and copies of the skill are updated only where nobody changed them. Run it
again after an update to get what is new.

Examples:
  mkdir handbook && cd handbook && rutter init && rutter doctor
  rutter init --no-content --client claude --client cursor
  rutter init --with board --title Shop --disciplines frontend,backend,testing"
)]
pub(super) struct Init {
    #[command(flatten)]
    board: board::WithBoard,
    /// Wire this client; may be repeated [default: claude]
    #[arg(long, value_name = "CLIENT")]
    client: Vec<Client>,
    /// Only wire clients: no configuration and no copy of the default content
    #[arg(long)]
    no_content: bool,
    /// Show what would change, and change nothing
    #[arg(long)]
    dry_run: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl Init {
    pub(super) fn run(
        &self,
        surroundings: &Surroundings,
        screen: &mut Screen,
    ) -> Result<u8, Report> {
        let root = Root::open(&surroundings.folder).map_err(|error| {
            let what = format!("the working directory cannot be used: {}", error.kind());
            Report::new(Kind::Invalid, what)
        })?;
        let mut plan = Plan::new(root.clone());
        let board = self.board.plan(&mut plan)?;
        if !self.no_content {
            content::plan(&mut plan)?;
        }
        self.plan_clients(&mut plan)?;
        if !self.dry_run {
            plan.apply()?;
            if let Some(board) = board {
                wait(board.make(&root))?;
            }
        }
        self.report(plan.steps(), screen);
        Ok(FINE)
    }

    fn plan_clients(&self, plan: &mut Plan) -> Result<(), Report> {
        let mut wanted: BTreeSet<Client> = self.client.iter().copied().collect();
        if wanted.is_empty() {
            wanted.insert(Client::Claude);
        }
        for client in &wanted {
            client.wire(plan)?;
        }
        // Several clients may share a file.
        let guides: BTreeSet<&str> = wanted.iter().map(|client| client.guide(plan)).collect();
        for guide in guides {
            block::plan(plan, guide)?;
        }
        let folders: BTreeSet<&str> = wanted.iter().map(|client| client.skills()).collect();
        for folder in folders {
            skill::plan(plan, folder)?;
        }
        Ok(())
    }

    fn report(&self, steps: &[Step], screen: &mut Screen) {
        if self.json {
            screen.json(&steps);
            return;
        }
        for Step { file, what, note, .. } in steps {
            let (style, word) = match what {
                What::Created => (Style::Good, "created  "),
                What::Updated => (Style::Good, "updated  "),
                What::Unchanged => (Style::Faint, "unchanged"),
                What::Kept => (Style::Warning, "kept     "),
            };
            let note = note.map(|note| format!(" ({note})")).unwrap_or_default();
            screen.line(&format!("{} {file}{note}", screen.styled(style, word)));
        }
        screen.line(if self.dry_run {
            "\nThis was a dry run: nothing was written."
        } else if self.no_content {
            "\nNext: run `rutter doctor`, and start your client in this folder."
        } else {
            "\nNext: edit what is in rutter/, run `rutter doctor`, and start your client in this folder."
        });
    }
}
