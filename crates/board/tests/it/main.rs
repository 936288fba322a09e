//! The board on a real database in a real folder.

#![expect(clippy::disallowed_methods, reason = "tests put hostile files in place")]
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod adopt;
mod claims;
mod crash;
mod exchange;
mod files;
mod hostile;
mod journal;
mod lists;
mod migration;
mod rules;

use rutter_base::failure::{Kind, Report};
use rutter_base::root::Root;
use rutter_board::{
    Actor, Board, BoardError, NewDiscipline, NewFeature, NewTask, Options, Task, TaskId, TaskPatch,
};

/// A board in a folder of its own.
pub(crate) struct Project {
    pub(crate) folder: tempfile::TempDir,
    pub(crate) board: Board,
}

impl std::ops::Deref for Project {
    type Target = Board;

    fn deref(&self) -> &Board {
        &self.board
    }
}

pub(crate) fn actor() -> Actor {
    Actor::of("test")
}

impl Project {
    /// A board that nothing was done with.
    pub(crate) fn untouched() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let board = open(folder.path(), Options::default());
        Self { folder, board }
    }

    /// A board with the feature `auth` and the discipline `backend`.
    pub(crate) async fn new() -> Self {
        let project = Self::untouched();
        project.feature_named("auth").await;
        project
            .create_discipline(
                &actor(),
                NewDiscipline {
                    name: "backend".into(),
                    display_name: "Backend".into(),
                    icon: "server".into(),
                    color: "#00f".into(),
                    ..NewDiscipline::default()
                },
            )
            .await
            .unwrap();
        project
    }

    pub(crate) async fn feature_named(&self, name: &str) {
        let new = NewFeature {
            name: name.into(),
            display_name: name.to_uppercase(),
            ..NewFeature::default()
        };
        self.create_feature(&actor(), new).await.unwrap();
    }

    /// A pending task that depends on others.
    pub(crate) async fn task_after(&self, title: &str, depends_on: &[TaskId]) -> Task {
        let fields = TaskPatch { depends_on: Some(depends_on.to_vec()), ..TaskPatch::default() };
        self.create_task(&actor(), NewTask { fields, ..new_task(title) }).await.unwrap()
    }

    pub(crate) async fn task_named(&self, title: &str) -> Task {
        self.task_after(title, &[]).await
    }

    pub(crate) fn database(&self) -> std::path::PathBuf {
        self.folder.path().join("db/ralph.db")
    }

    /// The same board, as another process would open it.
    pub(crate) fn again(&self) -> Board {
        open(self.folder.path(), Options::default())
    }
}

pub(crate) fn new_task(title: &str) -> NewTask {
    NewTask {
        feature: "auth".into(),
        discipline: "backend".into(),
        title: title.into(),
        ..NewTask::default()
    }
}

pub(crate) fn open(folder: &std::path::Path, options: Options) -> Board {
    Board::new(&Root::open(folder).unwrap(), options)
}

/// What a caller is told, and of what kind it is.
#[track_caller]
pub(crate) fn told<T: std::fmt::Debug>(outcome: Result<T, BoardError>) -> (Kind, String) {
    let report = Report::from(outcome.unwrap_err());
    (report.kind(), report.to_string())
}

/// Works on the database as any other program could.
pub(crate) fn sqlite(database: &std::path::Path, script: &str) -> String {
    let python = "import sqlite3,sys\nc=sqlite3.connect(sys.argv[1],isolation_level=None)\n\
        for s in sys.argv[2].split(';\\n'):\n for r in c.execute(s): print('|'.join(map(str,r)))";
    let output = std::process::Command::new("python3")
        .args(["-c", python])
        .arg(database)
        .arg(script)
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}
