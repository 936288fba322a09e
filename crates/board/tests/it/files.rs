//! The file: replaced, removed, locked, backed up, damaged.

use std::time::Duration;

use rutter_base::failure::Kind;
use rutter_board::{Options, TaskId};

use crate::{Project, actor, new_task, open, sqlite, told};

#[tokio::test]
async fn a_file_that_is_put_in_its_place_is_noticed() {
    let (project, other) = (Project::new().await, Project::new().await);
    project.task_named("here").await;
    other.task_named("there").await;
    let copy = project.folder.path().join("db/copy");
    other.back_up(&copy).await.unwrap();
    // As an operator would do it: the old one aside, with its log.
    for end in ["", "-wal", "-shm"] {
        let name = format!("{}{end}", project.database().display());
        let _ = std::fs::rename(&name, format!("{name}.old"));
    }
    std::fs::rename(&copy, project.database()).unwrap();
    assert_eq!(project.task(TaskId(1)).await.unwrap().title, "there");
    assert_eq!(project.task_named("next").await.id, TaskId(2));
    assert_eq!(project.again().task(TaskId(2)).await.unwrap().title, "next");
}

#[tokio::test]
async fn a_file_that_is_removed_is_noticed_and_not_begun_anew() {
    let project = Project::new().await;
    project.task_named("x").await;
    std::fs::remove_file(project.database()).unwrap();
    for outcome in [
        project.task(TaskId(1)).await.map(drop),
        project.create_task(&actor(), new_task("y")).await.map(drop),
    ] {
        let (kind, text) = told(outcome);
        assert_eq!(kind, Kind::Refused);
        assert!(text.contains("was removed while it was open"), "{text}");
    }
    assert!(!project.database().exists());
}

#[tokio::test]
async fn links_that_lead_out_are_refused() {
    let (project, other) = (Project::untouched(), Project::new().await);
    std::fs::create_dir(project.folder.path().join("db")).unwrap();
    std::os::unix::fs::symlink(other.database(), project.database()).unwrap();
    assert_eq!(told(project.project().await).0, Kind::Refused);
}

/// Another program that holds the lock until its input is closed.
fn holder(project: &Project) -> (std::process::Child, std::process::ChildStdin) {
    use std::io::{BufRead, BufReader};
    use std::process::{Command, Stdio};
    let python = "import sqlite3,sys\nc=sqlite3.connect(sys.argv[1],isolation_level=None)\n\
        c.execute('begin immediate')\nprint('held',flush=True)\nsys.stdin.read()\nc.execute('rollback')";
    let mut child = Command::new("python3")
        .args(["-c", python])
        .arg(project.database())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    assert_eq!(line, "held\n");
    let input = child.stdin.take().unwrap();
    (child, input)
}

#[tokio::test]
async fn a_lock_that_is_released_in_time_is_waited_for() {
    let project = Project::new().await;
    let (mut child, input) = holder(&project);
    let board = std::sync::Arc::new(project.again());
    let waiting = tokio::spawn({
        let board = board.clone();
        async move { board.create_task(&actor(), new_task("x")).await }
    });
    // Reading goes on meanwhile.
    assert_eq!(board.progress().await.unwrap().total, 0);
    tokio::time::sleep(Duration::from_millis(400)).await;
    assert!(!waiting.is_finished());
    drop(input);
    assert_eq!(waiting.await.unwrap().unwrap().id, TaskId(1));
    child.wait().unwrap();
}

#[tokio::test]
async fn a_lock_that_stays_is_said_to_be_busy() {
    let project = Project::new().await;
    let (mut child, input) = holder(&project);
    let options = Options { patience: Duration::from_millis(200), ..Options::default() };
    let board = open(project.folder.path(), options);
    assert_eq!(
        told(board.create_task(&actor(), new_task("x")).await),
        (Kind::Busy, "the board is busy; try again".into())
    );
    drop(input);
    child.wait().unwrap();
    board.create_task(&actor(), new_task("x")).await.unwrap();
}

#[tokio::test]
async fn a_backup_brings_everything_back() {
    let project = Project::new().await;
    let (a, b) = (project.task_named("a").await.id, project.task_named("b").await.id);
    let backup = project.folder.path().join("backup.db");
    project.back_up(&backup).await.unwrap();
    assert_eq!(told(project.back_up(&backup).await).0, Kind::Refused);
    let before = project.export().await.unwrap();
    project.delete_task(&actor(), a).await.unwrap();
    project.task_named("c").await;
    let kept = project.restore_backup(&actor(), &backup).await.unwrap();
    assert_eq!(project.export().await.unwrap(), before);
    assert_eq!(project.task(b).await.unwrap().title, "b");
    assert!(project.integrity().await.unwrap().is_whole());
    // What was there is in a backup of its own.
    let kept = project.folder.path().join("db").join(kept);
    project.restore_backup(&actor(), &kept).await.unwrap();
    assert_eq!(project.task(TaskId(3)).await.unwrap().title, "c");
    assert_eq!(
        told(project.restore_backup(&actor(), &project.folder.path().join("none")).await).0,
        Kind::Refused
    );
    std::fs::write(&backup, "no database at all, but a text of some length".repeat(50)).unwrap();
    assert_eq!(told(project.restore_backup(&actor(), &backup).await).0, Kind::Refused);
    assert_eq!(project.task(TaskId(3)).await.unwrap().title, "c");
}

#[tokio::test]
async fn what_others_left_behind_is_found() {
    let project = Project::new().await;
    let a = project.task_named("a").await.id;
    project.task_after("b", &[a]).await;
    assert!(project.integrity().await.unwrap().is_whole());
    sqlite(
        &project.database(),
        "update tasks set waiting_for = 5 where id = 1;\nupdate tasks set depends_on = '[9]' where id = 2;\n\
         pragma foreign_keys = off;\nupdate tasks set feature = 'gone' where id = 1",
    );
    let problems = project.integrity().await.unwrap().problems;
    assert_eq!(problems.len(), 4, "{problems:#?}");
    for part in ["refers to nothing in features", "counts its open", "not there", "does not name"] {
        assert!(problems.iter().any(|problem| problem.contains(part)), "{part}: {problems:?}");
    }
    sqlite(&project.database(), "update tasks set tags = 'no list' where id = 1");
    let (kind, text) = told(project.task(a).await);
    assert_eq!(kind, Kind::Internal);
    assert!(text.contains("a list of `tags` cannot be read"), "{text}");
}
