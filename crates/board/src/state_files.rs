//! `learnings.txt` and `progress.txt`: what agents leave for each other, line by line.

use rutter_base::failure::{Failure, Kind, Report};
use rutter_base::root::{ReadError, RelativePath, RelativePathError, Root, Stamp};

/// The largest file that is read.
const MAX_FILE: u64 = 16 * 1024 * 1024;
/// The longest text that is appended at once.
const MAX_TEXT: usize = 64 * 1024;

/// One of the two files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StateFile {
    /// What was learned.
    Learnings,
    /// What was done.
    Progress,
}

impl StateFile {
    fn path(self) -> Result<RelativePath, RelativePathError> {
        RelativePath::new(match self {
            Self::Learnings => "learnings.txt",
            Self::Progress => "progress.txt",
        })
    }
}

/// The files in the project's `.ralph/` folder.
#[derive(Debug)]
pub struct StateFiles {
    root: Root,
}

/// Why a file was not read or appended to.
#[derive(Debug, thiserror::Error)]
pub enum StateFileError {
    /// There is nothing to append.
    #[error("/text: expected some text")]
    Empty,
    /// Too much to append at once.
    #[error("/text: expected at most {MAX_TEXT} bytes")]
    TooLong,
    /// A text that cannot be a line of a text file.
    #[error("/text: control characters other than tab and line feed are not accepted")]
    Control,
    /// The file cannot be read or written.
    #[error("the file cannot be used")]
    File(#[from] ReadError),
    /// Never happens: the names are fixed.
    #[error(transparent)]
    Path(#[from] RelativePathError),
}

impl Failure for StateFileError {
    fn report(&self) -> Report {
        match self {
            Self::Empty | Self::TooLong | Self::Control => {
                Report::new(Kind::Invalid, self.to_string())
            }
            Self::File(ReadError::TooLarge { .. }) => {
                Report::new(Kind::TooLarge, "the file has grown past 16 MiB")
                    .hint("move its older part elsewhere")
            }
            Self::File(ReadError::NotAFile | ReadError::Escape) => Report::new(
                Kind::Refused,
                "something that is not a regular file is in the file's place",
            )
            .hint("remove it"),
            Self::File(_) | Self::Path(_) => {
                Report::new(Kind::Internal, "the file cannot be read or written").hint("try again")
            }
        }
    }
}

impl StateFiles {
    /// The files in a project's folder.
    pub fn new(root: Root) -> Self {
        Self { root }
    }

    /// Appends a text as whole lines.
    pub fn append(&self, file: StateFile, text: &str) -> Result<(), StateFileError> {
        let text = text.trim_end();
        if text.is_empty() {
            return Err(StateFileError::Empty);
        }
        if text.len() > MAX_TEXT {
            return Err(StateFileError::TooLong);
        }
        if text.contains(|c: char| c.is_control() && !matches!(c, '\t' | '\n')) {
            return Err(StateFileError::Control);
        }
        Ok(self.root.append_line(&file.path()?, text)?)
    }

    /// The present state of a file; `None` when there is none that can be read.
    pub fn stamp(&self, file: StateFile) -> Option<Stamp> {
        self.root.stamp(&file.path().ok()?).ok()
    }

    /// Everything in a file; empty when there is none yet.
    pub fn read(&self, file: StateFile) -> Result<String, StateFileError> {
        match self.root.read(&file.path()?, MAX_FILE) {
            Err(ReadError::NotFound) => Ok(String::new()),
            // A file that another program damaged is still worth reading.
            contents => Ok(String::from_utf8_lossy(&contents?.bytes).into_owned()),
        }
    }
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "tests put hostile files in place")]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn lines_of_many_threads_never_mix() {
        let folder = tempfile::tempdir().unwrap();
        std::thread::scope(|scope| {
            for writer in 0..8 {
                let files = StateFiles::new(Root::open(folder.path()).unwrap());
                scope.spawn(move || {
                    for line in 0..50 {
                        files
                            .append(
                                StateFile::Learnings,
                                &format!("{writer} {line} {}", "x".repeat(500)),
                            )
                            .unwrap();
                    }
                });
            }
        });
        let files = StateFiles::new(Root::open(folder.path()).unwrap());
        let text = files.read(StateFile::Learnings).unwrap();
        assert_eq!(text.lines().count(), 400);
        assert!(
            text.lines()
                .all(|line| line.ends_with(&"x".repeat(500)) && line.matches(' ').count() == 2)
        );
        assert_eq!(files.read(StateFile::Progress).unwrap(), "");
    }

    #[test]
    fn what_is_no_line_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let files = StateFiles::new(Root::open(folder.path()).unwrap());
        for (text, reason) in [
            (" \n", "expected some text"),
            ("a\u{1b}[2J", "control characters"),
            ("a\0", "control"),
        ] {
            let report = Report::from(files.append(StateFile::Progress, text).unwrap_err());
            assert!(report.to_string().contains(reason), "{report}");
        }
        assert!(files.append(StateFile::Progress, &"x".repeat(70_000)).is_err());
        symlink("/etc/passwd", folder.path().join("progress.txt")).unwrap();
        assert!(files.append(StateFile::Progress, "x").is_err());
        assert!(files.read(StateFile::Progress).is_err());
        fs::remove_file(folder.path().join("progress.txt")).unwrap();
        files.append(StateFile::Progress, "one\ntwo\n").unwrap();
        assert_eq!(files.read(StateFile::Progress).unwrap(), "one\ntwo\n");
    }
}
