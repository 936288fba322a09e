//! A part of a document: a section, a piece of bounded size, and how to go on from there.

use std::fmt;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::ops::Range;
use std::str::FromStr;

use rutter_base::document::{self, Section};
use rutter_base::failure::{Failure, Kind, Report};
use rutter_base::text;

use crate::catalog::Body;

/// How many sections an error names.
const NAMED: usize = 12;

/// Which part of a document is wanted.
#[derive(Debug, Clone, Copy, Default)]
pub struct Part<'a> {
    /// The anchor of a heading; its words will do.
    pub section: Option<&'a str>,
    /// The most bytes that are wanted at once.
    pub max_bytes: Option<usize>,
    /// Where the piece before this one ended.
    pub cursor: Option<&'a str>,
}

/// A part of a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Excerpt {
    /// The text. All pieces in a row are the whole.
    pub text: String,
    /// What a reader has to be told who did not ask for pieces and got one.
    pub trailer: String,
    /// How many bytes follow.
    pub left: usize,
    /// Where to go on, if anything follows.
    pub next: Option<String>,
}

/// Why there is no such part.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ExcerptError {
    /// No heading has that anchor.
    #[error("`{uri}` has no section `{section}`")]
    NoSection {
        /// The document.
        uri: String,
        /// What was asked for.
        section: String,
        /// A section that may have been meant.
        meant: Option<String>,
        /// The sections that there are, the first few.
        known: Vec<String>,
        /// How many more there are.
        more: usize,
    },
    /// The text was never a cursor.
    #[error("not a cursor")]
    NoCursor,
    /// The cursor is one, but not for this text.
    #[error("the cursor does not fit `{uri}`")]
    OtherText {
        /// The document.
        uri: String,
    },
}

impl Failure for ExcerptError {
    fn report(&self) -> Report {
        match self {
            Self::NoSection { uri, section, meant, known, more } => {
                let report =
                    Report::new(Kind::NotFound, format!("`{uri}` has no section `{section}`"));
                if known.is_empty() {
                    return report.hint("it has no headings: read it without a section");
                }
                let listed = text::listed(known.iter().map(String::as_str));
                let rest =
                    if *more > 0 { format!(" and {more} more") } else { String::new() };
                let report = match meant {
                    Some(meant) => report.hint(format!("did you mean `{meant}`?")),
                    None => report,
                };
                report.hint(format!("its sections are {listed}{rest}"))
            }
            Self::NoCursor => Report::new(
                Kind::Invalid,
                "/cursor: not a cursor of `read`; read from the start, without a cursor",
            ),
            Self::OtherText { uri } => Report::new(
                Kind::Refused,
                format!(
                    "the cursor does not fit `{uri}`: it is of another part or document, or the file \
                     has changed since"
                ),
            )
            .hint("read again from the start, without a cursor"),
        }
    }
}

impl Body {
    /// A part of this document, at most `limit` bytes of it.
    pub fn excerpt(&self, part: Part<'_>, limit: usize) -> Result<Excerpt, ExcerptError> {
        let section = part.section.map(|section| self.section(section)).transpose()?;
        let (range, size) = match part.cursor {
            Some(cursor) => self.resume(cursor, section)?,
            None => (section.unwrap_or(0..self.text.len()), None),
        };
        let size = part.max_bytes.or(size);
        let whole = self.text.get(range.clone()).unwrap_or_default();
        let (kept, trailer) = match size {
            Some(size) => (cut(whole, size.min(limit)), String::new()),
            None if part.cursor.is_some() => (cut(whole, limit), String::new()),
            None if whole.len() <= limit => (whole.len(), String::new()),
            None => {
                let shown = text::cap(whole.to_owned(), limit);
                let kept = shown.rfind('…').unwrap_or(shown.len());
                (kept, shown.get(kept..).unwrap_or_default().to_owned())
            }
        };
        let left = whole.len() - kept;
        // Only when something is left: the check goes through the whole text.
        let next = (left > 0).then(|| Cursor {
            start: range.start + kept,
            end: range.end,
            size: size.unwrap_or(0),
            check: self.check(),
        });
        Ok(Excerpt {
            text: whole.get(..kept).unwrap_or_default().to_owned(),
            trailer,
            left,
            next: next.map(|cursor| cursor.to_string()),
        })
    }

    fn section(&self, wanted: &str) -> Result<Range<usize>, ExcerptError> {
        let sections = document::sections(&self.text);
        let wanted = wanted.trim().trim_start_matches('#');
        let words = document::slug(wanted);
        let is = |name: &str| sections.iter().find(|section| section.anchor == name);
        if let Some(section) = is(wanted).or_else(|| is(&words)) {
            return Ok(section.range.clone());
        }
        let anchors = || sections.iter().map(|section: &Section| section.anchor.as_str());
        Err(ExcerptError::NoSection {
            uri: self.uri.clone(),
            section: text::cap(text::one_line(wanted), 128),
            meant: text::closest(&words, anchors()).map(str::to_owned),
            known: anchors().take(NAMED).map(str::to_owned).collect(),
            more: sections.len().saturating_sub(NAMED),
        })
    }

    /// What is left after a cursor, and the size that was asked for when it was made.
    fn resume(
        &self,
        cursor: &str,
        section: Option<Range<usize>>,
    ) -> Result<(Range<usize>, Option<usize>), ExcerptError> {
        let cursor: Cursor = cursor.trim().parse().map_err(|()| ExcerptError::NoCursor)?;
        let range = cursor.start..cursor.end;
        let fits = cursor.check == self.check()
            && self.text.get(range.clone()).is_some()
            && section
                .is_none_or(|section| section.end == range.end && section.start <= range.start);
        if !fits {
            return Err(ExcerptError::OtherText { uri: self.uri.clone() });
        }
        Ok((range, Some(cursor.size).filter(|size| *size > 0)))
    }

    /// Tells this text from any other. It follows the content, not the file's time: what was
    /// saved again without a change can be read on.
    fn check(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        (&self.uri, &self.text).hash(&mut hasher);
        hasher.finish()
    }
}

/// Where a piece that begins a text of at most `size` bytes ends: after a line if one ends in
/// the last quarter, else after a character. There is always at least one character.
fn cut(whole: &str, size: usize) -> usize {
    if whole.len() <= size {
        return whole.len();
    }
    let most = text::floor_boundary(whole, size);
    let piece = whole.get(..most).unwrap_or_default();
    match piece.rfind('\n').map(|at| at + 1) {
        Some(line) if line >= most - most / 4 => line,
        _ => most.max(whole.chars().next().map_or(0, char::len_utf8)),
    }
}

/// Where to go on: the rest of the part, the size of pieces (0 for none), and whose text it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Cursor {
    start: usize,
    end: usize,
    size: usize,
    check: u64,
}

impl fmt::Display for Cursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}.{:016x}", self.start, self.end, self.size, self.check)
    }
}

impl FromStr for Cursor {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let mut parts = text.split('.');
        let mut number = || parts.next().and_then(|part| part.parse().ok()).ok_or(());
        let (start, end, size) = (number()?, number()?, number()?);
        let check = parts.next().filter(|part| part.len() == 16).ok_or(())?;
        let check = u64::from_str_radix(check, 16).map_err(|_| ())?;
        if parts.next().is_some() || start > end {
            return Err(());
        }
        Ok(Self { start, end, size, check })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn body(text: &str) -> Body {
        Body { uri: "acdc://docs/a".into(), name: "A".into(), text: text.into() }
    }

    fn pieces(body: &Body, part: Part<'_>, limit: usize) -> Vec<String> {
        let mut pieces = Vec::new();
        let mut cursor: Option<String> = None;
        loop {
            let part = Part { cursor: cursor.as_deref(), ..part };
            let excerpt = body.excerpt(part, limit).unwrap();
            pieces.push(excerpt.text);
            let Some(next) = excerpt.next else { return pieces };
            cursor = Some(next);
        }
    }

    proptest! {
        #[test]
        fn all_pieces_in_a_row_are_the_text(text in "(\\PC{0,30}\r?\n?){0,20}", size in 4usize..60) {
            let body = body(&text);
            let pieces = pieces(&body, Part { max_bytes: Some(size), ..Part::default() }, 1_000);
            prop_assert!(pieces.iter().all(|piece| piece.len() <= size));
            prop_assert_eq!(pieces.concat(), text);
        }

        #[test]
        fn no_text_is_a_cursor_that_panics(cursor in "\\PC{0,40}|[0-9]{1,30}(\\.[0-9]{1,30}){2}\\.[0-9a-f]{16}") {
            let _ = body("äöü").excerpt(Part { cursor: Some(&cursor), ..Part::default() }, 10);
        }
    }

    #[test]
    fn pieces_end_with_a_line_where_one_is_near() {
        let near = body("aaaa\nbbbb\ncccc\n");
        let part = Part { max_bytes: Some(11), ..Part::default() };
        assert_eq!(pieces(&near, part, 100), ["aaaa\nbbbb\n", "cccc\n"]);
        let far = body("a\nbbbbbbbbbbbbbbbbb");
        assert_eq!(pieces(&far, part, 100), ["a\nbbbbbbbbb", "bbbbbbbb"]);
    }

    #[test]
    fn a_cursor_goes_on_with_the_same_size_within_the_same_section() {
        let body = body("# A\n12345678\n# B\nrest\n");
        let part = Part { section: Some("a"), max_bytes: Some(6), ..Part::default() };
        let first = body.excerpt(part, 100).unwrap();
        assert_eq!((first.text.as_str(), first.left), ("# A\n12", 7));
        let cursor = first.next.as_deref();
        let second = body.excerpt(Part { cursor, ..Part::default() }, 100).unwrap();
        assert_eq!(second.text, "345678");
        assert_eq!(
            body.excerpt(Part { cursor, section: Some("b"), ..Part::default() }, 100),
            Err(ExcerptError::OtherText { uri: body.uri.clone() })
        );
    }

    #[test]
    fn who_did_not_ask_for_pieces_is_told_that_it_is_one() {
        let body = body(&"ä".repeat(100));
        let first = body.excerpt(Part::default(), 60).unwrap();
        assert!(first.text.len() + first.trailer.len() <= 60);
        assert_eq!(first.trailer, format!("… [truncated {} bytes]", first.left));
        let cursor = first.next.as_deref();
        let second = body.excerpt(Part { cursor, ..Part::default() }, 60).unwrap();
        assert_eq!((second.text.len(), second.trailer.as_str()), (60, ""));
    }

    #[test]
    fn a_section_is_found_by_its_anchor_or_its_words() {
        let body = body("# First steps\none\n## More\ntwo\n# Last\nthree\n");
        for section in ["first-steps", "#first-steps", "First steps", " First Steps "] {
            let part = Part { section: Some(section), ..Part::default() };
            assert_eq!(
                body.excerpt(part, 100).unwrap().text,
                "# First steps\none\n## More\ntwo\n",
                "{section}"
            );
        }
    }

    #[test]
    fn an_unknown_section_lists_those_that_there_are() {
        let say = |text: &str, section| {
            let part = Part { section: Some(section), ..Part::default() };
            body(text).excerpt(part, 100).unwrap_err().report().to_string()
        };
        assert_eq!(
            say("# Setup\n## Usage\n", "setpu"),
            "`acdc://docs/a` has no section `setpu`; did you mean `setup`?; its sections are `setup`, `usage`"
        );
        assert_eq!(
            say("text", "x"),
            "`acdc://docs/a` has no section `x`; it has no headings: read it without a section"
        );
        let many = (0..20).map(|n| format!("# H{n}")).collect::<Vec<_>>().join("\n");
        assert!(say(&many, "zzz").ends_with("`h11` and 8 more"), "{}", say(&many, "zzz"));
    }
}
