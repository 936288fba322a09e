//! The knowledge base: articles that say a term, found literally.

use std::collections::BTreeMap;
use std::sync::{Arc, PoisonError};

use rutter_base::document::{self, Document};
use rutter_base::failure::{Kind, Report};
use rutter_base::root::{RelativePath, Root, Stamp};
use rutter_base::text;
use serde::Deserialize;

use super::{Guide, GuideError, files, relative};

/// The most articles that are given at once.
const MAX_MATCHES: usize = 50;
/// The characters of the line around a match.
const SNIPPET: usize = 160;
/// How much text is kept between questions; what is beyond is read each time.
const MAX_KEPT: usize = 64 * 1024 * 1024;

/// An article that says the term.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Article {
    /// Its title.
    pub title: String,
    /// Its file, relative to the knowledge base.
    pub path: String,
    /// The line of the first match, or of the first sentence where only the title matches.
    pub snippet: String,
}

/// Articles that say the term.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Articles {
    /// Those whose title or file name says it come first, then the others in order of path.
    pub matches: Vec<Article>,
    /// How many say it.
    pub total: usize,
    /// How many articles there are.
    pub searched: usize,
    /// How many could not be read.
    pub unreadable: usize,
}

/// The articles that were read, with the state of the file at that time.
#[derive(Debug, Default)]
pub(super) struct Shelf {
    read: BTreeMap<RelativePath, (Stamp, Arc<Read>)>,
    bytes: usize,
}

#[derive(Debug)]
struct Read {
    title: String,
    body: String,
    /// What is searched, in lower case: the title and the file's name, and the body.
    heading: String,
    lower: String,
}

#[derive(Default, Deserialize)]
struct Fields {
    #[serde(default)]
    title: Option<String>,
    #[serde(default)]
    name: Option<String>,
}

impl Guide {
    /// The articles that say a term, in whatever case.
    pub fn knowledge(&self, query: &str) -> Result<Articles, GuideError> {
        let term = query.trim().to_lowercase();
        if term.is_empty() {
            let report = Report::new(Kind::Invalid, "/query: expected a term to look for");
            return Err(GuideError::Said(report));
        }
        let root = self.knowledge_root()?;
        let mut shelf = self.shelf.lock().unwrap_or_else(PoisonError::into_inner);
        let mut articles = Articles::default();
        let (mut named, mut others) = (Vec::new(), Vec::new());
        let walk = root.walk(&["md"]);
        for found in walk.files {
            let path = found.path;
            if path.as_str().rsplit('/').next().is_some_and(|n| n.eq_ignore_ascii_case("README.md"))
            {
                continue;
            }
            articles.searched += 1;
            let Some(read) = shelf.get(&root, &path, found.stamp) else {
                articles.unreadable += 1;
                continue;
            };
            let titled = read.heading.contains(&term);
            let at = memchr::memmem::find(read.lower.as_bytes(), term.as_bytes());
            if !titled && at.is_none() {
                continue;
            }
            articles.total += 1;
            let list = if titled { &mut named } else { &mut others };
            if list.len() < MAX_MATCHES {
                list.push((path, read, at));
            }
        }
        let shown = named.into_iter().chain(others).take(MAX_MATCHES);
        articles.matches = shown
            .map(|(path, read, at)| Article {
                title: read.title.clone(),
                path: path.to_string(),
                snippet: read.snippet(at, &term),
            })
            .collect();
        Ok(articles)
    }

    /// The titles of the first articles, for someone who looks for what is there.
    pub fn titles(&self, most: usize) -> Vec<String> {
        let Ok(root) = self.knowledge_root() else { return Vec::new() };
        let mut shelf = self.shelf.lock().unwrap_or_else(PoisonError::into_inner);
        let files = root.walk(&["md"]).files.into_iter().take(most);
        files
            .filter_map(|found| Some(shelf.get(&root, &found.path, found.stamp)?.title.clone()))
            .collect()
    }

    fn knowledge_root(&self) -> Result<Root, GuideError> {
        if let Some(root) = &self.knowledge {
            return Ok(root.clone());
        }
        let manifest = self.manifest();
        relative(manifest.knowledge.trim_end_matches('/'))
            .and_then(|folder| self.root.folder(&folder))
            .ok_or_else(|| {
                let message = format!(
                    "the process has no knowledge base: there is no folder `{}`",
                    manifest.knowledge
                );
                GuideError::Said(Report::new(Kind::NotFound, message).hint(
                    "put articles there, or name another folder as `knowledge` in process.yaml",
                ))
            })
    }
}

impl Shelf {
    /// An article as it is now; `None` if it cannot be read.
    fn get(&mut self, root: &Root, path: &RelativePath, stamp: Stamp) -> Option<Arc<Read>> {
        if let Some((_, read)) = self.read.get(path).filter(|(known, _)| *known == stamp) {
            return Some(Arc::clone(read));
        }
        if let Some((_, old)) = self.read.remove(path) {
            self.bytes = self.bytes.saturating_sub(old.size());
        }
        let contents = root.read(path, files::MAX).ok()?;
        let stamp = contents.stamp;
        let read = Arc::new(Read::new(path, &contents.into_text().ok()?));
        if self.bytes + read.size() <= MAX_KEPT {
            self.bytes += read.size();
            self.read.insert(path.clone(), (stamp, Arc::clone(&read)));
        }
        Some(read)
    }
}

impl Read {
    fn new(path: &RelativePath, text: &str) -> Self {
        let body = document::body(text).unwrap_or(text).to_owned();
        let fields = Document::<Fields>::parse(text).map(|document| document.frontmatter);
        let fields = fields.unwrap_or_default();
        let file = path.as_str().rsplit('/').next().unwrap_or_default();
        let stem = file.strip_suffix(".md").unwrap_or(file);
        let said = |title: Option<String>| title.filter(|title| !title.trim().is_empty());
        let title = said(fields.title)
            .or_else(|| said(fields.name))
            .or_else(|| document::sections(&body).into_iter().next().map(|section| section.title))
            .unwrap_or_else(|| stem.to_owned());
        let title = text::cap(text::one_line(title.trim()), 200);
        let heading = format!("{title}\n{path}").to_lowercase();
        let lower = body.to_lowercase();
        Self { title, body, heading, lower }
    }

    fn size(&self) -> usize {
        self.title.len() + self.body.len() + self.heading.len() + self.lower.len()
    }

    /// The line of the match. Lower case has as many lines as the text, if not as many bytes.
    fn snippet(&self, at: Option<usize>, term: &str) -> String {
        let Some(before) = at.and_then(|at| self.lower.get(..at)) else {
            return text::first_sentence(&self.body).unwrap_or_default();
        };
        let line = before.matches('\n').count();
        let line = self.body.split('\n').nth(line).unwrap_or_default();
        let line = text::one_line(line.trim());
        let chars: Vec<char> = line.chars().collect();
        if chars.len() <= SNIPPET {
            return line;
        }
        let lower = line.to_lowercase();
        let found =
            lower.find(term).and_then(|at| lower.get(..at)).map_or(0, |b| b.chars().count());
        let start = found.saturating_sub(SNIPPET / 3).min(chars.len());
        let end = (start + SNIPPET).min(chars.len());
        let piece: String = chars.get(start..end).unwrap_or_default().iter().collect();
        let (open, close) =
            (if start > 0 { "…" } else { "" }, if end < chars.len() { "…" } else { "" });
        format!("{open}{}{close}", piece.trim())
    }
}
