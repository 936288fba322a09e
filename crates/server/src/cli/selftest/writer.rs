//! The processes that write: what they do, and how they are started, heard and ended.

use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use rutter_base::failure::{Kind, Report};
use rutter_base::root::Root;
use rutter_board::{Actor, Board, BoardError, NewComment, NewTask, Options, Status};

use super::NAME;

/// How many failures end a writer.
const FAILURES: u32 = 3;

/// What a writer was told was done, as it says it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Said {
    Created { id: i64, title: String },
    Done { id: i64 },
    Commented { id: i64, title: String },
    Failed { reason: String },
}

impl Said {
    fn line(&self) -> String {
        match self {
            Self::Created { id, title } => format!("created {id} {title}"),
            Self::Done { id } => format!("done {id} -"),
            Self::Commented { id, title } => format!("commented {id} {title}"),
            Self::Failed { reason } => format!("failed 0 {reason}"),
        }
    }

    fn parse(line: &str) -> Option<Self> {
        let mut words = line.splitn(3, ' ');
        let (word, id, rest) = (words.next()?, words.next()?.parse().ok()?, words.next()?);
        match word {
            "created" => Some(Self::Created { id, title: rest.to_owned() }),
            "done" => Some(Self::Done { id }),
            "commented" => Some(Self::Commented { id, title: rest.to_owned() }),
            "failed" => Some(Self::Failed { reason: rest.to_owned() }),
            _ => None,
        }
    }
}

/// Writes until nobody listens any more. Every line says something that was acknowledged.
pub(super) async fn write(folder: &Path, name: &str) -> Result<(), Report> {
    let ending = Arc::new(AtomicBool::new(false));
    let told = Arc::clone(&ending);
    // The end of the input says that it is time, also when whoever started this has died.
    std::thread::spawn(move || {
        let _ = std::io::stdin().lock().read_to_end(&mut Vec::new());
        told.store(true, Ordering::Relaxed);
    });
    let root =
        Root::open(folder).map_err(|error| Report::new(Kind::Invalid, error.kind().to_string()))?;
    let board = Board::new(&root, Options::default());
    let mut failures = 0;
    let mut number = 0_u64;
    while !ending.load(Ordering::Relaxed) && failures < FAILURES {
        let outcome = step(&board, name, number).await;
        if let Err(error) = outcome {
            let reason = error.map_or_else(String::new, |error| Report::from(error).to_string());
            if reason.is_empty() || say(&Said::Failed { reason }).is_err() {
                break;
            }
            failures += 1;
        }
        number += 1;
    }
    Ok(())
}

/// One task, and now and then a move, a comment and a call that is repeated. Without an error in
/// the failure, nobody listens.
async fn step(board: &Board, name: &str, number: u64) -> Result<(), Option<BoardError>> {
    let actor = Actor::of("selftest");
    let title = format!("{name}-{number}");
    let new = || NewTask {
        feature: NAME.into(),
        discipline: NAME.into(),
        title: title.clone(),
        idempotency_key: Some(title.clone()),
        ..NewTask::default()
    };
    let id = board.create_task(&actor, new()).await?.id;
    tell(&Said::Created { id: id.0, title: title.clone() })?;
    if number.is_multiple_of(5) {
        let again = board.create_task(&actor, new()).await?.id;
        if again != id {
            let reason = format!("a repeated call made task {again} beside {id}");
            tell(&Said::Failed { reason })?;
        }
    }
    if number.is_multiple_of(3) {
        board.set_task_status(&actor, id, Status::Done).await?;
        tell(&Said::Done { id: id.0 })?;
    }
    if number.is_multiple_of(4) {
        let comment = NewComment {
            task: id,
            author: name.to_owned(),
            body: title.clone(),
            discipline: None,
            priority: None,
        };
        board.add_comment(&actor, comment).await?;
        tell(&Said::Commented { id: id.0, title })?;
    }
    Ok(())
}

fn tell(said: &Said) -> Result<(), Option<BoardError>> {
    say(said).map_err(|_| None)
}

fn say(said: &Said) -> std::io::Result<()> {
    let mut out = std::io::stdout().lock();
    writeln!(out, "{}", said.line())?;
    out.flush()
}

/// How much all writers together were told was done.
#[derive(Debug, Clone, Default)]
pub(super) struct Counter(Arc<AtomicU64>);

impl Counter {
    pub(super) fn count(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// What was heard of a writer, and how it ended.
#[derive(Debug)]
pub(super) struct Heard {
    pub(super) said: Vec<Said>,
    /// It did not end by itself when it was asked to.
    pub(super) stuck: bool,
}

/// A process that writes. It never outlives this.
#[derive(Debug)]
pub(super) struct Writer {
    child: Child,
    input: Option<ChildStdin>,
    spoken: Arc<AtomicBool>,
    lines: Option<JoinHandle<Vec<Said>>>,
}

impl Writer {
    pub(super) fn start(folder: &Path, name: &str, counter: &Counter) -> Result<Self, Report> {
        let failed = |error: std::io::Error| {
            Report::new(Kind::Internal, format!("a process cannot be started: {}", error.kind()))
                .hint("try fewer with `--procs`")
        };
        let program = std::env::current_exe().map_err(failed)?;
        let mut child = Command::new(program)
            .arg("--directory")
            .arg(folder)
            .args(["selftest", "--writer", name])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .map_err(failed)?;
        let spoken = Arc::new(AtomicBool::new(false));
        let lines = child.stdout.take().map(|out| {
            let (spoken, counter) = (Arc::clone(&spoken), counter.clone());
            std::thread::spawn(move || listen(BufReader::new(out), &spoken, &counter))
        });
        Ok(Self { input: child.stdin.take(), child, spoken, lines })
    }

    pub(super) fn has_spoken(&self) -> bool {
        self.spoken.load(Ordering::Relaxed)
    }

    /// Kills it, as if the power had gone for it alone.
    pub(super) fn kill(mut self) -> Heard {
        let _ = self.child.kill();
        let _ = self.child.wait();
        self.heard(false)
    }

    pub(super) fn ask_to_end(&mut self) {
        self.input = None;
    }

    /// Waits until it has ended, and kills it when it is late.
    pub(super) async fn wait(mut self, deadline: Instant) -> Heard {
        loop {
            if let Ok(Some(_)) = self.child.try_wait() {
                return self.heard(false);
            }
            if Instant::now() >= deadline {
                let _ = self.child.kill();
                let _ = self.child.wait();
                return self.heard(true);
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }

    fn heard(&mut self, stuck: bool) -> Heard {
        let said = self.lines.take().and_then(|lines| lines.join().ok());
        Heard { said: said.unwrap_or_default(), stuck }
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Reads lines until there are no more. One that was not finished was not said.
fn listen(mut out: impl BufRead, spoken: &AtomicBool, counter: &Counter) -> Vec<Said> {
    let mut all = Vec::new();
    let mut line = String::new();
    while out.read_line(&mut line).is_ok_and(|read| read > 0) && line.ends_with('\n') {
        if let Some(said) = Said::parse(line.trim_end_matches('\n')) {
            spoken.store(true, Ordering::Relaxed);
            if !matches!(said, Said::Failed { .. }) {
                counter.0.fetch_add(1, Ordering::Relaxed);
            }
            all.push(said);
        }
        line.clear();
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_finished_lines_count() {
        let counter = Counter::default();
        let spoken = AtomicBool::new(false);
        let said = [
            Said::Created { id: 1, title: "a b".into() },
            Said::Done { id: 1 },
            Said::Failed { reason: "the board is busy".into() },
        ];
        let mut text: String = said.iter().map(|said| said.line() + "\n").collect();
        text.push_str("created 2 hal");
        assert_eq!(listen(text.as_bytes(), &spoken, &counter), said);
        assert_eq!((counter.count(), spoken.load(Ordering::Relaxed)), (2, true));
    }
}
