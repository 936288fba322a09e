//! `rutter tools`

use clap::Args;
use rutter_base::failure::Report;
use serde::Serialize;

use super::screen::{Screen, Style};
use super::{FINE, Serving, Surroundings, wait};
use crate::cost::Cost;
use crate::module::ModuleId;
use crate::scope::Scope;
use crate::session::Context;
use crate::session::prepare::{no_board, overrides};
use crate::setup::Setup;

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  rutter tools                    everything that this folder serves
  rutter tools --profile acm      what a session with that profile would see
  rutter tools --recipe task_execution --discipline frontend
  rutter tools --read-only --json")]
pub(super) struct Tools {
    #[command(flatten)]
    serving: Serving,
    /// What a session with this recipe would see
    #[arg(long, value_name = "RECIPE")]
    recipe: Option<String>,
    /// What a session of this discipline would see
    #[arg(long, value_name = "NAME")]
    discipline: Option<String>,
    /// What a session on this feature would see
    #[arg(long, value_name = "NAME")]
    feature: Option<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Listing {
    tools: Vec<Row>,
    total: Cost,
}

#[derive(Serialize)]
struct Row {
    name: String,
    module: ModuleId,
    #[serde(flatten)]
    cost: Cost,
}

impl Tools {
    pub(super) fn run(
        &self,
        surroundings: &Surroundings,
        screen: &mut Screen,
    ) -> Result<u8, Report> {
        let setup = self.serving.setup(surroundings)?;
        let scope = wait(self.scope(&setup))?;
        let app = &setup.app;
        let tools = app.tools(&scope);
        let rows = tools.iter().map(|entry| Row {
            name: entry.name().to_owned(),
            module: entry.module(),
            cost: Cost::of_definition(&entry.narrowed(app, &scope)),
        });
        let tools: Vec<Row> = rows.collect();
        let total = tools.iter().map(|row| row.cost).sum();
        let listing = Listing { tools, total };
        if self.json {
            screen.json(&listing);
        } else {
            print(&listing, screen);
        }
        Ok(FINE)
    }
}

impl Tools {
    /// What the session that was asked for may see, or the one that a server here would run in.
    async fn scope(&self, setup: &Setup) -> Result<Scope, Report> {
        if self.recipe.is_none() && self.discipline.is_none() && self.feature.is_none() {
            let view = setup.app.view().await;
            return match view.closed {
                Some(report) => Err((*report).clone()),
                None => Ok((*view.scope).clone()),
            };
        }
        let recipe = self.recipe.as_deref().map(|name| setup.recipes.get(name)).transpose()?;
        let board = setup.app.board().map_err(|_| no_board())?;
        let discipline = match &self.discipline {
            Some(name) => Some(board.discipline(name).await?),
            None => None,
        };
        if let Some(name) = &self.feature {
            board.feature(name).await?;
        }
        let context = Context {
            discipline: self.discipline.clone(),
            feature: self.feature.clone(),
            ..Context::default()
        };
        let session = context.scope(recipe).and(&overrides(discipline.as_ref()));
        Ok(setup.app.scope().and(&session))
    }
}

fn print(listing: &Listing, screen: &mut Screen) {
    let width = listing.tools.iter().map(|row| row.name.len()).max().unwrap_or(0).max(5);
    let heading = format!("{:width$}  {:10}  {:>6}  {:>6}", "tool", "module", "bytes", "tokens");
    screen.line(&screen.styled(Style::Heading, &heading));
    for Row { name, module, cost } in &listing.tools {
        let Cost { bytes, tokens } = cost;
        screen.line(&format!("{name:width$}  {:10}  {bytes:>6}  {tokens:>6}", module.as_str()));
    }
    let Cost { bytes, tokens } = listing.total;
    let count = match listing.tools.len() {
        1 => "1 tool".to_owned(),
        count => format!("{count} tools"),
    };
    let total = format!("{count:width$}  {:10}  {bytes:>6}  {tokens:>6}", "");
    screen.line(&screen.styled(Style::Heading, &total));
    screen.line(&screen.styled(Style::Faint, "tokens are estimated at 4 bytes each"));
}
