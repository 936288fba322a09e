//! The text of the state file in parts that are kept: one entry a line, so that a save writes down
//! what is new and not what has been there for a thousand steps.

use std::collections::BTreeMap;
use std::ops::Bound;

use memchr::{memchr, memmem};
use serde::Serialize;

/// What every entry begins with. A line break never stands inside JSON's strings, so that it
/// tells where an entry begins.
const LINE: &[u8] = b"\n    ";

/// The entries of an object or an array, without what is around them: `\n    a,\n    b`.
///
/// Nothing, until it is asked for, and again after a change that cannot be followed.
#[derive(Debug, Clone, Default)]
pub(super) struct Lines(Option<Vec<u8>>);

impl Lines {
    /// Forgets the text: it is written down anew when it is asked for.
    pub(super) fn forget(&mut self) {
        self.0 = None;
    }

    /// The text of a map.
    pub(super) fn of_map<V: Serialize>(&mut self, map: &BTreeMap<String, V>) {
        self.0.get_or_insert_with(|| {
            let mut text = Vec::new();
            for (key, value) in map {
                separate(&mut text);
                text.extend(LINE);
                pair(&mut text, key, value);
            }
            text
        });
    }

    /// The text of a list.
    pub(super) fn of_list<V: Serialize>(&mut self, list: &[V]) {
        self.0.get_or_insert_with(|| {
            let mut text = Vec::new();
            for value in list {
                separate(&mut text);
                text.extend(LINE);
                json(&mut text, value);
            }
            text
        });
    }

    pub(super) fn text(&self) -> &[u8] {
        self.0.as_deref().unwrap_or_default()
    }

    /// Follows what was put into a map: the entry is there already.
    pub(super) fn put<V: Serialize>(&mut self, map: &BTreeMap<String, V>, key: &str) {
        let (Some(text), Some(value)) = (&mut self.0, map.get(key)) else { return };
        let mut line = LINE.to_vec();
        pair(&mut line, key, value);
        if let Some(start) = find(text, key) {
            let rest = text.get(start + 1..).unwrap_or_default();
            let end = memchr(b'\n', rest).map_or(text.len(), |length| start + length);
            // Its comma stays where it is.
            text.splice(start..end, line);
            return;
        }
        let after = map.range::<str, _>((Bound::Excluded(key), Bound::Unbounded)).next();
        match after.map(|(next, _)| find(text, next)) {
            None => {
                separate(text);
                text.extend(line);
            }
            Some(Some(start)) => {
                line.push(b',');
                text.splice(start..start, line);
            }
            // Cannot be: what is in the map is in the text.
            Some(None) => self.forget(),
        }
    }

    /// Follows what was added to a list.
    pub(super) fn push<V: Serialize>(&mut self, value: &V) {
        let Some(text) = &mut self.0 else { return };
        separate(text);
        text.extend(LINE);
        json(text, value);
    }

    /// Follows what was taken from the front of a list.
    pub(super) fn drop_first(&mut self, count: usize) {
        let Some(text) = &mut self.0 else { return };
        for _ in 0..count {
            let rest = text.get(1..).unwrap_or_default();
            let end = memchr(b'\n', rest).map_or(text.len(), |length| length + 1);
            text.drain(..end);
        }
    }
}

/// Where the line of a key begins.
fn find(text: &[u8], key: &str) -> Option<usize> {
    let mut start = LINE.to_vec();
    json(&mut start, key);
    start.extend(b": ");
    memmem::find(text, &start)
}

fn separate(text: &mut Vec<u8>) {
    if !text.is_empty() {
        text.push(b',');
    }
}

fn pair<V: Serialize>(text: &mut Vec<u8>, key: &str, value: &V) {
    json(text, key);
    text.extend(b": ");
    json(text, value);
}

/// What is written has no keys but strings, and memory does not fail to be written.
pub(super) fn json<V: Serialize + ?Sized>(text: &mut Vec<u8>, value: &V) {
    serde_json::to_writer(text, value).expect("a state is JSON");
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(lines: &Lines) -> String {
        String::from_utf8(lines.text().to_vec()).unwrap()
    }

    #[test]
    fn what_is_followed_is_what_would_be_written_anew() {
        let mut map = BTreeMap::new();
        let mut lines = Lines::default();
        lines.of_map(&map);
        // Keys that look like each other's lines, and one that is written with escapes.
        let keys = ["m", "a", "z", "aa", "\n    \"a\": ", "a\": 1", "ä", "", "m", "z", "a", "\\"];
        for (number, key) in keys.into_iter().enumerate() {
            map.insert(key.to_owned(), format!("\n    \"a\": {number},"));
            lines.put(&map, key);
            let mut anew = Lines::default();
            anew.of_map(&map);
            assert_eq!(told(&lines), told(&anew), "after {key:?}");
            let read: BTreeMap<String, String> =
                serde_json::from_str(&format!("{{{}}}", told(&lines))).unwrap();
            assert_eq!(read, map);
        }
    }

    #[test]
    fn a_list_loses_its_first_lines() {
        let mut lines = Lines::default();
        lines.of_list(&["a", "b"]);
        lines.push(&"c\n");
        assert_eq!(told(&lines), "\n    \"a\",\n    \"b\",\n    \"c\\n\"");
        lines.drop_first(2);
        assert_eq!(told(&lines), "\n    \"c\\n\"");
        lines.drop_first(1);
        assert_eq!(told(&lines), "");
        lines.push(&1);
        assert_eq!(told(&lines), "\n    1");
    }
}
