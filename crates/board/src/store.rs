//! The database: how it is opened, and how its transactions begin and end.
//!
//! This is the only place that knows which engine there is. The rules see a [`Write`] or a
//! connection, and say the same SQL to any engine.
//!
//! Nothing is opened before the first use. There is one connection for writing, so that calls of
//! one process queue here and not at the file's lock, and a few for reading. At each use the file
//! at the path is compared with the one that a connection has open.

mod maintain;
mod migrate;
mod statement;

use std::path::{Path, PathBuf};
use std::sync::{Mutex, Once, PoisonError};
use std::time::{Duration, Instant};

use chrono::{SecondsFormat, Utc};
use rutter_base::root::{ReadError, RelativePath, Root};
use sqlx::any::{AnyConnectOptions, AnyRow};
use sqlx::{AnyConnection, ConnectOptions, Connection as _};
use tokio::sync::{MutexGuard, Semaphore};

use crate::error::{BoardError, is_busy};
use crate::journal;
use crate::model::Actor;

pub use maintain::Integrity;
pub(crate) use statement::{Statement, Value};

/// Where the database is, below the board's folder.
pub(crate) const FILE: &str = "db/ralph.db";
/// How many calls read at the same time.
const READERS: usize = 4;
/// The longest pause between two attempts to get a lock.
const LONGEST_PAUSE: Duration = Duration::from_millis(12);

/// How the database is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Options {
    /// How long a lock of another process is waited for.
    pub patience: Duration,
    /// Whether nothing may be written.
    pub read_only: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self { patience: Duration::from_secs(10), read_only: false }
    }
}

/// What tells a file from another that was put in its place.
type Identity = (u64, u64);

/// A connection, and the file that it has open.
#[derive(Debug)]
struct Opened {
    connection: AnyConnection,
    file: Identity,
}

#[derive(Debug)]
pub(crate) struct Store {
    folder: Option<PathBuf>,
    options: Options,
    writer: tokio::sync::Mutex<Option<Opened>>,
    readers: Mutex<Vec<Opened>>,
    reading: Semaphore,
    /// The file whose version was checked.
    checked: tokio::sync::Mutex<Option<Identity>>,
}

/// A transaction that writes, and when.
#[derive(Debug)]
pub(crate) struct Write {
    pub(crate) connection: AnyConnection,
    pub(crate) now: String,
    /// What is said to the engine together with the end of the transaction.
    pub(crate) closing: Option<Statement>,
    /// What the journal is to say of it.
    pub(crate) rows: Vec<journal::Row>,
}

/// What a transaction does.
pub(crate) type Work<'w, T> =
    std::pin::Pin<Box<dyn Future<Output = Result<T, BoardError>> + Send + 'w>>;

impl Store {
    pub(crate) fn new(root: &Root, options: Options) -> Self {
        Self {
            folder: root.path().map(Path::to_owned),
            options,
            writer: tokio::sync::Mutex::default(),
            readers: Mutex::default(),
            reading: Semaphore::new(READERS),
            checked: tokio::sync::Mutex::default(),
        }
    }

    /// The board's folder, opened now: another may have been put in its place.
    pub(crate) fn root(&self) -> Result<Root, BoardError> {
        let folder = self.folder.as_deref().ok_or(BoardError::Absent)?;
        Ok(Root::open(folder)?)
    }

    /// Whether there is a file.
    pub(crate) fn exists(&self) -> bool {
        let file = RelativePath::new(FILE);
        self.root().is_ok_and(|root| file.is_ok_and(|file| root.stamp(&file).is_ok()))
    }

    /// Does `work` in one transaction that is on disk when this returns, or not at all.
    ///
    /// When the caller goes away in between, the connection is dropped with the transaction.
    pub(crate) async fn write<T>(
        &self,
        actor: &Actor,
        work: impl for<'w> FnOnce(&'w mut Write) -> Work<'w, T>,
    ) -> Result<T, BoardError> {
        let nothing = Statement::new("select 1", Vec::new());
        self.write_upon(actor, nothing, |write, _| work(write)).await
    }

    /// The same upon the one row that `first` finds, which is asked for with the beginning.
    pub(crate) async fn write_upon<T>(
        &self,
        actor: &Actor,
        first: Statement,
        work: impl for<'w> FnOnce(&'w mut Write, AnyRow) -> Work<'w, T>,
    ) -> Result<T, BoardError> {
        let (mut slot, mut opened) = self.writer().await?;
        let begin = Statement::new("begin immediate", Vec::new()).then(first);
        let row = self.patiently(&mut opened.connection, &begin).await?;
        let Opened { connection, file } = opened;
        let mut write = Write { connection, now: now(), closing: None, rows: Vec::new() };
        let outcome = match work(&mut write, row).await {
            Ok(value) => journal::commit(&mut write, actor).await.map(|()| value),
            Err(error) => Err(error),
        };
        // A connection that cannot even go back is dropped, which goes back as well.
        if outcome.is_ok() || execute(&mut write.connection, "rollback").await.is_ok() {
            *slot = Some(Opened { connection: write.connection, file });
        }
        outcome
    }

    /// Says a whole transaction at once: what `make` makes of the present moment, between the
    /// beginning and the end. Gives the one row that it finds; nothing where nothing was made.
    ///
    /// This is for what is done most: every answer that is waited for costs as much as the work.
    pub(crate) async fn write_at_once<T>(
        &self,
        make: impl FnOnce(&str) -> Option<(T, Statement)>,
    ) -> Result<Option<(T, AnyRow)>, BoardError> {
        let (mut slot, mut opened) = self.writer().await?;
        let Some((value, statement)) = make(&now()) else {
            *slot = Some(opened);
            return Ok(None);
        };
        let whole = Statement::new("begin immediate", Vec::new())
            .then(statement)
            .then(Statement::new("commit", Vec::new()));
        let outcome = self.patiently(&mut opened.connection, &whole).await;
        if outcome.is_ok() || execute(&mut opened.connection, "rollback").await.is_ok() {
            *slot = Some(opened);
        }
        Ok(Some((value, outcome?)))
    }

    /// The one connection for writing, to be put back into its place.
    async fn writer(&self) -> Result<(MutexGuard<'_, Option<Opened>>, Opened), BoardError> {
        if self.options.read_only {
            return Err(BoardError::refused("the board is read only", ""));
        }
        let mut slot = self.writer.lock().await;
        let file = self.ready().await?;
        let opened = match slot.take() {
            Some(opened) if opened.file == file => opened,
            _ => {
                let mut opened = self.open().await?;
                // The engine's own waiting is not fair; past this it is done with jitter.
                execute(&mut opened.connection, "pragma busy_timeout = 50").await?;
                opened
            }
        };
        Ok((slot, opened))
    }

    /// Does `work` on one consistent state of the board.
    pub(crate) async fn read<T>(
        &self,
        work: impl for<'w> FnOnce(&'w mut AnyConnection) -> Work<'w, T>,
    ) -> Result<T, BoardError> {
        let _turn = self.reading.acquire().await.map_err(|_| BoardError::Busy)?;
        let file = self.ready().await?;
        let idle = self.readers.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let mut opened = match idle {
            Some(opened) if opened.file == file => opened,
            _ => self.open().await?,
        };
        self.execute_patiently(&mut opened.connection, "begin").await?;
        let outcome = work(&mut opened.connection).await;
        if execute(&mut opened.connection, "rollback").await.is_ok() {
            self.readers.lock().unwrap_or_else(PoisonError::into_inner).push(opened);
        }
        outcome
    }

    /// A number that differs when any connection but this one's has changed the database.
    ///
    /// `watcher` keeps the connection from call to call; the number says nothing without it.
    pub(crate) async fn version(
        &self,
        watcher: &mut Watcher,
    ) -> Result<(Identity, i64), BoardError> {
        let file = self.ready().await?;
        let opened = match watcher.opened.take() {
            Some(opened) if opened.file == file => watcher.opened.insert(opened),
            _ => watcher.opened.insert(self.open().await?),
        };
        let version: i64 =
            sqlx::query_scalar("pragma data_version").fetch_one(&mut opened.connection).await?;
        Ok((file, version))
    }

    /// Sees to it that there is a database of this version, and says which file it is.
    async fn ready(&self) -> Result<Identity, BoardError> {
        let mut checked = self.checked.lock().await;
        let root = self.root()?;
        let file = RelativePath::new(FILE).map_err(|_| BoardError::Foreign)?;
        let found = match root.stamp(&file) {
            Ok(stamp) => stamp.identity(),
            Err(ReadError::NotFound) if checked.is_some() => return Err(BoardError::Removed),
            Err(ReadError::NotFound) if self.options.read_only => return Err(BoardError::Absent),
            Err(ReadError::NotFound) => {
                root.create(&file, b"")?;
                root.stamp(&file).map_err(|_| BoardError::Foreign)?.identity()
            }
            Err(_) => return Err(BoardError::Foreign),
        };
        if *checked != Some(found) {
            let mut opened = self.open().await?;
            self.migrate(&mut opened.connection).await?;
            let stamp = root.stamp(&file).map_err(|_| BoardError::Removed)?;
            if stamp.identity() != found {
                return Err(BoardError::Busy);
            }
            *checked = Some(found);
            let mut readers = self.readers.lock().unwrap_or_else(PoisonError::into_inner);
            readers.clear();
            readers.push(opened);
        }
        Ok(found)
    }

    async fn open(&self) -> Result<Opened, BoardError> {
        let root = self.root()?;
        let path = root.path().ok_or(BoardError::Absent)?.canonicalize()?.join(FILE);
        let file = RelativePath::new(FILE).map_err(|_| BoardError::Foreign)?;
        let before = root.stamp(&file).map_err(|_| BoardError::Removed)?.identity();
        let mut connection = connect(&path, self.options.read_only).await?;
        let patience = format!("pragma busy_timeout = {}", self.options.patience.as_millis());
        sqlx::raw_sql(sqlx::AssertSqlSafe(patience)).execute(&mut connection).await?;
        if !self.options.read_only {
            // Changing the mode does not wait for locks by itself.
            self.execute_patiently(&mut connection, "pragma journal_mode = wal").await?;
        }
        execute(&mut connection, "pragma synchronous = full").await?;
        execute(&mut connection, "pragma foreign_keys = on").await?;
        let after = root.stamp(&file).map_err(|_| BoardError::Removed)?.identity();
        if before == after { Ok(Opened { connection, file: after }) } else { Err(BoardError::Busy) }
    }

    /// Executes a statement, again and again while another process holds the lock.
    async fn execute_patiently(
        &self,
        connection: &mut AnyConnection,
        statement: &'static str,
    ) -> Result<(), BoardError> {
        let next = Statement::new("select 1", Vec::new());
        let statement = Statement::new(statement, Vec::new()).then(next);
        self.patiently(connection, &statement).await.map(drop)
    }

    /// The last row of a statement, again and again while another process holds the lock.
    async fn patiently(
        &self,
        connection: &mut AnyConnection,
        statement: &Statement,
    ) -> Result<AnyRow, BoardError> {
        let began = Instant::now();
        let mut pause = Duration::from_millis(1);
        loop {
            // Asked for one row, the driver gives up at a statement that has none.
            match statement.clone().query().fetch_all(&mut *connection).await {
                Ok(mut rows) => {
                    return rows.pop().ok_or(BoardError::Database(sqlx::Error::RowNotFound));
                }
                Err(error) if is_busy(&error) && began.elapsed() < self.options.patience => {
                    tokio::time::sleep(jittered(pause)).await;
                    pause = (pause * 2).min(LONGEST_PAUSE);
                }
                Err(error) => return Err(error.into()),
            }
        }
    }
}

/// The present moment, as it is stored.
pub(crate) fn now() -> String {
    Utc::now().to_rfc3339_opts(SecondsFormat::Millis, true)
}

/// What [`Store::version`] keeps from call to call.
#[derive(Debug, Default)]
pub(crate) struct Watcher {
    opened: Option<Opened>,
}

/// Between nothing and twice the pause, so that those who wait do not all try at once.
fn jittered(pause: Duration) -> Duration {
    let micros = u64::try_from(pause.as_micros()).unwrap_or(u64::MAX).max(1);
    Duration::from_micros(random() % micros.saturating_mul(2))
}

/// A number that another process hardly ever has. A hasher's keys are random, and nothing here
/// needs better randomness.
fn random() -> u64 {
    use std::hash::{BuildHasher, RandomState};
    RandomState::new().hash_one(0)
}

pub(crate) async fn execute(
    connection: &mut AnyConnection,
    statement: &'static str,
) -> Result<(), BoardError> {
    sqlx::raw_sql(statement).execute(connection).await?;
    Ok(())
}

/// Opens a database file that exists.
async fn connect(path: &Path, read_only: bool) -> Result<AnyConnection, BoardError> {
    static DRIVERS: Once = Once::new();
    DRIVERS.call_once(sqlx::any::install_default_drivers);
    let path = path.to_str().ok_or_else(|| {
        BoardError::refused("the board's folder has a name that is not UTF-8", "rename it")
    })?;
    let mode = if read_only { "ro" } else { "rw" };
    let url = format!("sqlite://{}?mode={mode}", encoded(path));
    let options: AnyConnectOptions = url.parse()?;
    // The log must not hold what agents write.
    Ok(AnyConnection::connect_with(&options.disable_statement_logging()).await?)
}

/// A path as a part of a URL.
fn encoded(path: &str) -> String {
    use std::fmt::Write as _;
    let mut url = String::with_capacity(path.len());
    for byte in path.bytes() {
        if byte.is_ascii_alphanumeric() || b"/-_.".contains(&byte) {
            url.push(char::from(byte));
        } else {
            let _ = write!(url, "%{byte:02X}");
        }
    }
    url
}
