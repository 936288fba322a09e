//! From text to terms: words, their stems, and the parts of identifiers.

use std::collections::HashMap;

use frostem::{Algorithm, Stemmer};

/// A term and where it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Token {
    /// What is looked up: lower case, stemmed.
    pub(crate) term: String,
    /// The word as it was written, in lower case.
    pub(crate) word: String,
    /// Counts words; an identifier as a whole stands where its first part does.
    pub(crate) position: usize,
    /// Where the word begins and ends, in bytes of the text.
    pub(crate) range: std::ops::Range<usize>,
    /// Whether this is an identifier as a whole, beside its parts.
    pub(crate) whole: bool,
}

/// The longest word that is looked at; what is longer is data, not language.
const MAX_WORD: usize = 64;

/// Turns text into terms.
pub(crate) struct Analyzer {
    stemmer: Stemmer,
}

impl std::fmt::Debug for Analyzer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Analyzer")
    }
}

impl Default for Analyzer {
    fn default() -> Self {
        Self { stemmer: Stemmer::new(Algorithm::English) }
    }
}

impl Analyzer {
    /// The terms of a text, in order.
    pub(crate) fn tokens(&self, text: &str) -> Vec<Token> {
        tokens(text, |word| self.stem(word))
    }

    /// An analyzer for many texts, which share most of their words.
    pub(crate) fn remembering(&self) -> Remembering<'_> {
        Remembering { analyzer: self, stems: HashMap::new() }
    }

    /// The stem of a word in lower case.
    pub(crate) fn stem(&self, word: &str) -> String {
        if word.is_ascii() { self.stemmer.stem(word).into_owned() } else { word.to_owned() }
    }
}

/// An analyzer that stems each word once: finding a stem is most of the work of indexing.
pub(crate) struct Remembering<'a> {
    analyzer: &'a Analyzer,
    stems: HashMap<String, String>,
}

/// How many stems are remembered; what comes after is rare.
const MAX_STEMS: usize = 50_000;

impl Remembering<'_> {
    /// The terms of a text, in order.
    pub(crate) fn tokens(&mut self, text: &str) -> Vec<Token> {
        tokens(text, |word| {
            if let Some(stem) = self.stems.get(word) {
                return stem.clone();
            }
            let stem = self.analyzer.stem(word);
            if self.stems.len() < MAX_STEMS {
                self.stems.insert(word.to_owned(), stem.clone());
            }
            stem
        })
    }
}

fn tokens(text: &str, mut stem: impl FnMut(&str) -> String) -> Vec<Token> {
    let mut tokens = Vec::with_capacity(text.len() / 5);
    let mut position = 0;
    for chunk in chunks(text) {
        let Some(inside) = text.get(chunk.clone()) else { continue };
        let mut push = |word: String, range, position, whole| {
            if word.len() <= MAX_WORD {
                tokens.push(Token { term: stem(&word), word, position, range, whole });
            }
        };
        if is_one_word(inside) {
            push(inside.to_lowercase(), chunk, position, false);
            position += 1;
            continue;
        }
        let parts = parts(text, chunk.clone());
        if parts.len() > 1 {
            let whole: String = parts.iter().filter_map(|part| text.get(part.clone())).collect();
            push(whole.to_lowercase(), chunk, position, true);
        }
        for range in parts {
            let part = text.get(range.clone()).unwrap_or_default();
            push(part.to_lowercase(), range, position, false);
            position += 1;
        }
    }
    tokens
}

/// Where the words of a text stand: an identifier as a whole, then its parts.
pub(crate) fn words(text: &str) -> impl Iterator<Item = std::ops::Range<usize>> + '_ {
    chunks(text).flat_map(|chunk| {
        let parts = match text.get(chunk.clone()) {
            Some(inside) if is_one_word(inside) => Vec::new(),
            _ => parts(text, chunk.clone()),
        };
        let whole = (parts.len() != 1).then_some(chunk);
        whole.into_iter().chain(parts)
    })
}

/// Whether a chunk is plainly one word, as most are: there is nothing to split.
fn is_one_word(chunk: &str) -> bool {
    let mut bytes = chunk.bytes();
    bytes.next().is_some_and(|byte| byte.is_ascii_alphanumeric())
        && bytes.all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit())
}

/// Runs of letters and digits, with what joins them in an identifier: `_`, and `.`, `-` or `'`
/// between two letters or digits.
fn chunks(text: &str) -> impl Iterator<Item = std::ops::Range<usize>> + '_ {
    let mut chars = text.char_indices().peekable();
    std::iter::from_fn(move || {
        let (start, first) = chars.find(|(_, c)| c.is_alphanumeric())?;
        let mut end = start + first.len_utf8();
        while let Some(&(at, c)) = chars.peek() {
            let joins = matches!(c, '_' | '.' | '-' | '\'' | '’')
                && text
                    .get(at + c.len_utf8()..)
                    .and_then(|rest| rest.chars().next())
                    .is_some_and(char::is_alphanumeric);
            if !c.is_alphanumeric() && !joins {
                break;
            }
            chars.next();
            end = at + c.len_utf8();
        }
        Some(start..end)
    })
}

/// The words within a chunk: split at what is no letter or digit, and where a capital begins a
/// new word (`getUserName`, `HTTPServer`).
fn parts(text: &str, chunk: std::ops::Range<usize>) -> Vec<std::ops::Range<usize>> {
    let offset = chunk.start;
    let inside: Vec<(usize, char)> = text.get(chunk).unwrap_or_default().char_indices().collect();
    let mut parts = Vec::new();
    let mut start: Option<usize> = None;
    for (index, &(at, c)) in inside.iter().enumerate() {
        if !c.is_alphanumeric() {
            // What stands after an apostrophe (`pod's`) belongs to no word.
            if let Some(from) = start.take() {
                parts.push(from + offset..at + offset);
            }
            continue;
        }
        let before = index.checked_sub(1).and_then(|i| inside.get(i)).map(|(_, c)| *c);
        let after = inside.get(index + 1).map(|(_, c)| *c);
        let hump = c.is_uppercase()
            && (before.is_some_and(char::is_lowercase)
                || (before.is_some_and(char::is_uppercase)
                    && after.is_some_and(char::is_lowercase)));
        if hump && let Some(from) = start.take() {
            parts.push(from + offset..at + offset);
        }
        start.get_or_insert(at);
    }
    if let Some(from) = start {
        let end = inside.last().map_or(0, |(at, c)| at + c.len_utf8());
        parts.push(from + offset..end + offset);
    }
    parts
}

/// Words that say little about what is looked for.
pub(crate) fn is_stop_word(word: &str) -> bool {
    const WORDS: [&str; 62] = [
        "a", "about", "an", "and", "any", "are", "as", "at", "be", "been", "but", "by", "can",
        "could", "did", "do", "does", "for", "from", "had", "has", "have", "how", "i", "if", "in",
        "into", "is", "it", "its", "me", "my", "no", "of", "on", "or", "our", "should", "so",
        "some", "such", "that", "the", "their", "them", "then", "there", "these", "this", "to",
        "was", "we", "were", "what", "when", "where", "which", "why", "will", "with", "you",
        "your",
    ];
    WORDS.binary_search(&word).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn terms(text: &str) -> Vec<String> {
        Analyzer::default()
            .tokens(text)
            .into_iter()
            .map(|t| format!("{}@{}", t.term, t.position))
            .collect()
    }

    #[test]
    fn identifiers_are_found_whole_and_by_their_parts() {
        assert_eq!(terms("getUserName"), ["getusernam@0", "get@0", "user@1", "name@2"]);
        assert_eq!(terms("snake_case x"), ["snakecas@0", "snake@0", "case@1", "x@2"]);
        assert_eq!(terms("a.b.c."), ["abc@0", "a@0", "b@1", "c@2"]);
        assert_eq!(terms("HTTPServer"), ["httpserver@0", "http@0", "server@1"]);
        assert_eq!(terms("v1beta1"), ["v1beta1@0"]);
    }

    #[test]
    fn words_are_stemmed_and_told_apart() {
        assert_eq!(terms("Running, configurations!"), ["run@0", "configur@1"]);
        assert_eq!(terms("Ünïcode — naïve"), ["ünïcode@0", "naïve@1"]);
        assert!(is_stop_word("the") && !is_stop_word("pod"));
    }

    #[test]
    fn ranges_are_those_of_the_words() {
        let text = "see fooBar.";
        let tokens = Analyzer::default().tokens(text);
        let words: Vec<_> = tokens.iter().map(|t| &text[t.range.clone()]).collect();
        assert_eq!(words, ["see", "fooBar", "foo", "Bar"]);
    }
}
