//! What is going to be written, and the writing.

use std::io::ErrorKind;

use rutter_base::failure::{Kind, Report};
use rutter_base::root::{Created, ReadError, RelativePath, Root};
use serde::{Serialize, Serializer};

/// The largest file that is looked into.
const MAX_FILE: u64 = 8 * 1024 * 1024;

/// What is going to be written below a folder.
pub(super) struct Plan {
    root: Root,
    steps: Vec<Step>,
}

/// What becomes of one file.
#[derive(Debug, Serialize)]
pub(super) struct Step {
    /// Where a person looks for it.
    #[serde(serialize_with = "as_text")]
    pub(super) file: RelativePath,
    pub(super) what: What,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) note: Option<&'static str>,
    /// Where it is: the file that a link leads to.
    #[serde(skip)]
    target: RelativePath,
    #[serde(skip)]
    before: Option<Vec<u8>>,
    #[serde(skip)]
    after: Option<Vec<u8>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum What {
    Created,
    Updated,
    Unchanged,
    /// Someone's own version stays.
    Kept,
}

fn as_text<S: Serializer>(path: &RelativePath, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(path.as_str())
}

/// What a file's text becomes.
pub(super) enum Edit {
    To(String),
    Nothing,
    Keep,
}

impl Plan {
    pub(super) fn new(root: Root) -> Self {
        Self { root, steps: Vec::new() }
    }

    pub(super) fn steps(&self) -> &[Step] {
        &self.steps
    }

    /// Whether there is a file of this name.
    pub(super) fn has(&self, file: &str) -> bool {
        RelativePath::new(file).is_ok_and(|path| self.root.stamp(&path).is_ok())
    }

    /// Whether there is a folder of this name.
    pub(super) fn has_folder(&self, folder: &str) -> bool {
        RelativePath::new(folder).is_ok_and(|path| self.root.folder(&path).is_some())
    }

    /// Plans what `edit` makes of a file's text, which is `None` where there is no file.
    pub(super) fn edit(
        &mut self,
        file: &str,
        edit: impl FnOnce(Option<&str>) -> Result<Edit, Report>,
    ) -> Result<What, Report> {
        let path = RelativePath::new(file)
            .map_err(|error| Report::new(Kind::Internal, error.to_string()))?;
        let (target, before) = self.look(&path).map_err(|error| unusable(file, &error))?;
        let text = before.clone().map(String::from_utf8).transpose();
        let text = text.map_err(|_| unusable(file, &ReadError::NotText))?;
        let (what, after) = match (edit(text.as_deref())?, &text) {
            (Edit::To(after), None) => (What::Created, Some(after)),
            (Edit::To(after), Some(before)) if after != *before => (What::Updated, Some(after)),
            (Edit::To(_) | Edit::Nothing, _) => (What::Unchanged, None),
            (Edit::Keep, _) => (What::Kept, None),
        };
        if what == What::Updated && self.root.is_read_only(&target) {
            let message = format!("`{file}` is read-only, and was left alone");
            return Err(Report::new(Kind::Invalid, message));
        }
        let after = after.map(String::into_bytes);
        self.steps.push(Step { file: path, what, note: None, target, before, after });
        Ok(what)
    }

    /// Tells of a file that something else makes.
    pub(super) fn tell(&mut self, file: &str, what: What) -> Result<(), Report> {
        let file = RelativePath::new(file)
            .map_err(|error| Report::new(Kind::Internal, error.to_string()))?;
        let target = file.clone();
        self.steps.push(Step { file, what, note: None, target, before: None, after: None });
        Ok(())
    }

    /// Tells something about the last step.
    pub(super) fn note(&mut self, note: &'static str) {
        if let Some(step) = self.steps.last_mut() {
            step.note = Some(note);
        }
    }

    /// A file's text, if there is one.
    pub(super) fn text(&self, file: &str) -> Option<String> {
        let (_, bytes) = self.look(&RelativePath::new(file).ok()?).ok()?;
        String::from_utf8(bytes?).ok()
    }

    /// A file's place and its bytes, as they will be once the plan so far is carried out.
    fn look(&self, path: &RelativePath) -> Result<(RelativePath, Option<Vec<u8>>), ReadError> {
        let target = match self.root.resolve(path) {
            Ok(target) => target,
            Err(ReadError::NotFound) => {
                self.check_way(path)?;
                path.clone()
            }
            Err(error) => return Err(error),
        };
        let planned =
            self.steps.iter().rev().find(|step| step.target == target && step.after.is_some());
        if let Some(planned) = planned {
            return Ok((target, planned.after.clone()));
        }
        match self.root.read(&target, MAX_FILE) {
            Ok(contents) => Ok((target, Some(contents.bytes))),
            Err(ReadError::NotFound) => Ok((target, None)),
            Err(error) => Err(error),
        }
    }

    /// Whether the folders above a file that does not exist are there or can be made.
    fn check_way(&self, path: &RelativePath) -> Result<(), ReadError> {
        for (at, _) in path.as_str().match_indices('/') {
            let above = path.as_str().get(..at).unwrap_or_default();
            let above = RelativePath::new(above).map_err(|_| ReadError::NotFound)?;
            match self.root.stamp(&above) {
                Ok(_) => return Err(ReadError::Io(ErrorKind::NotADirectory.into())),
                // Only a regular file has a stamp.
                Err(ReadError::NotAFile | ReadError::NotFound) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Writes what was planned, each file as a whole.
    pub(super) fn apply(&self) -> Result<(), Report> {
        for Step { file, target, before, after, .. } in &self.steps {
            let Some(after) = after else { continue };
            let meanwhile = || {
                let message = format!("`{file}` was changed by someone else meanwhile");
                Report::new(Kind::Busy, message).hint("run `rutter init` again")
            };
            let failed = |error: std::io::Error| {
                let message = format!("`{file}` cannot be written: {}", error.kind());
                Report::new(Kind::Invalid, message)
            };
            match before {
                None => match self.root.create(target, after).map_err(failed)? {
                    Created::New => {}
                    Created::Kept => return Err(meanwhile()),
                },
                Some(before) => {
                    let now = self.root.read(target, MAX_FILE).map_err(|_| meanwhile())?;
                    if now.bytes != *before {
                        return Err(meanwhile());
                    }
                    self.root.replace(target, after).map_err(failed)?;
                }
            }
        }
        Ok(())
    }
}

fn unusable(file: &str, error: &ReadError) -> Report {
    Report::new(Kind::Invalid, format!("`{file}` cannot be used, and was left alone: {error}"))
}
