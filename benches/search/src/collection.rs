//! Test collections: documents, queries, and which documents answer which query.

use std::collections::BTreeMap;
use std::error::Error;
use std::io::{BufRead, BufReader};
use std::path::Path;

use flate2::read::GzDecoder;
use rutter_library::search::{Index, Page};
use serde::Deserialize;

/// A document of a collection.
#[derive(Debug, Deserialize)]
pub(crate) struct Document {
    pub(crate) id: String,
    pub(crate) name: String,
    #[serde(default)]
    pub(crate) description: String,
    #[serde(default)]
    pub(crate) keywords: Vec<String>,
    pub(crate) content: String,
}

/// A query, and how well each document answers it.
#[derive(Debug)]
pub(crate) struct Query {
    pub(crate) kind: String,
    pub(crate) text: String,
    pub(crate) grades: BTreeMap<String, u32>,
}

/// Documents, queries and judgements.
#[derive(Debug)]
pub(crate) struct Collection {
    pub(crate) name: String,
    pub(crate) documents: Vec<Document>,
    pub(crate) queries: Vec<Query>,
}

impl Collection {
    /// Reads the collections in the folders of a folder.
    pub(crate) fn all(folder: &Path) -> Result<Vec<Self>, Box<dyn Error>> {
        let entries = std::fs::read_dir(folder)?.filter_map(|entry| Some(entry.ok()?.path()));
        let mut folders: Vec<_> = entries.filter(|path| path.is_dir()).collect();
        folders.sort();
        folders.iter().map(|folder| Self::read(folder)).collect()
    }

    /// Reads `docs.jsonl.gz`, `queries.tsv` and `qrels.tsv` of a folder.
    pub(crate) fn read(folder: &Path) -> Result<Self, Box<dyn Error>> {
        let documents =
            BufReader::new(GzDecoder::new(std::fs::File::open(folder.join("docs.jsonl.gz"))?));
        let documents: Result<Vec<Document>, Box<dyn Error>> =
            documents.lines().map(|line| Ok(serde_json::from_str(&line?)?)).collect();
        let mut queries = BTreeMap::new();
        for line in std::fs::read_to_string(folder.join("queries.tsv"))?.lines() {
            let [id, kind, text] = columns(line)?;
            let query = Query { kind: kind.into(), text: text.into(), grades: BTreeMap::new() };
            queries.insert(id.to_owned(), query);
        }
        for line in std::fs::read_to_string(folder.join("qrels.tsv"))?.lines() {
            let [query, document, grade] = columns(line)?;
            if let Some(query) = queries.get_mut(query) {
                query.grades.insert(document.into(), grade.trim().parse()?);
            }
        }
        let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
        Ok(Self { name, documents: documents?, queries: queries.into_values().collect() })
    }

    /// An index over all documents, each under its identifier.
    pub(crate) fn index(&self) -> Result<Index, Box<dyn Error>> {
        let index = Index::in_memory()?;
        index.update([], &self.documents, |document| {
            Some(Page {
                uri: uri(&document.id).into(),
                source: "collection",
                name: &document.name,
                description: &document.description,
                keywords: &document.keywords,
                body: document.content.as_str().into(),
            })
        })?;
        Ok(index)
    }
}

/// The address of a document.
pub(crate) fn uri(id: &str) -> String {
    format!("acdc://collection/{id}")
}

fn columns<const N: usize>(line: &str) -> Result<[&str; N], Box<dyn Error>> {
    let columns: Vec<&str> = line.splitn(N, '\t').collect();
    columns.try_into().map_err(|_| format!("expected {N} columns: {line}").into())
}
