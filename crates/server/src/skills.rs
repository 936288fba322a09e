//! Agent Skills: folders with a `SKILL.md`, served byte for byte.
//!
//! Clients hold what they read against the digests that they were given, so a file is served
//! whole or not at all, and nothing in it is rewritten. Everything is read when it is asked for;
//! an entry and the listing are never older than the files.

mod check;
mod files;
mod watch;

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use include_dir::{Dir, include_dir};
use rmcp::model::Resource;
use rutter_base::failure::Problem;
use rutter_base::root::{Found, ReadError, RelativePath, Root};
use rutter_library::Encoded;
use serde::Serialize;
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

pub use files::{Content, FileContent};
pub use watch::Difference;

static EMBEDDED: Dir<'static> = include_dir!("$CARGO_MANIFEST_DIR/../../skills");

/// The file that makes a folder a skill.
pub const MANIFEST: &str = "SKILL.md";
/// The companion skill's name.
pub const COMPANION: &str = "rutter-workflow";
const SCHEME: &str = "skill://";

/// The skills that the binary carries.
pub fn embedded() -> Root {
    Root::embedded(&EMBEDDED)
}

/// Skills from any number of places. Of two in one folder of the same name the first counts.
#[derive(Debug)]
pub struct Skills {
    places: Vec<Root>,
    /// The bytes of the largest file that fits into an answer.
    max_file: u64,
    /// What never changes is looked for once.
    embedded: OnceLock<Vec<Arc<Skill>>>,
}

/// A skill as it is found: valid, and with the `SKILL.md` that made it so.
#[derive(Debug)]
struct Skill {
    root: Root,
    /// Its folder below the root.
    folder: String,
    frontmatter: Map<String, Value>,
    manifest: Vec<u8>,
    files: Vec<Found>,
    max_file: u64,
}

/// A skill with its files, as clients get it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Entry {
    /// The URI of its `SKILL.md`.
    pub uri: String,
    /// The frontmatter of its `SKILL.md`, as its author wrote it.
    pub frontmatter: Map<String, Value>,
    /// All of its files.
    pub resources: Vec<FileEntry>,
}

/// A file of a skill.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FileEntry {
    /// Its URI.
    pub uri: String,
    /// The SHA-256 of its bytes: `sha256:…`.
    pub digest: String,
    /// How many bytes it has.
    pub size: u64,
}

impl FileEntry {
    fn of(uri: String, bytes: &[u8]) -> Self {
        Self { uri, digest: digest(bytes), size: bytes.len() as u64 }
    }
}

/// The SHA-256 of some bytes, as `sha256:…`.
pub fn digest(bytes: &[u8]) -> String {
    use std::fmt::Write;
    let mut text = String::from("sha256:");
    for byte in Sha256::digest(bytes) {
        // Writing to a string cannot fail.
        let _ = write!(text, "{byte:02x}");
    }
    text
}

impl Skills {
    /// Serves the skills below `places`; in a folder no file may have more than `max_file` bytes.
    pub fn new(places: Vec<Root>, max_file: usize) -> Self {
        Self { places, max_file: max_file as u64, embedded: OnceLock::new() }
    }

    /// Whether nothing of it can change while the process lives.
    pub fn is_immutable(&self) -> bool {
        self.places.iter().all(Root::is_immutable)
    }

    /// Every skill, in order of URI.
    pub fn entries(&self) -> Vec<Entry> {
        // A file that went away since the walk makes its skill one that is not there now.
        self.look().0.iter().filter_map(|skill| skill.entry().ok()).collect()
    }

    /// The skill whose `SKILL.md` has this URI.
    pub fn entry(&self, uri: &str) -> Option<Entry> {
        let (skills, _) = self.look();
        skills.iter().find(|skill| skill.uri() == uri)?.entry().ok()
    }

    /// The names of all skills.
    pub fn names(&self) -> Vec<String> {
        self.look().0.iter().map(|skill| skill.name().to_owned()).collect()
    }

    /// Each skill's `SKILL.md` as a resource, in order of URI.
    ///
    /// A list of resources is for choosing by: the other files mean nothing without it. They can
    /// be read all the same.
    pub fn resources(&self) -> Vec<Resource> {
        self.look().0.iter().map(|skill| skill.resource()).collect()
    }

    /// What is directly in a folder; `None` if there is no such folder.
    pub fn children(&self, uri: &str) -> Option<Vec<Resource>> {
        let path = uri.strip_prefix(SCHEME).filter(|path| !path.is_empty())?;
        let (skills, _) = self.look();
        let mut all: BTreeMap<String, Resource> = BTreeMap::new();
        for file in skills.iter().flat_map(|skill| &skill.files) {
            all.insert(uri_of(&file.path), files::resource(uri_of(&file.path), file));
        }
        // A `SKILL.md` tells more of itself than that it is a file.
        all.extend(skills.iter().map(|skill| (skill.uri(), skill.resource())));
        let children = files::children(all.into_values(), &format!("{SCHEME}{path}/"));
        Some(children).filter(|children| !children.is_empty())
    }

    /// Reads a file. `None` means that the URI is not one of a skill.
    pub fn read(&self, uri: &str) -> Option<Result<FileContent, ReadError>> {
        if !uri.starts_with(SCHEME) {
            return None;
        }
        let (skills, _) = self.look();
        let mut all =
            skills.iter().flat_map(|skill| skill.files.iter().map(move |file| (skill, file)));
        let Some((skill, file)) = all.find(|(_, file)| uri_of(&file.path) == uri) else {
            return Some(Err(ReadError::NotFound));
        };
        Some(skill.read(&file.path).map(|bytes| FileContent::new(uri, &file.path, bytes)))
    }

    /// What is wrong with the skills in folders.
    pub fn problems(&self) -> Vec<Problem> {
        if self.is_immutable() { Vec::new() } else { self.look().1 }
    }

    /// Finds the skills, and what is wrong with those that cannot be served.
    fn look(&self) -> (Vec<Arc<Skill>>, Vec<Problem>) {
        let mut skills: Vec<Arc<Skill>> = Vec::new();
        let mut problems = Vec::new();
        for place in &self.places {
            let (found, wrong) = self.look_at(place);
            let new = |skill: &Arc<Skill>| skills.iter().all(|known| known.folder != skill.folder);
            let found: Vec<Arc<Skill>> = found.into_iter().filter(new).collect();
            skills.extend(found);
            problems.extend(wrong);
        }
        skills.sort_by_cached_key(|skill| skill.uri());
        (skills, problems)
    }

    fn look_at(&self, place: &Root) -> (Vec<Arc<Skill>>, Vec<Problem>) {
        let look = |root: &Root, max_file| {
            let (skills, problems) = check::skills(root, max_file);
            (skills.into_iter().map(Arc::new).collect::<Vec<_>>(), problems)
        };
        match place.path() {
            // Another folder may have been put in its place since it was opened.
            Some(path) => look(Root::open(path).as_ref().unwrap_or(place), self.max_file),
            // What is embedded is small, and has been checked.
            None => (self.embedded.get_or_init(|| look(place, u64::MAX).0).clone(), Vec::new()),
        }
    }
}

impl Skill {
    fn name(&self) -> &str {
        self.text("name")
    }

    fn text(&self, field: &str) -> &str {
        self.frontmatter.get(field).and_then(Value::as_str).unwrap_or_default()
    }

    fn uri(&self) -> String {
        format!("{SCHEME}{}/{MANIFEST}", Encoded(&self.folder))
    }

    fn read(&self, path: &RelativePath) -> Result<Vec<u8>, ReadError> {
        Ok(self.root.read(path, self.max_file)?.bytes)
    }

    fn entry(&self) -> Result<Entry, ReadError> {
        let uri = self.uri();
        let mut resources = Vec::new();
        for file in &self.files {
            let file_uri = uri_of(&file.path);
            // The digest is that of the very bytes whose frontmatter is shown.
            resources.push(if file_uri == uri {
                FileEntry::of(file_uri, &self.manifest)
            } else {
                FileEntry::of(file_uri, &self.read(&file.path)?)
            });
        }
        Ok(Entry { uri, frontmatter: self.frontmatter.clone(), resources })
    }

    fn resource(&self) -> Resource {
        Resource::new(self.uri(), self.name())
            .with_description(self.text("description"))
            .with_mime_type(files::MARKDOWN)
            .with_size(self.manifest.len() as u64)
    }
}

fn uri_of(path: &RelativePath) -> String {
    format!("{SCHEME}{}", Encoded(path.as_str()))
}

#[cfg(test)]
mod tests;
