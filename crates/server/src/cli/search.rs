//! `rutter search`

use clap::Args;
use rutter_base::failure::Report;
use serde::Serialize;

use super::indexing::index_everything;
use super::screen::{Screen, Style};
use super::{FINE, Serving, Surroundings};

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  rutter search rolling update
  rutter search '\"exact words\"' --source docs
  rutter search getUserName --json")]
pub(super) struct Search {
    /// What to look for
    #[arg(required = true)]
    query: Vec<String>,
    #[command(flatten)]
    serving: Serving,
    /// Only this source
    #[arg(long, value_name = "NAME")]
    source: Option<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Row {
    uri: String,
    section: Option<String>,
    name: String,
    source: String,
    snippet: String,
    score: f32,
}

impl Search {
    pub(super) fn run(
        &self,
        surroundings: &Surroundings,
        screen: &mut Screen,
    ) -> Result<u8, Report> {
        let setup = self.serving.setup(surroundings)?;
        let settings = setup.app.search_settings();
        let library = setup.app.library()?;
        // A person waits for the whole answer; an agent would be told that more is to come.
        index_everything(library)?;
        let answer = library.search(
            &self.query.join(" "),
            self.source.as_deref(),
            settings.max_results,
            settings.boosts,
        )?;
        if self.json {
            let rows = answer.hits.into_iter().map(|hit| Row {
                uri: hit.uri,
                section: hit.anchor,
                name: hit.name,
                source: hit.source,
                snippet: hit.snippet.replace("**", ""),
                score: hit.score,
            });
            screen.json(&rows.collect::<Vec<_>>());
            return Ok(FINE);
        }
        if answer.hits.is_empty() {
            screen.line("nothing found; try other words");
        }
        for hit in &answer.hits {
            let uri = hit
                .anchor
                .as_ref()
                .map_or_else(|| hit.uri.clone(), |anchor| format!("{}#{anchor}", hit.uri));
            screen.line(&format!(
                "{}  {}",
                screen.styled(Style::Heading, &hit.name),
                screen.styled(Style::Faint, &uri)
            ));
            screen.line(&format!("  {}", highlighted(&hit.snippet, screen)));
        }
        Ok(FINE)
    }
}

/// The snippet with its matches in colour instead of asterisks.
fn highlighted(snippet: &str, screen: &Screen) -> String {
    let parts = snippet.split("**").enumerate();
    parts
        .map(
            |(index, part)| {
                if index % 2 == 1 { screen.styled(Style::Good, part) } else { part.to_owned() }
            },
        )
        .collect()
}
