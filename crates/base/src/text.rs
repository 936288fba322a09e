//! Text that leaves the process: capped, on one line, without surprises.

/// Cuts `text` to at most `limit` bytes, trailer included.
///
/// The cut falls on a character boundary and the result ends with the exact number of bytes
/// that were left out, so that a reader knows that, and how much, is missing. A limit too small
/// for the trailer itself yields the longest prefix that fits, without one.
pub fn cap(text: String, limit: usize) -> String {
    let total = text.len();
    finish(text, total, limit)
}

/// Collects text up to a limit and counts what is past it, so that the memory that an answer
/// takes is bounded however often a large value is repeated in it.
#[derive(Debug)]
pub struct Capped {
    kept: String,
    total: usize,
    limit: usize,
    full: bool,
}

impl Capped {
    /// Starts an empty text of at most `limit` bytes.
    pub fn new(limit: usize) -> Self {
        Self { kept: String::new(), total: 0, limit, full: false }
    }

    /// Appends `text`.
    pub fn push_str(&mut self, text: &str) {
        self.total = self.total.saturating_add(text.len());
        if self.full {
            return;
        }
        let fits = floor_boundary(text, self.limit - self.kept.len());
        self.kept.push_str(text.get(..fits).unwrap_or_default());
        // Once something did not fit, nothing later may slip in behind it.
        self.full = fits < text.len();
    }

    /// The text, with the trailer if anything was left out.
    pub fn finish(self) -> String {
        finish(self.kept, self.total, self.limit)
    }
}

/// `kept` is the longest prefix of a text of `total` bytes that fits into `limit`.
fn finish(mut kept: String, total: usize, limit: usize) -> String {
    if total <= limit && kept.len() == total {
        return kept;
    }
    // The trailer's width depends on the number in it, and the number on what the trailer
    // leaves room for. The narrowest number that is wide enough keeps the most text.
    for digits in 1..=20 {
        let Some(room) = limit.checked_sub(TRAILER_START.len() + digits + TRAILER_END.len()) else {
            break;
        };
        let keep = floor_boundary(&kept, room);
        let left_out = (total - keep).to_string();
        if left_out.len() <= digits {
            kept.truncate(keep);
            kept.push_str(TRAILER_START);
            kept.push_str(&left_out);
            kept.push_str(TRAILER_END);
            return kept;
        }
    }
    kept.truncate(floor_boundary(&kept, limit));
    kept
}

const TRAILER_START: &str = "… [truncated ";
const TRAILER_END: &str = " bytes]";

/// The largest character boundary that is not past `index`.
pub fn floor_boundary(text: &str, index: usize) -> usize {
    let mut index = index.min(text.len());
    while !text.is_char_boundary(index) {
        index -= 1;
    }
    index
}

/// Puts text on one line that is safe to print: control characters (escape sequences and line
/// ends among them) and bidirectional overrides are replaced.
pub fn one_line(text: &str) -> String {
    text.chars().map(|c| if is_hostile(c) { '\u{FFFD}' } else { c }).collect()
}

/// Whether a character can change how the text around it is shown.
pub fn is_hostile(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{200B}'..='\u{200F}'   // zero width, direction marks
            | '\u{2028}' | '\u{2029}' // line and paragraph separators
            | '\u{202A}'..='\u{202E}' // bidirectional embedding and override
            | '\u{2060}'..='\u{2069}' // word joiner, isolates
            | '\u{FEFF}'
        )
}

/// The first sentence of a Markdown body that is prose, for a missing description.
pub fn first_sentence(body: &str) -> Option<String> {
    let mut paragraph = String::new();
    let mut in_fence = false;
    for line in body.lines().map(str::trim) {
        if line.starts_with("```") || line.starts_with("~~~") {
            in_fence = !in_fence;
            continue;
        }
        let prose = !in_fence
            && line.chars().next().is_some_and(|c| {
                c.is_alphanumeric() || matches!(c, '`' | '"' | '\'' | '*' | '_' | '(')
            });
        if prose {
            if !paragraph.is_empty() {
                paragraph.push(' ');
            }
            paragraph.push_str(line);
        } else if !paragraph.is_empty() {
            break;
        }
    }
    let end = paragraph
        .match_indices(['.', '!', '?'])
        .map(|(index, mark)| index + mark.len())
        .find(|&end| {
            paragraph.get(end..).is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
        })
        .unwrap_or(paragraph.len());
    paragraph.truncate(end);
    (!paragraph.is_empty()).then(|| one_line(&paragraph))
}

/// The candidate that was most likely meant by `typed`, if one is close.
pub fn closest<'a>(typed: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    /// Nobody types more by mistake, and comparing costs time with the square of the length.
    const LONGEST_TYPED: usize = 200;
    if typed.len() > LONGEST_TYPED {
        return None;
    }
    candidates
        .into_iter()
        .map(|candidate| (strsim::jaro_winkler(typed, candidate), candidate))
        .filter(|(score, _)| *score > 0.8)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, candidate)| candidate)
}

/// `a`, `b` and `c` for messages: every name in backticks.
pub fn listed<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    names.into_iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn short_text_is_untouched() {
        assert_eq!(cap("abc".into(), 3), "abc");
    }

    #[test]
    fn long_text_ends_with_the_exact_number_of_bytes_left_out() {
        let capped = cap("x".repeat(100), 50);
        assert_eq!(capped, format!("{}… [truncated 74 bytes]", "x".repeat(26)));
        assert_eq!(capped.len(), 50);
    }

    proptest! {
        #[test]
        fn cap_keeps_its_promises(text in "\\PC{0,400}", limit in 0usize..500) {
            let capped = cap(text.clone(), limit);
            prop_assert!(capped.len() <= limit || capped == text);
            if let Some((kept, rest)) = capped.rsplit_once("… [truncated ") && capped != text {
                let count: usize = rest.trim_end_matches(" bytes]").parse().unwrap();
                prop_assert_eq!(kept.len() + count, text.len());
                prop_assert!(text.starts_with(kept));
            } else {
                prop_assert!(text.starts_with(&capped));
            }
        }

        #[test]
        fn collecting_piecewise_gives_the_same_text(
            pieces in prop::collection::vec("\\PC{0,60}", 0..8), limit in 0usize..300,
        ) {
            let mut capped = Capped::new(limit);
            for piece in &pieces {
                capped.push_str(piece);
            }
            prop_assert_eq!(capped.finish(), cap(pieces.concat(), limit));
        }

        #[test]
        fn one_line_is_one_line(text in "\\PC{0,40}[\\x00-\\x1f]{0,5}\\PC{0,40}") {
            prop_assert!(!one_line(&text).chars().any(char::is_control));
        }
    }

    #[test]
    fn first_sentence_skips_headings_code_and_lists() {
        let body = "# Title\n\n```sh\nrun it.\n```\n\n- item\n\nUse 1.5 cups. Then stir.\n";
        assert_eq!(first_sentence(body).as_deref(), Some("Use 1.5 cups."));
        assert_eq!(first_sentence("# Only\n"), None);
    }

    #[test]
    fn closest_needs_a_likeness() {
        assert_eq!(closest("serch", ["search", "read"]), Some("search"));
        assert_eq!(closest("xyzzy", ["search", "read"]), None);
    }
}
