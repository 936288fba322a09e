//! Documents as HTML, safe by construction.
//!
//! Whoever writes a document is not whoever reads it, so nothing that an author wrote reaches the
//! page as markup: the parser's events are written as elements of our own, all text is escaped,
//! HTML in a document is text like any other, and an address is kept only if it is of a kind that
//! [`links`] knows to be harmless. No image is fetched: it becomes a link.

mod events;
mod links;
#[cfg(test)]
mod tests;

use std::fmt;

use askama::filters::{self, Html};
use pulldown_cmark::{Event, HeadingLevel, Options, Parser, Tag, TagEnd, html};
use rutter_base::document::Anchors;

use events::Events;

/// What the search reads documents with, so that its anchors are ours, and task lists.
const OPTIONS: Options = Options::ENABLE_TABLES
    .union(Options::ENABLE_FOOTNOTES)
    .union(Options::ENABLE_STRIKETHROUGH)
    .union(Options::ENABLE_TASKLISTS);

/// HTML that was made here. Templates print it as it is.
#[derive(Debug, Default)]
pub(super) struct Markup(String);

impl fmt::Display for Markup {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl filters::HtmlSafe for Markup {}

/// A document as a person reads it.
#[derive(Debug, Default)]
pub(super) struct Rendered {
    /// Its text, without the heading that repeats its name.
    pub(super) html: Markup,
    /// The anchor of that heading.
    pub(super) title: Option<String>,
    /// The other headings, in order.
    pub(super) headings: Vec<Heading>,
}

/// A heading of a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Heading {
    /// How deep it is on the page, which has one heading of level 1: the document's name.
    pub(super) level: u8,
    /// Its text.
    pub(super) title: String,
    /// What a link to it says after `#`; empty for a heading without words.
    pub(super) anchor: String,
}

/// Renders the body of a document that is called `name`.
pub(super) fn render(text: &str, name: &str) -> Rendered {
    let (title, headings) = outline(text, name);
    let events = Events::new(Parser::new_ext(text, OPTIONS), title.is_some(), &headings);
    let mut written = String::with_capacity(text.len() * 5 / 4);
    html::push_html(&mut written, events);
    Rendered { html: Markup(written), title, headings }
}

/// Renders a text that is a part of a page: its headings are below that part's own, and have no
/// anchors that could be those of the page.
pub(super) fn render_within(text: &str) -> Markup {
    let (_, mut headings) = outline(text, "");
    for heading in &mut headings {
        heading.level = (heading.level + 1).clamp(3, 6);
        heading.anchor.clear();
    }
    let mut written = String::new();
    html::push_html(&mut written, Events::new(Parser::new_ext(text, OPTIONS), false, &headings));
    Markup(written)
}

/// The headings of a text, and apart from them the anchor of the one that it begins with, if that
/// is its name.
fn outline(text: &str, name: &str) -> (Option<String>, Vec<Heading>) {
    let mut anchors = Anchors::default();
    let mut open: Option<Heading> = None;
    let mut headings = Vec::new();
    let mut title = None;
    let mut before = false;
    for event in Parser::new_ext(text, OPTIONS) {
        match event {
            Event::Start(Tag::Heading { level, .. }) => {
                let anchor = String::new();
                open = Some(Heading { level: level as u8, title: String::new(), anchor });
            }
            Event::Text(words) | Event::Code(words) => {
                if let Some(heading) = &mut open {
                    heading.title.push_str(&words);
                }
            }
            Event::SoftBreak | Event::HardBreak => {
                if let Some(heading) = &mut open {
                    heading.title.push(' ');
                }
            }
            Event::End(TagEnd::Heading(_)) => {
                let Some(mut heading) = open.take() else { continue };
                heading.anchor = anchors.next(&heading.title);
                let first = headings.is_empty() && title.is_none() && !before;
                if first && heading.level == 1 && is_same(&heading.title, name) {
                    title = Some(heading.anchor);
                } else {
                    headings.push(heading);
                }
                continue;
            }
            _ => {}
        }
        before |= open.is_none();
    }
    // Below the page's own heading of level 1 there is no other.
    if headings.iter().any(|heading| heading.level == 1) {
        for heading in &mut headings {
            heading.level = (heading.level + 1).min(6);
        }
    }
    (title, headings)
}

fn is_same(one: &str, other: &str) -> bool {
    one.trim().to_lowercase() == other.trim().to_lowercase()
}

/// The level as the parser names it.
fn level(depth: u8) -> HeadingLevel {
    HeadingLevel::try_from(usize::from(depth)).unwrap_or(HeadingLevel::H6)
}

/// Text as it may stand between tags and in quoted attributes.
fn escaped(text: &str) -> impl fmt::Display {
    let Ok(safe) = filters::escape(text, Html);
    safe
}
