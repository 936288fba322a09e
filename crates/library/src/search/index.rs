//! The index: which terms stand where.

use std::borrow::Cow;
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread::ScopedJoinHandle;

use tantivy::directory::{Directory, MmapDirectory, RamDirectory};
use tantivy::schema::{
    Field, IndexRecordOption, STORED, STRING, Schema, TextFieldIndexing, TextOptions, Value,
};
use tantivy::tokenizer::{PreTokenizedString, Token as IndexToken};
use tantivy::{IndexReader, IndexWriter, ReloadPolicy, TantivyDocument, Term};

use super::analysis::{Analyzer, Remembering, Token};
use super::clean::{self, Heading};
use super::overlay::Overlay;

/// What each thread of a writer may use before it writes a segment. Tantivy asks for 15 MB at
/// least.
const WRITER_MEMORY: usize = 24 * 1024 * 1024;
/// The most threads that index at the same time.
const MAX_THREADS: usize = 4;
/// How many documents are worth another thread.
const PER_THREAD: usize = 64;
/// The files that say which segments an index has, and which files are its own.
const LISTS: [&str; 2] = ["meta.json", ".managed.json"];

/// A document to be found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page<'a> {
    /// Its address.
    pub uri: Cow<'a, str>,
    /// The source that it comes from.
    pub source: &'a str,
    /// Its title.
    pub name: &'a str,
    /// What it is about.
    pub description: &'a str,
    /// Words to find it by.
    pub keywords: &'a [String],
    /// Its Markdown.
    pub body: Cow<'a, str>,
}

/// The index failed.
#[derive(Debug, thiserror::Error)]
#[error("the search index failed")]
pub struct SearchError(#[from] tantivy::TantivyError);

impl From<std::io::Error> for SearchError {
    fn from(error: std::io::Error) -> Self {
        Self(error.into())
    }
}

/// An index over documents.
pub struct Index {
    pub(super) fields: Fields,
    pub(super) analyzer: Analyzer,
    pub(super) reader: IndexReader,
    engine: tantivy::Index,
    /// The files of the engine, as they are.
    files: Box<dyn Directory>,
    /// The folder that the files are in, where nobody else uses it.
    pub(super) folder: Option<PathBuf>,
    /// Made when something is written and dropped after: it holds threads and memory.
    writing: Mutex<()>,
}

impl std::fmt::Debug for Index {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Index").field("documents", &self.len()).finish_non_exhaustive()
    }
}

/// The fields of a document.
#[derive(Debug, Clone, Copy)]
pub(super) struct Fields {
    pub(super) uri: Field,
    pub(super) source: Field,
    pub(super) name: Field,
    pub(super) keywords: Field,
    pub(super) headings: Field,
    pub(super) path: Field,
    pub(super) content: Field,
    /// The words as they were written: what misspellings are compared with.
    pub(super) surface: Field,
    pub(super) text: Field,
    pub(super) sections: Field,
}

impl Fields {
    fn schema() -> (Schema, Self) {
        let mut schema = Schema::builder();
        let positions = || {
            let indexing = TextFieldIndexing::default()
                .set_index_option(IndexRecordOption::WithFreqsAndPositions)
                .set_fieldnorms(true);
            TextOptions::default().set_indexing_options(indexing)
        };
        let words = TextFieldIndexing::default()
            .set_index_option(IndexRecordOption::Basic)
            .set_fieldnorms(false);
        let fields = Self {
            uri: schema.add_text_field("uri", STRING | STORED),
            source: schema.add_text_field("source", STRING),
            name: schema.add_text_field("name", positions()),
            keywords: schema.add_text_field("keywords", positions()),
            headings: schema.add_text_field("headings", positions()),
            path: schema.add_text_field("path", positions()),
            content: schema.add_text_field("content", positions()),
            surface: schema
                .add_text_field("surface", TextOptions::default().set_indexing_options(words)),
            text: schema.add_text_field("text", TextOptions::default().set_stored()),
            sections: schema.add_text_field("sections", TextOptions::default().set_stored()),
        };
        (schema.build(), fields)
    }
}

impl Index {
    /// An empty index in memory.
    pub fn in_memory() -> Result<Self, SearchError> {
        Self::create(RamDirectory::create())
    }

    /// An empty index in a folder that nobody else uses.
    pub(super) fn in_folder(folder: &Path) -> Result<Self, SearchError> {
        let index = Self::create(mapped(folder)?)?;
        Ok(Self { folder: Some(folder.to_owned()), ..index })
    }

    /// The index that is in a folder. What changes in it from now on is kept in memory.
    pub(super) fn saved(folder: &Path) -> Result<Self, SearchError> {
        let folder = mapped(folder)?;
        let files = live_files(&tantivy::Index::open(folder.clone())?)?;
        let overlay = Overlay::open(&folder, files).map_err(tantivy::TantivyError::from)?;
        let (schema, fields) = Fields::schema();
        let engine = tantivy::Index::open(overlay.clone())?;
        if engine.schema() != schema {
            return Err(tantivy::TantivyError::SchemaError("another index".into()).into());
        }
        Self::over(engine, fields, Box::new(overlay))
    }

    fn create(directory: impl Directory + Clone) -> Result<Self, SearchError> {
        let (schema, fields) = Fields::schema();
        let settings = tantivy::IndexSettings::default();
        let engine = tantivy::Index::create(directory.clone(), schema, settings)?;
        Self::over(engine, fields, Box::new(directory))
    }

    fn over(
        engine: tantivy::Index,
        fields: Fields,
        files: Box<dyn Directory>,
    ) -> Result<Self, SearchError> {
        let reader = engine.reader_builder().reload_policy(ReloadPolicy::Manual).try_into()?;
        let writing = Mutex::new(());
        let analyzer = Analyzer::default();
        Ok(Self { fields, analyzer, reader, engine, files, folder: None, writing })
    }

    /// Writes the index to an empty folder.
    pub(super) fn save(&self, folder: &Path) -> Result<(), SearchError> {
        let _writing = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
        let target = mapped(folder)?;
        for path in live_files(&self.engine)? {
            let bytes = self.files.atomic_read(&path).map_err(tantivy::TantivyError::from)?;
            target.atomic_write(&path, &bytes)?;
        }
        target.sync_directory()?;
        Ok(())
    }

    /// How many documents can be found.
    pub fn len(&self) -> u64 {
        self.reader.searcher().num_docs()
    }

    /// Whether there is nothing to be found.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Removes documents and adds others; a search sees all of it or nothing. An item for which
    /// `page` gives nothing is passed over.
    pub fn update<'a, T: Sync>(
        &self,
        removed: impl IntoIterator<Item = &'a str>,
        added: &[T],
        page: impl Fn(&T) -> Option<Page<'_>> + Sync,
    ) -> Result<(), SearchError> {
        let _writing = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
        let threads = threads(added.len());
        let memory = WRITER_MEMORY * threads;
        let mut writer: IndexWriter = self.engine.writer_with_num_threads(threads, memory)?;
        for uri in removed {
            writer.delete_term(Term::from_field_text(self.fields.uri, uri));
        }
        // Finding the terms is most of the work, so it is what is done side by side.
        let next = AtomicUsize::new(0);
        let add = || -> Result<(), SearchError> {
            let mut analyzer = self.analyzer.remembering();
            while let Some(item) = added.get(next.fetch_add(1, Ordering::Relaxed)) {
                let Some(page) = page(item) else { continue };
                writer.delete_term(Term::from_field_text(self.fields.uri, &page.uri));
                writer.add_document(self.document(&mut analyzer, &page))?;
            }
            Ok(())
        };
        std::thread::scope(|scope| {
            let others: Vec<_> = (1..threads).map(|_| scope.spawn(add)).collect();
            let own = add();
            let others = others.into_iter().map(ScopedJoinHandle::join);
            let others: Result<Vec<_>, _> = others.collect();
            // A thread ends without a result only if it panicked, and then so do we.
            let results = others.unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            results.into_iter().fold(own, Result::and)
        })?;
        writer.commit()?;
        writer.wait_merging_threads()?;
        self.reader.reload()?;
        Ok(())
    }

    fn document(&self, analyzer: &mut Remembering<'_>, page: &Page<'_>) -> TantivyDocument {
        let cleaned = clean::clean(&page.body);
        // The description is a sentence about the page: it is searched as the first of its own,
        // unless it is one.
        let mut text = String::with_capacity(page.description.len() + cleaned.text.len() + 1);
        if !page.description.is_empty() && !cleaned.text.contains(page.description) {
            text.extend([page.description, "\n"]);
        }
        let body = text.len();
        text.push_str(&cleaned.text);
        let headings: Vec<&str> =
            cleaned.sections.iter().map(|heading| heading.title.as_str()).collect();
        let path = page.uri.split_once("://").map_or(&*page.uri, |(_, path)| path);
        let path = path.split_once('/').map_or(path, |(_, path)| path);
        let content = analyzer.tokens(&text);
        let name = analyzer.tokens(page.name);
        let keywords = analyzer.tokens(&page.keywords.join("\n"));
        let mut surface: Vec<&str> =
            content.iter().chain(&name).chain(&keywords).map(|token| token.word.as_str()).collect();
        surface.sort_unstable();
        surface.dedup();
        let mut document = TantivyDocument::new();
        document.add_text(self.fields.uri, &page.uri);
        document.add_text(self.fields.source, page.source);
        for (field, tokens) in [
            (self.fields.keywords, keywords.as_slice()),
            (self.fields.headings, &analyzer.tokens(&headings.join("\n"))),
            (self.fields.path, &analyzer.tokens(path)),
            (self.fields.name, &name),
            (self.fields.content, &content),
        ] {
            document.add_pre_tokenized_text(field, pre_tokenized(tokens));
        }
        let words = surface
            .iter()
            .enumerate()
            .map(|(position, word)| index_token(word, position))
            .collect();
        document.add_pre_tokenized_text(
            self.fields.surface,
            PreTokenizedString { text: String::new(), tokens: words },
        );
        document.add_text(self.fields.sections, write_sections(&cleaned.sections, body));
        document.add_text(self.fields.text, text);
        document
    }

    /// A stored document: its address, its cleaned text and where its sections begin, the part
    /// before the first heading (without an anchor) among them.
    pub(super) fn stored(
        &self,
        document: &TantivyDocument,
    ) -> (String, String, Vec<(usize, String)>) {
        let text = |field| {
            document
                .get_first(field)
                .and_then(|value| value.as_str())
                .unwrap_or_default()
                .to_owned()
        };
        (text(self.fields.uri), text(self.fields.text), read_sections(&text(self.fields.sections)))
    }
}

/// A folder's files, mapped into memory.
fn mapped(folder: &Path) -> Result<MmapDirectory, SearchError> {
    Ok(MmapDirectory::open(folder).map_err(tantivy::TantivyError::from)?)
}

/// The files that an index consists of.
fn live_files(engine: &tantivy::Index) -> Result<Vec<PathBuf>, SearchError> {
    let segments = engine.searchable_segment_metas()?;
    let live: HashSet<String> = segments.iter().map(|segment| segment.id().uuid_string()).collect();
    let files = engine.directory().list_managed_files().into_iter().filter(|path| {
        // A segment's files are called as it is: `<segment>.pos`, `<segment>.<number>.del`.
        let name = path.to_str().unwrap_or_default();
        name.split_once('.').is_some_and(|(segment, _)| live.contains(segment))
    });
    Ok(LISTS.map(PathBuf::from).into_iter().chain(files).collect())
}

fn threads(documents: usize) -> usize {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    (documents / PER_THREAD).clamp(1, cores.min(MAX_THREADS))
}

/// The sections as they are stored: where the body begins, then each heading, one a line.
fn write_sections(sections: &[Heading], body: usize) -> String {
    let headings = sections.iter().map(|heading| (heading.start + body, heading.anchor.as_str()));
    let lines: Vec<String> = std::iter::once((body, ""))
        .chain(headings)
        .map(|(start, anchor)| format!("{start} {anchor}"))
        .collect();
    lines.join("\n")
}

fn read_sections(text: &str) -> Vec<(usize, String)> {
    text.lines()
        .filter_map(|line| line.split_once(' '))
        .filter_map(|(start, anchor)| Some((start.parse().ok()?, anchor.to_owned())))
        .collect()
}

fn pre_tokenized(tokens: &[Token]) -> PreTokenizedString {
    let tokens = tokens.iter().map(|token| index_token(&token.term, token.position)).collect();
    PreTokenizedString { text: String::new(), tokens }
}

fn index_token(term: &str, position: usize) -> IndexToken {
    IndexToken { offset_from: 0, offset_to: 0, position, text: term.to_owned(), position_length: 1 }
}
