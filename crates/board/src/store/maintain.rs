//! Backups, and whether everything is whole.

use std::path::Path;

use rutter_base::root::{RelativePath, Root};
use sqlx::{AnyConnection, AssertSqlSafe, Connection as _, Row};

use super::{FILE, Store, connect, execute, migrate};
use crate::error::BoardError;
use crate::journal;
use crate::model::{Action, Actor, Entity};

/// What an examination of the database found.
#[derive(Debug, Clone, Default, PartialEq, Eq, serde::Serialize)]
pub struct Integrity {
    /// What is wrong; nothing when all is well.
    pub problems: Vec<String>,
}

impl Integrity {
    /// Whether all is well.
    pub fn is_whole(&self) -> bool {
        self.problems.is_empty()
    }
}

/// How many problems are told.
const MAX_PROBLEMS: usize = 100;

/// The tables that a backup brings back, each after those that it refers to. The journal goes on.
const TABLES: [&str; 8] = [
    "metadata",
    "features",
    "disciplines",
    "tasks",
    "task_dependencies",
    "task_comments",
    "recipe_configs",
    "counters",
];

/// Statements that find what the rules never leave behind.
const AUDITS: &[(&str, &str)] = &[
    (
        "select id from tasks where waiting_for <> (select count(*) from task_dependencies as needed \
         join tasks as before on before.id = needed.depends_on_id \
         where needed.task_id = tasks.id and before.status <> 'done')",
        "counts its open dependencies wrongly",
    ),
    (
        "select tasks.id from tasks, json_each(tasks.depends_on) as needed \
         where not exists (select 1 from task_dependencies where task_id = tasks.id \
         and depends_on_id = needed.value)",
        "depends on a task that is not there",
    ),
    (
        "select task_id from task_dependencies where not exists (select 1 from tasks, \
         json_each(tasks.depends_on) as needed where tasks.id = task_id \
         and needed.value = depends_on_id)",
        "has a dependency that its record does not name",
    ),
];

impl Store {
    /// Writes a copy of the whole database to a new file.
    pub(crate) async fn back_up(&self, to: &Path) -> Result<(), BoardError> {
        self.ready().await?;
        let mut opened = self.open().await?;
        self.copy(&mut opened.connection, to).await
    }

    async fn copy(&self, connection: &mut AnyConnection, to: &Path) -> Result<(), BoardError> {
        if to.try_exists()? {
            return Err(BoardError::refused(
                "the file for the backup exists already",
                "name another",
            ));
        }
        let path = to.to_str().ok_or_else(|| {
            BoardError::refused(
                "the file for the backup has a name that is not UTF-8",
                "name another",
            )
        })?;
        sqlx::query("vacuum into $1").bind(path).execute(connection).await?;
        if let (Some(folder), Some(name)) =
            (to.parent(), to.file_name().and_then(|name| name.to_str()))
        {
            let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
            let name = RelativePath::new(name).map_err(|_| BoardError::Foreign)?;
            Root::open(folder)?.sync(&name)?;
        }
        Ok(())
    }

    /// Writes a copy beside the database and gives its name.
    pub(super) async fn back_up_for(
        &self,
        reason: &str,
        connection: &mut AnyConnection,
    ) -> Result<String, BoardError> {
        let name = unique(reason);
        let folder = self.root()?.path().ok_or(BoardError::Absent)?.canonicalize()?.join("db");
        self.copy(connection, &folder.join(&name)).await?;
        Ok(name)
    }

    /// Puts what a backup holds in the place of what is there, and gives the name of a backup of
    /// the latter. Other processes may go on: for them it is one transaction like any other.
    pub(crate) async fn restore(&self, from: &Path, actor: &Actor) -> Result<String, BoardError> {
        let from = from
            .canonicalize()
            .map_err(|_| BoardError::refused("there is no such backup", "name another file"))?;
        let whole = match connect(&from, true).await {
            Ok(mut backup) => examine(&mut backup).await,
            Err(error) => Err(error),
        };
        let problem = match whole {
            Ok(whole) => whole.problems.into_iter().next(),
            Err(BoardError::Foreign) => Some("it is no database".into()),
            Err(BoardError::Damaged(problem)) => Some(problem),
            Err(error) => return Err(error),
        };
        if let Some(problem) = problem {
            return Err(BoardError::refused(
                format!("the backup is damaged: {problem}"),
                "name another file",
            ));
        }
        let kept = match self.keep().await {
            // What cannot be copied is kept as it is: a backup is there for just that.
            Err(BoardError::Damaged(_) | BoardError::Foreign) => self.set_aside().await?,
            kept => kept?,
        };
        let file = self.ready().await?;
        let mut opened = self.open().await?;
        let root = self.root()?;
        // An older backup is brought to the present version first, and never touched itself.
        let temporary = format!("db/restore-{:x}.tmp", super::random());
        let path = root.path().ok_or(BoardError::Absent)?.canonicalize()?.join(&temporary);
        let relative = RelativePath::new(temporary).map_err(|_| BoardError::Foreign)?;
        let _ = root.remove(&relative);
        let outcome = async {
            let mut source = connect(&from, true).await?;
            self.copy(&mut source, &path).await?;
            let mut copy = connect(&path, false).await?;
            self.migrate(&mut copy).await?;
            copy.close().await?;
            self.exchange(&mut opened.connection, &path, actor, &kept).await
        }
        .await;
        let _ = root.remove(&relative);
        outcome?;
        if self.ready().await? == file { Ok(kept) } else { Err(BoardError::Busy) }
    }

    /// Backs up what is about to be replaced.
    async fn keep(&self) -> Result<String, BoardError> {
        self.ready().await?;
        let mut opened = self.open().await?;
        self.back_up_for("restore", &mut opened.connection).await
    }

    /// Moves a damaged database out of the way, with what the engine keeps beside it.
    async fn set_aside(&self) -> Result<String, BoardError> {
        let root = self.root()?;
        let name = unique("damaged");
        for suffix in ["-wal", "-shm", ""] {
            let paths = [format!("{FILE}{suffix}"), format!("db/{name}{suffix}")];
            let [from, to] = paths.map(RelativePath::new);
            let (Ok(from), Ok(to)) = (from, to) else { return Err(BoardError::Foreign) };
            match root.rename(&from, &to) {
                Err(error) if suffix.is_empty() => return Err(error.into()),
                _ => {}
            }
        }
        *self.checked.lock().await = None;
        Ok(name)
    }

    async fn exchange(
        &self,
        connection: &mut AnyConnection,
        path: &Path,
        actor: &Actor,
        kept: &str,
    ) -> Result<(), BoardError> {
        let path = path.to_str().ok_or(BoardError::Foreign)?;
        sqlx::query("attach database $1 as backup").bind(path).execute(&mut *connection).await?;
        self.execute_patiently(connection, "begin immediate").await?;
        let mut outcome = Ok(());
        for table in TABLES.iter().rev() {
            if outcome.is_ok() {
                outcome = run(connection, format!("delete from main.{table}")).await;
            }
        }
        for table in TABLES {
            if outcome.is_ok() {
                outcome = copy_table(connection, table).await;
            }
        }
        if outcome.is_ok() {
            let row = journal::Row {
                entity: Entity::Board,
                record: "backup".into(),
                action: Action::Update,
                before: None,
                after: Some(serde_json::json!({ "previous_state": kept }).to_string()),
            };
            outcome = journal::end(connection, None, &super::now(), actor, vec![row]).await;
        }
        if outcome.is_err() {
            execute(connection, "rollback").await?;
        }
        execute(connection, "detach database backup").await?;
        outcome
    }

    /// Examines the whole database.
    pub(crate) async fn examine(&self) -> Result<Integrity, BoardError> {
        self.ready().await?;
        let mut opened = self.open().await?;
        let mut found = examine(&mut opened.connection).await?;
        for (statement, problem) in AUDITS {
            let ids: Vec<i64> =
                sqlx::query_scalar(*statement).fetch_all(&mut opened.connection).await?;
            found.problems.extend(ids.iter().map(|id| format!("task {id} {problem}")));
        }
        found.problems.truncate(MAX_PROBLEMS);
        Ok(found)
    }

    /// The linked `SQLite`.
    pub(crate) async fn engine_version(&self) -> Result<String, BoardError> {
        self.read(|connection| {
            Box::pin(async move {
                Ok(sqlx::query_scalar("select sqlite_version()").fetch_one(connection).await?)
            })
        })
        .await
    }
}

/// A name for a file beside the database that no other has.
fn unique(reason: &str) -> String {
    let time = super::Utc::now().format("%Y%m%dT%H%M%S%3fZ");
    format!("ralph.{reason}-{time}-{:08x}.bak", super::random() >> 32)
}

/// What the engine itself finds.
async fn examine(connection: &mut AnyConnection) -> Result<Integrity, BoardError> {
    let mut problems: Vec<String> =
        sqlx::query_scalar("pragma integrity_check").fetch_all(&mut *connection).await?;
    problems.retain(|problem| problem != "ok");
    let broken = sqlx::query("pragma foreign_key_check").fetch_all(&mut *connection).await?;
    for row in &broken {
        let (table, to): (String, String) = (row.try_get(0)?, row.try_get(2)?);
        let row: Option<i64> = row.try_get(1)?;
        problems
            .push(format!("row {} of {table} refers to nothing in {to}", row.unwrap_or_default()));
    }
    Ok(Integrity { problems })
}

/// Copies the columns that both sides have.
async fn copy_table(connection: &mut AnyConnection, table: &'static str) -> Result<(), BoardError> {
    if !migrate::has_table(connection, table).await? {
        return Ok(());
    }
    let columns: Vec<String> = sqlx::query_scalar(
        "select here.name from pragma_table_info($1, 'main') as here \
         join pragma_table_info($1, 'backup') as there on here.name = there.name",
    )
    .bind(table)
    .fetch_all(&mut *connection)
    .await?;
    let columns = columns.iter().map(|name| format!("\"{}\"", name.replace('"', "\"\"")));
    let columns = columns.collect::<Vec<_>>().join(", ");
    run(
        connection,
        format!("insert into main.{table} ({columns}) select {columns} from backup.{table}"),
    )
    .await
}

/// Executes a statement that is made of names of tables and columns alone.
async fn run(connection: &mut AnyConnection, statement: String) -> Result<(), BoardError> {
    sqlx::raw_sql(AssertSqlSafe(statement)).execute(connection).await?;
    Ok(())
}
