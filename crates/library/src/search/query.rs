//! What was asked, and what answers it.

use std::collections::BTreeMap;

use tantivy::Term;
use tantivy::schema::Field;
use tantivy_fst::Automaton;

use super::analysis::is_stop_word;
use super::index::{Index, SearchError};
use super::{rank, snippet};

/// A question.
#[derive(Debug, Clone, PartialEq)]
pub struct Query<'a> {
    /// The words; parts in double quotes stand together.
    pub text: &'a str,
    /// The only source to look in.
    pub source: Option<&'a str>,
    /// How many documents to give.
    pub limit: usize,
    /// What the fields weigh.
    pub boosts: Boosts,
}

/// What the fields weigh.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Boosts {
    /// A document's keywords.
    pub keywords: f32,
    /// Its name.
    pub name: f32,
    /// Its text.
    pub content: f32,
}

impl Default for Boosts {
    fn default() -> Self {
        Self { keywords: 3.0, name: 2.0, content: 1.0 }
    }
}

/// A document that answers.
#[derive(Debug, Clone, PartialEq)]
pub struct Hit {
    /// Its address.
    pub uri: String,
    /// The section that answers best, if it has one.
    pub anchor: Option<String>,
    /// One line around the match, the matched words in `**`.
    pub snippet: String,
    /// How well it answers; comparable within one answer only.
    pub score: f32,
}

/// The most words of a query that are looked at.
const MAX_TERMS: usize = 64;
/// The most bytes of a query that are looked at.
const MAX_TEXT: usize = 8 * 1024;
/// What a word that was probably meant counts, of one that was written.
const FUZZY_WEIGHT: f32 = 0.7;
/// The shortest word that may be misspelt.
const FUZZY_LENGTH: usize = 3;
/// How many words one misspelt word may stand for.
const FUZZY_WORDS: usize = 4;

/// A word of the query, as it is looked up.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Wanted {
    /// The term, or several when the word was probably misspelt.
    pub(super) terms: Vec<String>,
    /// How rare it is.
    pub(super) idf: f32,
    /// 1 for a word that was written, less for one that was probably meant.
    pub(super) weight: f32,
}

/// A query that is ready to be looked up.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Prepared {
    /// What is looked for.
    pub(super) wanted: Vec<Wanted>,
    /// All words in order, as indices into `wanted`; `None` for words that are not looked for.
    pub(super) sequence: Vec<Option<usize>>,
    /// Runs of words that stand together, as indices into `wanted`.
    pub(super) phrases: Vec<Vec<usize>>,
}

impl Index {
    /// The documents that answer a query, best first. Nothing that is asked is an error.
    pub fn search(&self, query: &Query<'_>) -> Result<Vec<Hit>, SearchError> {
        let prepared = self.prepare(query.text)?;
        if prepared.wanted.is_empty() || query.limit == 0 {
            return Ok(Vec::new());
        }
        let ranked = rank::rank(self, &prepared, query)?;
        let searcher = self.reader.searcher();
        let hits = ranked.into_iter().map(|candidate| {
            let document = searcher.doc(candidate.address)?;
            let (uri, text, sections) = self.stored(&document);
            let body = sections.first().map_or(0, |(start, _)| *start);
            let excerpt = snippet::excerpt(&self.analyzer, &text, body, &prepared.wanted);
            let section = sections.iter().rev().find(|(start, _)| *start <= excerpt.at);
            let anchor =
                section.map(|(_, anchor)| anchor.clone()).filter(|anchor| !anchor.is_empty());
            Ok(Hit { uri, anchor, snippet: excerpt.line, score: candidate.score })
        });
        hits.collect()
    }

    fn prepare(&self, text: &str) -> Result<Prepared, SearchError> {
        let text =
            text.get(..rutter_base::text::floor_boundary(text, MAX_TEXT)).unwrap_or_default();
        let mut prepared = Prepared::default();
        let mut known: BTreeMap<String, usize> = BTreeMap::new();
        let quoted = quoted(text);
        let tokens = self.analyzer.tokens(text);
        let content_words = tokens.iter().filter(|token| !is_stop_word(&token.word)).count();
        for token in &tokens {
            if prepared.wanted.len() >= MAX_TERMS {
                break;
            }
            let phrase = quoted.iter().position(|range| range.contains(&token.range.start));
            // In a question the small words say nothing; in `"to be"` they are all there is.
            let stop = phrase.is_none() && content_words > 0 && is_stop_word(&token.word);
            let index = match known.get(&token.term) {
                _ if stop => None,
                Some(&index) => Some(index),
                None => {
                    let wanted = self.wanted(&token.term, &token.word, token.whole)?;
                    wanted.map(|wanted| {
                        known.insert(token.term.clone(), prepared.wanted.len());
                        prepared.wanted.push(wanted);
                        prepared.wanted.len() - 1
                    })
                }
            };
            if !token.whole {
                prepared.sequence.push(index);
                if let (Some(phrase), Some(index)) = (phrase, index) {
                    prepared.phrases.resize(prepared.phrases.len().max(phrase + 1), Vec::new());
                    if let Some(words) = prepared.phrases.get_mut(phrase) {
                        words.push(index);
                    }
                }
            }
        }
        prepared.phrases.retain(|words| words.len() > 1);
        Ok(prepared)
    }

    /// What to look up for a word; `None` when nothing is like it.
    fn wanted(&self, term: &str, word: &str, whole: bool) -> Result<Option<Wanted>, SearchError> {
        let frequency = self.document_frequency(term)?;
        if frequency > 0 {
            return Ok(Some(Wanted {
                terms: vec![term.to_owned()],
                idf: self.idf(frequency),
                weight: 1.0,
            }));
        }
        if whole || word.chars().count() < FUZZY_LENGTH {
            return Ok(None);
        }
        let mut terms = self.meant(word)?;
        terms.retain(|term| !term.is_empty());
        let frequencies: Result<Vec<u64>, _> =
            terms.iter().map(|term| self.document_frequency(term)).collect();
        let frequency = frequencies?.into_iter().max().unwrap_or(0);
        if frequency == 0 {
            return Ok(None);
        }
        Ok(Some(Wanted { terms, idf: self.idf(frequency), weight: FUZZY_WEIGHT }))
    }

    /// In how many documents a term stands, in the field where it stands most.
    fn document_frequency(&self, term: &str) -> Result<u64, SearchError> {
        let searcher = self.reader.searcher();
        let fields = self.searched();
        let mut most = 0;
        for field in fields {
            most = most.max(searcher.doc_freq(&Term::from_field_text(field, term))?);
        }
        Ok(most)
    }

    pub(super) fn searched(&self) -> [Field; 5] {
        let fields = self.fields;
        [fields.content, fields.name, fields.keywords, fields.headings, fields.path]
    }

    #[expect(clippy::cast_precision_loss, reason = "counts of documents are far below 2^24")]
    fn idf(&self, frequency: u64) -> f32 {
        let (all, with) = (self.len() as f32, frequency as f32);
        (1.0 + (all - with + 0.5) / (with + 0.5)).ln()
    }

    /// The terms of the written words that differ from `word` in one letter.
    ///
    /// Compared with the words as they were written, not with their stems: `configuraton` is one
    /// letter away from `configuration`, and four from `configur`.
    fn meant(&self, word: &str) -> Result<Vec<String>, SearchError> {
        let builder = levenshtein_automata::LevenshteinAutomatonBuilder::new(1, true);
        let automaton = Near(builder.build_dfa(word));
        let mut found: BTreeMap<String, u32> = BTreeMap::new();
        for segment in self.reader.searcher().segment_readers() {
            let inverted = segment.inverted_index(self.fields.surface)?;
            let mut stream = inverted.terms().search(&automaton).into_stream()?;
            while stream.advance() {
                if let Ok(near) = std::str::from_utf8(stream.key()) {
                    *found.entry(near.to_owned()).or_default() += stream.value().doc_freq;
                }
            }
        }
        let mut found: Vec<(String, u32)> = found.into_iter().collect();
        found.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        let mut terms: Vec<String> = Vec::new();
        for (near, _) in found {
            let term = self.analyzer.stem(&near);
            if !terms.contains(&term) && terms.len() < FUZZY_WORDS {
                terms.push(term);
            }
        }
        Ok(terms)
    }
}

/// A Levenshtein automaton as the term dictionary wants it.
struct Near(levenshtein_automata::DFA);

impl Automaton for Near {
    type State = u32;

    fn start(&self) -> u32 {
        self.0.initial_state()
    }

    fn is_match(&self, state: &u32) -> bool {
        matches!(self.0.distance(*state), levenshtein_automata::Distance::Exact(_))
    }

    fn can_match(&self, state: &u32) -> bool {
        *state != levenshtein_automata::SINK_STATE
    }

    fn accept(&self, state: &u32, byte: u8) -> u32 {
        self.0.transition(*state, byte)
    }
}

/// What stands between double quotes. A quote that is never closed is a letter like any other.
fn quoted(text: &str) -> Vec<std::ops::Range<usize>> {
    let marks: Vec<usize> = text.match_indices(['"', '“', '”']).map(|(at, _)| at).collect();
    marks.chunks_exact(2).filter_map(|pair| Some(*pair.first()?..*pair.last()?)).collect()
}
