//! Index files that were saved before, with what changes since then in memory.
//!
//! The saved files are shared with other processes and never written again. All of them are opened
//! at once: whoever removes them later takes nothing from this process.

use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tantivy::directory::error::{DeleteError, OpenReadError, OpenWriteError};
use tantivy::directory::{
    Directory, FileHandle, FileSlice, MmapDirectory, RamDirectory, WatchCallback, WatchHandle,
    WritePtr,
};

/// Saved files below, memory above.
#[derive(Clone)]
pub(super) struct Overlay {
    saved: Arc<HashMap<PathBuf, FileSlice>>,
    memory: RamDirectory,
}

impl std::fmt::Debug for Overlay {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Overlay").field("saved", &self.saved.len()).finish_non_exhaustive()
    }
}

impl Overlay {
    /// Opens all `files` of a folder.
    pub(super) fn open(
        folder: &MmapDirectory,
        files: impl IntoIterator<Item = PathBuf>,
    ) -> Result<Self, OpenReadError> {
        let mut saved = HashMap::new();
        for path in files {
            let file = folder.open_read(&path)?;
            saved.insert(path, file);
        }
        Ok(Self { saved: Arc::new(saved), memory: RamDirectory::create() })
    }
}

impl Directory for Overlay {
    fn get_file_handle(&self, path: &Path) -> Result<Arc<dyn FileHandle>, OpenReadError> {
        Ok(Arc::new(self.open_read(path)?))
    }

    fn open_read(&self, path: &Path) -> Result<FileSlice, OpenReadError> {
        match self.memory.open_read(path) {
            Err(error @ OpenReadError::FileDoesNotExist(_)) => {
                self.saved.get(path).cloned().ok_or(error)
            }
            found => found,
        }
    }

    fn delete(&self, path: &Path) -> Result<(), DeleteError> {
        match self.memory.delete(path) {
            Err(DeleteError::FileDoesNotExist(_)) if self.saved.contains_key(path) => Ok(()),
            done => done,
        }
    }

    fn exists(&self, path: &Path) -> Result<bool, OpenReadError> {
        Ok(self.memory.exists(path)? || self.saved.contains_key(path))
    }

    fn open_write(&self, path: &Path) -> Result<WritePtr, OpenWriteError> {
        if self.saved.contains_key(path) {
            return Err(OpenWriteError::FileAlreadyExists(path.to_owned()));
        }
        self.memory.open_write(path)
    }

    fn atomic_read(&self, path: &Path) -> Result<Vec<u8>, OpenReadError> {
        let file = self.open_read(path)?;
        let bytes = file.read_bytes().map_err(|error| OpenReadError::IoError {
            io_error: Arc::new(error),
            filepath: path.to_owned(),
        })?;
        Ok(bytes.as_slice().to_vec())
    }

    fn atomic_write(&self, path: &Path, data: &[u8]) -> io::Result<()> {
        self.memory.atomic_write(path, data)
    }

    fn sync_directory(&self) -> io::Result<()> {
        Ok(())
    }

    fn watch(&self, callback: WatchCallback) -> tantivy::Result<WatchHandle> {
        self.memory.watch(callback)
    }
}
