//! Titles with one letter wrong: how many still find their page first.

use std::error::Error;

use rutter_library::search::{Boosts, Query as Question};

use crate::collection::{Collection, uri};

/// How many titles are tried.
pub(crate) const TITLES: usize = 70;
/// The shortest word that gets a wrong letter: in shorter ones it makes another word.
const SHORTEST: usize = 5;

/// How many of the titles find their page first.
pub(crate) fn measure(collection: &Collection) -> Result<usize, Box<dyn Error>> {
    let index = collection.index()?;
    let titles = collection.documents.iter().filter_map(|document| {
        let place = document.name.len();
        Some((document, misspell(&document.name, place)?))
    });
    // Every so many, so that all parts of the documentation are among them.
    let titles: Vec<_> = titles.collect();
    let step = (titles.len() / TITLES).max(1);
    let mut first = 0;
    for (document, title) in titles.iter().step_by(step).take(TITLES) {
        let question = Question { text: title, source: None, limit: 1, boosts: Boosts::default() };
        let found = index.search(&question)?;
        first += usize::from(found.first().is_some_and(|hit| hit.uri == uri(&document.id)));
    }
    Ok(first)
}

/// The title with a letter of its longest word left out, doubled, replaced, or two exchanged.
fn misspell(title: &str, seed: usize) -> Option<String> {
    let word = title.split_whitespace().max_by_key(|word| word.len())?;
    let letters: Vec<char> = word.chars().collect();
    if letters.len() < SHORTEST || !word.chars().all(|c| c.is_ascii_alphabetic()) {
        return None;
    }
    let at = letters.len() / 2;
    let mut wrong = letters.clone();
    match seed % 4 {
        0 => {
            wrong.remove(at);
        }
        1 => wrong.insert(at, *letters.get(at)?),
        2 => *wrong.get_mut(at)? = if *letters.get(at)? == 'x' { 'z' } else { 'x' },
        _ => wrong.swap(at, at + 1),
    }
    let wrong: String = wrong.into_iter().collect();
    (wrong != word).then(|| title.replacen(word, &wrong, 1))
}
