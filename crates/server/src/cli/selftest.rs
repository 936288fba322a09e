//! `rutter selftest`: proves on the user's own disk that a board loses nothing.
//!
//! Processes of this very program write to a board in a temporary folder; some are killed at random
//! and others take their place. What they said was acknowledged is then looked for.

mod verdict;
mod writer;

use std::hash::{BuildHasher, RandomState};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use clap::Args;
use rutter_base::failure::{Kind, Report};
use rutter_base::root::Root;
use rutter_base::text::one_line;
use rutter_board::{Actor, Board, NewDiscipline, NewFeature, Options};

use super::screen::Screen;
use super::{FINE, FOUND_ERRORS, Surroundings, wait};
use verdict::Verdict;
use writer::Writer;

/// The feature and the discipline of the tasks.
const NAME: &str = "selftest";
/// How long a writer may take to end by itself.
const PATIENCE: Duration = Duration::from_secs(30);

#[derive(Debug, Args)]
#[command(after_help = "A temporary board is made in the folder and removed at the end.
Exit code: 0 when nothing was lost, 1 when something was lost, doubled or damaged.

Examples:
  rutter selftest
  rutter selftest --procs 16 --seconds 60 /mnt/share
  rutter selftest --ops 1000 --json")]
pub(super) struct Selftest {
    /// A folder on the disk in question [default: the project's folder]
    #[arg(value_name = "DIR")]
    folder: Option<PathBuf>,
    /// How many processes write at once
    #[arg(long, value_name = "COUNT", default_value_t = 8, value_parser = clap::value_parser!(u16).range(1..=64))]
    procs: u16,
    /// How long they write, at most
    #[arg(long, value_name = "SECONDS", default_value_t = 10, value_parser = clap::value_parser!(u64).range(1..=3600))]
    seconds: u64,
    /// How many acknowledged writes are enough [default: as many as there is time for]
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u64).range(1..))]
    ops: Option<u64>,
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// Be one of the processes
    #[arg(long, hide = true, value_name = "NAME")]
    writer: Option<String>,
}

impl Selftest {
    pub(super) fn run(
        &self,
        surroundings: &Surroundings,
        screen: &mut Screen,
    ) -> Result<u8, Report> {
        if let Some(name) = &self.writer {
            wait(writer::write(&surroundings.folder, name))?;
            return Ok(FINE);
        }
        let place = self
            .folder
            .as_ref()
            .map_or_else(|| surroundings.folder.clone(), |folder| surroundings.folder.join(folder));
        let temporary = tempfile::Builder::new()
            .prefix(".rutter-selftest-")
            .tempdir_in(&place)
            .map_err(|error| cannot_use(self.folder.as_deref(), &error))?;
        let verdict = wait(self.try_out(temporary.path()))?;
        if let Err(error) = temporary.close() {
            let left = "a folder `.rutter-selftest-…` is left and can be removed";
            Screen::stderr().line(&format!("rutter: {left} ({})", error.kind()));
        }
        if self.json {
            screen.json(&verdict);
        } else {
            verdict.print(screen);
        }
        Ok(if verdict.is_fine() { FINE } else { FOUND_ERRORS })
    }

    async fn try_out(&self, folder: &Path) -> Result<Verdict, Report> {
        let root = Root::open(folder).map_err(|error| cannot_use(None, &error))?;
        let board = Board::new(&root, Options::default());
        let actor = Actor::of("selftest");
        let (name, display_name) = (NAME.to_owned(), NAME.to_owned());
        let feature = NewFeature { name: name.clone(), display_name, ..NewFeature::default() };
        board.create_feature(&actor, feature).await?;
        let discipline = NewDiscipline {
            name: name.clone(),
            display_name: name,
            icon: "circle".into(),
            color: "#808080".into(),
            ..NewDiscipline::default()
        };
        board.create_discipline(&actor, discipline).await?;
        let began = Instant::now();
        let (ended, kills) = self.let_write(folder, began).await?;
        let took = began.elapsed();
        let mut verdict = Verdict::new(usize::from(self.procs), kills, took);
        for writer in ended {
            verdict.hear(writer);
        }
        verdict.compare(&board.export().await?, &board.integrity().await?);
        Ok(verdict)
    }

    /// Starts the writers, kills some, and ends the others. Gives what all of them said.
    async fn let_write(
        &self,
        folder: &Path,
        began: Instant,
    ) -> Result<(Vec<writer::Heard>, usize), Report> {
        let counter = writer::Counter::default();
        let mut ended = Vec::new();
        let mut writers = Vec::new();
        for number in 0..self.procs {
            writers.push(Writer::start(folder, &number.to_string(), &counter)?);
        }
        let mut kills = 0;
        let mut stop = std::pin::pin!(asked_to_end());
        loop {
            let enough = self.ops.is_some_and(|ops| counter.count() >= ops);
            let late = began.elapsed() >= Duration::from_secs(self.seconds);
            if enough || late {
                break;
            }
            tokio::select! {
                () = tokio::time::sleep(Duration::from_millis(20 + random(200))) => {}
                () = &mut stop => break,
            }
            let place = usize::try_from(random(u64::from(self.procs))).unwrap_or_default();
            let Some(slot) = writers.get_mut(place) else { continue };
            // One that has not said anything yet would tell nothing by its death.
            if !slot.has_spoken() {
                continue;
            }
            kills += 1;
            let successor = Writer::start(folder, &format!("{place}-{kills}"), &counter)?;
            ended.push(std::mem::replace(slot, successor).kill());
        }
        let deadline = Instant::now() + PATIENCE;
        for writer in &mut writers {
            writer.ask_to_end();
        }
        for writer in writers {
            ended.push(writer.wait(deadline).await);
        }
        Ok((ended, kills))
    }
}

/// Ends when somebody asks the program to end: what was made is then removed as well.
async fn asked_to_end() {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        if let Ok(mut terminate) = signal(SignalKind::terminate()) {
            tokio::select! {
                _ = terminate.recv() => {}
                _ = tokio::signal::ctrl_c() => {}
            }
            return;
        }
    }
    let _ = tokio::signal::ctrl_c().await;
}

/// A number below `below`. A hasher's keys are random, and nothing here needs better randomness.
fn random(below: u64) -> u64 {
    RandomState::new().hash_one(0) % below.max(1)
}

fn cannot_use(folder: Option<&Path>, error: &std::io::Error) -> Report {
    let folder = folder.map_or_else(
        || "the folder".to_owned(),
        |folder| format!("`{}`", one_line(&folder.display().to_string())),
    );
    Report::new(Kind::Invalid, format!("{folder} cannot be used: {}", error.kind()))
        .hint("name a folder that can be written to")
}
