//! What is wrong with documents that load: links that lead nowhere, names that are there twice,
//! characters that nobody sees, files too long to be of use.
//!
//! A review reads every document, so it is for a person or a pipeline that asks for it, never a
//! part of loading.

mod unseen;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use rutter_base::document;
use rutter_base::failure::Problem;
use rutter_base::text;

use crate::catalog::{self, Catalog, DocumentEntry};
use crate::links::{self, Place, Relative};
use crate::uri::Uri;

/// A body past this takes more of an agent's attention than any answer in it is worth.
const LONG: usize = 256 * 1024;

/// What a review remembers of a document while it reads the others.
struct Page<'a> {
    entry: &'a DocumentEntry,
    /// What links to the document may say after `#`.
    anchors: BTreeSet<String>,
    /// Where its links lead, with their lines in the file.
    links: Vec<(String, u32)>,
}

impl Catalog {
    /// Reads every document and says what its author would want to know.
    pub fn review(&self) -> Vec<Problem> {
        let mut problems = Vec::new();
        let mut pages = BTreeMap::new();
        for entry in self.documents() {
            // A file that cannot be read any more is for the next load to report.
            let Ok(text) = catalog::read_text(&entry.file.place.root, &entry.file.path) else {
                continue;
            };
            let Ok(document) = catalog::parse(&text, entry.file.lenient) else { continue };
            let file = file_of(entry);
            problems.extend(unseen::find(&file, &text));
            if document.body.len() > LONG {
                problems.push(too_long(&file, document.body.len()));
            }
            pages.insert(&entry.uri, Page::new(entry, &text, &document.body));
        }
        problems.extend(duplicates(self));
        for page in pages.values() {
            for (target, line) in &page.links {
                let problem = self.follow(page, target, &pages);
                problems.extend(problem.map(|problem| problem.at_line(Some(*line))));
            }
        }
        problems.sort_by(|a, b| (&a.file, a.line).cmp(&(&b.file, b.line)));
        problems
    }

    /// What is wrong with a link.
    fn follow(
        &self,
        page: &Page<'_>,
        target: &str,
        pages: &BTreeMap<&Uri, Page<'_>>,
    ) -> Option<Problem> {
        let file = file_of(page.entry);
        let shown = text::one_line(target);
        if let Ok(uri) = Uri::parse(target) {
            if let Some(linked) = self.document(target) {
                return pages.get(&linked.uri)?.lacks(uri.anchor.as_deref()?, &file, &shown);
            }
            // A source that is not served here may be served elsewhere.
            let ours = self.places.iter().any(|place| place.holds(&uri));
            let message = format!("links to `{shown}`: there is no such document");
            return ours.then(|| Problem::error(file, message));
        }
        let link = Relative::parse(target)?;
        if link.path.is_empty() {
            return page.lacks(link.anchor.as_deref()?, &file, &shown);
        }
        if let Some(uri) = self.linked(page.entry, target) {
            let anchor = uri.anchor.as_deref()?;
            return pages.get(&Uri { anchor: None, ..uri.clone() })?.lacks(anchor, &file, &shown);
        }
        if !link.is_markdown() {
            return None;
        }
        let own = &page.entry.file.place;
        let location = own.follow(&page.entry.file.path, &link);
        let inside = location.as_deref().and_then(|location| {
            let mut places = std::iter::once(own).chain(&self.places);
            places.find_map(|place| Some((place, place.path_of(location)?)))
        });
        let Some((place, path)) = inside else {
            let message =
                format!("links to `{shown}`, outside of what is served: agents cannot follow it");
            return Some(Problem::warning(file, message));
        };
        if place.root.stamp(&path).is_ok() {
            return Some(Problem::warning(
                file,
                format!("links to `{shown}`, which is not served"),
            ));
        }
        let message = format!("links to `{shown}`, which does not exist");
        Some(Problem::error(file, with_hint(message, self.meant(page.entry, place, path.as_str()))))
    }

    /// The file that may have been meant by one that is not there.
    fn meant(&self, from: &DocumentEntry, place: &Place, path: &str) -> Option<&str> {
        let here = self
            .documents()
            .filter(|entry| entry.uri != from.uri && entry.file.place.label == place.label);
        let paths: Vec<&str> = here.map(|entry| entry.file.path.as_str()).collect();
        let name = |path: &str| Path::new(path).file_name().map(ToOwned::to_owned);
        // Moved is likelier than misspelt.
        let moved = paths.iter().copied().find(|known| name(known) == name(path));
        moved.or_else(|| text::closest(path, paths))
    }
}

impl<'a> Page<'a> {
    fn new(entry: &'a DocumentEntry, text: &str, body: &str) -> Self {
        // The body is the end of the file's text.
        let before = text.len().saturating_sub(body.len());
        let starts: Vec<usize> = text.match_indices('\n').map(|(at, _)| at + 1).collect();
        let line = |at: usize| starts.partition_point(|start| *start <= before + at) + 1;
        let links = links::find(body)
            .into_iter()
            .map(|link| (link.target, u32::try_from(line(link.at)).unwrap_or(u32::MAX)))
            .collect();
        Self { entry, anchors: anchors(body), links }
    }

    /// The problem of a link to an anchor that this document does not have.
    fn lacks(&self, anchor: &str, file: &str, target: &str) -> Option<Problem> {
        let known = |anchor: &str| self.anchors.contains(anchor);
        if matches!(anchor, "" | "top") || known(anchor) || known(&document::slug(anchor)) {
            return None;
        }
        let meant = text::closest(anchor, self.anchors.iter().map(String::as_str));
        let message = format!("links to `{target}`: there is no such heading");
        Some(Problem::warning(file, with_hint(message, meant)))
    }
}

/// The anchors of a body: its headings', and those that it sets by hand.
fn anchors(body: &str) -> BTreeSet<String> {
    let mut anchors: BTreeSet<String> =
        document::sections(body).into_iter().map(|section| section.anchor).collect();
    for (opening, closing) in
        [("id=\"", '"'), ("id='", '\''), ("name=\"", '"'), ("name='", '\''), ("{#", '}')]
    {
        let set = body.split(opening).skip(1).filter_map(|rest| rest.split_once(closing));
        anchors.extend(set.map(|(anchor, _)| anchor.to_owned()));
    }
    anchors
}

/// Documents of one source that have the same name: an agent cannot choose between them.
fn duplicates(catalog: &Catalog) -> Vec<Problem> {
    let mut named: BTreeMap<(&str, String), &DocumentEntry> = BTreeMap::new();
    let mut problems = Vec::new();
    for entry in catalog.documents() {
        match named.entry((&entry.source, entry.name.to_lowercase())) {
            std::collections::btree_map::Entry::Vacant(vacant) => {
                vacant.insert(entry);
            }
            std::collections::btree_map::Entry::Occupied(first) => {
                let message = format!(
                    "is called `{}`, as `{}` is; give each its own name",
                    entry.name,
                    file_of(first.get())
                );
                problems.push(Problem::warning(file_of(entry), message));
            }
        }
    }
    problems
}

fn too_long(file: &str, size: usize) -> Problem {
    let message = format!(
        "is {} KiB long; split it: agents can use {} KiB at most",
        size.div_ceil(1024),
        LONG / 1024
    );
    Problem::warning(file, message)
}

fn with_hint(message: String, meant: Option<&str>) -> String {
    match meant {
        Some(meant) => format!("{message}; did you mean `{meant}`?"),
        None => message,
    }
}

/// The file's name as a person would look for it.
fn file_of(entry: &DocumentEntry) -> String {
    format!("{}{}", entry.file.place.label, entry.file.path)
}

#[cfg(test)]
mod tests;
