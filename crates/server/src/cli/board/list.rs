//! `rutter board list` and `rutter board next`

use clap::Args;
use rutter_base::text::one_line;
use rutter_board::{BoardError, Page, Ready, Status, TaskEntry, TaskFilter};
use serde::Serialize;

use super::super::FINE;
use super::super::screen::{Screen, Style};
use super::{At, Outcome, pages, shown_status, status};

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  rutter board list --status blocked
  rutter board list --feature auth --text token
  rutter board list --limit 1000 --json")]
pub(super) struct List {
    /// Only those with this status
    #[arg(long, value_name = "STATUS", value_parser = status())]
    status: Option<Status>,
    #[command(flatten)]
    of: Of,
    /// Only those with this tag
    #[arg(long, value_name = "TAG")]
    tag: Option<String>,
    /// Only those whose title or description has this text
    #[arg(long, value_name = "TEXT")]
    text: Option<String>,
    #[command(flatten)]
    part: Part,
}

#[derive(Debug, Args)]
#[command(
    after_help = "A task is ready when it is pending and everything that it depends on is done.

Examples:
  rutter board next
  rutter board next --discipline frontend --limit 1 --json"
)]
pub(super) struct Next {
    #[command(flatten)]
    of: Of,
    #[command(flatten)]
    part: Part,
}

/// Whose tasks.
#[derive(Debug, Args)]
struct Of {
    /// Only those of this feature
    #[arg(long, value_name = "NAME")]
    feature: Option<String>,
    /// Only those of this discipline
    #[arg(long, value_name = "NAME")]
    discipline: Option<String>,
}

/// Which part of a list.
#[derive(Debug, Args)]
struct Part {
    /// The most tasks
    #[arg(long, value_name = "COUNT", default_value_t = 100, value_parser = clap::value_parser!(i64).range(1..))]
    limit: i64,
    /// Those after this cursor, which the list before gave
    #[arg(long, value_name = "CURSOR")]
    cursor: Option<String>,
}

#[derive(Serialize)]
struct Tasks<'a> {
    tasks: &'a [TaskEntry],
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<&'a str>,
}

impl List {
    pub(super) async fn run(&self, at: &mut At<'_>) -> Outcome {
        let filter = TaskFilter {
            status: self.status,
            feature: self.of.feature.clone(),
            discipline: self.of.discipline.clone(),
            tag: self.tag.clone(),
            text: self.text.clone(),
        };
        let board = &at.board;
        let found = pages(self.part.limit, self.part.cursor.clone(), async |page| {
            board.list_tasks(filter.clone(), page).await
        });
        let found = found.await?;
        self.of.exist(at, &found).await?;
        print(at, &found, "no task is like that");
        Ok(FINE)
    }
}

impl Next {
    pub(super) async fn run(&self, at: &mut At<'_>) -> Outcome {
        let ready =
            Ready { feature: self.of.feature.clone(), discipline: self.of.discipline.clone() };
        let board = &at.board;
        let found = pages(self.part.limit, self.part.cursor.clone(), async |page| {
            board.list_ready_tasks(ready.clone(), page).await
        });
        let found = found.await?;
        self.of.exist(at, &found).await?;
        print(at, &found, "no task is ready");
        Ok(FINE)
    }
}

impl Of {
    /// Tells an empty list from a misspelt name.
    async fn exist(&self, at: &At<'_>, found: &Page<TaskEntry>) -> Result<(), BoardError> {
        if found.entries.is_empty() {
            if let Some(name) = &self.feature {
                at.board.feature(name).await?;
            }
            if let Some(name) = &self.discipline {
                at.board.discipline(name).await?;
            }
        }
        Ok(())
    }
}

fn print(at: &mut At<'_>, found: &Page<TaskEntry>, nothing: &str) {
    if at.json {
        let next_cursor = found.next.as_deref();
        at.screen.json(&Tasks { tasks: &found.entries, next_cursor });
        return;
    }
    if found.entries.is_empty() {
        at.screen.line(nothing);
    }
    let width = |text: fn(&TaskEntry) -> usize| found.entries.iter().map(text).max().unwrap_or(0);
    let ids = width(|entry| entry.id.to_string().len());
    let places = width(|entry| place(entry).len());
    for entry in &found.entries {
        at.screen.line(&row(at.screen, entry, ids, places));
    }
    if let Some(next) = &found.next {
        let more = format!("there are more: --cursor {next}, or a higher --limit");
        at.screen.line(&at.screen.styled(Style::Faint, &more));
    }
}

fn place(entry: &TaskEntry) -> String {
    format!("{}/{}", entry.feature, entry.discipline)
}

fn row(screen: &Screen, entry: &TaskEntry, ids: usize, places: usize) -> String {
    format!(
        "{:>ids$}  {}  {:8}  {:places$}  {}",
        entry.id.to_string(),
        shown_status(screen, entry.status),
        entry.priority.as_str(),
        place(entry),
        one_line(&entry.title)
    )
}
