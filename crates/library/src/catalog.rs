//! An immutable snapshot of all documents and prompts, with the problems found in loading them.

mod prompts;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use rutter_base::document::{self, Document, DocumentError};
use rutter_base::failure::{Failure, Kind, Problem, Report, Severity};
use rutter_base::root::{Found, ReadError, RelativePath, Root, Stamp, Walk};
use rutter_base::text;
use serde::Deserialize;

use crate::cache::Kept;
use crate::links::{self, Place};
use crate::prompt::{Prompt, document_problem};
use crate::source::{Shelf, Source};
use crate::uri::{Scheme, Uri};

/// The largest file that is read as a document or prompt.
const MAX_FILE: u64 = 8 * 1024 * 1024;

/// Documents and prompts as they were when they were loaded.
#[derive(Debug, Default)]
pub struct Catalog {
    documents: BTreeMap<Uri, DocumentEntry>,
    prompts: BTreeMap<String, Loaded<Prompt>>,
    problems: Vec<Problem>,
    /// Where documents come from, for links that lead from one to another.
    pub(crate) places: Vec<Arc<Place>>,
    /// Bodies that were read, each with the state of the file that it was read from.
    texts: Mutex<BTreeMap<Uri, (Stamp, Arc<str>)>>,
}

/// Where documents are that were only heard of.
static NOWHERE: include_dir::Dir<'static> = include_dir::Dir::new("", &[]);

/// How many bytes of bodies are kept.
const MAX_KEPT: usize = 4 * 1024 * 1024;

/// A document in the catalogue. Its body is read from the file when it is asked for.
#[derive(Debug, Clone)]
pub struct DocumentEntry {
    /// Its address.
    pub uri: Uri,
    /// The source that it comes from.
    pub source: String,
    /// Its title.
    pub name: String,
    /// What it is about.
    pub description: String,
    /// Words to find it by.
    pub keywords: Vec<String>,
    /// The size of the body in bytes, as it is in the file. What is read may be a little longer
    /// or shorter: links in it are rewritten.
    pub size: u64,
    /// The file's state when it was loaded.
    pub stamp: Stamp,
    pub(crate) file: File,
}

impl DocumentEntry {
    /// The body as its author wrote it.
    pub(crate) fn written(&self) -> Result<String, ReadError> {
        let text = read_text(&self.file.place.root, &self.file.path)?;
        Ok(document::body(&text).map(str::to_owned).unwrap_or(text))
    }
}

#[derive(Debug, Clone)]
pub(crate) struct File {
    pub(crate) place: Arc<Place>,
    pub(crate) path: RelativePath,
    pub(crate) lenient: bool,
}

#[derive(Debug)]
struct Loaded<T> {
    value: T,
    file: String,
    stamp: Stamp,
    problems: Vec<Problem>,
}

/// The body of a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Body {
    /// The document's address, as it is listed.
    pub uri: String,
    /// Its title.
    pub name: String,
    /// The Markdown after the frontmatter, with links between documents as URIs.
    pub text: String,
}

/// A document cannot be had. Why is for the log: a caller learns only that there is none.
#[derive(Debug, thiserror::Error)]
pub enum LookupError {
    /// The text is no document's URI, or no document has it.
    #[error("there is no document `{uri}`")]
    Unknown {
        /// What was asked for.
        uri: String,
        /// A document that may have been meant.
        meant: Option<String>,
    },
    /// The document is in the catalogue, but its file cannot be read any more.
    #[error("document `{uri}` cannot be read")]
    Unreadable {
        /// What was asked for.
        uri: String,
        /// What is wrong with the file.
        #[source]
        cause: ReadError,
    },
}

impl Failure for LookupError {
    fn report(&self) -> Report {
        match self {
            Self::Unknown { uri, meant } => {
                let report = Report::new(Kind::NotFound, format!("there is no document `{uri}`"));
                match meant {
                    Some(meant) => report.hint(format!("did you mean `{meant}`?")),
                    None => report.hint("list the resources to see what there is"),
                }
            }
            Self::Unreadable { uri, .. } => {
                Report::new(Kind::NotFound, format!("document `{uri}` cannot be read any more"))
                    .hint("list the resources to see what there is")
            }
        }
    }
}

#[derive(Default, Deserialize)]
pub(crate) struct Frontmatter {
    #[serde(default)]
    name: Option<String>,
    #[serde(default)]
    title: Option<String>,
    #[serde(default)]
    description: Option<String>,
    #[serde(default)]
    keywords: Option<Vec<String>>,
}

impl Catalog {
    /// Loads all sources. What did not change since `before` is not read again.
    pub(crate) fn load(sources: &[Source], before: &Self) -> Self {
        let mut catalog = Self::default();
        for source in sources {
            for shelf in source.shelves() {
                catalog.load_shelf(source, &shelf, before);
            }
            if let Some(folder) = source.prompts() {
                catalog.load_prompts(source, &folder, before);
            }
        }
        catalog.check_embedding();
        catalog.problems.sort_by(|a, b| (&a.file, a.line).cmp(&(&b.file, b.line)));
        catalog
    }

    fn load_shelf(&mut self, source: &Source, shelf: &Shelf, before: &Self) {
        let Some((root, prefix)) = enter(&source.root, shelf.folder) else { return };
        let walk = match shelf.only {
            None => root.walk(&["md"]),
            Some(file) => Walk { files: root.found(file), problems: Vec::new() },
        };
        self.problems
            .extend(walk.problems.into_iter().map(|problem| place(source, &prefix, problem)));
        let label = format!("{}/{prefix}", source.name);
        let at = Arc::new(Place::new(root, label, shelf.scheme, shelf.source.clone()));
        self.places.push(Arc::clone(&at));
        for Found { path, stamp } in walk.files {
            let stem = path.as_str();
            let stem = stem.get(..stem.len().saturating_sub(".md".len())).unwrap_or(stem);
            let Ok(stem) = RelativePath::new(stem) else { continue };
            let uri = Uri::new(shelf.scheme, shelf.source.clone(), stem);
            let known = before.documents.get(&uri).filter(|known| {
                // Embedded files have no identity of their own, but they never change either.
                known.stamp == stamp
                    && known.file.path == path
                    && known.source == source.name.as_str()
            });
            let file = File { place: Arc::clone(&at), path, lenient: shelf.lenient };
            let entry = match known {
                Some(known) => Ok(DocumentEntry { file, ..known.clone() }),
                None => load_document(source, &uri, file, stamp),
            };
            match entry {
                Ok(entry) => match self.documents.entry(uri) {
                    std::collections::btree_map::Entry::Vacant(vacant) => {
                        vacant.insert(entry);
                    }
                    std::collections::btree_map::Entry::Occupied(first) => {
                        let message = format!(
                            "`{}` is already the address of `{}`",
                            first.key(),
                            first.get().file.path
                        );
                        let problem = Problem::error(entry.file.path.as_str(), message);
                        self.problems.push(place(source, &prefix, problem));
                    }
                },
                Err(problem) => self.problems.push(place(source, &prefix, problem)),
            }
        }
    }

    /// A catalogue of what was kept of documents, to compare their files with: it serves nobody.
    pub(crate) fn kept(documents: &[Kept]) -> Self {
        let place = Arc::new(Place::new(
            Root::embedded(&NOWHERE),
            String::new(),
            Scheme::Acdc,
            String::new(),
        ));
        let entries = documents.iter().filter_map(|kept| {
            let uri = Uri::parse(&kept.uri).ok()?;
            let path = RelativePath::new(&*kept.path).ok()?;
            let entry = DocumentEntry {
                uri: uri.clone(),
                source: kept.source.clone(),
                name: kept.name.clone(),
                description: kept.description.clone(),
                keywords: kept.keywords.clone(),
                size: kept.size,
                stamp: kept.stamp,
                file: File { place: Arc::clone(&place), path, lenient: false },
            };
            Some((uri, entry))
        });
        Self { documents: entries.collect(), ..Self::default() }
    }

    /// All documents, in order of their URIs.
    pub fn documents(&self) -> impl Iterator<Item = &DocumentEntry> {
        self.documents.values()
    }

    /// All prompts, in order of their names.
    pub fn prompts(&self) -> impl Iterator<Item = &Prompt> {
        self.prompts.values().map(|loaded| &loaded.value)
    }

    /// A prompt by its full name.
    pub fn prompt(&self, name: &str) -> Option<&Prompt> {
        self.prompts.get(name).map(|loaded| &loaded.value)
    }

    /// What is wrong with the files.
    pub fn problems(&self) -> &[Problem] {
        &self.problems
    }

    /// How many files are not served.
    pub fn skipped(&self) -> usize {
        self.problems.iter().filter(|problem| problem.severity == Severity::Error).count()
    }

    /// A document by any form of its address: with or without `.md`, a decision record also by
    /// its number alone (`architecture://adr/7` is `007-…`).
    pub fn document(&self, uri: &str) -> Option<&DocumentEntry> {
        let uri = Uri { anchor: None, ..Uri::parse(uri).ok()? };
        self.documents.get(&uri).or_else(|| self.decision_record(&uri))
    }

    fn decision_record(&self, uri: &Uri) -> Option<&DocumentEntry> {
        let number = |text: &str| -> Option<u64> {
            let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
            text.parse().ok().filter(|_| digits)
        };
        if uri.scheme != Scheme::Architecture || uri.source != "adr" {
            return None;
        }
        let wanted = number(uri.path.as_str())?;
        self.documents.values().find(|DocumentEntry { uri: known, .. }| {
            let slug = known.path.as_str();
            let first = slug.split_once('-').map_or(slug, |(first, _)| first);
            (known.scheme, known.source.as_str()) == (Scheme::Architecture, "adr")
                && number(first) == Some(wanted)
        })
    }

    /// Reads a document from its file, as the file is now.
    pub fn read(&self, text: &str) -> Result<Body, LookupError> {
        let unknown = || {
            let shown = text::cap(text::one_line(text), 512);
            let known: Vec<String> = self.documents.keys().map(Uri::to_string).collect();
            let meant = text::closest(&shown, known.iter().map(String::as_str)).map(str::to_owned);
            LookupError::Unknown { uri: shown, meant }
        };
        let entry = self.document(text).ok_or_else(unknown)?;
        let uri = entry.uri.to_string();
        match self.text(entry) {
            Ok(text) => Ok(Body { uri, name: entry.name.clone(), text: text.to_string() }),
            Err(cause) => Err(LookupError::Unreadable { uri, cause }),
        }
    }

    /// The body of a document with its links rewritten, as the file is now. What was made before
    /// is used again while the file is in the same state.
    fn text(&self, entry: &DocumentEntry) -> Result<Arc<str>, ReadError> {
        let File { place, path, .. } = &entry.file;
        let known = || self.texts.lock().unwrap_or_else(PoisonError::into_inner);
        let stamp = place.root.stamp(path)?;
        if let Some((_, text)) = known().get(&entry.uri).filter(|(known, _)| *known == stamp) {
            return Ok(Arc::clone(text));
        }
        let contents = place.root.read(path, MAX_FILE)?;
        let stamp = contents.stamp;
        let text = contents.into_text()?;
        let body = document::body(&text).unwrap_or(&text).to_owned();
        let text: Arc<str> = links::rewrite(body, |target| self.linked(entry, target)).into();
        let mut known = known();
        // Few documents are read often; when many are, beginning anew is good enough.
        if known.values().map(|(_, text)| text.len()).sum::<usize>() + text.len() > MAX_KEPT {
            known.clear();
        }
        known.insert(entry.uri.clone(), (stamp, Arc::clone(&text)));
        Ok(text)
    }

    /// Whether a document is listed with this address.
    pub(crate) fn lists(&self, uri: &Uri) -> bool {
        self.documents.contains_key(uri)
    }

    /// The documents whose content or presence differs between two snapshots.
    pub(crate) fn changed_since(&self, before: &Self) -> Vec<String> {
        let gone = before.documents.keys().filter(|uri| !self.documents.contains_key(uri));
        let changed = self.documents.iter().filter(|(uri, entry)| {
            before.documents.get(uri).is_none_or(|known| known.stamp != entry.stamp)
        });
        gone.chain(changed.map(|(uri, _)| uri)).map(Uri::to_string).collect()
    }

    /// Whether a listing of resources would show a difference.
    pub(crate) fn lists_other_documents(&self, before: &Self) -> bool {
        let shown = |catalog: &Self| -> Vec<(Uri, String, String, Stamp)> {
            catalog
                .documents
                .values()
                .map(|entry| {
                    (entry.uri.clone(), entry.name.clone(), entry.description.clone(), entry.stamp)
                })
                .collect()
        };
        shown(self) != shown(before)
    }

    /// Whether a prompt appeared, changed or went.
    pub(crate) fn has_other_prompts(&self, before: &Self) -> bool {
        !self.prompts().eq(before.prompts())
    }
}

fn load_document(
    source: &Source,
    uri: &Uri,
    file: File,
    stamp: Stamp,
) -> Result<DocumentEntry, Problem> {
    let shown = file.path.as_str();
    let text = read_text(&file.place.root, &file.path)
        .map_err(|error| Problem::error(shown, error.to_string()))?;
    let Document { frontmatter, body } =
        parse(&text, file.lenient).map_err(|error| document_problem(shown, &error))?;
    let filled = |field: Option<String>| {
        field.map(|text| text.trim().to_owned()).filter(|text| !text.is_empty())
    };
    let mut name = filled(frontmatter.name);
    let mut description = filled(frontmatter.description);
    if file.lenient {
        let heading = || document::sections(&body).into_iter().next().map(|section| section.title);
        let stem = || uri.path.as_str().rsplit('/').next().unwrap_or_default().to_owned();
        name = name
            .or_else(|| filled(frontmatter.title))
            .or_else(|| filled(heading()))
            .or_else(|| Some(stem()));
        description = description.or_else(|| text::first_sentence(&body)).or(Some(String::new()));
    }
    let missing = |field| {
        Problem::error(shown, format!("`{field}` is missing in the frontmatter")).at_line(Some(1))
    };
    Ok(DocumentEntry {
        uri: uri.clone(),
        source: source.name.to_string(),
        name: text::one_line(&name.ok_or_else(|| missing("name"))?),
        description: text::one_line(&description.ok_or_else(|| missing("description"))?),
        keywords: frontmatter.keywords.unwrap_or_default(),
        size: body.len() as u64,
        stamp,
        file,
    })
}

pub(crate) fn parse(text: &str, lenient: bool) -> Result<Document<Frontmatter>, DocumentError> {
    if !lenient {
        return Document::parse(text);
    }
    match Document::parse_lenient(text) {
        // A page of a plain folder may begin with a rule that was never meant as frontmatter.
        Err(DocumentError::Unclosed) => {
            Ok(Document { frontmatter: Frontmatter::default(), body: text.to_owned() })
        }
        parsed => parsed,
    }
}

pub(crate) fn read_text(root: &Root, path: &RelativePath) -> Result<String, ReadError> {
    root.read_text(path, MAX_FILE)
}

/// The folder to walk, and what stands before its files' names in messages.
fn enter(root: &Root, folder: Option<&str>) -> Option<(Root, String)> {
    match folder {
        None => Some((root.clone(), String::new())),
        Some(folder) => {
            let path = RelativePath::new(folder).ok()?;
            Some((root.folder(&path)?, format!("{folder}/")))
        }
    }
}

/// The problem with its file's name as a person would look for it: source, folder, path.
fn place(source: &Source, prefix: &str, problem: Problem) -> Problem {
    Problem { file: format!("{}/{prefix}{}", source.name, problem.file), ..problem }
}
