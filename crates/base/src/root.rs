//! `Root`: a folder opened once, or the embedded pack. The only door to the file system.
//!
//! Everything below a root is opened beneath its handle, so the kernel refuses `..`, absolute
//! paths and links that lead out; what was opened is checked for kind and size before a byte of
//! it is read; and no read takes more than its limit. Opening never waits, so a FIFO that was
//! put in a document's place cannot stop the server.

mod durable;
mod path;
mod walk;

use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use cap_fs_ext::{DirExt, FollowSymlinks, MetadataExt, OpenOptionsFollowExt, OpenOptionsSyncExt};
use cap_std::ambient_authority;
use cap_std::fs::{Dir, Metadata, OpenOptions};

pub use durable::Lock;
pub use path::{RelativePath, RelativePathError};
pub use walk::{EntryKind, Found, Listed, Walk};

/// A folder or the embedded pack.
#[derive(Debug, Clone)]
pub struct Root(Place);

#[derive(Debug, Clone)]
enum Place {
    Folder { dir: Arc<Dir>, path: PathBuf },
    Embedded(&'static include_dir::Dir<'static>),
}

/// What was read, and the state of the file it was read from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Contents {
    /// The file's bytes.
    pub bytes: Vec<u8>,
    /// The state of the opened file before it was read.
    pub stamp: Stamp,
}

impl Contents {
    /// The bytes as text.
    pub fn into_text(self) -> Result<String, ReadError> {
        String::from_utf8(self.bytes).map_err(|_| ReadError::NotText)
    }
}

/// Tells whether a file is still the one, and in the state, that was read before.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize, serde::Deserialize,
)]
pub struct Stamp {
    identity: (u64, u64),
    /// The file's size in bytes.
    pub size: u64,
    modified: u128,
    changed: i128,
}

impl Stamp {
    fn of(metadata: &Metadata) -> Self {
        let modified = metadata.modified().ok().and_then(|time| {
            time.into_std().duration_since(UNIX_EPOCH).ok().map(|since| since.as_nanos())
        });
        Self {
            identity: (MetadataExt::dev(metadata), MetadataExt::ino(metadata)),
            size: metadata.len(),
            modified: modified.unwrap_or_default(),
            changed: changed(metadata),
        }
    }

    fn embedded(size: usize) -> Self {
        Self { identity: (0, 0), size: size as u64, modified: 0, changed: 0 }
    }

    /// What tells the file from another that is put in its place while it is open.
    pub fn identity(&self) -> (u64, u64) {
        self.identity
    }

    /// When the file was last modified; `None` for embedded files, which never are.
    pub fn modified(&self) -> Option<SystemTime> {
        let nanos = u64::try_from(self.modified).ok().filter(|&nanos| nanos > 0)?;
        Some(UNIX_EPOCH + Duration::from_nanos(nanos))
    }
}

#[cfg(unix)]
fn changed(metadata: &Metadata) -> i128 {
    use cap_std::fs::MetadataExt;
    i128::from(metadata.ctime()) * 1_000_000_000 + i128::from(metadata.ctime_nsec())
}

#[cfg(not(unix))]
fn changed(_: &Metadata) -> i128 {
    0
}

/// Why a file below a root was not read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// There is no such file.
    #[error("there is no such file")]
    NotFound,
    /// A folder, device, FIFO or socket is in its place.
    #[error("it is not a regular file")]
    NotAFile,
    /// The path leads out of the root.
    #[error("the path leads out of its folder")]
    Escape,
    /// The file is past the limit.
    #[error("it has {size} bytes, more than the limit of {limit}")]
    TooLarge {
        /// The size that was found.
        size: u64,
        /// The limit of this read.
        limit: u64,
    },
    /// The file is not UTF-8.
    #[error("it is not UTF-8 text")]
    NotText,
    /// The system refused.
    #[error("it cannot be read: {0}")]
    Io(#[source] io::Error),
}

impl From<io::Error> for ReadError {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => Self::NotFound,
            io::ErrorKind::IsADirectory => Self::NotAFile,
            // A link that leaves the sandbox carries no system error, unlike a mode of 000.
            io::ErrorKind::PermissionDenied if error.raw_os_error().is_none() => Self::Escape,
            _ => match error.raw_os_error() {
                Some(code) if code == OPENED_A_SOCKET => Self::NotAFile,
                Some(code) if code == CROSSES_A_BOUNDARY => Self::Escape,
                _ => Self::Io(error),
            },
        }
    }
}

/// `ENXIO`: what opening a socket gives.
const OPENED_A_SOCKET: i32 = 6;
/// `EXDEV`: what the kernel says of a path that would leave the folder it is resolved beneath.
const CROSSES_A_BOUNDARY: i32 = 18;

/// What became of a file that was to be created.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Created {
    /// It was written.
    New,
    /// There already was one, and it was not touched.
    Kept,
}

impl Root {
    /// Opens a folder. The path itself may be or contain symbolic links: it is the operator's.
    pub fn open(path: &Path) -> io::Result<Self> {
        let dir = Dir::open_ambient_dir(path, ambient_authority())?;
        Ok(Self(Place::Folder { dir: Arc::new(dir), path: path.to_owned() }))
    }

    /// Makes a folder and those above it, and opens it.
    pub fn make(path: &Path) -> io::Result<Self> {
        Dir::create_ambient_dir_all(path, ambient_authority())?;
        Self::open(path)
    }

    /// Opens the folder at `path`, which a caller named, if it is `base` or lies below it; `None`
    /// if it does not, wherever links lead.
    ///
    /// The last step is opened beneath the handle of `base`, so that a link that is put in its
    /// way meanwhile is refused.
    pub fn open_within(base: &Path, path: &Path) -> io::Result<Option<Self>> {
        let path = path.canonicalize()?;
        let base = base.canonicalize()?;
        let Ok(below) = path.strip_prefix(&base) else { return Ok(None) };
        if below.as_os_str().is_empty() {
            return Self::open(&base).map(Some);
        }
        let dir = Dir::open_ambient_dir(&base, ambient_authority())?.open_dir(below)?;
        Ok(Some(Self(Place::Folder { dir: Arc::new(dir), path })))
    }

    /// Serves embedded files.
    pub fn embedded(dir: &'static include_dir::Dir<'static>) -> Self {
        Self(Place::Embedded(dir))
    }

    /// A folder below this one, as a root of its own; `None` if there is no such folder.
    pub fn folder(&self, path: &RelativePath) -> Option<Self> {
        match &self.0 {
            Place::Folder { dir, path: parent } => {
                let dir = Arc::new(dir.open_dir(path.as_str()).ok()?);
                Some(Self(Place::Folder { dir, path: parent.join(path.as_str()) }))
            }
            Place::Embedded(dir) => {
                let path = dir.path().join(path.as_str());
                dir.get_dir(path).map(|dir| Self(Place::Embedded(dir)))
            }
        }
    }

    /// The folder's path for the operator's eyes and for the watcher; `None` for embedded files.
    /// It is never joined with anything that a client said.
    pub fn path(&self) -> Option<&Path> {
        match &self.0 {
            Place::Folder { path, .. } => Some(path),
            Place::Embedded(_) => None,
        }
    }

    /// Whether nothing below this root can change while the process lives.
    pub fn is_immutable(&self) -> bool {
        matches!(self.0, Place::Embedded(_))
    }

    /// Identifies the opened folder, to notice that another was put in its place.
    pub fn identity(&self) -> Option<(u64, u64)> {
        match &self.0 {
            Place::Folder { dir, .. } => {
                let metadata = dir.dir_metadata().ok()?;
                Some((MetadataExt::dev(&metadata), MetadataExt::ino(&metadata)))
            }
            Place::Embedded(_) => None,
        }
    }

    /// Reads a regular file of at most `limit` bytes.
    pub fn read(&self, path: &RelativePath, limit: u64) -> Result<Contents, ReadError> {
        match &self.0 {
            Place::Folder { dir, .. } => read_folder(dir, path, limit),
            Place::Embedded(dir) => {
                let file = embedded_file(dir, path).ok_or(ReadError::NotFound)?;
                let bytes = file.contents();
                let size = bytes.len() as u64;
                if size > limit {
                    return Err(ReadError::TooLarge { size, limit });
                }
                Ok(Contents { bytes: bytes.to_vec(), stamp: Stamp::embedded(bytes.len()) })
            }
        }
    }

    /// Reads a regular file of at most `limit` bytes as text.
    pub fn read_text(&self, path: &RelativePath, limit: u64) -> Result<String, ReadError> {
        self.read(path, limit)?.into_text()
    }

    /// The present state of a regular file.
    pub fn stamp(&self, path: &RelativePath) -> Result<Stamp, ReadError> {
        match &self.0 {
            Place::Folder { dir, .. } => {
                let metadata = dir.metadata(path.as_str())?;
                if metadata.is_file() { Ok(Stamp::of(&metadata)) } else { Err(ReadError::NotAFile) }
            }
            Place::Embedded(dir) => embedded_file(dir, path)
                .map(|file| Stamp::embedded(file.contents().len()))
                .ok_or(ReadError::NotFound),
        }
    }

    /// Finds all files whose name ends in one of `extensions` (without the dot); every file
    /// when there are none.
    pub fn walk(&self, extensions: &[&str]) -> Walk {
        match &self.0 {
            Place::Folder { dir, .. } => walk::folder(dir, extensions),
            Place::Embedded(dir) => walk::embedded(dir, extensions),
        }
    }

    /// What is directly in a folder, in order of name; nothing if there is no such folder.
    pub fn list(&self, folder: &RelativePath) -> Vec<Listed> {
        match &self.0 {
            Place::Folder { dir, .. } => walk::list(dir, folder),
            Place::Embedded(dir) => dir
                .get_dir(dir.path().join(folder.as_str()))
                .map(walk::list_embedded)
                .unwrap_or_default(),
        }
    }

    /// The file of this name, if there is one: what a walk would find of it.
    pub fn found(&self, name: &str) -> Vec<Found> {
        let path = RelativePath::new(name).ok();
        let file = path.and_then(|path| self.stamp(&path).ok().map(|stamp| Found { path, stamp }));
        file.into_iter().collect()
    }

    /// The same file, reached without links; an error where one leads out or nowhere.
    pub fn resolve(&self, path: &RelativePath) -> Result<RelativePath, ReadError> {
        match &self.0 {
            Place::Folder { dir, .. } => {
                let real = dir.canonicalize(path.as_str()).map_err(|error| {
                    // There is no file, but there is a link in its place.
                    let link = dir.symlink_metadata(path.as_str()).is_ok();
                    if link && error.kind() == io::ErrorKind::NotFound {
                        return ReadError::NotAFile;
                    }
                    ReadError::from(error)
                })?;
                let real = real.to_str().ok_or(ReadError::NotFound)?;
                RelativePath::new(real).map_err(|_| ReadError::NotAFile)
            }
            Place::Embedded(_) => Ok(path.clone()),
        }
    }

    /// Whether whoever owns the file protected it from being written.
    pub fn is_read_only(&self, path: &RelativePath) -> bool {
        match &self.0 {
            Place::Folder { dir, .. } => {
                dir.metadata(path.as_str()).is_ok_and(|metadata| metadata.permissions().readonly())
            }
            Place::Embedded(_) => true,
        }
    }

    /// Creates a file and the folders above it. One that exists is never touched.
    pub fn create(&self, path: &RelativePath, bytes: &[u8]) -> io::Result<Created> {
        let dir = self.writable()?;
        if let Some(parent) = Path::new(path.as_str()).parent() {
            dir.create_dir_all(parent)?;
        }
        let mut options = OpenOptions::new();
        options.write(true).create_new(true).follow(FollowSymlinks::No);
        let mut file = match dir.open_with(path.as_str(), &options) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => return Ok(Created::Kept),
            Err(error) => return Err(error),
        };
        file.write_all(bytes)?;
        file.sync_all()?;
        Ok(Created::New)
    }

    /// Removes a folder and everything in it; links are removed, not followed.
    pub fn remove_folder(&self, path: &RelativePath) -> io::Result<()> {
        self.writable()?.remove_dir_all(path.as_str())
    }

    /// Replaces a file as a whole: a reader, or a crash, finds the old bytes or the new ones.
    pub fn replace(&self, path: &RelativePath, bytes: &[u8]) -> io::Result<()> {
        let dir = self.writable()?;
        let temporary = format!("{}.rutter-{}.tmp", path.as_str(), std::process::id());
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(true).follow(FollowSymlinks::No);
        let written = (|| {
            let mut file = dir.open_with(&temporary, &options)?;
            if let Ok(metadata) = dir.metadata(path.as_str()) {
                file.set_permissions(metadata.permissions())?;
            }
            file.write_all(bytes)?;
            file.sync_all()?;
            dir.rename(&temporary, dir, path.as_str())
        })();
        if written.is_err() {
            let _ = dir.remove_file_or_symlink(&temporary);
        }
        written
    }

    /// Appends one whole line to a file, which is created if there is none.
    ///
    /// The line goes out in one write to a file opened for appending, so that lines of several
    /// processes never mix. A symbolic link in the file's place is refused.
    pub fn append_line(&self, path: &RelativePath, line: &str) -> Result<(), ReadError> {
        let dir = self.writable()?;
        let mut options = OpenOptions::new();
        options.append(true).create(true).follow(FollowSymlinks::No).nonblock(true);
        let mut file = dir.open_with(path.as_str(), &options)?;
        if !file.metadata()?.is_file() {
            return Err(ReadError::NotAFile);
        }
        file.write_all(format!("{line}\n").as_bytes())?;
        file.sync_data()?;
        Ok(())
    }

    /// Waits until what a file holds is on disk.
    pub fn sync(&self, path: &RelativePath) -> io::Result<()> {
        let mut options = OpenOptions::new();
        options.read(true).write(true).follow(FollowSymlinks::No).nonblock(true);
        self.writable()?.open_with(path.as_str(), &options)?.sync_all()
    }

    /// Gives a file another name. One that has the name already is replaced.
    pub fn rename(&self, from: &RelativePath, to: &RelativePath) -> io::Result<()> {
        let dir = self.writable()?;
        dir.rename(from.as_str(), dir, to.as_str())
    }

    /// Removes a file.
    pub fn remove(&self, path: &RelativePath) -> io::Result<()> {
        self.writable()?.remove_file_or_symlink(path.as_str())
    }

    fn writable(&self) -> io::Result<&Dir> {
        match &self.0 {
            Place::Folder { dir, .. } => Ok(dir),
            Place::Embedded(_) => Err(io::Error::from(io::ErrorKind::ReadOnlyFilesystem)),
        }
    }
}

/// Reads a file that the operator named as text: wherever it is, and through whatever links, but
/// checked for kind and size as any other.
pub fn read_named(path: &Path, limit: u64) -> Result<String, ReadError> {
    let path = path.canonicalize()?;
    let (Some(folder), Some(name)) =
        (path.parent(), path.file_name().and_then(|name| name.to_str()))
    else {
        return Err(ReadError::NotAFile);
    };
    let name = RelativePath::new(name).map_err(|_| ReadError::NotFound)?;
    Root::open(folder)?.read_text(&name, limit)
}

/// The state of the file at a path of the operator's own, wherever links lead: to be compared with
/// what is known of a file, in one system call. Nothing is opened.
pub fn glance(path: &Path) -> Result<Stamp, ReadError> {
    let metadata = Metadata::from_just_metadata(path.metadata()?);
    if metadata.is_file() { Ok(Stamp::of(&metadata)) } else { Err(ReadError::NotAFile) }
}

/// The library's own search compares the path with that of every file, step by step.
fn embedded_file<'a>(
    mut dir: &'a include_dir::Dir<'static>,
    path: &RelativePath,
) -> Option<&'a include_dir::File<'static>> {
    use include_dir::DirEntry;
    let path = dir.path().join(path.as_str());
    let wanted = path.as_os_str().as_encoded_bytes();
    let below = |folder: &Path| {
        let rest = wanted.strip_prefix(folder.as_os_str().as_encoded_bytes());
        rest.is_some_and(|rest| rest.starts_with(b"/"))
    };
    loop {
        let found = dir.entries().iter().find(|entry| match entry {
            DirEntry::Dir(folder) => below(folder.path()),
            DirEntry::File(file) => file.path().as_os_str().as_encoded_bytes() == wanted,
        })?;
        match found {
            DirEntry::Dir(folder) => dir = folder,
            DirEntry::File(file) => return Some(file),
        }
    }
}

fn read_folder(dir: &Dir, path: &RelativePath, limit: u64) -> Result<Contents, ReadError> {
    let mut options = OpenOptions::new();
    // Without it, opening a FIFO waits for a writer.
    options.read(true).nonblock(true);
    let file = dir.open_with(path.as_str(), &options)?;
    let metadata = file.metadata()?;
    if !metadata.is_file() {
        return Err(ReadError::NotAFile);
    }
    let stamp = Stamp::of(&metadata);
    if stamp.size > limit {
        return Err(ReadError::TooLarge { size: stamp.size, limit });
    }
    let mut bytes = Vec::with_capacity(usize::try_from(stamp.size).unwrap_or_default());
    // The file may grow between the check and the read.
    file.take(limit.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > limit {
        return Err(ReadError::TooLarge { size: bytes.len() as u64, limit });
    }
    Ok(Contents { bytes, stamp })
}

#[cfg(test)]
mod tests;
