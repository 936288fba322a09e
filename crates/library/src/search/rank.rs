//! How well a document answers.
//!
//! First every document that has a word of the query is scored by field, then the best of them
//! are ranked again by what a score of single words cannot see: whether the words stand together,
//! and how much of the document's name was asked for.

use std::collections::BTreeMap;

use tantivy::postings::Postings;
use tantivy::schema::{Field, IndexRecordOption};
use tantivy::{DocAddress, DocId, DocSet, SegmentReader, TERMINATED, Term};

use super::index::{Index, SearchError};
use super::query::{Prepared, Query};

/// A document and how well it answers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Candidate {
    pub(super) address: DocAddress,
    pub(super) score: f32,
}

/// How many documents are ranked again.
const CANDIDATES: usize = 50;
/// How many when the words in quotes decide.
const CANDIDATES_WITH_PHRASES: usize = 1_000;

/// How much a field's length counts against it: a long page is not a bad page.
const CONTENT_B: f32 = 0.2;
const OTHER_B: f32 = 0.75;
const K1: f32 = 1.2;
/// What the fields beside the best one count.
const OTHER_FIELDS: f32 = 0.3;
/// What headings and path weigh; the specification names neither.
const HEADINGS: f32 = 0.8;
const PATH: f32 = 0.3;

/// How near words must stand to each other to stand together.
const NEAR: u32 = 8;
/// The length of a passage.
const PASSAGE: u32 = 40;
/// Rare words weigh more, but a little less than their rarity.
const RARITY: f32 = 0.8;

/// What the second ranking adds.
const NEARNESS: f32 = 1.0;
const BEST_PASSAGE: f32 = 1.2;
const NAME_NEARNESS: f32 = 2.0;
const NAME_COVER: f32 = 0.6;
const WORD_FOR_WORD: f32 = 0.5;

/// The best documents, best first.
pub(super) fn rank(
    index: &Index,
    prepared: &Prepared,
    query: &Query<'_>,
) -> Result<Vec<Candidate>, SearchError> {
    let mut candidates = score(index, prepared, query)?;
    let keep = if prepared.phrases.is_empty() {
        CANDIDATES.max(query.limit)
    } else {
        CANDIDATES_WITH_PHRASES
    };
    keep_best(&mut candidates, keep);
    let mut ranked = rerank(index, prepared, candidates)?;
    keep_best(&mut ranked, query.limit);
    Ok(ranked)
}

fn keep_best(candidates: &mut Vec<Candidate>, count: usize) {
    // The address decides between equals, so that the same question has the same answer.
    let order = |a: &Candidate, b: &Candidate| {
        b.score.total_cmp(&a.score).then_with(|| a.address.cmp(&b.address))
    };
    if candidates.len() > count {
        candidates.select_nth_unstable_by(count, order);
        candidates.truncate(count);
    }
    candidates.sort_unstable_by(order);
}

/// A field, what it weighs, how much its length counts, and its mean length.
struct Weighed {
    field: Field,
    boost: f32,
    b: f32,
    mean: f32,
}

fn weighed(index: &Index, query: &Query<'_>) -> Result<Vec<Weighed>, SearchError> {
    let fields = index.fields;
    let boosts = [
        (fields.content, query.boosts.content, CONTENT_B),
        (fields.name, query.boosts.name, OTHER_B),
        (fields.keywords, query.boosts.keywords, OTHER_B),
        (fields.headings, HEADINGS, OTHER_B),
        (fields.path, PATH, OTHER_B),
    ];
    let searcher = index.reader.searcher();
    let documents = searcher.num_docs().max(1);
    let mut weighed = Vec::with_capacity(boosts.len());
    for (field, boost, b) in boosts {
        let mut tokens = 0;
        for segment in searcher.segment_readers() {
            tokens += segment.inverted_index(field)?.total_num_tokens();
        }
        #[expect(clippy::cast_precision_loss, reason = "a mean length needs no more")]
        let mean = (tokens as f32 / documents as f32).max(1.0);
        weighed.push(Weighed { field, boost, b, mean });
    }
    Ok(weighed)
}

/// Scores every document that has a word of the query.
fn score(
    index: &Index,
    prepared: &Prepared,
    query: &Query<'_>,
) -> Result<Vec<Candidate>, SearchError> {
    let fields = weighed(index, query)?;
    let searcher = index.reader.searcher();
    let mut candidates = Vec::new();
    for (ordinal, segment) in searcher.segment_readers().iter().enumerate() {
        let allowed = match query.source {
            Some(source) => Some(documents_with(segment, index.fields.source, source)?),
            None => None,
        };
        let size = segment.max_doc() as usize;
        let mut best = vec![0.0_f32; size];
        let mut sum = vec![0.0_f32; size];
        let mut of_field = vec![0.0_f32; size];
        for Weighed { field, boost, b, mean } in &fields {
            let inverted = segment.inverted_index(*field)?;
            let lengths = segment.get_fieldnorms_reader(*field)?;
            let mut touched = false;
            for wanted in &prepared.wanted {
                for term in &wanted.terms {
                    let term = Term::from_field_text(*field, term);
                    let Some(mut postings) =
                        inverted.read_postings(&term, IndexRecordOption::WithFreqs)?
                    else {
                        continue;
                    };
                    touched = true;
                    let weight = boost * wanted.idf * wanted.weight * (K1 + 1.0);
                    let mut document = postings.doc();
                    while document != TERMINATED {
                        #[expect(
                            clippy::cast_precision_loss,
                            reason = "frequencies and lengths are small"
                        )]
                        let (frequency, length) =
                            (postings.term_freq() as f32, lengths.fieldnorm(document) as f32);
                        let norm = K1 * (1.0 - b + b * length / mean);
                        if let Some(score) = of_field.get_mut(document as usize) {
                            *score += weight * frequency / (frequency + norm);
                        }
                        document = postings.advance();
                    }
                }
            }
            if touched {
                for ((best, sum), score) in best.iter_mut().zip(&mut sum).zip(&mut of_field) {
                    *best = best.max(*score);
                    *sum += std::mem::take(score);
                }
            }
        }
        let segment_ord = u32::try_from(ordinal).unwrap_or(u32::MAX);
        for (doc_id, (best, sum)) in (0_u32..).zip(best.into_iter().zip(sum)) {
            let visible = sum > 0.0
                && !segment.is_deleted(doc_id)
                && allowed.as_ref().is_none_or(|allowed| allowed.binary_search(&doc_id).is_ok());
            if visible {
                let score = best + OTHER_FIELDS * (sum - best);
                candidates.push(Candidate { address: DocAddress { segment_ord, doc_id }, score });
            }
        }
    }
    Ok(candidates)
}

fn documents_with(
    segment: &SegmentReader,
    field: Field,
    text: &str,
) -> Result<Vec<DocId>, SearchError> {
    let inverted = segment.inverted_index(field)?;
    let mut documents = Vec::new();
    if let Some(mut postings) =
        inverted.read_postings(&Term::from_field_text(field, text), IndexRecordOption::Basic)?
    {
        while postings.doc() != TERMINATED {
            documents.push(postings.doc());
            postings.advance();
        }
    }
    Ok(documents)
}

/// Where the words of the query stand in one field of one document: position and word.
type Places = Vec<(u32, usize)>;

/// Ranks the best documents again.
fn rerank(
    index: &Index,
    prepared: &Prepared,
    candidates: Vec<Candidate>,
) -> Result<Vec<Candidate>, SearchError> {
    let searcher = index.reader.searcher();
    let weights: Vec<f32> =
        prepared.wanted.iter().map(|wanted| wanted.idf.powf(RARITY) * wanted.weight).collect();
    let total: f32 = weights.iter().sum();
    let mut by_segment: BTreeMap<u32, Vec<Candidate>> = BTreeMap::new();
    for candidate in candidates {
        by_segment.entry(candidate.address.segment_ord).or_default().push(candidate);
    }
    let mut ranked = Vec::new();
    let mut with_phrases = Vec::new();
    for (ordinal, mut candidates) in by_segment {
        candidates.sort_unstable_by_key(|candidate| candidate.address.doc_id);
        let segment = searcher.segment_reader(ordinal);
        let content = places(segment, index.fields.content, prepared, &candidates)?;
        let name = places(segment, index.fields.name, prepared, &candidates)?;
        let lengths = segment.get_fieldnorms_reader(index.fields.name)?;
        for ((candidate, content), name) in candidates.into_iter().zip(content).zip(name) {
            #[expect(clippy::cast_precision_loss, reason = "names are short")]
            let cover =
                name.len() as f32 / (lengths.fieldnorm(candidate.address.doc_id) as f32).max(1.0);
            let together = NEARNESS * best_window(&content, &weights, NEAR, false)
                + BEST_PASSAGE * best_window(&content, &weights, PASSAGE, true)
                + NAME_NEARNESS * best_window(&name, &weights, NEAR, false)
                + NAME_COVER * cover.min(1.0) * total
                + if stands_there(&prepared.sequence, &content)
                    || stands_there(&prepared.sequence, &name)
                {
                    WORD_FOR_WORD * total
                } else {
                    0.0
                };
            let candidate = Candidate { score: candidate.score + together, ..candidate };
            let has = |phrase: &Vec<usize>| {
                let phrase: Vec<Option<usize>> = phrase.iter().copied().map(Some).collect();
                stands_there(&phrase, &content) || stands_there(&phrase, &name)
            };
            if !prepared.phrases.is_empty() && prepared.phrases.iter().all(has) {
                with_phrases.push(candidate);
            } else {
                ranked.push(candidate);
            }
        }
    }
    // Words in quotes stand together. Where they nowhere do, the words alone are better than nothing.
    Ok(if with_phrases.is_empty() { ranked } else { with_phrases })
}

/// The places of the query's words in each candidate, which are in order of their numbers.
fn places(
    segment: &SegmentReader,
    field: Field,
    prepared: &Prepared,
    candidates: &[Candidate],
) -> Result<Vec<Places>, SearchError> {
    let inverted = segment.inverted_index(field)?;
    let mut all: Vec<Places> = vec![Vec::new(); candidates.len()];
    let mut positions = Vec::new();
    for (word, wanted) in prepared.wanted.iter().enumerate() {
        for term in &wanted.terms {
            let term = Term::from_field_text(field, term);
            let Some(mut postings) =
                inverted.read_postings(&term, IndexRecordOption::WithFreqsAndPositions)?
            else {
                continue;
            };
            for (candidate, places) in candidates.iter().zip(&mut all) {
                let wanted = candidate.address.doc_id;
                if postings.doc() < wanted && postings.seek(wanted) == TERMINATED {
                    break;
                }
                if postings.doc() == wanted {
                    postings.positions(&mut positions);
                    places.extend(positions.iter().map(|&position| (position, word)));
                }
            }
        }
    }
    for places in &mut all {
        places.sort_unstable();
    }
    Ok(all)
}

/// The weight of the words in the best window of `width` places; with `repeated`, a word that
/// stands there several times weighs more.
fn best_window(places: &Places, weights: &[f32], width: u32, repeated: bool) -> f32 {
    let mut counts = vec![0_u32; weights.len()];
    let mut best = 0.0_f32;
    let mut first = 0;
    for &(position, word) in places {
        if let Some(count) = counts.get_mut(word) {
            *count += 1;
        }
        while let Some(&(earliest, gone)) = places.get(first)
            && position - earliest >= width
        {
            if let Some(count) = counts.get_mut(gone) {
                *count -= 1;
            }
            first += 1;
        }
        let sum =
            counts.iter().zip(weights).filter(|(count, _)| **count > 0).map(|(&count, weight)| {
                #[expect(clippy::cast_precision_loss, reason = "a window holds few words")]
                let count = count as f32;
                if repeated { weight * count * 1.5 / (count + 0.5) } else { *weight }
            });
        best = best.max(sum.sum());
    }
    best
}

/// Whether the words stand there in their order, one after the other.
fn stands_there(sequence: &[Option<usize>], places: &Places) -> bool {
    let looked_for =
        sequence.iter().enumerate().filter_map(|(offset, word)| Some((offset, (*word)?)));
    let looked_for: Vec<(u32, usize)> =
        looked_for.filter_map(|(offset, word)| Some((u32::try_from(offset).ok()?, word))).collect();
    let Some(&(first_offset, first)) = looked_for.first().filter(|_| looked_for.len() > 1) else {
        return false;
    };
    places.iter().filter(|(_, word)| *word == first).any(|(position, _)| {
        let Some(start) = position.checked_sub(first_offset) else { return false };
        looked_for
            .iter()
            .all(|(offset, word)| places.binary_search(&(start + offset, *word)).is_ok())
    })
}
