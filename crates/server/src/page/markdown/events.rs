//! The parser's events, with everything that an author could use against a reader replaced.

use std::collections::BTreeMap;
use std::fmt::Write;

use pulldown_cmark::{Alignment, CowStr, Event, LinkType, Parser, Tag, TagEnd};

use super::links::{Target, target};
use super::{Heading, escaped, level};

/// A parser whose events are fit to be written.
pub(super) struct Events<'a> {
    parser: Parser<'a>,
    headings: &'a [Heading],
    /// Whether the heading that repeats the document's name is still to be left out.
    skips_title: bool,
    /// The image whose description is being read.
    image: Option<Image>,
    /// The block of HTML that is being read.
    raw: Option<String>,
    /// Whether the open link is one that can be followed.
    link: Option<bool>,
    table: Table,
    footnotes: Footnotes,
}

struct Image {
    address: String,
    description: String,
    /// A description may hold images in turn.
    depth: usize,
}

#[derive(Default)]
struct Table {
    alignments: Vec<Alignment>,
    column: usize,
    in_head: bool,
}

/// Footnotes have numbers of their own, in the order in which they are first met: an author's
/// name for one could be the anchor of a heading.
#[derive(Default)]
struct Footnotes {
    numbers: BTreeMap<String, usize>,
}

impl Footnotes {
    /// The number, and whether it is new.
    fn number(&mut self, name: &str) -> (usize, bool) {
        let next = self.numbers.len() + 1;
        let number = *self.numbers.entry(name.to_owned()).or_insert(next);
        (number, number == next)
    }
}

impl<'a> Events<'a> {
    pub(super) fn new(parser: Parser<'a>, skips_title: bool, headings: &'a [Heading]) -> Self {
        Self {
            parser,
            headings,
            skips_title,
            image: None,
            raw: None,
            link: None,
            table: Table::default(),
            footnotes: Footnotes::default(),
        }
    }

    /// What is written for an event, if anything is.
    fn replace(&mut self, event: Event<'a>) -> Option<Event<'a>> {
        if self.skips_title {
            self.skips_title = !matches!(event, Event::End(TagEnd::Heading(_)));
            return None;
        }
        if let Some(image) = self.image.take() {
            return self.describe(image, &event);
        }
        if let Some(raw) = self.raw.take() {
            return self.collect(raw, &event);
        }
        match event {
            Event::Start(tag) => self.start(tag),
            Event::End(tag) => self.end(tag),
            Event::InlineHtml(html) | Event::Html(html) => inline(html),
            Event::FootnoteReference(name) => Some(markup(self.refer(&name))),
            Event::TaskListMarker(done) => {
                let (label, sign) = if done { ("done", "☑") } else { ("to do", "☐") };
                let span = format!("<span class=\"task\" role=\"img\" aria-label=\"{label}\">");
                Some(markup(format!("{span}{sign}</span> ")))
            }
            Event::Text(_) | Event::Code(_) | Event::SoftBreak | Event::HardBreak | Event::Rule => {
                Some(event)
            }
            // Not among the options that documents are read with.
            Event::InlineMath(text) | Event::DisplayMath(text) => Some(Event::Text(text)),
        }
    }

    fn start(&mut self, tag: Tag<'a>) -> Option<Event<'a>> {
        match tag {
            Tag::Heading { .. } => {
                let heading = self.headings.first()?;
                let id = Some(heading.anchor.as_str()).filter(|anchor| !anchor.is_empty());
                Some(Event::Start(Tag::Heading {
                    level: level(heading.level),
                    id: id.map(CowStr::from),
                    classes: Vec::new(),
                    attrs: Vec::new(),
                }))
            }
            Tag::Link { link_type, dest_url, .. } => {
                let address = match link_type {
                    LinkType::Email => format!("mailto:{dest_url}"),
                    _ => dest_url.into_string(),
                };
                let opening = opening(&address, "link");
                self.link = Some(opening.is_some());
                opening.map(markup)
            }
            Tag::Image { dest_url, .. } => {
                let address = dest_url.into_string();
                self.image = Some(Image { address, description: String::new(), depth: 1 });
                None
            }
            Tag::HtmlBlock => {
                self.raw = Some(String::new());
                None
            }
            // A box that scrolls must be reachable by keyboard.
            Tag::CodeBlock(_) => Some(markup("<pre tabindex=\"0\"><code>")),
            Tag::Table(alignments) => {
                self.table = Table { alignments, ..Table::default() };
                let region =
                    "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Table\">";
                Some(markup(format!("{region}<table>")))
            }
            Tag::TableHead => {
                self.table.in_head = true;
                self.table.column = 0;
                Some(markup("<thead><tr>"))
            }
            Tag::TableRow => {
                self.table.column = 0;
                Some(markup("<tr>"))
            }
            Tag::TableCell => Some(markup(self.table.cell())),
            Tag::FootnoteDefinition(name) => {
                let (number, _) = self.footnotes.number(&name);
                Some(markup(format!(
                    "<div class=\"footnote\" id=\"fn:{number}\"><span class=\"footnote-number\">{number}</span>"
                )))
            }
            Tag::BlockQuote(_) => Some(Event::Start(Tag::BlockQuote(None))),
            Tag::Paragraph
            | Tag::List(_)
            | Tag::Item
            | Tag::Emphasis
            | Tag::Strong
            | Tag::Strikethrough => Some(Event::Start(tag)),
            // Not among the options that documents are read with.
            Tag::DefinitionList
            | Tag::DefinitionListTitle
            | Tag::DefinitionListDefinition
            | Tag::Superscript
            | Tag::Subscript
            | Tag::MetadataBlock(_) => None,
        }
    }

    fn end(&mut self, tag: TagEnd) -> Option<Event<'a>> {
        match tag {
            TagEnd::Heading(_) => {
                let (heading, rest) = self.headings.split_first()?;
                self.headings = rest;
                Some(Event::End(TagEnd::Heading(level(heading.level))))
            }
            TagEnd::Link => self.link.take().unwrap_or_default().then(|| markup("</a>")),
            TagEnd::CodeBlock => Some(markup("</code></pre>\n")),
            TagEnd::Table => Some(markup("</tbody></table></div>\n")),
            TagEnd::TableHead => {
                self.table.in_head = false;
                Some(markup("</tr></thead><tbody>\n"))
            }
            TagEnd::TableRow => Some(markup("</tr>\n")),
            TagEnd::TableCell => Some(markup(if self.table.in_head { "</th>" } else { "</td>" })),
            TagEnd::FootnoteDefinition => Some(markup("</div>\n")),
            TagEnd::BlockQuote(_) => Some(Event::End(TagEnd::BlockQuote(None))),
            TagEnd::Paragraph
            | TagEnd::List(_)
            | TagEnd::Item
            | TagEnd::Emphasis
            | TagEnd::Strong
            | TagEnd::Strikethrough => Some(Event::End(tag)),
            TagEnd::Image
            | TagEnd::HtmlBlock
            | TagEnd::DefinitionList
            | TagEnd::DefinitionListTitle
            | TagEnd::DefinitionListDefinition
            | TagEnd::Superscript
            | TagEnd::Subscript
            | TagEnd::MetadataBlock(_) => None,
        }
    }

    /// Reads on in an image's description. Only its words count.
    fn describe(&mut self, mut image: Image, event: &Event<'a>) -> Option<Event<'a>> {
        match event {
            Event::Start(Tag::Image { .. }) => image.depth += 1,
            Event::End(TagEnd::Image) => image.depth -= 1,
            Event::Text(words) | Event::Code(words) => image.description.push_str(words),
            Event::SoftBreak | Event::HardBreak => image.description.push(' '),
            _ => {}
        }
        if image.depth > 0 {
            self.image = Some(image);
            return None;
        }
        let Image { address, description, .. } = image;
        let shown = if description.trim().is_empty() { "image" } else { description.trim() };
        let shown = escaped(shown);
        // A link cannot be within a link, and a picture beside the document is not served.
        let opening = match target(&address) {
            Some(Target::Elsewhere(_)) if self.link.is_none() => opening(&address, "image"),
            _ => None,
        };
        Some(markup(match opening {
            Some(opening) => format!("{opening}{shown}</a>"),
            None => format!("<span class=\"image\">{shown}</span>"),
        }))
    }

    /// Reads on in a block of HTML, and shows at its end what is in it besides comments.
    fn collect(&mut self, mut raw: String, event: &Event<'a>) -> Option<Event<'a>> {
        if let Event::Html(html) | Event::InlineHtml(html) | Event::Text(html) = event {
            raw.push_str(html);
        }
        if !matches!(event, Event::End(TagEnd::HtmlBlock)) {
            self.raw = Some(raw);
            return None;
        }
        let shown = without_comments(&raw);
        let shown = shown.trim();
        (!shown.is_empty()).then(|| markup(format!("<p class=\"raw\">{}</p>\n", escaped(shown))))
    }

    fn refer(&mut self, name: &str) -> String {
        let (number, new) = self.footnotes.number(name);
        let id = if new { format!(" id=\"fnref:{number}\"") } else { String::new() };
        format!("<sup class=\"footnote-reference\"><a{id} href=\"#fn:{number}\">{number}</a></sup>")
    }
}

impl<'a> Iterator for Events<'a> {
    type Item = Event<'a>;

    fn next(&mut self) -> Option<Event<'a>> {
        loop {
            let event = self.parser.next()?;
            if let Some(event) = self.replace(event) {
                return Some(event);
            }
        }
    }
}

impl Table {
    /// Opens the next cell. The alignment is a class: a style could not be told from an author's.
    fn cell(&mut self) -> String {
        let class = match self.alignments.get(self.column) {
            Some(Alignment::Left) => " class=\"left\"",
            Some(Alignment::Center) => " class=\"center\"",
            Some(Alignment::Right) => " class=\"right\"",
            Some(Alignment::None) | None => "",
        };
        self.column += 1;
        if self.in_head { format!("<th scope=\"col\"{class}>") } else { format!("<td{class}>") }
    }
}

/// Markup of our own. This is the only place that makes an event that is written as it is.
fn markup<'a>(html: impl Into<CowStr<'a>>) -> Event<'a> {
    Event::Html(html.into())
}

/// The start of a link, if the address is one that may be followed.
fn opening(address: &str, class: &str) -> Option<String> {
    let mut opening = format!("<a class=\"{class}\" href=\"");
    let _ = match target(address)? {
        Target::Here(href) => write!(opening, "{}\">", escaped(&href)),
        Target::Elsewhere(href) => {
            write!(opening, "{}\" rel=\"external noreferrer\">", escaped(&href))
        }
    };
    Some(opening)
}

/// HTML in a line is text, except for a line break, which every writer of tables needs.
fn inline(html: CowStr<'_>) -> Option<Event<'_>> {
    let bare: String = html.chars().filter(|c| !c.is_whitespace()).collect();
    if matches!(bare.to_ascii_lowercase().as_str(), "<br>" | "<br/>") {
        return Some(Event::HardBreak);
    }
    if html.starts_with("<!--") {
        return None;
    }
    Some(Event::Text(html))
}

/// The text without `<!-- … -->`; what is never closed is a comment to the end, as in a browser.
fn without_comments(html: &str) -> String {
    let mut kept = String::with_capacity(html.len());
    let mut rest = html;
    while let Some((before, comment)) = rest.split_once("<!--") {
        kept.push_str(before);
        rest = comment.split_once("-->").map_or("", |(_, after)| after);
    }
    kept.push_str(rest);
    kept
}
