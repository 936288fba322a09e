//! `rutter board stats`

use clap::Args;
use rutter_base::text::one_line;
use rutter_board::{Progress, Project, Status};
use serde::Serialize;

use super::super::FINE;
use super::super::screen::{Screen, Style};
use super::{At, Outcome, style};

/// How long a bar is.
const WIDTH: i64 = 24;

#[derive(Debug, Args)]
#[command(after_help = "Example:
  rutter board stats --json | jq .by_feature")]
pub(super) struct Stats {}

#[derive(Serialize)]
struct Figures {
    #[serde(flatten)]
    project: Project,
    #[serde(flatten)]
    progress: Progress,
}

impl Stats {
    pub(super) async fn run(&self, at: &mut At<'_>) -> Outcome {
        let project = at.board.project().await?;
        let figures = Figures { project, progress: at.board.progress().await? };
        if at.json {
            at.screen.json(&figures);
        } else {
            print(at.screen, &figures);
        }
        Ok(FINE)
    }
}

fn print(screen: &mut Screen, Figures { project, progress }: &Figures) {
    screen.line(&screen.styled(Style::Heading, &one_line(&project.title)));
    let width = progress.by_feature.keys().map(String::len).max().unwrap_or_default().max(5);
    bar(screen, "all", width, progress.done, progress.total);
    for (name, of) in &progress.by_feature {
        bar(screen, &one_line(name), width, of.done, of.total);
    }
    let counts: Vec<String> = Status::ALL
        .iter()
        .filter_map(|status| {
            let count = progress.by_status.get(status.as_str()).filter(|count| **count > 0)?;
            let text = format!("{count} {status}");
            Some(style(*status).map_or(text.clone(), |style| screen.styled(style, &text)))
        })
        .collect();
    if !counts.is_empty() {
        screen.line(&format!("\n{}", counts.join(", ")));
    }
}

fn bar(screen: &mut Screen, name: &str, width: usize, done: i64, total: i64) {
    let length = |part: i64| usize::try_from(part).unwrap_or_default();
    let filled = length(done * WIDTH / total.max(1));
    let full = screen.styled(Style::Good, &"█".repeat(filled));
    let rest = screen.styled(Style::Faint, &"░".repeat(length(WIDTH) - filled));
    let percent = done * 100 / total.max(1);
    screen.line(&format!("{name:width$}  {full}{rest}  {percent:>3} %  {done} of {total}"));
}
