//! The files that a manifest names, under the names of either generation.
//!
//! The framework was renamed once: what was `ACM-BRIEF-SPEC.md` became `ADF-BRIEF-SPEC.md`, and
//! `prompts/start-design-prompt.md` got a sibling `prompts/discover-to-design-transition.md`,
//! which says what to do in the transition itself. A manifest in the older names serves both.

use rutter_base::failure::{Kind, Problem, Report};
use rutter_base::root::{EntryKind, ReadError, RelativePath, Root};

use super::manifest::Transition;
use super::{GuideError, relative};

/// The largest file of a process or a project that is read.
pub(super) const MAX: u64 = 8 * 1024 * 1024;

const OLDER: &str = "ACM-";
const NEWER: &str = "ADF-";
const PROMPTS: &str = "prompts";
const TRANSITION: &str = "-transition.md";
const MEND: &str = "put the file back, or name another in process.yaml";

/// A path of the program's own.
pub(super) fn path(file: &str) -> Result<RelativePath, Problem> {
    RelativePath::new(file).map_err(|error| Problem::error(file, error.to_string()))
}

/// The file by the name that it has here; `None` if it is there under neither.
pub(super) fn find(root: &Root, file: &str) -> Option<RelativePath> {
    [Some(file.to_owned()), newer(file)]
        .into_iter()
        .flatten()
        .filter_map(|name| relative(&name))
        .find(|path| root.stamp(path).is_ok())
}

fn newer(file: &str) -> Option<String> {
    file.strip_prefix(OLDER).map(|rest| format!("{NEWER}{rest}"))
}

/// Reads a file by the name that the manifest gives it.
pub(super) fn text(root: &Root, file: &str) -> Result<String, GuideError> {
    let unreadable = |cause| GuideError::Unreadable { file: file.to_owned(), hint: MEND, cause };
    let path = relative(file).ok_or_else(|| unreadable(ReadError::Escape))?;
    let read = match (root.read_text(&path, MAX), newer(file).and_then(|name| relative(&name))) {
        (Err(ReadError::NotFound), Some(newer)) => root.read_text(&newer, MAX),
        (read, _) => read,
    };
    let text = read.map_err(unreadable)?;
    if text.trim().is_empty() {
        let message = format!("`{file}` of the process is empty");
        return Err(GuideError::Said(Report::new(Kind::NotFound, message).hint(MEND)));
    }
    Ok(text)
}

/// The prompt of a transition: the newer generation's, else the one that the manifest names.
///
/// Of the files `prompts/*-transition.md`, the one counts whose name holds both stages, else one
/// whose name holds the stage that begins and no other before it.
pub(super) fn transition(root: &Root, step: &Transition) -> Option<String> {
    let named = relative(&step.file).filter(|path| root.stamp(path).is_ok());
    let Some(folder) = relative(PROMPTS).filter(|_| step.file.starts_with("prompts/start-")) else {
        return named.map(|path| path.to_string());
    };
    let (from, to) = (step.from.to_lowercase(), step.to.to_lowercase());
    let ranked = root.list(&folder).into_iter().filter_map(|entry| {
        let stem = entry.name.strip_suffix(TRANSITION)?.to_lowercase();
        let words: Vec<&str> = stem.split(['-', '_']).filter(|word| *word != "to").collect();
        let rank = if words == [from.as_str(), to.as_str()] {
            0
        } else if words.last() == Some(&to.as_str()) && !words.contains(&from.as_str()) {
            1
        } else {
            return None;
        };
        (entry.kind == EntryKind::File).then_some((rank, entry.name))
    });
    let best = ranked.min().map(|(_, name)| format!("{PROMPTS}/{name}"));
    best.or_else(|| named.map(|path| path.to_string()))
}

/// The cause without what the system says of its paths.
pub(super) fn plain(cause: &ReadError) -> String {
    match cause {
        ReadError::Io(error) => error.kind().to_string(),
        other => other.to_string(),
    }
}
