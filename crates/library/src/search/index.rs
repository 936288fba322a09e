//! The index: which terms stand where.

use std::sync::{Mutex, PoisonError};

use tantivy::schema::{
    Field, IndexRecordOption, STORED, STRING, Schema, TextFieldIndexing, TextOptions, Value,
};
use tantivy::tokenizer::{PreTokenizedString, Token as IndexToken};
use tantivy::{IndexReader, IndexWriter, ReloadPolicy, TantivyDocument, Term};

use super::analysis::{Analyzer, Token};
use super::clean::{self, Heading};

/// What a writer may use before it writes a segment. Tantivy asks for 15 MB at least.
const WRITER_MEMORY: usize = 32 * 1024 * 1024;

/// A document to be found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page<'a> {
    /// Its address.
    pub uri: &'a str,
    /// The source that it comes from.
    pub source: &'a str,
    /// Its title.
    pub name: &'a str,
    /// What it is about.
    pub description: &'a str,
    /// Words to find it by.
    pub keywords: &'a [String],
    /// Its Markdown.
    pub body: &'a str,
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

/// An index over documents, in memory.
pub struct Index {
    pub(super) fields: Fields,
    pub(super) analyzer: Analyzer,
    pub(super) reader: IndexReader,
    engine: tantivy::Index,
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
        let (schema, fields) = Fields::schema();
        let engine = tantivy::Index::create_in_ram(schema);
        let reader = engine.reader_builder().reload_policy(ReloadPolicy::Manual).try_into()?;
        Ok(Self { fields, analyzer: Analyzer::default(), reader, engine, writing: Mutex::new(()) })
    }

    /// How many documents can be found.
    pub fn len(&self) -> u64 {
        self.reader.searcher().num_docs()
    }

    /// Whether there is nothing to be found.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Removes documents and adds others; a search sees all of it or nothing.
    pub fn update<'a>(
        &self,
        removed: impl IntoIterator<Item = &'a str>,
        added: impl IntoIterator<Item = Page<'a>>,
    ) -> Result<(), SearchError> {
        let _writing = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
        let mut writer: IndexWriter = self.engine.writer_with_num_threads(1, WRITER_MEMORY)?;
        for uri in removed {
            writer.delete_term(Term::from_field_text(self.fields.uri, uri));
        }
        for page in added {
            writer.delete_term(Term::from_field_text(self.fields.uri, page.uri));
            writer.add_document(self.document(&page))?;
        }
        writer.commit()?;
        writer.wait_merging_threads()?;
        self.reader.reload()?;
        Ok(())
    }

    fn document(&self, page: &Page<'_>) -> TantivyDocument {
        let cleaned = clean::clean(page.body);
        // The description is a sentence about the page: it is searched as the first of its own.
        let mut text = page.description.to_owned();
        if !text.is_empty() {
            text.push('\n');
        }
        let body = text.len();
        text.push_str(&cleaned.text);
        let headings: Vec<&str> =
            cleaned.sections.iter().map(|heading| heading.title.as_str()).collect();
        let path = page.uri.split_once("://").map_or(page.uri, |(_, path)| path);
        let path = path.split_once('/').map_or(path, |(_, path)| path);
        let content = self.analyzer.tokens(&text);
        let name = self.analyzer.tokens(page.name);
        let keywords = self.analyzer.tokens(&page.keywords.join("\n"));
        let mut surface: Vec<&str> =
            content.iter().chain(&name).chain(&keywords).map(|token| token.word.as_str()).collect();
        surface.sort_unstable();
        surface.dedup();
        let mut document = TantivyDocument::new();
        document.add_text(self.fields.uri, page.uri);
        document.add_text(self.fields.source, page.source);
        for (field, tokens) in [
            (self.fields.keywords, keywords.as_slice()),
            (self.fields.headings, &self.analyzer.tokens(&headings.join("\n"))),
            (self.fields.path, &self.analyzer.tokens(path)),
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

/// The sections as they are stored: where the body begins, then each heading, one a line.
fn write_sections(sections: &[Heading], body: usize) -> String {
    let headings = sections.iter().map(|heading| (heading.start + body, heading.anchor.as_str()));
    let lines: Vec<String> = std::iter::once((body, ""))
        .chain(headings)
        .map(|(start, anchor)| format!("{start} {anchor}"))
        .collect();
    lines.join(
        "
",
    )
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
