//! What a page says, without how it is marked up.
//!
//! Markup, link targets, comments and template shortcodes are noise for a search: a page about
//! pods must not be found by the `pods` in the address of a picture.

use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};
use rutter_base::document::Anchors;

/// The words of a page, in order, and where its sections begin.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Cleaned {
    /// The text; blocks end with a line feed.
    pub(crate) text: String,
    /// Headings in order.
    pub(crate) sections: Vec<Heading>,
}

/// A heading within a cleaned text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Heading {
    /// Where it begins, in bytes of the text.
    pub(crate) start: usize,
    /// What a link to it says after `#`.
    pub(crate) anchor: String,
    /// Its text.
    pub(crate) title: String,
}

/// Cleans a Markdown body.
pub(crate) fn clean(markdown: &str) -> Cleaned {
    let markdown = without_shortcodes(markdown);
    let mut cleaned = Cleaned::default();
    let mut heading: Option<usize> = None;
    let mut anchors = Anchors::default();
    let options =
        Options::ENABLE_TABLES | Options::ENABLE_FOOTNOTES | Options::ENABLE_STRIKETHROUGH;
    for event in Parser::new_ext(&markdown, options) {
        let text = &mut cleaned.text;
        match event {
            Event::Start(Tag::Heading { .. }) => heading = Some(text.len()),
            Event::End(TagEnd::Heading(_)) => {
                if let Some(start) = heading.take() {
                    let title = text.get(start..).unwrap_or_default().trim().to_owned();
                    let anchor = anchors.next(&title);
                    cleaned.sections.push(Heading { start, anchor, title });
                }
                text.push('\n');
            }
            Event::Text(words) | Event::Code(words) => text.push_str(&words),
            Event::SoftBreak | Event::HardBreak | Event::End(TagEnd::TableCell) => text.push(' '),
            Event::End(
                TagEnd::Paragraph
                | TagEnd::Item
                | TagEnd::CodeBlock
                | TagEnd::TableRow
                | TagEnd::TableHead
                | TagEnd::BlockQuote(_),
            ) if !text.ends_with('\n') => text.push('\n'),
            _ => {}
        }
    }
    cleaned
}

/// The text without `{{< … >}}` and `{{% … %}}`, which site generators expand.
fn without_shortcodes(markdown: &str) -> std::borrow::Cow<'_, str> {
    if !markdown.contains("{{<") && !markdown.contains("{{%") {
        return markdown.into();
    }
    let mut kept = String::with_capacity(markdown.len());
    let mut rest = markdown;
    while let Some(start) = rest.find("{{<").into_iter().chain(rest.find("{{%")).min() {
        let (before, code) = rest.split_at(start);
        kept.push_str(before);
        let end = if code.starts_with("{{<") { ">}}" } else { "%}}" };
        let Some(at) = code.find(end) else {
            kept.push_str(code);
            return kept.into();
        };
        kept.push_str(&words_of_shortcode(code.get(3..at).unwrap_or_default()));
        rest = code.get(at + end.len()..).unwrap_or_default();
    }
    kept.push_str(rest);
    kept.into()
}

/// What a reader would see of a shortcode: its `text` or `title`.
fn words_of_shortcode(code: &str) -> String {
    for key in ["text=\"", "title=\""] {
        if let Some((_, rest)) = code.split_once(key)
            && let Some((words, _)) = rest.split_once('"')
        {
            return words.to_owned();
        }
    }
    String::new()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markup_goes_and_words_stay() {
        let cleaned = clean(
            "# The *Title*\n\nSee [the docs](https://x.y/pods) and ![a picture](pods.png).\n\n<!-- not this -->\n\n\
             ```yaml\nkind: Pod\n```\n\n{{< glossary_tooltip text=\"node\" term_id=\"nodes\" >}} works.\n\n## The Title\n",
        );
        assert_eq!(
            cleaned.text,
            "The Title\nSee the docs and a picture.\nkind: Pod\nnode works.\nThe Title\n"
        );
        let anchors: Vec<_> =
            cleaned.sections.iter().map(|h| (h.start, h.anchor.as_str())).collect();
        assert_eq!(anchors, [(0, "the-title"), (60, "the-title-1")]);
    }
}
