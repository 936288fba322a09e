//! Where the state is kept: one file in the workspace that several processes may write.
//!
//! A writer locks, reads what is there now, changes it, and puts the new file in the place of the
//! old one, which stays as the backup. A reader needs no lock: what it finds is always whole.

use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use chrono::{DateTime, Utc};
use rutter_base::failure::{Failure, Kind, Report};
use rutter_base::root::{self, Lock, ReadError, RelativePath, RelativePathError, Root, Stamp};

use super::seal::{self, Key, SealError};
use super::state::{State, Unreadable};

/// The folder in the workspace.
pub const FOLDER: &str = ".mcp";
/// The file, as it is shown.
pub const STATE_PATH: &str = ".mcp/state.json";
const STATE: &str = "state.json";
const BACKUP: &str = "state.json.bak";
const LOCK: &str = "state.lock";
const RELOAD: &str = "reload";
/// The largest file that is read.
const MAX_FILE: u64 = 64 * 1024 * 1024;
/// How long a writer waits for others.
const PATIENCE: Duration = Duration::from_secs(10);

/// The state of one workspace.
#[derive(Debug)]
pub struct Store {
    workspace: PathBuf,
    /// The state file in it.
    file: PathBuf,
    key: Option<Key>,
    /// The last state that was read, with the state of its file.
    known: Mutex<Option<(Stamp, Arc<State>)>>,
}

/// A state, and what is odd about its file.
#[derive(Debug, Clone)]
pub struct Loaded {
    /// The state.
    pub state: Arc<State>,
    /// What a person should know: that the backup was used.
    pub warning: Option<String>,
}

/// Why the state was not read or written.
#[derive(Debug, thiserror::Error)]
pub enum StateError {
    /// File and backup are both unusable.
    #[error("the state is damaged, and so is its backup")]
    Damaged,
    /// Another version of this program wrote it.
    #[error("the state has version {0}, which this program does not know")]
    Newer(u64),
    /// It is sealed, and there is no key.
    #[error("the state is encrypted, and there is no key")]
    NoKey,
    /// There is a key, and it is not sealed.
    #[error("there is a key, and the state is not encrypted")]
    NotSealed,
    /// Sealing or opening failed.
    #[error(transparent)]
    Seal(#[from] SealError),
    /// Another process writes all the time.
    #[error("another process is writing the state")]
    Busy,
    /// The disk is full.
    #[error("there is no space left for the state")]
    Full(#[source] io::Error),
    /// The system refused to read.
    #[error("the state cannot be read")]
    Read(#[source] ReadError),
    /// The system refused to write.
    #[error("the state cannot be written")]
    Write(#[source] io::Error),
    /// Never happens: the names are fixed.
    #[error(transparent)]
    Path(#[from] RelativePathError),
}

impl Failure for StateError {
    fn report(&self) -> Report {
        let refused = |hint: &str| Report::new(Kind::Refused, self.to_string()).hint(hint);
        match self {
            Self::Damaged => refused(
                "nothing was overwritten: mend or remove `.mcp/state.json` and `.mcp/state.json.bak`",
            ),
            Self::Newer(_) => {
                refused("nothing was overwritten: use a newer version of this program")
            }
            Self::NoKey => refused("set `RUTTER_STATE_KEY` or `RUTTER_STATE_KEY_FILE`"),
            Self::NotSealed => refused(
                "run `rutter state rekey` to encrypt it, or start without `RUTTER_STATE_KEY`",
            ),
            Self::Seal(SealError::Refused) => Report::new(
                Kind::Refused,
                "the state cannot be decrypted: the key is wrong, or the file was changed",
            )
            .hint("nothing was overwritten: set the key that it was written with"),
            Self::Seal(SealError::NotAKey) => {
                Report::new(Kind::Refused, format!("`RUTTER_STATE_KEY`: {}", SealError::NotAKey))
            }
            Self::Busy => Report::new(Kind::Busy, self.to_string()).hint("try again"),
            Self::Full(_) => refused("the state is as it was: free some space and try again"),
            Self::Read(ReadError::TooLarge { .. }) => refused("it is larger than 64 MiB"),
            Self::Read(ReadError::NotAFile | ReadError::Escape) => {
                refused("something that is not a regular file is in the place of `.mcp/state.json`")
            }
            Self::Write(error)
                if matches!(
                    error.kind(),
                    io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem
                ) =>
            {
                refused("make the folder `.mcp` writable")
            }
            Self::Seal(SealError::NoRandom) | Self::Read(_) | Self::Write(_) | Self::Path(_) => {
                Report::new(Kind::Internal, self.to_string()).hint("the reason is in the log")
            }
        }
    }
}

impl Store {
    /// The state of a workspace. Nothing is opened before it is asked for.
    pub fn new(workspace: PathBuf, key: Option<Key>) -> Self {
        let file = workspace.join(STATE_PATH);
        Self { workspace, file, key, known: Mutex::default() }
    }

    /// The folder and the file that changes when someone asks for the workflow to be read again.
    pub fn reload_request(&self) -> (PathBuf, &'static str) {
        (self.workspace.join(FOLDER), RELOAD)
    }

    /// Asks whoever serves this workspace to read the workflow again.
    pub fn request_reload(&self) -> Result<(), StateError> {
        let (folder, _lock) = self.open_for_writing()?;
        let time = Utc::now().to_rfc3339();
        let place = RelativePath::new(RELOAD)?;
        folder.replace_durably(&place, &[time.as_bytes()], None).map_err(written)
    }

    /// The state, if that can be told without reading it: one look at the file.
    ///
    /// It is short enough to be asked where nothing may wait.
    pub fn glance(&self) -> Option<Arc<State>> {
        match root::glance(&self.file) {
            Ok(stamp) => self.known_at(stamp),
            Err(ReadError::NotFound) => Some(Arc::default()),
            Err(_) => None,
        }
    }

    /// The state as it is now.
    pub fn load(&self) -> Result<Loaded, StateError> {
        if let Some(state) = self.glance() {
            return Ok(Loaded { state, warning: None });
        }
        let root = Root::open(&self.workspace).map_err(|error| StateError::Read(error.into()))?;
        let folder = RelativePath::new(FOLDER)?;
        let Some(folder) = root.folder(&folder) else {
            return Err(StateError::Read(ReadError::NotAFile));
        };
        self.read(&folder, self.key.as_ref()).map(Found::into_loaded)
    }

    /// Changes the state, if `change` says that it did; if not, it left it as it was.
    ///
    /// Other writers, in this process or another, wait; what they wrote is not lost. The caller
    /// gets the state after it, and a warning about the file that was found.
    pub fn update<E: From<StateError>>(
        &self,
        change: impl FnOnce(&mut State, DateTime<Utc>) -> Result<bool, E>,
    ) -> Result<Updated, E> {
        let (folder, lock) = self.open_for_writing().map_err(E::from)?;
        let mut found = self.read(&folder, self.key.as_ref()).map_err(E::from)?;
        // What is known now will not be: whoever asks meanwhile reads the file. So nobody else has
        // this state, and it is changed in its place.
        let known = self.known().take();
        let known = known.map(|(stamp, _)| stamp);
        let state = Arc::make_mut(&mut found.state);
        if change(state, Utc::now())? {
            self.write(&folder, &mut found).map_err(E::from)?;
        } else if let Some(stamp) = known {
            self.know(stamp, &found.state);
        }
        drop(lock);
        let Loaded { state, warning } = found.into_loaded();
        Ok(Updated { state, warning })
    }

    /// Writes state and backup anew with another key, or with none.
    ///
    /// It may be repeated after a crash in the middle.
    pub fn rekey(&self, next: Option<&Key>) -> Result<(), StateError> {
        let (folder, _lock) = self.open_for_writing()?;
        let found = match self.read(&folder, self.key.as_ref()) {
            Err(StateError::Seal(_) | StateError::NoKey | StateError::NotSealed) => {
                let again = self.read(&folder, next);
                again.or_else(|_| self.read(&folder, self.key.as_ref()))?
            }
            found => found?,
        };
        let text = State::clone(&found.state).text().to_bytes();
        let sealed = || match next {
            Some(key) => key.seal(&text),
            None => Ok(text.clone()),
        };
        // A backup under the old key would be lost with it, and one in plain text would tell all.
        let (state, backup) = (sealed()?, sealed()?);
        let aside = found.damaged.then(aside).transpose()?;
        let place = RelativePath::new(STATE)?;
        folder.replace_durably(&place, &[&state], aside.as_ref()).map_err(written)?;
        folder.replace_durably(&RelativePath::new(BACKUP)?, &[&backup], None).map_err(written)?;
        // It still has what was written with the old key, or with none.
        folder.remove_spare(&place).map_err(written)
    }

    fn known_at(&self, stamp: Stamp) -> Option<Arc<State>> {
        let known = self.known();
        known.as_ref().filter(|(at, _)| *at == stamp).map(|(_, state)| Arc::clone(state))
    }

    fn know(&self, stamp: Stamp, state: &Arc<State>) {
        *self.known() = Some((stamp, Arc::clone(state)));
    }

    fn known(&self) -> MutexGuard<'_, Option<(Stamp, Arc<State>)>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn open_for_writing(&self) -> Result<(Root, Lock), StateError> {
        let root = Root::open(&self.workspace).map_err(StateError::Write)?;
        let folder = root.private_folder(&RelativePath::new(FOLDER)?).map_err(written)?;
        let lock = folder.lock(&RelativePath::new(LOCK)?, PATIENCE).map_err(written)?;
        Ok((folder, lock))
    }

    /// Reads the file, or in its place the backup.
    fn read(&self, folder: &Root, key: Option<&Key>) -> Result<Found, StateError> {
        let path = RelativePath::new(STATE)?;
        // Most often it is what this process wrote last.
        if let Some(state) = folder.stamp(&path).ok().and_then(|stamp| self.known_at(stamp)) {
            return Ok(Found { state, damaged: false });
        }
        let contents = match folder.read(&path, MAX_FILE) {
            Err(ReadError::NotFound) => {
                return Ok(Found { state: Arc::default(), damaged: false });
            }
            contents => contents.map_err(StateError::Read)?,
        };
        match State::parse(&opened(&contents.bytes, key)?) {
            Ok(state) => {
                let state = Arc::new(state);
                self.know(contents.stamp, &state);
                Ok(Found { state, damaged: false })
            }
            Err(Unreadable::Newer(version)) => Err(StateError::Newer(version)),
            // What was sealed was whole: to fall back would let anyone turn the clock back.
            Err(Unreadable::Damaged) if key.is_some() => Err(StateError::Damaged),
            Err(Unreadable::Damaged) => Self::read_backup(folder),
        }
    }

    fn read_backup(folder: &Root) -> Result<Found, StateError> {
        let contents = match folder.read(&RelativePath::new(BACKUP)?, MAX_FILE) {
            Err(ReadError::NotFound) => return Err(StateError::Damaged),
            contents => contents.map_err(StateError::Read)?,
        };
        match State::parse(&opened(&contents.bytes, None)?) {
            Ok(state) => Ok(Found { state: Arc::new(state), damaged: true }),
            Err(Unreadable::Newer(version)) => Err(StateError::Newer(version)),
            Err(Unreadable::Damaged) => Err(StateError::Damaged),
        }
    }

    fn write(&self, folder: &Root, found: &mut Found) -> Result<(), StateError> {
        // A damaged file does not become the backup: it is put aside, and the backup stays.
        let aside = if found.damaged { aside()? } else { RelativePath::new(BACKUP)? };
        let path = RelativePath::new(STATE)?;
        let text = Arc::make_mut(&mut found.state).text();
        let replaced = match &self.key {
            Some(key) => {
                let sealed = key.seal(&text.to_bytes())?;
                folder.replace_durably(&path, &[&sealed], Some(&aside))
            }
            None => folder.replace_durably(&path, &text.parts(), Some(&aside)),
        };
        replaced.map_err(written)?;
        // Nobody else can have replaced it: the lock is held.
        if let Ok(stamp) = folder.stamp(&path) {
            self.know(stamp, &found.state);
        }
        Ok(())
    }
}

/// What [`Store::update`] did.
#[derive(Debug, Clone)]
pub struct Updated {
    /// The state now.
    pub state: Arc<State>,
    /// What a person should know of the file that was found.
    pub warning: Option<String>,
}

struct Found {
    state: Arc<State>,
    /// Whether it is the backup's, because the file is damaged.
    damaged: bool,
}

impl Found {
    fn into_loaded(self) -> Loaded {
        let warning = self.damaged.then(|| {
            format!(
                "`{STATE_PATH}` is damaged: its backup is used, and the damaged file is kept aside"
            )
        });
        Loaded { state: self.state, warning }
    }
}

/// The text of a file, which must be sealed if and only if there is a key.
fn opened<'a>(
    bytes: &'a [u8],
    key: Option<&Key>,
) -> Result<std::borrow::Cow<'a, [u8]>, StateError> {
    match (seal::is_sealed(bytes), key) {
        (true, Some(key)) => Ok(key.open(bytes)?.into()),
        (true, None) => Err(StateError::NoKey),
        (false, Some(_)) => Err(StateError::NotSealed),
        (false, None) => Ok(bytes.into()),
    }
}

/// Where a damaged file goes.
fn aside() -> Result<RelativePath, RelativePathError> {
    RelativePath::new(format!("{STATE}.damaged-{}", Utc::now().format("%Y%m%dT%H%M%S%.3fZ")))
}

fn written(error: io::Error) -> StateError {
    match error.kind() {
        io::ErrorKind::WouldBlock => StateError::Busy,
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge => {
            StateError::Full(error)
        }
        _ => StateError::Write(error),
    }
}

#[cfg(test)]
mod tests;
