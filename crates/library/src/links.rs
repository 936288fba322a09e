//! Links between documents: where they stand in a text, and which document they lead to.
//!
//! A relative link means something to a reader who has the files. An agent has URIs, so what it
//! reads carries those instead. Positions come from the Markdown parser: code, images and
//! everything else that only looks like a link stays as its author wrote it.

use std::ops::Range;
use std::path::{Component, Path, PathBuf};

use pulldown_cmark::{Event, LinkType, Options, Parser, Tag, TagEnd};
use rutter_base::root::{RelativePath, Root};

use crate::catalog::{Catalog, DocumentEntry};
use crate::uri::{self, Scheme, Uri};

const OPTIONS: Options = Options::ENABLE_TABLES.union(Options::ENABLE_FOOTNOTES);

/// A link, or the definition that reference links share.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Link {
    /// Where it leads, as the parser understood it.
    pub(crate) target: String,
    /// Where it begins in the text.
    pub(crate) at: usize,
    /// The target as it was written, where that is plain enough to be replaced.
    pub(crate) span: Option<Range<usize>>,
}

/// All links of a text, in order. Images are not among them.
pub(crate) fn find(text: &str) -> Vec<Link> {
    if !text.contains("](") && !text.contains("]:") {
        return Vec::new();
    }
    let events = Parser::new_ext(text, OPTIONS).into_offset_iter();
    let mut links: Vec<Link> = events
        .reference_definitions()
        .iter()
        .map(|(_, definition)| Link {
            target: definition.dest.to_string(),
            at: definition.span.start,
            span: defined(text, definition.span.clone())
                .filter(|span| says(text, span, &definition.dest)),
        })
        .collect();
    let mut images = 0_usize;
    // The inline link that is open: its target, and where the text in its brackets ends.
    let mut open: Option<(String, usize)> = None;
    for (event, range) in events {
        match event {
            Event::Start(Tag::Image { .. }) => images += 1,
            Event::End(TagEnd::Image) => images = images.saturating_sub(1),
            Event::Start(Tag::Link { link_type: LinkType::Inline, dest_url, .. })
                if images == 0 =>
            {
                open = Some((dest_url.into_string(), range.start + 1));
                continue;
            }
            Event::End(TagEnd::Link) if images == 0 => {
                if let Some((target, inner)) = open.take() {
                    let span =
                        inlined(text, inner..range.end).filter(|span| says(text, span, &target));
                    links.push(Link { target, at: range.start, span });
                }
                continue;
            }
            _ => {}
        }
        if let Some((_, inner)) = &mut open {
            *inner = range.end.max(*inner);
        }
    }
    links.sort_by_key(|link| link.at);
    links
}

/// The text with each link for which `resolve` knows a document leading to its URI.
pub(crate) fn rewrite(text: String, resolve: impl Fn(&str) -> Option<Uri>) -> String {
    let mut rewritten = String::new();
    let mut done = 0;
    for link in find(&text) {
        let Some(span) = link.span.filter(|span| span.start >= done) else { continue };
        let Some(uri) = resolve(&link.target) else { continue };
        rewritten.push_str(text.get(done..span.start).unwrap_or_default());
        rewritten.push_str(&uri.to_string());
        done = span.end;
    }
    if done == 0 {
        return text;
    }
    rewritten.push_str(text.get(done..).unwrap_or_default());
    rewritten
}

/// The target of `…](target "title")`, whose brackets end within `range`.
fn inlined(text: &str, range: Range<usize>) -> Option<Range<usize>> {
    let bracket = text.get(range.clone())?.find("](")?;
    destination(text, range.start + bracket + 2..range.end)
}

/// The target of `[label]: target "title"`.
fn defined(text: &str, range: Range<usize>) -> Option<Range<usize>> {
    let mut escaped = false;
    let close = text.get(range.clone())?.char_indices().find(|&(_, c)| {
        let closes = c == ']' && !escaped;
        escaped = c == '\\' && !escaped;
        closes
    })?;
    let after = range.start + close.0 + 1;
    text.get(after..range.end)?.strip_prefix(':')?;
    destination(text, after + 1..range.end)
}

/// The first thing in `range` that can be a link's target.
fn destination(text: &str, range: Range<usize>) -> Option<Range<usize>> {
    let rest = text.get(range.clone())?;
    let blank = rest.len() - rest.trim_ascii_start().len();
    let (start, pointed) = match rest.get(blank..)?.strip_prefix('<') {
        Some(_) => (blank + 1, true),
        None => (blank, false),
    };
    let mut depth = 0_usize;
    let mut escaped = false;
    let mut end = rest.len();
    for (at, c) in rest.get(start..)?.char_indices() {
        let ends = match c {
            _ if escaped => false,
            '>' => pointed,
            ')' if !pointed => {
                let outside = depth == 0;
                depth = depth.saturating_sub(1);
                outside
            }
            '(' => {
                depth += 1;
                false
            }
            c => !pointed && c.is_ascii_whitespace(),
        };
        if ends {
            end = start + at;
            break;
        }
        escaped = c == '\\' && !escaped;
    }
    (end > start).then(|| range.start + start..range.start + end)
}

/// Whether what is written at `span` is `target`, but for escapes.
fn says(text: &str, span: &Range<usize>, target: &str) -> bool {
    let Some(written) = text.get(span.clone()) else { return false };
    let mut plain = String::with_capacity(written.len());
    let mut rest = written.chars().peekable();
    while let Some(c) = rest.next() {
        match rest.next_if(|next| c == '\\' && next.is_ascii_punctuation()) {
            Some(escaped) => plain.push(escaped),
            None => plain.push(c),
        }
    }
    plain == target
}

/// A target that leads from one file to another, or within one.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Relative {
    /// The way from the folder of the file with the link; empty for the file itself.
    pub(crate) path: String,
    /// What follows `#`.
    pub(crate) anchor: Option<String>,
}

impl Relative {
    /// Reads a target. Foreign schemes, absolute paths and queries lead elsewhere.
    pub(crate) fn parse(target: &str) -> Option<Self> {
        let (path, anchor) = match target.split_once('#') {
            Some((path, anchor)) => (path, Some(uri::decode(anchor).ok()?)),
            None => (target, None),
        };
        let first = path.split('/').next().unwrap_or_default();
        if path.starts_with('/') || first.contains(':') || path.contains(['?', '\\']) {
            return None;
        }
        Some(Self { path: uri::decode(path).ok()?, anchor })
    }

    /// Whether it names a Markdown file.
    pub(crate) fn is_markdown(&self) -> bool {
        Path::new(&self.path).extension().is_some_and(|end| end.eq_ignore_ascii_case("md"))
    }
}

/// Where the documents of one URI prefix are.
#[derive(Debug)]
pub(crate) struct Place {
    /// The folder.
    pub(crate) root: Root,
    /// What stands before its files' names in messages.
    pub(crate) label: String,
    scheme: Scheme,
    source: String,
    /// The folder's path without `.` and `..`. It is compared, never opened.
    folder: PathBuf,
}

impl Place {
    pub(crate) fn new(root: Root, label: String, scheme: Scheme, source: String) -> Self {
        let folder = match root.path() {
            Some(path) => walk(PathBuf::new(), path).unwrap_or_else(|| path.to_owned()),
            // Embedded files have no path; this one is no file's.
            None => Path::new("embedded:").join(&label),
        };
        Self { root, label, scheme, source, folder }
    }

    /// Whether documents here have such an address.
    pub(crate) fn holds(&self, uri: &Uri) -> bool {
        self.scheme == uri.scheme && self.source == uri.source
    }

    /// Where a link in the file `from` leads.
    pub(crate) fn follow(&self, from: &RelativePath, link: &Relative) -> Option<PathBuf> {
        let last = link.path.rsplit('/').next().unwrap_or_default();
        // A folder is no document.
        if matches!(last, "" | "." | "..") || link.path.contains('\0') {
            return None;
        }
        let file = self.folder.join(from.as_str());
        walk(file.parent()?.to_owned(), Path::new(&link.path))
    }

    /// The path below this folder of what is at `location`.
    pub(crate) fn path_of(&self, location: &Path) -> Option<RelativePath> {
        RelativePath::new(location.strip_prefix(&self.folder).ok()?.to_str()?).ok()
    }

    /// The address that a document at `location` has. The `.md` may be left out.
    pub(crate) fn uri_of(&self, location: &Path) -> Option<Uri> {
        let path = self.path_of(location)?;
        let stem = match path.as_str().rsplit_once('.') {
            Some((stem, end)) if end.eq_ignore_ascii_case("md") => stem,
            _ => path.as_str(),
        };
        Some(Uri::new(self.scheme, self.source.clone(), RelativePath::new(stem).ok()?))
    }
}

impl Catalog {
    /// The document that a relative link in `from` leads to, with the link's anchor.
    pub(crate) fn linked(&self, from: &DocumentEntry, target: &str) -> Option<Uri> {
        let link = Relative::parse(target)?;
        let own = &from.file.place;
        let location = own.follow(&from.file.path, &link)?;
        let known = std::iter::once(own)
            .chain(&self.places)
            .filter_map(|place| place.uri_of(&location))
            .find(|uri| self.lists(uri))?;
        Some(Uri { anchor: link.anchor, ..known })
    }
}

/// `from` and then the steps of `path`; `None` above the top.
fn walk(mut from: PathBuf, path: &Path) -> Option<PathBuf> {
    for step in path.components() {
        match step {
            Component::CurDir => {}
            Component::ParentDir => {
                if !from.pop() {
                    return None;
                }
            }
            step => from.push(step),
        }
    }
    Some(from)
}

#[cfg(test)]
mod tests;
