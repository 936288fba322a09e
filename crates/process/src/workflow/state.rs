//! What was done: the content of the state file.

use std::collections::BTreeMap;

use chrono::{DateTime, SecondsFormat, TimeDelta, Utc};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};

use super::lines::{self, Lines};

/// The version of the file that is written; newer ones are not touched.
pub(super) const VERSION: u64 = 1;

/// How many changes the log keeps.
const MAX_LOG: usize = 1_000;
/// How many of them keep how a step was recorded before: that may be large.
const MAX_UNDO: usize = 50;

/// What was done, and which artifacts there are.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct State {
    #[serde(default = "version", deserialize_with = "any_version")]
    version: u64,
    #[serde(default)]
    completed: BTreeMap<String, Completion>,
    #[serde(default)]
    artifacts: BTreeMap<String, String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    log: Vec<Change>,
    /// What another program keeps in the file: it stays.
    #[serde(flatten)]
    others: Map<String, Value>,
    #[serde(skip)]
    kept: Kept,
}

/// What follows from the rest, and takes long to find out in a large state.
#[derive(Debug, Clone, Default)]
struct Kept {
    completed: Lines,
    artifacts: Lines,
    log: Lines,
    /// The time of the last completion.
    latest: Option<String>,
}

/// States are the same whatever is kept of them.
impl PartialEq for Kept {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

/// A step that was completed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Completion {
    /// When: ISO 8601, UTC.
    pub at: String,
    /// What it came to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outputs: Option<Map<String, Value>>,
    /// What it left, by key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub artifacts: Option<BTreeMap<String, String>>,
}

/// A change of the state.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Change {
    /// When.
    pub at: String,
    /// What happened.
    pub change: What,
    /// The step, if it was one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// How the step was recorded before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<Completion>,
}

/// What can happen to a state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum What {
    /// A step was completed.
    Completed,
    /// The last completion was taken back.
    Undone,
    /// Everything was forgotten.
    Reset,
}

impl Default for State {
    fn default() -> Self {
        Self {
            version: VERSION,
            completed: BTreeMap::new(),
            artifacts: BTreeMap::new(),
            log: Vec::new(),
            others: Map::new(),
            kept: Kept::default(),
        }
    }
}

/// Why a text is not a state.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Unreadable {
    /// It is of a version that this program does not know.
    Newer(u64),
    /// It is damaged.
    Damaged,
}

impl State {
    pub(super) fn parse(bytes: &[u8]) -> Result<Self, Unreadable> {
        #[derive(Deserialize)]
        struct Versioned {
            #[serde(default = "version", deserialize_with = "any_version")]
            version: u64,
        }
        match serde_json::from_slice::<Self>(bytes) {
            Ok(state) if state.version > VERSION => Err(Unreadable::Newer(state.version)),
            Ok(state) => Ok(Self { version: VERSION, ..state }),
            // A newer version may have another shape.
            Err(_) => match serde_json::from_slice::<Versioned>(bytes) {
                Ok(Versioned { version }) if version > VERSION => Err(Unreadable::Newer(version)),
                _ => Err(Unreadable::Damaged),
            },
        }
    }

    /// The steps that were completed.
    pub fn completed(&self) -> &BTreeMap<String, Completion> {
        &self.completed
    }

    /// The paths of the artifacts, by key.
    pub fn artifacts(&self) -> &BTreeMap<String, String> {
        &self.artifacts
    }

    /// The changes, oldest first.
    pub fn log(&self) -> &[Change] {
        &self.log
    }

    /// The file's text, with a line for each entry. Most of it is kept from the save before.
    pub(super) fn text(&mut self) -> Text<'_> {
        let Self { version, completed, artifacts, log, others, kept } = self;
        kept.completed.of_map(completed);
        kept.artifacts.of_map(artifacts);
        kept.log.of_list(log);
        let mut rest = Vec::new();
        for (key, value) in others {
            rest.extend(b",\n  ");
            lines::json(&mut rest, key);
            rest.extend(b": ");
            lines::json(&mut rest, value);
        }
        rest.extend(b"\n}\n");
        let head = format!("{{\n  \"version\": {version},\n  \"completed\": {{");
        Text { head, kept, rest }
    }

    #[cfg(test)]
    pub(super) fn to_bytes(&self) -> Vec<u8> {
        self.clone().text().to_bytes()
    }

    /// Records a completion. What was recorded of the step before stays, unless it is given
    /// again. `false` when nothing is different.
    pub fn complete(
        &mut self,
        id: &str,
        outputs: Option<Map<String, Value>>,
        artifacts: Option<BTreeMap<String, String>>,
        now: DateTime<Utc>,
    ) -> bool {
        let before = self.completed.get(id).cloned();
        let mut next = before.clone().unwrap_or_else(|| Completion {
            at: String::new(),
            outputs: None,
            artifacts: None,
        });
        if let Some(outputs) = outputs {
            next.outputs.get_or_insert_default().extend(outputs);
        }
        if let Some(artifacts) = artifacts {
            next.artifacts.get_or_insert_default().extend(artifacts);
        }
        let recorded = next.artifacts.iter().flatten();
        let all_there = recorded.clone().all(|(key, path)| self.artifacts.get(key) == Some(path));
        if before.as_ref() == Some(&next) && all_there {
            return false;
        }
        for (key, path) in recorded {
            if self.artifacts.get(key) != Some(path) {
                self.artifacts.insert(key.clone(), path.clone());
                self.kept.artifacts.put(&self.artifacts, key);
            }
        }
        next.at = self.after_all(now);
        self.note(Change {
            at: next.at.clone(),
            change: What::Completed,
            id: Some(id.to_owned()),
            before,
        });
        self.kept.latest = Some(next.at.clone());
        self.completed.insert(id.to_owned(), next);
        self.kept.completed.put(&self.completed, id);
        true
    }

    /// Takes the last completion back; gives its step.
    pub fn undo(&mut self, now: DateTime<Utc>) -> Option<String> {
        let (id, last) = self.completed.iter().max_by(|(_, a), (_, b)| a.at.cmp(&b.at))?;
        let (id, last) = (id.clone(), last.clone());
        self.forget();
        let noted = self.log.iter().rev().find(|change| {
            change.change == What::Completed
                && change.id.as_ref() == Some(&id)
                && change.at == last.at
        });
        match noted.and_then(|change| change.before.clone()) {
            Some(before) => self.completed.insert(id.clone(), before),
            None => self.completed.remove(&id),
        };
        for key in last.artifacts.iter().flat_map(BTreeMap::keys) {
            match self.latest(key) {
                Some(path) => self.artifacts.insert(key.clone(), path),
                None => self.artifacts.remove(key),
            };
        }
        let at = self.after_all(now);
        self.note(Change { at, change: What::Undone, id: Some(id.clone()), before: Some(last) });
        Some(id)
    }

    /// Forgets everything but the log.
    pub fn reset(&mut self, now: DateTime<Utc>) {
        let at = self.after_all(now);
        self.forget();
        self.completed.clear();
        self.artifacts.clear();
        self.note(Change { at, change: What::Reset, id: None, before: None });
    }

    /// The path that the latest completion with this artifact gave it.
    fn latest(&self, key: &str) -> Option<String> {
        let with = self.completed.values().filter_map(|completion| {
            Some((&completion.at, completion.artifacts.as_ref()?.get(key)?))
        });
        with.max_by_key(|(at, _)| *at).map(|(_, path)| path.clone())
    }

    /// A time later than any in the file, so that there is always one last change.
    fn after_all(&mut self, now: DateTime<Utc>) -> String {
        let now = shown(now);
        if self.kept.latest.is_none() {
            let times = self.completed.values().map(|completion| &completion.at);
            self.kept.latest = times.max().cloned();
        }
        let last = self.kept.latest.iter().chain(self.log.last().map(|change| &change.at)).max();
        let Some(last) = last.filter(|last| **last >= now) else { return now };
        match DateTime::parse_from_rfc3339(last) {
            Ok(time) => shown(time.to_utc() + TimeDelta::milliseconds(1)),
            Err(_) => now,
        }
    }

    fn note(&mut self, change: Change) {
        self.kept.log.push(&change);
        self.log.push(change);
        let over = self.log.len().saturating_sub(MAX_LOG);
        self.log.drain(..over);
        self.kept.log.drop_first(over);
        let old = self.log.iter_mut().rev().nth(MAX_UNDO);
        if old.and_then(|old| old.before.take()).is_some() {
            self.kept.log.forget();
        }
    }

    /// Keeps nothing of what was, because more changed than can be followed.
    fn forget(&mut self) {
        self.kept = Kept::default();
    }
}

/// The text of a state, in parts.
pub(super) struct Text<'a> {
    head: String,
    kept: &'a Kept,
    /// What other programs keep, and the end.
    rest: Vec<u8>,
}

impl Text<'_> {
    pub(super) fn parts(&self) -> Vec<&[u8]> {
        let Self { head, kept, rest } = self;
        let mut parts = vec![head.as_bytes(), kept.completed.text()];
        parts.extend([&b"\n  },\n  \"artifacts\": {"[..], kept.artifacts.text(), b"\n  }"]);
        if !kept.log.text().is_empty() {
            parts.extend([&b",\n  \"log\": ["[..], kept.log.text(), b"\n  ]"]);
        }
        parts.push(rest);
        parts
    }

    pub(super) fn to_bytes(&self) -> Vec<u8> {
        self.parts().concat()
    }
}

fn shown(time: DateTime<Utc>) -> String {
    time.to_rfc3339_opts(SecondsFormat::Millis, true)
}

fn version() -> u64 {
    VERSION
}

/// Other programs write `1`, `"1"` or `"1.0"`.
fn any_version<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u64, D::Error> {
    let value = Value::deserialize(deserializer)?;
    let number = match &value {
        Value::Number(number) => number.as_f64(),
        Value::String(text) => text.split('.').next().and_then(|first| first.trim().parse().ok()),
        _ => None,
    };
    let number = number.filter(|number| (0.0..1e9).contains(number));
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "in range")]
    let whole = number.map(|number| number.ceil() as u64);
    whole.ok_or_else(|| serde::de::Error::custom("expected a version"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn time(second: u32) -> DateTime<Utc> {
        DateTime::from_timestamp(1_800_000_000 + i64::from(second), 0).unwrap()
    }

    fn artifacts(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
        pairs.iter().map(|&(key, path)| (key.to_owned(), path.to_owned())).collect()
    }

    #[test]
    fn the_same_completion_again_changes_nothing() {
        let mut state = State::default();
        let outputs = json!({"n": 1}).as_object().cloned();
        assert!(state.complete("a", outputs.clone(), Some(artifacts(&[("k", "p")])), time(0)));
        let first = state.clone();
        assert!(!state.complete("a", outputs, Some(artifacts(&[("k", "p")])), time(1)));
        assert!(!state.complete("a", None, None, time(2)));
        assert_eq!(state, first);
        assert!(state.complete("a", None, Some(artifacts(&[("other", "q")])), time(3)));
        assert_eq!(state.completed["a"].artifacts.as_ref().unwrap().len(), 2);
        assert_eq!(state.completed["a"].outputs, first.completed["a"].outputs);
    }

    #[test]
    fn undo_goes_back_one_completion_at_a_time_and_the_log_stays() {
        let mut state = State::default();
        let empty = state.clone();
        state.complete("a", None, Some(artifacts(&[("k", "first")])), time(0));
        let one = state.clone();
        // At the same moment, by the clock.
        state.complete("b", None, Some(artifacts(&[("k", "second")])), time(0));
        let two = state.clone();
        state.complete("a", None, Some(artifacts(&[("k", "third")])), time(0));
        let what = |state: &State| (state.completed.clone(), state.artifacts.clone());
        assert_eq!(state.undo(time(9)).as_deref(), Some("a"));
        assert_eq!(what(&state), what(&two));
        assert_eq!(state.undo(time(9)).as_deref(), Some("b"));
        assert_eq!(what(&state), what(&one));
        assert_eq!(state.undo(time(9)).as_deref(), Some("a"));
        assert_eq!(what(&state), what(&empty));
        assert_eq!(state.undo(time(9)), None);
        assert_eq!(state.log.len(), 6);
    }

    #[test]
    fn reset_keeps_the_log() {
        let mut state = State::default();
        state.complete("a", None, None, time(0));
        state.reset(time(1));
        assert!(state.completed.is_empty() && state.artifacts.is_empty());
        assert_eq!(state.log.last().unwrap().change, What::Reset);
        assert_eq!(state.log.len(), 2);
    }

    #[test]
    fn files_of_others_are_read_and_what_they_keep_stays() {
        let text = r#"{"version": "1.0", "completed": {"a": {"at": "2024-01-01T00:00:00.000Z"}}, "theirs": [1]}"#;
        let state = State::parse(text.as_bytes()).unwrap();
        let written: Value = serde_json::from_slice(&state.to_bytes()).unwrap();
        assert_eq!((&written["version"], &written["theirs"]), (&json!(1), &json!([1])));
    }

    #[test]
    fn what_is_kept_of_the_text_follows_every_change() {
        let mut state = State::parse(br#"{"completed": {"b": {"at": "t"}}, "theirs": 1}"#).unwrap();
        let mut number = 0;
        for round in 0..1_200 {
            let id = format!("s{}", round * 7 % 900);
            match round % 100 {
                97 => drop(state.undo(time(round))),
                98 if round > 600 => state.reset(time(round)),
                _ => {
                    number += round % 3;
                    let path = number.to_string();
                    let given = artifacts(&[(&format!("k{}", round % 40), &path)]);
                    let outputs = json!({"\n    \"s1\": ": round}).as_object().cloned();
                    state.complete(&id, outputs, Some(given), time(round));
                }
            }
            let mut anew = State { kept: Kept::default(), ..state.clone() };
            let text = state.text().to_bytes();
            assert!(text == anew.text().to_bytes(), "after {round} changes");
            if round % 50 == 0 {
                assert_eq!(State::parse(&text).unwrap(), state);
            }
        }
    }

    #[test]
    fn newer_is_told_from_damaged() {
        let parse = |text: &str| State::parse(text.as_bytes()).unwrap_err();
        assert_eq!(parse(r#"{"version": 2, "completed": {}}"#), Unreadable::Newer(2));
        assert_eq!(parse(r#"{"version": 3, "completed": []}"#), Unreadable::Newer(3));
        for text in
            ["", "{", "[]", "null", r#"{"version": null}"#, r#"{"completed": {"a": 1}}"#, "\0\0\0"]
        {
            assert_eq!(parse(text), Unreadable::Damaged, "{text:?}");
        }
    }

    #[test]
    fn the_log_does_not_grow_for_ever() {
        let mut state = State::default();
        for round in 0..1_500 {
            state.complete("a", None, Some(artifacts(&[("k", &round.to_string())])), time(round));
        }
        assert_eq!(state.log.len(), MAX_LOG);
    }
}
