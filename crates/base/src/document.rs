//! Markdown documents: frontmatter, body, sections by heading.

use std::collections::BTreeMap;
use std::ops::Range;

use pulldown_cmark::{Event, HeadingLevel, Options, Parser, Tag, TagEnd};
use serde::de::DeserializeOwned;

use crate::yaml::{self, YamlError};

/// A document whose frontmatter was read as `F`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Document<F> {
    /// The fields between the `---` lines.
    pub frontmatter: F,
    /// Everything after them.
    pub body: String,
}

/// Why a text is not a document.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DocumentError {
    /// The text does not begin with a `---` line.
    #[error("there is no frontmatter; begin the file with `---`, the fields, and `---`")]
    NoFrontmatter,
    /// The frontmatter begins, but does not end.
    #[error("the frontmatter has no closing `---` line")]
    Unclosed,
    /// The frontmatter is not YAML, or not the fields that are expected.
    #[error("{0}")]
    Yaml(#[from] YamlError),
}

impl DocumentError {
    /// The line in the file, where one is known.
    pub fn line(&self) -> Option<u32> {
        match self {
            Self::NoFrontmatter | Self::Unclosed => Some(1),
            // The first line of the file is the opening `---`.
            Self::Yaml(error) => error.line.map(|line| line + 1),
        }
    }
}

impl<F: DeserializeOwned> Document<F> {
    /// Reads a text with frontmatter.
    pub fn parse(text: &str) -> Result<Self, DocumentError> {
        let split = split(text)?.ok_or(DocumentError::NoFrontmatter)?;
        Ok(Self { frontmatter: yaml::parse(split.0)?, body: split.1.to_owned() })
    }

    /// Reads a text with frontmatter whose fields nobody knows in advance.
    pub fn parse_verbatim(text: &str) -> Result<Self, DocumentError> {
        let split = split(text)?.ok_or(DocumentError::NoFrontmatter)?;
        Ok(Self { frontmatter: yaml::parse_verbatim(split.0)?, body: split.1.to_owned() })
    }

    /// Reads a text whose frontmatter may be absent.
    pub fn parse_lenient(text: &str) -> Result<Self, DocumentError>
    where
        F: Default,
    {
        match split(text)? {
            Some((yaml, body)) => {
                Ok(Self { frontmatter: yaml::parse(yaml)?, body: body.to_owned() })
            }
            None => Ok(Self { frontmatter: F::default(), body: without_mark(text).to_owned() }),
        }
    }
}

/// The body of a text, whatever its frontmatter says; `None` when a frontmatter never ends.
pub fn body(text: &str) -> Option<&str> {
    split(text).ok().map(|parts| parts.map_or_else(|| without_mark(text), |(_, body)| body))
}

/// The frontmatter and the body, or `None` when the text has no frontmatter.
fn split(text: &str) -> Result<Option<(&str, &str)>, DocumentError> {
    let text = without_mark(text);
    let Some(rest) = text.strip_prefix("---").and_then(strip_line_end) else {
        return Ok(None);
    };
    let mut from = 0;
    for line in rest.split_inclusive('\n') {
        if matches!(line.trim_end(), "---" | "...") {
            let yaml = rest.get(..from).unwrap_or_default();
            let body = rest.get(from + line.len()..).unwrap_or_default();
            return Ok(Some((yaml, body)));
        }
        from += line.len();
    }
    Err(DocumentError::Unclosed)
}

fn strip_line_end(text: &str) -> Option<&str> {
    let text = text.trim_start_matches([' ', '\t']);
    text.strip_prefix("\r\n").or_else(|| text.strip_prefix('\n'))
}

/// The text without a byte order mark.
fn without_mark(text: &str) -> &str {
    text.strip_prefix('\u{FEFF}').unwrap_or(text)
}

/// A part of a body that begins with a heading.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Section {
    /// 1 for `#`, 6 for `######`.
    pub level: u8,
    /// The heading's text without markup.
    pub title: String,
    /// What a link to the heading says after `#`: unique within the document.
    pub anchor: String,
    /// From the heading to the next heading of the same or a higher level.
    pub range: Range<usize>,
}

/// The sections of a body, in order of their headings.
pub fn sections(body: &str) -> Vec<Section> {
    let mut sections: Vec<Section> = Vec::new();
    let mut anchors = Anchors::default();
    let mut heading: Option<(u8, String, usize)> = None;
    for (event, range) in Parser::new_ext(body, Options::ENABLE_TABLES).into_offset_iter() {
        match event {
            Event::Start(Tag::Heading { level, .. }) => {
                heading = Some((depth(level), String::new(), range.start));
            }
            Event::Text(text) | Event::Code(text) => {
                if let Some((_, title, _)) = &mut heading {
                    title.push_str(&text);
                }
            }
            Event::End(TagEnd::Heading(_)) => {
                if let Some((level, title, start)) = heading.take() {
                    let anchor = anchors.next(&title);
                    sections.push(Section { level, title, anchor, range: start..body.len() });
                }
            }
            _ => {}
        }
    }
    close(&mut sections);
    sections
}

/// Ends each section where the next one of the same or a higher level begins.
fn close(sections: &mut [Section]) {
    let mut open: Vec<(u8, usize)> = Vec::new();
    for index in 0..sections.len() {
        let Some((level, start)) = sections.get(index).map(|s| (s.level, s.range.start)) else {
            break;
        };
        while let Some(&(above, at)) = open.last()
            && above >= level
        {
            if let Some(section) = sections.get_mut(at) {
                section.range.end = start;
            }
            open.pop();
        }
        open.push((level, index));
    }
}

fn depth(level: HeadingLevel) -> u8 {
    level as u8
}

/// The anchor that GitHub gives a heading: lower case, words joined with hyphens.
pub fn slug(title: &str) -> String {
    title
        .trim()
        .chars()
        .filter_map(|c| match c {
            ' ' | '-' => Some('-'),
            '_' => Some('_'),
            c if c.is_alphanumeric() => Some(c),
            _ => None,
        })
        .flat_map(char::to_lowercase)
        .collect()
}

/// Gives each heading of a document an anchor of its own, as GitHub does: the second `Usage` is
/// `usage-1`.
#[derive(Debug, Default)]
pub struct Anchors(BTreeMap<String, usize>);

impl Anchors {
    /// The anchor of the next heading.
    pub fn next(&mut self, title: &str) -> String {
        let slug = slug(title);
        let count = self.0.entry(slug.clone()).or_insert(0);
        let anchor = if *count == 0 { slug } else { format!("{slug}-{count}") };
        *count += 1;
        anchor
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[derive(Debug, Default, PartialEq, serde::Deserialize)]
    struct Fields {
        name: String,
    }

    fn parse(text: &str) -> Result<(String, String), DocumentError> {
        Document::<Fields>::parse(text).map(|d| (d.frontmatter.name, d.body))
    }

    #[test]
    fn frontmatter_and_body_are_told_apart() {
        for text in [
            "---\nname: A\n---\nbody\n",
            "\u{FEFF}---\r\nname: A\r\n---\r\nbody\n",
            "--- \nname: A\n...\nbody\n",
        ] {
            assert_eq!(parse(text).unwrap(), ("A".into(), "body\n".into()), "{text:?}");
        }
    }

    #[test]
    fn a_rule_in_the_body_is_not_frontmatter() {
        assert_eq!(parse("---\nname: A\n---\none\n\n---\n\ntwo").unwrap().1, "one\n\n---\n\ntwo");
    }

    #[test]
    fn errors_name_the_line_of_the_file() {
        assert_eq!(parse("# x\n").unwrap_err(), DocumentError::NoFrontmatter);
        assert_eq!(parse("---\nname: A\n").unwrap_err(), DocumentError::Unclosed);
        assert_eq!(parse("---\nname: A\nother: [\n---\n").unwrap_err().line(), Some(3));
    }

    #[test]
    fn sections_end_where_their_equals_begin() {
        let body = "intro\n# A\na\n## B `c`\nb\n## B `c`\nb2\n# D\n```\n# no heading\n```\n";
        let sections = sections(body);
        let seen: Vec<_> =
            sections.iter().map(|s| (s.level, s.anchor.as_str(), &body[s.range.clone()])).collect();
        assert_eq!(
            seen,
            [
                (1, "a", "# A\na\n## B `c`\nb\n## B `c`\nb2\n"),
                (2, "b-c", "## B `c`\nb\n"),
                (2, "b-c-1", "## B `c`\nb2\n"),
                (1, "d", "# D\n```\n# no heading\n```\n"),
            ]
        );
    }

    proptest! {
        #[test]
        fn parsing_never_panics(text in "(---\n)?[\\PC\n:\\[\\]{}&*#-]{0,80}(\n---\n)?\\PC{0,40}") {
            let _ = parse(&text);
            for section in sections(&text) {
                prop_assert!(text.get(section.range).is_some());
            }
        }
    }
}
