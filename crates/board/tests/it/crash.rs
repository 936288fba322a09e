//! Processes that are killed while they write, and disks that are full.
//!
//! The processes are this very test binary: [`worker`] does nothing unless it is told to by a
//! variable. It says what it was told was done, line by line, and is believed.

use std::collections::BTreeMap;
use std::hash::{BuildHasher, RandomState};
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use rutter_board::{LogFilter, NewComment, Options, Status, TaskId};

use crate::{Project, actor, new_task, open};

const FOLDER: &str = "RUTTER_TEST_WORKER_FOLDER";
const NAME: &str = "RUTTER_TEST_WORKER_NAME";
/// How often the writers are killed; `scripts/test` asks for more.
const CYCLES: &str = "RUTTER_TEST_CRASHES";

/// Writes without end, when a test starts it as a process of its own.
#[tokio::test]
async fn worker() {
    let (Ok(folder), Ok(name)) = (std::env::var(FOLDER), std::env::var(NAME)) else { return };
    let board = open(Path::new(&folder), Options::default());
    let mut failures = 0;
    for n in 0.. {
        let title = format!("{name}-{n}-{}", "x".repeat(200));
        let outcome = async {
            let id = board.create_task(&actor(), new_task(&title)).await?.id;
            println!("\ncreated {id} {title}");
            if n % 3 == 0 {
                board.set_task_status(&actor(), id, Status::Done).await?;
                println!("\ndone {id} -");
            }
            if n % 4 == 0 {
                let said = NewComment {
                    task: id,
                    author: name.clone(),
                    body: title.clone(),
                    discipline: None,
                    priority: None,
                };
                board.add_comment(&actor(), said).await?;
                println!("\nsaid {id} {title}");
            }
            Ok::<_, rutter_board::BoardError>(())
        };
        if let Err(error) = outcome.await {
            println!("\nfailed {n} {}", rutter_base::failure::Report::from(error));
            failures += 1;
            if failures == 3 {
                return;
            }
        }
    }
}

fn command() -> Command {
    Command::new(std::env::current_exe().unwrap())
}

fn start(mut command: Command, folder: &Path, name: &str) -> Child {
    command
        .args(["--exact", "crash::worker", "--nocapture"])
        .env(FOLDER, folder)
        .env(NAME, name)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

/// What a worker said: the word, the number, the rest. A line that it could not finish is none.
fn said(child: &mut Child) -> impl Iterator<Item = (String, i64, String)> + use<> {
    let mut reader = BufReader::new(child.stdout.take().unwrap());
    let lines = std::iter::from_fn(move || {
        let mut line = String::new();
        let read = reader.read_line(&mut line).unwrap_or_default();
        (read > 0 && line.ends_with('\n')).then_some(line)
    });
    lines.filter_map(|line| {
        let mut words = line.trim_end().splitn(3, ' ');
        let (word, number, rest) = (words.next()?, words.next()?, words.next()?);
        let known = ["created", "done", "said", "failed"].contains(&word);
        known.then_some(())?;
        Some((word.to_owned(), number.parse().ok()?, rest.to_owned()))
    })
}

fn random(below: u64) -> u64 {
    RandomState::new().hash_one(0) % below
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_that_was_acknowledged_is_lost_when_writers_are_killed() {
    let cycles: u32 = std::env::var(CYCLES).map_or(5, |cycles| cycles.parse().unwrap());
    let project = Project::new().await;
    let mut created: BTreeMap<i64, String> = BTreeMap::new();
    let (mut done, mut comments) = (Vec::new(), Vec::new());
    for cycle in 0..cycles {
        let mut workers = Vec::new();
        for worker in 0..4 {
            let mut child = start(command(), project.folder.path(), &format!("{cycle}-{worker}"));
            let lines = said(&mut child);
            workers.push((child, std::thread::spawn(move || lines.collect::<Vec<_>>())));
        }
        std::thread::sleep(Duration::from_millis(20 + random(150)));
        for (child, _) in &mut workers {
            child.kill().unwrap();
            child.wait().unwrap();
        }
        for (_, lines) in workers {
            for (word, id, text) in lines.join().unwrap() {
                match word.as_str() {
                    "created" => assert_eq!(created.insert(id, text), None, "task {id} twice"),
                    "done" => done.push(id),
                    "said" => comments.push((id, text)),
                    _ => panic!("{word} {id} {text}"),
                }
            }
        }
        if cycle % 20 == 19 || cycle + 1 == cycles {
            let board = project.again();
            let found = board.integrity().await.unwrap();
            assert!(found.is_whole(), "after {cycle}: {:?}", found.problems);
            // Every change has its row, whoever was killed.
            let log = board.log(LogFilter::default(), 1).await.unwrap();
            assert!(
                log[0].id >= i64::try_from(created.len() + done.len() + comments.len()).unwrap()
            );
        }
    }
    assert!(created.len() > usize::try_from(cycles).unwrap(), "{} tasks", created.len());
    for (id, title) in &created {
        assert_eq!(&project.task(TaskId(*id)).await.unwrap().title, title);
    }
    for id in &done {
        assert_eq!(project.task(TaskId(*id)).await.unwrap().status, Status::Done);
    }
    for (id, text) in &comments {
        let task = project.task(TaskId(*id)).await.unwrap();
        assert!(task.comments.iter().any(|comment| comment.body == *text), "comment on {id}");
    }
    println!(
        "{cycles} cycles: {} tasks, {} done, {} comments",
        created.len(),
        done.len(),
        comments.len()
    );
}

/// Fills what there is room for, and gives what was created and what was said then.
fn fill(command: Command, folder: &Path) -> (Vec<i64>, String) {
    let mut child = start(command, folder, "filler");
    let mut created = Vec::new();
    let mut failure = String::new();
    for (word, id, text) in said(&mut child) {
        match word.as_str() {
            "created" => created.push(id),
            "failed" => failure = text,
            _ => {}
        }
    }
    child.wait().unwrap();
    (created, failure)
}

async fn check_after_filling(folder: &Path, created: &[i64], failure: &str) {
    assert!(!created.is_empty());
    assert_eq!(failure, "the disk is full; nothing was changed; free some space and try again");
    let board = open(folder, Options::default());
    for id in created {
        board.task(TaskId(*id)).await.unwrap();
    }
    let new = board.create_task(&actor(), new_task("after")).await.unwrap();
    assert!(created.iter().all(|id| *id < new.id.0));
    let found = board.integrity().await.unwrap();
    assert!(found.is_whole(), "{:?}", found.problems);
}

#[tokio::test]
async fn files_that_may_not_grow_lead_to_a_clear_error_and_back() {
    let project = Project::new().await;
    // Half of a mebibyte; the signal that would end the process is ignored.
    let mut shell = Command::new("sh");
    shell.args(["-c", "trap '' XFSZ; ulimit -f 1024; exec \"$0\" \"$@\""]);
    shell.arg(std::env::current_exe().unwrap());
    let (created, failure) = fill(shell, project.folder.path());
    check_after_filling(project.folder.path(), &created, &failure).await;
}

#[tokio::test]
async fn a_full_disk_leads_to_a_clear_error_and_back() {
    let folder = tempfile::tempdir().unwrap();
    let mount = |size: &str| {
        let options = format!("size={size}");
        let mut mount = Command::new("mount");
        mount.args(["-t", "tmpfs", "-o", &options, "tmpfs"]).arg(folder.path());
        mount.stderr(Stdio::null()).status().is_ok_and(|status| status.success())
    };
    if !mount("1m") {
        // Only a superuser may; the test above shows the same without.
        return;
    }
    let mounted = Mounted(folder.path());
    let project = open(folder.path(), Options::default());
    let seed = Project::new().await.export().await.unwrap();
    project.import(&actor(), &seed).await.unwrap();
    drop(project);
    let (created, failure) = fill(command(), folder.path());
    // Space comes free.
    let more = Command::new("mount").args(["-o", "remount,size=8m"]).arg(folder.path()).status();
    assert!(more.unwrap().success());
    check_after_filling(folder.path(), &created, &failure).await;
    drop(mounted);
}

/// Unmounts, whatever becomes of the test.
struct Mounted<'a>(&'a Path);

impl Drop for Mounted<'_> {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(self.0).status();
    }
}
