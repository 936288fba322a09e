//! Documents within prompts: `{{resource:URI}}`, where the URI may have `*` and `**` in it, or end in
//! the `#section` that is wanted.

use std::cell::{Cell, OnceCell};
use std::collections::{BTreeMap, BTreeSet};

use rutter_base::text::one_line;

use super::PromptError;
use crate::catalog::{Catalog, DocumentEntry};
use crate::excerpt::Part;
use crate::uri::Uri;

/// How many documents a prompt may embed.
pub(crate) const MAX_DOCUMENTS: usize = 50;
/// How many bytes all of them may have.
const MAX_BYTES: usize = 1024 * 1024;

/// The documents of a prompt, each read when the template comes to it: what stands in a branch
/// that is not taken costs nothing.
pub(super) struct Embedding<'a> {
    catalog: &'a Catalog,
    embedded: BTreeMap<&'a str, OnceCell<Embedded>>,
    documents: Cell<usize>,
    bytes: Cell<usize>,
}

/// What stands in the place of one `{{resource:URI}}`.
struct Embedded {
    text: String,
    documents: usize,
}

impl<'a> Embedding<'a> {
    pub(super) fn of(catalog: &'a Catalog, uris: impl Iterator<Item = &'a str>) -> Self {
        let embedded = uris.map(|uri| (uri, OnceCell::new())).collect();
        Self { catalog, embedded, documents: Cell::new(0), bytes: Cell::new(0) }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.embedded.is_empty()
    }

    /// Whether what was embedded so far is within the limits.
    pub(super) fn within_limits(&self) -> Result<(), PromptError> {
        if self.documents.get() > MAX_DOCUMENTS {
            return Err(PromptError::TooManyDocuments { limit: MAX_DOCUMENTS });
        }
        if self.bytes.get() > MAX_BYTES {
            return Err(PromptError::TooLarge { limit: MAX_BYTES });
        }
        Ok(())
    }

    /// The text for a URI. Past the limits nothing more is read: the result is an error anyway.
    pub(super) fn text(&self, uri: &str) -> Option<&str> {
        let cell = self.embedded.get(uri)?;
        if self.within_limits().is_err() {
            return Some("");
        }
        let embedded = cell.get_or_init(|| load(self.catalog, uri));
        // What stands in a template twice is in the result twice.
        self.documents.set(self.documents.get().saturating_add(embedded.documents));
        self.bytes.set(self.bytes.get().saturating_add(embedded.text.len()));
        Some(&embedded.text)
    }
}

fn load(catalog: &Catalog, uri: &str) -> Embedded {
    let pattern = Pattern::new(uri);
    // One more than may be is enough to know that there are too many.
    let found: Vec<&DocumentEntry> = pattern.find(catalog).take(MAX_DOCUMENTS + 1).collect();
    let documents = found.len();
    if documents == 0 {
        return Embedded {
            text: format!("(There is no document `{}`.)", one_line(uri)),
            documents,
        };
    }
    let section = Uri::parse(uri).ok().and_then(|uri| uri.anchor);
    let mut text = String::new();
    if documents > MAX_DOCUMENTS {
        return Embedded { text, documents };
    }
    for entry in found {
        if !text.is_empty() {
            text.push_str("\n\n");
        }
        text.extend(["## ", &entry.name, " (", &entry.uri.to_string(), ")\n\n"]);
        let part = Part { section: section.as_deref(), ..Part::default() };
        match catalog.read(&entry.uri.to_string()).map(|body| body.excerpt(part, MAX_BYTES + 1)) {
            Ok(Ok(excerpt)) => text.push_str(excerpt.text.trim()),
            Ok(Err(_)) => text.push_str("(This document has no such section.)"),
            Err(_) => text.push_str("(This document cannot be read any more.)"),
        }
        if text.len() > MAX_BYTES {
            break;
        }
    }
    Embedded { text, documents }
}

/// A URI in which `*` stands for anything within a part of the path, `**` for anything at all,
/// and `**/` for any number of folders.
pub(crate) struct Pattern<'a> {
    text: &'a str,
    /// `None` is an address: it has no `*`, and all forms of it are understood.
    steps: Option<Vec<Step>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Step {
    Char(char),
    WithinPart,
    Anything,
    Folders,
}

impl<'a> Pattern<'a> {
    pub(crate) fn new(text: &'a str) -> Self {
        let steps = text.contains('*').then(|| steps(text.strip_suffix(".md").unwrap_or(text)));
        Self { text, steps }
    }

    /// The documents that are meant, in order of their URIs.
    pub(crate) fn find<'c>(
        &'c self,
        catalog: &'c Catalog,
    ) -> impl Iterator<Item = &'c DocumentEntry> {
        let one = if self.steps.is_none() { catalog.document(self.text) } else { None };
        let many = self.steps.as_deref().map(|steps| {
            catalog.documents().filter(move |entry| {
                matches(steps, &entry.uri.to_string()) || matches(steps, &decoded(&entry.uri))
            })
        });
        one.into_iter().chain(many.into_iter().flatten())
    }
}

/// The address as a person writes it, without percent-encoding.
fn decoded(uri: &Uri) -> String {
    format!("{}://{}/{}", uri.scheme.as_str(), uri.source, uri.path)
}

fn steps(text: &str) -> Vec<Step> {
    let mut steps = Vec::new();
    let mut rest = text;
    loop {
        let (step, after) = if let Some(after) = rest.strip_prefix("**/") {
            (Step::Folders, after)
        } else if let Some(after) = rest.strip_prefix("**") {
            (Step::Anything, after)
        } else if let Some(after) = rest.strip_prefix('*') {
            (Step::WithinPart, after)
        } else {
            let mut chars = rest.chars();
            let Some(c) = chars.next() else { return steps };
            (Step::Char(c), chars.as_str())
        };
        steps.push(step);
        rest = after;
    }
}

/// Follows all ways through the pattern at once, so that no pattern takes longer than its length
/// times the text's.
fn matches(steps: &[Step], text: &str) -> bool {
    let mut at = BTreeSet::new();
    arrive(steps, 0, &mut at);
    for c in text.chars() {
        let mut next = BTreeSet::new();
        for index in at {
            match steps.get(index) {
                Some(Step::Char(expected)) if *expected == c => {
                    arrive(steps, index + 1, &mut next);
                }
                Some(Step::Anything) => arrive(steps, index, &mut next),
                Some(Step::WithinPart) if c != '/' => arrive(steps, index, &mut next),
                Some(Step::Folders) => {
                    next.insert(index);
                    if c == '/' {
                        arrive(steps, index + 1, &mut next);
                    }
                }
                _ => {}
            }
        }
        if next.is_empty() {
            return false;
        }
        at = next;
    }
    at.contains(&steps.len())
}

/// Stands before a step, and behind it as well if it may stand for nothing.
fn arrive(steps: &[Step], mut index: usize, at: &mut BTreeSet<usize>) {
    while at.insert(index) && !matches!(steps.get(index), None | Some(Step::Char(_))) {
        index += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stars_stay_within_a_part_and_double_stars_do_not() {
        let cases = [
            ("a://p/*", "a://p/x", true),
            ("a://p/*", "a://p/x/y", false),
            ("a://p/*", "a://q/x", false),
            ("a://p/**", "a://p/x/y", true),
            ("a://p/**/y", "a://p/y", true),
            ("a://p/**/y", "a://p/x/z/y", true),
            ("a://p/**/y", "a://p/xy", false),
            ("a://*/x-*-z", "a://p/x-y-z", true),
            ("a://*/x-*-z", "a://p/x-z", false),
            ("**", "a://p/x/y", true),
            ("a://p/*", "a://p/", true),
        ];
        for (pattern, text, expected) in cases {
            assert_eq!(matches(&steps(pattern), text), expected, "{pattern} {text}");
        }
    }

    #[test]
    fn no_pattern_takes_for_ever() {
        let pattern = steps(&"*a".repeat(200));
        assert!(!matches(&pattern, &"a".repeat(2_000).replace("aaaa", "aaab").replace('a', "c")));
        assert!(!matches(&steps(&"**/*a".repeat(100)), &"a/".repeat(1_000)));
    }
}
