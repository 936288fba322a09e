//! Writing that survives: one writer at a time, and after a crash the old bytes or the new ones.

use std::fs::{File, TryLockError};
use std::io::{self, IoSlice, Write};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use cap_fs_ext::{DirExt, FollowSymlinks, OpenOptionsFollowExt, OpenOptionsSyncExt};
use cap_std::fs::{Dir, DirBuilder, OpenOptions};

use super::{Place, RelativePath, Root};

/// How long a writer sleeps before it tries again to become the only one.
const RETRY: Duration = Duration::from_millis(2);

/// Keeps all other writers out, in this process and in others, until it is dropped.
#[derive(Debug)]
pub struct Lock {
    // The system gives the lock back when the file is closed, also if the process is killed.
    _file: File,
}

impl Root {
    /// A folder below this one that only its owner can enter; it is made if there is none.
    pub fn private_folder(&self, path: &RelativePath) -> io::Result<Self> {
        let dir = self.writable()?;
        match dir.create_dir_with(path.as_str(), &private_builder()) {
            // Whoever loses power now must not lose the folder that the next file goes into.
            Ok(()) => sync_folder(dir)?,
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
        let below = Arc::new(dir.open_dir(path.as_str())?);
        let path = self.path().unwrap_or(std::path::Path::new("")).join(path.as_str());
        Ok(Self(Place::Folder { dir: below, path }))
    }

    /// Waits at most `patience` to be the only holder of the lock file at `path`.
    ///
    /// `WouldBlock` is the error when another holds it all the time.
    pub fn lock(&self, path: &RelativePath, patience: Duration) -> io::Result<Lock> {
        let mut options = private();
        options.create(true).truncate(false);
        let file = self.writable()?.open_with(path.as_str(), &options)?.into_std();
        let began = Instant::now();
        loop {
            match file.try_lock() {
                Ok(()) => return Ok(Lock { _file: file }),
                Err(TryLockError::Error(error)) => return Err(error),
                Err(TryLockError::WouldBlock) if began.elapsed() > patience => {
                    return Err(io::ErrorKind::WouldBlock.into());
                }
                Err(TryLockError::WouldBlock) => thread::sleep(RETRY),
            }
        }
    }

    /// Replaces a file so that a crash at any moment, also of the machine, leaves the old bytes
    /// or the new ones; what was there before is kept as `backup`. Only its owner can read it.
    /// The bytes are those of all `parts`, one after the other.
    ///
    /// The caller holds a [`Lock`]: the temporary file has a fixed name, so that one that a
    /// crash left behind is used up by the next writer. Where the system can exchange two names,
    /// the backup that is one too many stays as [`spare`](Self::remove_spare), to be written over
    /// by the next save: to make a file and to remove one takes as long as to write it.
    pub fn replace_durably(
        &self,
        path: &RelativePath,
        parts: &[&[u8]],
        backup: Option<&RelativePath>,
    ) -> io::Result<()> {
        let dir = self.writable()?;
        let (temporary, spare) = (format!("{path}.tmp"), spare(path));
        let written = (|| {
            // A spare has this name only once the folder was synced after it ceased to be
            // anything else, so that no crash can bring it back as what it was.
            let recycled = dir.rename(&spare, dir, &temporary).is_ok();
            write_synced(dir, &temporary, parts, recycled)?;
            let Some(backup) = backup else {
                return dir.rename(&temporary, dir, path.as_str()).map(|()| false);
            };
            if dir.exists(path.as_str()) && exchange(dir, &temporary, backup.as_str()).is_ok() {
                // The backup is the new file now, and becomes the old one.
                exchange(dir, backup.as_str(), path.as_str())?;
                return Ok(true);
            }
            keep(dir, path, backup)?;
            dir.rename(&temporary, dir, path.as_str()).map(|()| false)
        })();
        let spared = match written {
            Ok(spared) => spared,
            Err(error) => {
                let _ = dir.remove_file_or_symlink(&temporary);
                return Err(error);
            }
        };
        sync_folder(dir)?;
        if spared {
            // If it is lost, so is nothing.
            let _ = dir.rename(&temporary, dir, &spare);
        }
        Ok(())
    }

    /// Removes what earlier bytes [`replace_durably`](Self::replace_durably) left of a file.
    pub fn remove_spare(&self, path: &RelativePath) -> io::Result<()> {
        match self.writable()?.remove_file_or_symlink(spare(path)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }
}

fn spare(path: &RelativePath) -> String {
    format!("{path}.spare")
}

/// Exchanges two names in one step.
#[cfg(target_os = "linux")]
fn exchange(dir: &Dir, one: &str, other: &str) -> io::Result<()> {
    use rustix::fs::{RenameFlags, renameat_with};
    Ok(renameat_with(dir, one, dir, other, RenameFlags::EXCHANGE)?)
}

#[cfg(not(target_os = "linux"))]
fn exchange(_: &Dir, _: &str, _: &str) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Writes a file and waits until it is on disk: a new one, or over one that may be.
fn write_synced(dir: &Dir, path: &str, parts: &[&[u8]], over: bool) -> io::Result<()> {
    let mut file = match over.then(|| open_over(dir, path)).transpose() {
        Ok(Some(file)) => file,
        found => {
            if found.is_err() {
                dir.remove_file_or_symlink(path)?;
            }
            let mut options = private();
            options.create(true).truncate(true);
            dir.open_with(path, &options)?
        }
    };
    let mut slices: Vec<IoSlice<'_>> = parts.iter().map(|part| IoSlice::new(part)).collect();
    let mut left = slices.as_mut_slice();
    // What is empty is done with.
    IoSlice::advance_slices(&mut left, 0);
    while !left.is_empty() {
        match file.write_vectored(left) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(written) => IoSlice::advance_slices(&mut left, written),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    let size = parts.iter().map(|part| part.len() as u64).sum();
    if over && file.metadata()?.len() != size {
        file.set_len(size)?;
    }
    file.sync_all()
}

/// Opens a file to write over it, if it is one that only its owner can read and that has no
/// other name: whoever made a second one does not want it to change.
fn open_over(dir: &Dir, path: &str) -> io::Result<cap_std::fs::File> {
    let file = dir.open_with(path, &private())?;
    let metadata = file.metadata()?;
    #[cfg(unix)]
    let private = {
        use cap_std::fs::MetadataExt;
        metadata.nlink() == 1 && metadata.mode() & 0o777 == 0o600
    };
    #[cfg(not(unix))]
    let private = true;
    if metadata.is_file() && private {
        Ok(file)
    } else {
        Err(io::ErrorKind::PermissionDenied.into())
    }
}

/// Gives the present file a second name, `backup`, without a moment in which either is missing.
fn keep(dir: &Dir, path: &RelativePath, backup: &RelativePath) -> io::Result<()> {
    let second = format!("{backup}.tmp");
    match dir.remove_file_or_symlink(&second) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    match dir.hard_link(path.as_str(), dir, &second) {
        Ok(()) => {}
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        // Not every file system has links.
        Err(_) => write_synced(dir, &second, &[&dir.read(path.as_str())?], false)?,
    }
    dir.rename(&second, dir, backup.as_str())?;
    // Renaming one name of a file to another of its names does nothing.
    let _ = dir.remove_file_or_symlink(&second);
    Ok(())
}

/// Makes the names in a folder durable.
fn sync_folder(dir: &Dir) -> io::Result<()> {
    if cfg!(windows) {
        // There, folders cannot be synced, and renames are journalled.
        return Ok(());
    }
    // The handle itself is for looking things up beneath it, and cannot be synced.
    dir.open(".")?.sync_all()
}

/// For files that only their owner reads. A link in the place of one is refused.
fn private() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.write(true).follow(FollowSymlinks::No).nonblock(true);
    #[cfg(unix)]
    {
        use cap_std::fs::OpenOptionsExt;
        options.mode(0o600);
    }
    options
}

fn private_builder() -> DirBuilder {
    #[cfg_attr(not(unix), expect(unused_mut, reason = "modes are for Unix"))]
    let mut builder = DirBuilder::new();
    #[cfg(unix)]
    {
        use cap_std::fs::DirBuilderExt;
        builder.mode(0o700);
    }
    builder
}

#[cfg(test)]
#[cfg(unix)]
#[expect(clippy::disallowed_methods, reason = "tests look at what was written")]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn path(text: &str) -> RelativePath {
        RelativePath::new(text).unwrap()
    }

    #[test]
    fn the_file_before_is_kept_and_both_are_private() {
        let folder = tempfile::tempdir().unwrap();
        let root = Root::open(folder.path()).unwrap().private_folder(&path("state")).unwrap();
        let backup = path("a.bak");
        for text in ["one", "two", "three"] {
            root.replace_durably(&path("a"), &[text.as_bytes()], Some(&backup)).unwrap();
        }
        let at = folder.path().join("state");
        assert_eq!(fs::read_to_string(at.join("a")).unwrap(), "three");
        assert_eq!(fs::read_to_string(at.join("a.bak")).unwrap(), "two");
        for (name, mode) in [("a", 0o600), ("a.bak", 0o600), ("", 0o700)] {
            let found = fs::metadata(at.join(name)).unwrap().permissions().mode() & 0o777;
            assert_eq!(found, mode, "{name}");
        }
        assert!(!at.join("a.tmp").exists(), "no temporary file stays");
    }

    #[test]
    fn the_spare_is_written_over_and_what_has_another_name_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let root = Root::open(folder.path()).unwrap();
        let at = |name: &str| folder.path().join(name);
        let text = |name: &str| fs::read_to_string(at(name)).unwrap();
        let save = |bytes: &[u8]| {
            root.replace_durably(&path("a"), &[bytes], Some(&path("a.bak"))).unwrap();
        };
        // Shorter, longer and as long as what it is written over.
        for (number, length) in [10, 9, 8, 3, 30, 0, 30, 30, 5].into_iter().enumerate() {
            let bytes = vec![b'0' + u8::try_from(number).unwrap(); length];
            let before = fs::read(at("a")).ok();
            save(&bytes);
            assert_eq!(fs::read(at("a")).unwrap(), bytes);
            assert_eq!(fs::read(at("a.bak")).ok(), before);
        }
        if !at("a.spare").exists() {
            return; // The system cannot exchange names.
        }
        let (inode, spare) = (identity(&at("a.spare")), text("a.spare"));
        fs::hard_link(at("a.spare"), at("mine")).unwrap();
        save(b"next");
        assert_eq!((text("a"), text("mine")), ("next".into(), spare));
        assert_ne!(identity(&at("a")), inode);
        fs::set_permissions(at("a.spare"), fs::Permissions::from_mode(0o644)).unwrap();
        save(b"more");
        assert_eq!(fs::metadata(at("a")).unwrap().permissions().mode() & 0o777, 0o600);
        fs::remove_file(at("a.spare")).unwrap();
        std::os::unix::fs::symlink("mine", at("a.spare")).unwrap();
        save(b"last");
        assert_ne!(text("mine"), "last");
        assert_eq!((text("a"), text("a.bak")), ("last".into(), "more".into()));
        root.remove_spare(&path("a")).unwrap();
        root.remove_spare(&path("a")).unwrap();
        assert!(!at("a.spare").exists());
    }

    fn identity(path: &std::path::Path) -> u64 {
        std::os::unix::fs::MetadataExt::ino(&fs::metadata(path).unwrap())
    }

    #[test]
    fn what_a_crash_left_behind_is_no_obstacle() {
        let folder = tempfile::tempdir().unwrap();
        let root = Root::open(folder.path()).unwrap();
        fs::write(folder.path().join("a"), "old").unwrap();
        fs::write(folder.path().join("a.tmp"), "half of a longer te").unwrap();
        fs::hard_link(folder.path().join("a"), folder.path().join("a.bak")).unwrap();
        fs::write(folder.path().join("a.bak.tmp"), "x").unwrap();
        root.replace_durably(&path("a"), &[b"", b"n", b"", b"ew"], Some(&path("a.bak"))).unwrap();
        assert_eq!(fs::read_to_string(folder.path().join("a")).unwrap(), "new");
        assert_eq!(fs::read_to_string(folder.path().join("a.bak")).unwrap(), "old");
        assert!(!folder.path().join("a.tmp").exists());
    }

    #[test]
    fn one_holder_at_a_time() {
        let folder = tempfile::tempdir().unwrap();
        let root = Root::open(folder.path()).unwrap();
        let held = root.lock(&path("lock"), Duration::ZERO).unwrap();
        let error = root.lock(&path("lock"), Duration::ZERO).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::WouldBlock);
        drop(held);
        root.lock(&path("lock"), Duration::ZERO).unwrap();
    }

    #[test]
    fn a_link_in_a_files_place_is_not_written_through() {
        let folder = tempfile::tempdir().unwrap();
        let root = Root::open(folder.path()).unwrap();
        fs::write(folder.path().join("precious"), "keep").unwrap();
        for name in ["a.tmp", "lock"] {
            std::os::unix::fs::symlink("precious", folder.path().join(name)).unwrap();
        }
        assert!(root.replace_durably(&path("a"), &[b"new"], None).is_err());
        assert!(root.lock(&path("lock"), Duration::ZERO).is_err());
        assert_eq!(fs::read_to_string(folder.path().join("precious")).unwrap(), "keep");
    }
}
