//! How good the answers are.

use std::collections::BTreeMap;
use std::error::Error;

use rutter_library::search::{Boosts, Query as Question};

use crate::collection::{Collection, Query, uri};

/// How many documents of an answer count.
const DEPTH: usize = 10;

/// By how much the mean may fall before a change has made the answers worse.
pub(crate) const TOLERANCE: f64 = 0.01;

/// What a group of queries reached: means over its queries.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Quality {
    pub(crate) queries: u32,
    pub(crate) ndcg: f64,
    pub(crate) mrr: f64,
    pub(crate) recall: f64,
}

/// The quality by collection and kind of query.
pub(crate) fn measure(
    collections: &[Collection],
) -> Result<BTreeMap<String, Quality>, Box<dyn Error>> {
    let mut groups: BTreeMap<String, Quality> = BTreeMap::new();
    for collection in collections {
        let index = collection.index()?;
        for query in &collection.queries {
            let question = Question {
                text: &query.text,
                source: None,
                limit: DEPTH,
                boosts: Boosts::default(),
            };
            let found: Vec<String> =
                index.search(&question)?.into_iter().map(|hit| hit.uri).collect();
            let group = groups.entry(format!("{}, {}", collection.name, query.kind)).or_default();
            group.queries += 1;
            group.ndcg += ndcg(query, &found);
            group.mrr += reciprocal_rank(query, &found);
            group.recall += recall(query, &found);
        }
    }
    for quality in groups.values_mut() {
        let count = f64::from(quality.queries);
        quality.ndcg /= count;
        quality.mrr /= count;
        quality.recall /= count;
    }
    Ok(groups)
}

/// The mean over groups, each counting the same however many queries it has.
pub(crate) fn mean(groups: &BTreeMap<String, Quality>) -> f64 {
    let count = u32::try_from(groups.len().max(1)).unwrap_or(u32::MAX);
    groups.values().map(|quality| quality.ndcg).sum::<f64>() / f64::from(count)
}

fn grades<'a>(query: &'a Query, found: &'a [String]) -> impl Iterator<Item = u32> + 'a {
    let by_uri: BTreeMap<String, u32> =
        query.grades.iter().map(|(id, grade)| (uri(id), *grade)).collect();
    found.iter().map(move |uri| by_uri.get(uri).copied().unwrap_or(0))
}

fn ndcg(query: &Query, found: &[String]) -> f64 {
    let gain = |grades: &mut dyn Iterator<Item = u32>| -> f64 {
        let ranked = (2_u32..).zip(grades.take(DEPTH));
        ranked.map(|(rank, grade)| f64::from(grade) / f64::from(rank).log2()).sum()
    };
    let mut ideal: Vec<u32> = query.grades.values().copied().collect();
    ideal.sort_unstable_by(|a, b| b.cmp(a));
    let ideal = gain(&mut ideal.into_iter());
    if ideal == 0.0 { 0.0 } else { gain(&mut grades(query, found)) / ideal }
}

fn reciprocal_rank(query: &Query, found: &[String]) -> f64 {
    let first = (1_u32..).zip(grades(query, found)).find(|(_, grade)| *grade > 0);
    first.map_or(0.0, |(rank, _)| 1.0 / f64::from(rank))
}

fn recall(query: &Query, found: &[String]) -> f64 {
    let relevant = query.grades.values().filter(|grade| **grade > 0).count();
    let hits = grades(query, found).filter(|grade| *grade > 0).count();
    let count = |n: usize| f64::from(u32::try_from(n).unwrap_or(u32::MAX));
    if relevant == 0 { 0.0 } else { count(hits) / count(relevant.min(DEPTH)) }
}
