//! What was found out about many documents, kept in a folder for the next start.
//!
//! Each state that is kept is a folder of its own, complete before `current.json` names it and never
//! written again. So a crash leaves the state before, and any number of processes may read one
//! while another makes the next.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use rutter_base::root::{RelativePath, Root, Stamp};
use serde::{Deserialize, Serialize};

use crate::source::Source;

/// Changes when what is kept does: another version's state is not looked at.
const FORMAT: &str = concat!(env!("CARGO_PKG_VERSION"), "/1");
const CURRENT: &str = "current.json";
const DOCUMENTS: &str = "documents.json";
/// The largest list of documents that is read.
const MAX_LIST: u64 = 512 * 1024 * 1024;
/// How long a state that was never finished is left alone: somebody may still be at work on it.
const UNFINISHED: Duration = Duration::from_hours(1);
/// How long the state of sources that nobody serves is kept.
const UNUSED: Duration = Duration::from_hours(90 * 24);

/// A folder for the states of one set of sources. Nothing is made before something is kept.
#[derive(Debug, Clone)]
pub(crate) struct Cache {
    folder: PathBuf,
    key: String,
}

/// What is known of a document without reading its file.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Kept {
    pub(crate) uri: String,
    pub(crate) source: String,
    pub(crate) path: String,
    pub(crate) name: String,
    pub(crate) description: String,
    pub(crate) keywords: Vec<String>,
    pub(crate) size: u64,
    /// The state of the file, and what was in it.
    pub(crate) stamp: Stamp,
    pub(crate) content: u64,
}

/// A kept state.
#[derive(Debug)]
pub(crate) struct Generation {
    /// The folder with the index's files.
    pub(crate) folder: PathBuf,
    /// The documents that are in the index.
    pub(crate) documents: Vec<Kept>,
}

#[derive(Serialize, Deserialize)]
struct Current {
    generation: String,
}

impl Cache {
    /// The cache for `sources` below `folder`.
    pub(crate) fn new(folder: PathBuf, sources: &[Source]) -> Self {
        // The standard hasher may change with the compiler; then documents are indexed once more.
        let mut hasher = DefaultHasher::new();
        FORMAT.hash(&mut hasher);
        for source in sources {
            source.name.hash(&mut hasher);
            format!("{:?}", source.layout).hash(&mut hasher);
            source.root.path().map(|path| path.canonicalize().ok()).hash(&mut hasher);
        }
        Self { folder, key: format!("{:016x}", hasher.finish()) }
    }

    /// The latest state, if there is one that can be read.
    pub(crate) fn load(&self) -> Option<Generation> {
        let root = Root::open(&self.own()).ok()?;
        let folder = root.folder(&RelativePath::new(current(&root)?).ok()?)?;
        let list = folder.read(&RelativePath::new(DOCUMENTS).ok()?, MAX_LIST).ok()?;
        let documents = serde_json::from_slice(&list.bytes).ok()?;
        Some(Generation { folder: folder.path()?.to_owned(), documents })
    }

    /// A new folder to make a state in.
    pub(crate) fn begin(&self) -> io::Result<PathBuf> {
        let unique = SystemTime::UNIX_EPOCH.elapsed().unwrap_or_default().as_nanos();
        let folder = self.own().join(format!("{unique:x}-{:x}", std::process::id()));
        Root::make(&folder)?;
        Ok(folder)
    }

    /// Completes a state and makes it the latest.
    pub(crate) fn finish(&self, folder: &Path, documents: &[Kept]) -> io::Result<()> {
        let invalid = |_| io::Error::from(io::ErrorKind::InvalidInput);
        let name = folder.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let list = serde_json::to_vec(documents)?;
        Root::open(folder)?.create(&RelativePath::new(DOCUMENTS).map_err(invalid)?, &list)?;
        let own = Root::open(&self.own())?;
        let before = current(&own);
        let latest = serde_json::to_vec(&Current { generation: name.to_owned() })?;
        own.replace(&RelativePath::new(CURRENT).map_err(invalid)?, &latest)?;
        self.tidy(&own, name, before.as_deref());
        Ok(())
    }

    /// Removes what nobody will read again. What cannot be removed now will be another time.
    fn tidy(&self, own: &Root, current: &str, before: Option<&str>) {
        let old = |stamp: &Stamp, age: Duration| {
            let modified = stamp.modified().and_then(|at| at.elapsed().ok());
            modified.is_some_and(|elapsed| elapsed > age)
        };
        for file in own.walk(&["json"]).files {
            let Some((folder, _)) = file.path.as_str().split_once('/') else { continue };
            let done = Some(folder) == before || old(&file.stamp, UNFINISHED);
            if folder != current && done {
                remove(own, folder);
            }
        }
        let Ok(all) = Root::open(&self.folder) else { return };
        for file in all.walk(&["json"]).files {
            if let Some((key, CURRENT)) = file.path.as_str().split_once('/')
                && key != self.key
                && old(&file.stamp, UNUSED)
            {
                remove(&all, key);
            }
        }
    }

    fn own(&self) -> PathBuf {
        self.folder.join(&self.key)
    }
}

/// The name of the latest state.
fn current(root: &Root) -> Option<String> {
    let current = root.read(&RelativePath::new(CURRENT).ok()?, 1024).ok()?;
    let Current { generation } = serde_json::from_slice(&current.bytes).ok()?;
    Some(generation)
}

fn remove(root: &Root, folder: &str) {
    if let Ok(path) = RelativePath::new(folder) {
        let _ = root.remove_folder(&path);
    }
}
