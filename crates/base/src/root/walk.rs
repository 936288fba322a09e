//! Finding the files below a root: in a fixed order, with bounds, past everything that is odd.

use std::collections::BTreeSet;
use std::path::Path;

use cap_fs_ext::MetadataExt;
use cap_std::fs::Dir;

use super::{RelativePath, Stamp};
use crate::failure::Problem;
use crate::text::one_line;

/// How many folders deep a walk goes. A path must stay below the system's limit for paths.
const MAX_DEPTH: usize = 64;
/// How many files a walk finds.
const MAX_FILES: usize = 200_000;
/// Folders that hold other people's files, never documents of the project.
const SKIPPED: [&str; 2] = ["node_modules", "target"];

/// What a walk found, in order of path, and what it could not look at.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Walk {
    /// The files.
    pub files: Vec<Found>,
    /// What was passed over, and why.
    pub problems: Vec<Problem>,
}

/// A file that a walk found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// Where it is.
    pub path: RelativePath,
    /// Its state at the time of the walk.
    pub stamp: Stamp,
}

pub(super) fn folder(dir: &Dir, extensions: &[&str]) -> Walk {
    let mut walk = Walk::default();
    let mut seen = BTreeSet::new();
    if let Ok(metadata) = dir.dir_metadata() {
        seen.insert((MetadataExt::dev(&metadata), MetadataExt::ino(&metadata)));
    }
    let mut pending = vec![String::new()];
    while let Some(folder) = pending.pop() {
        let depth = if folder.is_empty() { 0 } else { folder.split('/').count() };
        if depth > MAX_DEPTH {
            walk.problems.push(Problem::warning(
                shorten(&folder),
                format!("folders more than {MAX_DEPTH} deep are not looked at"),
            ));
            continue;
        }
        let entries = dir.read_dir(if folder.is_empty() { "." } else { &folder });
        let entries = match entries {
            Ok(entries) => entries,
            Err(error) => {
                walk.problems.push(Problem::warning(
                    shorten(&folder),
                    format!("the folder cannot be listed: {}", error.kind()),
                ));
                continue;
            }
        };
        for entry in entries.flatten() {
            let name = entry.file_name();
            let Some(name) = name.to_str() else {
                walk.problems.push(Problem::warning(
                    join(&folder, &name.to_string_lossy()),
                    "the file's name is not UTF-8",
                ));
                continue;
            };
            if name.starts_with('.') {
                continue;
            }
            let path = join(&folder, name);
            // Following links, but only within the root: one that leads out is an error here. What
            // is no link needs no walk along its path, which is most of what a walk costs.
            let linked = entry.file_type().is_ok_and(|kind| kind.is_symlink());
            let metadata = if linked { dir.metadata(&path) } else { entry.metadata() };
            let metadata = match metadata {
                Ok(metadata) => metadata,
                Err(_) if !wanted(name, extensions) => continue,
                Err(_) => {
                    walk.problems.push(Problem::warning(
                        shorten(&path),
                        "a link that leads nowhere or out of the folder, or a file that cannot be looked at",
                    ));
                    continue;
                }
            };
            if metadata.is_dir() {
                let identity = (MetadataExt::dev(&metadata), MetadataExt::ino(&metadata));
                // A link back to a folder above would be walked for ever.
                if !SKIPPED.contains(&name) && seen.insert(identity) {
                    pending.push(path);
                }
            } else if !wanted(name, extensions) {
            } else if !metadata.is_file() {
                walk.problems.push(Problem::warning(shorten(&path), "it is not a regular file"));
            } else if let Ok(path) = RelativePath::new(path.clone()) {
                walk.files.push(Found { path, stamp: Stamp::of(&metadata) });
            } else {
                walk.problems.push(Problem::warning(
                    shorten(&path),
                    "its path is not one that can be asked for",
                ));
            }
        }
        if walk.files.len() > MAX_FILES {
            walk.problems.push(Problem::warning(
                shorten(&folder),
                format!("there are more than {MAX_FILES} files; the rest is not looked at"),
            ));
            break;
        }
    }
    finish(walk)
}

/// What is directly in a folder.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Listed {
    /// Its name.
    pub name: String,
    /// What it is.
    pub kind: EntryKind,
}

/// What a name in a folder stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum EntryKind {
    /// A regular file, or a link to one within the root.
    File,
    /// A folder, or a link to one within the root.
    Folder,
    /// A device, a FIFO, a socket, or a link that leads nowhere or out of the root.
    Other,
}

/// Looks at what links lead to, and trusts the folder's own word about everything else: a folder
/// of ten thousand files is listed without touching one of them.
pub(super) fn list(dir: &Dir, folder: &RelativePath) -> Vec<Listed> {
    let Ok(entries) = dir.read_dir(folder.as_str()) else { return Vec::new() };
    let listed = entries.flatten().take(MAX_FILES).filter_map(|entry| {
        let name = entry.file_name().into_string().ok()?;
        let kind = entry.file_type().ok()?;
        let kind = if kind.is_symlink() {
            match dir.metadata(join(folder.as_str(), &name)) {
                Ok(metadata) if metadata.is_file() => EntryKind::File,
                Ok(metadata) if metadata.is_dir() => EntryKind::Folder,
                _ => EntryKind::Other,
            }
        } else if kind.is_file() {
            EntryKind::File
        } else if kind.is_dir() {
            EntryKind::Folder
        } else {
            EntryKind::Other
        };
        Some(Listed { name, kind })
    });
    let mut listed: Vec<Listed> = listed.collect();
    listed.sort();
    listed
}

pub(super) fn list_embedded(dir: &include_dir::Dir<'static>) -> Vec<Listed> {
    let named = |path: &Path, kind| {
        let name = path.file_name()?.to_str()?.to_owned();
        Some(Listed { name, kind })
    };
    let folders = dir.dirs().filter_map(|folder| named(folder.path(), EntryKind::Folder));
    let files = dir.files().filter_map(|file| named(file.path(), EntryKind::File));
    let mut listed: Vec<Listed> = folders.chain(files).collect();
    listed.sort();
    listed
}

pub(super) fn embedded(dir: &include_dir::Dir<'static>, extensions: &[&str]) -> Walk {
    let mut walk = Walk::default();
    let mut pending = vec![dir];
    while let Some(folder) = pending.pop() {
        pending.extend(folder.dirs());
        for file in folder.files() {
            let path = file.path().strip_prefix(dir.path()).unwrap_or(file.path());
            let Some(path) = path.to_str().and_then(|path| RelativePath::new(path).ok()) else {
                continue;
            };
            if wanted(path.as_str(), extensions) {
                walk.files.push(Found { path, stamp: Stamp::embedded(file.contents().len()) });
            }
        }
    }
    finish(walk)
}

fn finish(mut walk: Walk) -> Walk {
    walk.files.sort_by(|a, b| a.path.cmp(&b.path));
    walk.problems.sort_by(|a, b| (&a.file, &a.message).cmp(&(&b.file, &b.message)));
    walk
}

fn wanted(name: &str, extensions: &[&str]) -> bool {
    if extensions.is_empty() {
        return true;
    }
    Path::new(name)
        .extension()
        .and_then(|extension| extension.to_str())
        .is_some_and(|extension| extensions.iter().any(|want| want.eq_ignore_ascii_case(extension)))
}

fn join(folder: &str, name: &str) -> String {
    if folder.is_empty() { name.to_owned() } else { format!("{folder}/{name}") }
}

/// A path as it may stand in a message: on one line and not longer than a person reads.
fn shorten(path: &str) -> String {
    crate::text::cap(one_line(path), 256)
}
