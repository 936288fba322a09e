//! `rutter board`: the board, for a person at a terminal.

mod edit;
mod exchange;
mod explain;
mod graph;
mod journal;
mod list;
mod maintain;
mod show;
mod stats;

use std::path::{Path, PathBuf};

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, Subcommand};
use rutter_base::failure::Report;
use rutter_base::root::Root;
use rutter_board::{
    Board as Store, BoardError, DisciplineEntry, FeatureEntry, Options, Page, PageRequest,
    Priority, Status,
};

use super::screen::{Screen, Style};
use super::{Surroundings, wait};
use crate::session::prepare::no_board;
use crate::setup::{Request, Setup};

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  rutter board next                        what can be worked on now
  rutter board list --status in_progress   who is at what
  rutter board add \"Log in\" --feature auth --discipline backend
  rutter board move 7 done
  rutter board graph --format svg > board.svg
  rutter board log --task 7                who changed it, and how
  rutter board undo                        take the latest change back")]
pub(super) struct Board {
    #[command(subcommand)]
    verb: Verb,
    /// The configuration file [default: rutter.yaml or mcp-metadata.yaml, if there is one]
    #[arg(short, long, global = true, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Print JSON
    #[arg(long, global = true)]
    json: bool,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// List tasks
    List(list::List),
    /// List the tasks that can be worked on, most important first
    Next(list::Next),
    /// Show a task, a feature or a discipline
    Show(show::Show),
    /// Add a task
    Add(edit::Add),
    /// Move a task to another status
    Move(edit::Move),
    /// Draw what depends on what
    Graph(graph::Graph),
    /// Say how far the project is
    Stats(stats::Stats),
    /// Show who changed what
    Log(journal::Log),
    /// Take a change back
    Undo(journal::Undo),
    /// Write a copy of the whole board to a file
    Backup(maintain::Backup),
    /// Bring back a deleted record, or everything that a backup holds
    Restore(maintain::Restore),
    /// Examine the whole database
    Integrity(maintain::Integrity),
    /// Write the whole board as lines of JSON
    Export(exchange::Export),
    /// Fill the board from a file
    Import(exchange::Import),
}

/// What every verb works with.
struct At<'a> {
    board: Store,
    /// The board's folder.
    root: Root,
    /// Where names of files begin.
    folder: &'a Path,
    json: bool,
    screen: &'a mut Screen,
}

/// Why a verb did not do it.
enum Trouble {
    Board(BoardError),
    Told(Report),
}

impl From<BoardError> for Trouble {
    fn from(error: BoardError) -> Self {
        Self::Board(error)
    }
}

impl From<Report> for Trouble {
    fn from(report: Report) -> Self {
        Self::Told(report)
    }
}

type Outcome = Result<u8, Trouble>;

impl Board {
    pub(super) fn run(
        &self,
        surroundings: &Surroundings,
        screen: &mut Screen,
    ) -> Result<u8, Report> {
        let request = Request { config: self.config.clone(), ..Request::default() };
        let setup = Setup::new(&request, &surroundings.environment, &surroundings.folder)?;
        let root = setup.board.ok_or_else(no_board)?;
        let board = Store::new(&root, Options::default());
        let folder = &surroundings.folder;
        let mut at = At { board, root, folder, json: self.json, screen };
        wait(async {
            match self.verb.run(&mut at).await {
                Ok(code) => Ok(code),
                Err(Trouble::Told(report)) => Err(report),
                Err(Trouble::Board(error)) => Err(explain::explain(&at.board, error).await),
            }
        })
    }
}

impl Verb {
    async fn run(&self, at: &mut At<'_>) -> Outcome {
        match self {
            Self::List(verb) => verb.run(at).await,
            Self::Next(verb) => verb.run(at).await,
            Self::Show(verb) => verb.run(at).await,
            Self::Add(verb) => verb.run(at).await,
            Self::Move(verb) => verb.run(at).await,
            Self::Graph(verb) => verb.run(at).await,
            Self::Stats(verb) => verb.run(at).await,
            Self::Log(verb) => verb.run(at).await,
            Self::Undo(verb) => verb.run(at).await,
            Self::Backup(verb) => verb.run(at).await,
            Self::Restore(verb) => verb.run(at).await,
            Self::Integrity(verb) => verb.run(at).await,
            Self::Export(verb) => verb.run(at).await,
            Self::Import(verb) => verb.run(at).await,
        }
    }
}

/// A status as an argument: the names are in the help, and a misspelt one is suggested.
fn status() -> impl TypedValueParser<Value = Status> {
    let names = Status::ALL.iter().map(|status| status.as_str());
    PossibleValuesParser::new(names).try_map(|name| Status::parse(&name).ok_or("expected a status"))
}

/// A priority as an argument.
fn priority() -> impl TypedValueParser<Value = Priority> {
    let names = Priority::ALL.iter().map(|priority| priority.as_str());
    PossibleValuesParser::new(names)
        .try_map(|name| Priority::parse(&name).ok_or("expected a priority"))
}

/// How a status looks.
fn style(status: Status) -> Option<Style> {
    match status {
        Status::Done => Some(Style::Good),
        Status::InProgress => Some(Style::Warning),
        Status::Blocked => Some(Style::Bad),
        Status::Draft | Status::Skipped => Some(Style::Faint),
        Status::Pending => None,
    }
}

/// A status in its colour, padded.
fn shown_status(screen: &Screen, status: Status) -> String {
    let padded = format!("{:11}", status.as_str());
    style(status).map_or(padded.clone(), |style| screen.styled(style, &padded))
}

/// The most entries of one page of the store.
const PAGE: i64 = 200;

/// Asks for page after page until there are `limit` entries or no more.
async fn pages<T>(
    limit: i64,
    mut cursor: Option<String>,
    mut page: impl AsyncFnMut(PageRequest) -> Result<Page<T>, BoardError>,
) -> Result<Page<T>, BoardError> {
    let mut entries = Vec::new();
    loop {
        let left = limit - i64::try_from(entries.len()).unwrap_or(limit);
        if left <= 0 {
            return Ok(Page { entries, next: cursor });
        }
        let found =
            page(PageRequest { cursor: cursor.take(), limit: Some(left.min(PAGE)) }).await?;
        entries.extend(found.entries);
        cursor = found.next;
        if cursor.is_none() {
            return Ok(Page { entries, next: None });
        }
    }
}

async fn features(board: &Store) -> Result<Vec<FeatureEntry>, BoardError> {
    let all = pages(i64::MAX, None, async |page| board.list_features(page).await).await?;
    Ok(all.entries)
}

async fn disciplines(board: &Store) -> Result<Vec<DisciplineEntry>, BoardError> {
    let all = pages(i64::MAX, None, async |page| board.list_disciplines(page).await).await?;
    Ok(all.entries)
}
