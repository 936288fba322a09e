//! One line around the best match.

use super::analysis::{Analyzer, words};
use super::query::Wanted;

/// A line of a document, and where it was taken from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Excerpt {
    /// Plain text on one line, the matched words in `**`.
    pub(super) line: String,
    /// Where the best match begins, in bytes of the text.
    pub(super) at: usize,
}

/// The longest excerpt, in bytes of the text.
const LENGTH: usize = 200;
/// How much of it stands before the first match.
const LEAD: usize = 60;

/// The line around the place where most of the words stand together. What stands before `body`
/// is the description: it counts a little less, because it often repeats the body and has no
/// section to send a reader to.
pub(super) fn excerpt(analyzer: &Analyzer, text: &str, body: usize, wanted: &[Wanted]) -> Excerpt {
    let matches = matches(analyzer, text, wanted);
    let at = best(&matches, body, wanted);
    let start = begin(text, at);
    let end = rutter_base::text::floor_boundary(text, start + LENGTH);
    let end = if end < text.len() {
        text.get(start..end).and_then(|cut| cut.rfind(' ')).map_or(end, |at| start + at)
    } else {
        end
    };
    let mut line = String::new();
    if start > 0 {
        line.push('…');
    }
    let mut from = start;
    for (range, _) in matches.iter().filter(|(range, _)| range.start >= start && range.end <= end) {
        line.push_str(text.get(from..range.start).unwrap_or_default());
        line.push_str("**");
        line.push_str(text.get(range.clone()).unwrap_or_default());
        line.push_str("**");
        from = range.end;
    }
    line.push_str(text.get(from..end).unwrap_or_default());
    if end < text.trim_end().len() {
        line.push('…');
    }
    let line: Vec<&str> = line.split_whitespace().collect();
    Excerpt { line: rutter_base::text::one_line(&line.join(" ")), at }
}

type Match = (std::ops::Range<usize>, usize);

/// Where the words stand, and which they are.
fn matches(analyzer: &Analyzer, text: &str, wanted: &[Wanted]) -> Vec<Match> {
    // Stemming is what takes time. A stem begins as its word does, so most words need none.
    let mut beginnings = [false; 256];
    for byte in
        wanted.iter().flat_map(|wanted| &wanted.terms).filter_map(|term| term.bytes().next())
    {
        if let Some(known) = beginnings.get_mut(usize::from(byte)) {
            *known = true;
        }
    }
    let mut found: Vec<Match> = Vec::new();
    for range in words(text) {
        let Some(word) = text.get(range.clone()) else { continue };
        // The parts of an identifier that matched as a whole are matched with it.
        if found.last().is_some_and(|(last, _)| range.start < last.end) {
            continue;
        }
        let first = word.bytes().next().unwrap_or_default().to_ascii_lowercase();
        if first.is_ascii() && !beginnings.get(usize::from(first)).copied().unwrap_or_default() {
            continue;
        }
        let letters: String = word.chars().filter(|c| c.is_alphanumeric()).collect();
        let term = analyzer.stem(&letters.to_lowercase());
        if let Some(index) = wanted.iter().position(|wanted| wanted.terms.contains(&term)) {
            found.push((range, index));
        }
    }
    found
}

/// Where the best stretch of text begins.
fn best(matches: &[Match], body: usize, wanted: &[Wanted]) -> usize {
    let mut best = (0, 0.0);
    for (index, (range, _)) in matches.iter().enumerate() {
        let mut seen = vec![false; wanted.len()];
        let mut weight = 0.0;
        for (other, word) in matches.iter().skip(index) {
            if other.end > range.start + LENGTH - LEAD {
                break;
            }
            if let Some(seen) = seen.get_mut(*word).filter(|seen| !**seen) {
                *seen = true;
                weight += wanted.get(*word).map_or(0.0, |wanted| wanted.idf * wanted.weight);
            }
        }
        if range.start < body {
            weight *= 0.9;
        }
        if weight > best.1 {
            best = (range.start, weight);
        }
    }
    best.0
}

/// Where the excerpt begins: at the start of the line or sentence if it is near, else at a word.
fn begin(text: &str, at: usize) -> usize {
    let from = rutter_base::text::floor_boundary(text, at.saturating_sub(LEAD));
    if from == 0 {
        return 0;
    }
    let before = text.get(from..at).unwrap_or_default();
    if let Some(line) = before.rfind('\n') {
        return from + line + 1;
    }
    if let Some(sentence) = before.rfind(". ") {
        return from + sentence + 2;
    }
    before.find(' ').map_or(from, |space| from + space + 1)
}
