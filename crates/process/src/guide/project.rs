//! A project that is checked: its folder, and its documents as they are now.

use std::collections::BTreeMap;

use rutter_base::document::{self, Document, DocumentError, Section};
use rutter_base::root::{EntryKind, ReadError, Root};
use rutter_base::text;
use serde_json::Value;

use super::{files, manifest, relative};

/// The folder of a project.
#[derive(Debug, Clone)]
pub struct Project {
    root: Root,
    name: String,
}

/// Where a document of a project is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) path: String,
    /// How many files could have been meant, where a pattern found it.
    pub(super) candidates: usize,
}

/// What is in a document.
#[derive(Debug)]
pub(super) struct Content {
    /// The fields, or why there are none.
    pub(super) frontmatter: Result<BTreeMap<String, Value>, DocumentError>,
    pub(super) body: String,
}

impl Project {
    /// A project in a folder, with the name that its caller gives it.
    pub fn new(root: Root, name: impl Into<String>) -> Self {
        Self { root, name: name.into() }
    }

    /// The name that its caller gives it.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The folder.
    pub fn root(&self) -> &Root {
        &self.root
    }

    /// Whether something is at a path that a check asks for; a folder's ends in `/`.
    pub(super) fn has(&self, path: &str) -> Result<(), String> {
        let Some(place) = relative(path.trim_end_matches('/')) else {
            return Err("not a path within the project".to_owned());
        };
        if path.ends_with('/') {
            return match self.root.folder(&place) {
                Some(_) => Ok(()),
                None if self.root.stamp(&place).is_ok() => Err("a file, not a folder".to_owned()),
                None => Err("missing".to_owned()),
            };
        }
        match self.root.stamp(&place) {
            Ok(_) => Ok(()),
            Err(error) => Err(reason(&error)),
        }
    }

    /// Where a document is: the first of its paths at which anything is.
    pub(super) fn locate(&self, document: &manifest::Document) -> Option<Place> {
        document.paths.iter().find_map(|path| {
            let Some((before, after)) = path.split_once('*') else {
                let there = !matches!(self.root.stamp(&relative(path)?), Err(ReadError::NotFound));
                return there.then(|| Place { path: path.clone(), candidates: 1 });
            };
            self.first_match(before, after)
        })
    }

    /// The first file, in order of name, that a pattern like `docs/inbox/*-brief.md` finds.
    fn first_match(&self, before: &str, after: &str) -> Option<Place> {
        let (folder, start) = before.rsplit_once('/')?;
        let listed = self.root.list(&relative(folder)?);
        let mut found = listed.into_iter().filter(|entry| {
            let middle = entry.name.strip_prefix(start).and_then(|rest| rest.strip_suffix(after));
            middle.is_some() && entry.kind == EntryKind::File
        });
        let first = found.next()?;
        Some(Place { path: format!("{folder}/{}", first.name), candidates: 1 + found.count() })
    }

    /// Reads a document.
    pub(super) fn read(&self, path: &str) -> Result<Content, String> {
        let place = relative(path).ok_or("not a path within the project")?;
        let read = self.root.read_text(&place, files::MAX).map_err(|error| reason(&error))?;
        let body = document::body(&read).unwrap_or(&read).to_owned();
        let parsed = Document::<Option<BTreeMap<String, Value>>>::parse(&read);
        let frontmatter = parsed.map(|document| document.frontmatter.unwrap_or_default());
        Ok(Content { frontmatter, body })
    }
}

impl Content {
    /// The text of a field, if it has one.
    pub(super) fn field(&self, name: &str) -> Option<String> {
        let fields = self.frontmatter.as_ref().ok()?;
        let value = fields.iter().find(|(key, _)| key.eq_ignore_ascii_case(name))?.1;
        let value = match value {
            Value::String(text) => text.trim().to_owned(),
            Value::Null => return None,
            other => other.to_string(),
        };
        let value = text::cap(text::one_line(&value), 200);
        (!value.is_empty()).then_some(value)
    }

    /// The value of `- **Name:** value` below a heading.
    pub(super) fn bullet(&self, heading: &str, name: &str) -> Option<String> {
        let section = self.section(heading)?;
        section.lines().find_map(|line| {
            let line = line.trim().strip_prefix(['-', '*', '+'])?.trim_start();
            let (label, value) = line.split_once(':')?;
            let value = value.trim().trim_start_matches("**").trim();
            let label = label.trim().trim_matches('*').trim();
            (label.eq_ignore_ascii_case(name) && !value.is_empty())
                .then(|| text::cap(text::one_line(value), 200))
        })
    }

    /// The text of the first section whose heading holds these words.
    pub(super) fn section(&self, words: &str) -> Option<&str> {
        let sections = document::sections(&self.body);
        let found = sections.iter().find(|section| holds(&section.title, words))?;
        self.body.get(found.range.clone())
    }

    /// The headings.
    pub(super) fn headings(&self) -> Vec<Section> {
        document::sections(&self.body)
    }
}

/// Whether a heading holds all of these words, in any case, singular or plural.
pub(super) fn holds(heading: &str, words: &str) -> bool {
    let heading = stems(heading);
    let words = stems(words);
    !words.is_empty() && words.iter().all(|word| heading.contains(word))
}

fn stems(text: &str) -> Vec<String> {
    let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    words.map(|word| singular(&word.to_lowercase())).collect()
}

/// The singular of an English noun, or the same wrong thing for its singular and its plural.
fn singular(word: &str) -> String {
    if word == "criteria" {
        return "criterion".to_owned();
    }
    if let Some(stem) = word.strip_suffix("ies").filter(|stem| stem.len() > 1) {
        return format!("{stem}y");
    }
    let hissing = |stem: &&str| ["s", "x", "z", "ch", "sh"].iter().any(|end| stem.ends_with(end));
    if let Some(stem) = word.strip_suffix("es").filter(hissing) {
        return stem.to_owned();
    }
    match word.strip_suffix('s') {
        Some(stem) if !stem.ends_with('s') && !stem.is_empty() => stem.to_owned(),
        _ => word.to_owned(),
    }
}

/// Why a file does not count, for a line of a checklist.
fn reason(error: &ReadError) -> String {
    match error {
        ReadError::NotFound => "missing".to_owned(),
        ReadError::NotAFile => "not a regular file".to_owned(),
        ReadError::Escape => "a link that leads out of the project".to_owned(),
        other => files::plain(other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_heading_holds_words_whatever_their_number() {
        for (heading, words) in [
            ("Desired Outcome", "Outcome"),
            ("Decision Log", "Decisions"),
            ("Problem/Opportunity", "Problem"),
            ("KEY DECISIONS", "Decisions"),
            ("Success Criterion", "Success Criteria"),
            ("3. Constraints", "Constraint"),
            ("Why it matters", "Why It Matters"),
            ("Summaries", "Summary"),
            ("Status", "Status"),
            ("Processes", "Process"),
        ] {
            assert!(holds(heading, words), "{heading} / {words}");
        }
        for (heading, words) in
            [("Success", "Success Criteria"), ("Microscope", "Scope"), ("", "Scope"), ("x", "")]
        {
            assert!(!holds(heading, words), "{heading} / {words}");
        }
    }

    #[test]
    fn bullets_are_read_in_the_usual_spellings() {
        let content = |line: &str| Content {
            frontmatter: Err(DocumentError::NoFrontmatter),
            body: format!("# Status\n\n- **Phase:** elsewhere\n\n## Current State\n\n{line}\n"),
        };
        for line in ["- **Phase:** Build (one)", "* Phase: Build (one)", "- **Phase**: Build (one)"]
        {
            let found = content(line).bullet("Current State", "phase");
            assert_eq!(found.as_deref(), Some("Build (one)"), "{line}");
        }
        assert_eq!(content("- **Phase:**").bullet("Current State", "phase"), None);
    }
}
