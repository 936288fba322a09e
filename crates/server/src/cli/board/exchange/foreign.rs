//! Tasks of another program, on their way to this board: what fits is translated, what does not is
//! kept as a comment and reported.

use std::collections::{BTreeMap, BTreeSet};

use chrono::{DateTime, NaiveDate, NaiveDateTime, SecondsFormat, Utc};
use rutter_base::text::{cap, one_line};
use rutter_board::{Foreign, Priority, Remark, Status};
use serde_json::{Map, Value};

/// Who says what was kept.
pub(super) const IMPORT: &str = "import";
/// The most bytes of one comment; what is longer becomes several.
const COMMENT: usize = 90_000;

/// What was read of another program's files.
#[derive(Debug, Default)]
pub(super) struct Gathered {
    pub(super) tasks: Vec<Draft>,
    pub(super) notes: Vec<String>,
}

/// What is handed to the board.
pub(super) struct Arranged {
    pub(super) tasks: Vec<Foreign>,
    pub(super) notes: Vec<String>,
}

/// A task while it is translated. What is not taken out of `fields` has no place here.
#[derive(Debug)]
pub(super) struct Draft {
    pub(super) task: Foreign,
    pub(super) fields: Map<String, Value>,
    /// The id of the task that it is a part of.
    pub(super) whole: Option<String>,
    /// The name of the feature that the other program suggests.
    pub(super) feature: Option<String>,
    /// What was translated, but not exactly.
    kept: Vec<(String, String)>,
}

impl Draft {
    /// Begins with the id and the title.
    pub(super) fn new(id: String, title: String, fields: Map<String, Value>) -> Self {
        let task = Foreign {
            id,
            feature: String::new(),
            title,
            status: Status::Pending,
            priority: Priority::Medium,
            description: None,
            pseudocode: None,
            acceptance_criteria: Vec::new(),
            tags: Vec::new(),
            depends_on: Vec::new(),
            created: None,
            completed: None,
            remarks: Vec::new(),
        };
        Self { task, fields, whole: None, feature: None, kept: Vec::new() }
    }

    /// Keeps something as it was, because the translation says less.
    pub(super) fn keep(&mut self, name: &str, value: impl Into<String>) {
        self.kept.push((name.to_owned(), value.into()));
    }

    /// Takes a text out of the fields. What is no text stays, and is kept.
    pub(super) fn text(&mut self, name: &str) -> Option<String> {
        let text = self.fields.get(name)?.as_str()?.to_owned();
        self.fields.remove(name);
        (!text.trim().is_empty()).then_some(text)
    }

    /// Takes a list of texts and numbers out of the fields; one alone is a list as well.
    pub(super) fn list(&mut self, name: &str) -> Vec<String> {
        let entries: Option<Vec<String>> = match self.fields.get(name) {
            Some(Value::Array(entries)) => entries.iter().map(plain).collect(),
            Some(one) => plain(one).map(|one| vec![one]),
            None => None,
        };
        let Some(entries) = entries else { return Vec::new() };
        self.fields.remove(name);
        entries.into_iter().filter(|entry| !entry.trim().is_empty()).collect()
    }

    /// Takes a moment out of the fields, in the way in which the board writes it.
    pub(super) fn time(&mut self, name: &str) -> Option<String> {
        let time = moment(self.fields.get(name)?.as_str()?)?;
        self.fields.remove(name);
        Some(time)
    }

    /// Takes the status out of the fields.
    pub(super) fn status(&mut self, name: &str) {
        let Some(word) = self.text(name) else { return };
        let (status, exact) = status(&word);
        self.task.status = status;
        if !exact {
            self.keep(name, format!("{word} (it is {status} here)"));
        }
    }

    /// Takes the priority out of the fields.
    pub(super) fn priority(&mut self, name: &str) {
        let Some(word) = self.fields.get(name).and_then(plain) else { return };
        self.fields.remove(name);
        let (priority, exact) = priority(&word);
        self.task.priority = priority;
        if !exact {
            self.keep(name, format!("{word} (it is {priority} here)"));
        }
    }

    /// Adds what was said about it.
    pub(super) fn remark(&mut self, author: &str, body: &str, created: Option<&str>) {
        let author: String = one_line(author).chars().take(200).collect();
        let author = if author.trim().is_empty() { IMPORT.to_owned() } else { author };
        let mut rest = body.trim();
        while !rest.is_empty() {
            let end = rutter_base::text::floor_boundary(rest, COMMENT);
            let (part, after) = rest.split_at(end);
            let created = created.map(ToOwned::to_owned);
            self.task.remarks.push(Remark {
                author: author.clone(),
                body: part.to_owned(),
                created,
            });
            rest = after.trim_start();
        }
    }

    /// Puts everything that has no place into one comment, and gives the names.
    fn keep_the_rest(&mut self, program_id: &str) -> Vec<String> {
        let mut lines = Vec::new();
        let mut names = Vec::new();
        for (name, value) in std::mem::take(&mut self.kept) {
            lines.push(format!("{name}: {value}"));
            names.push(name);
        }
        for (name, value) in std::mem::take(&mut self.fields) {
            if says_nothing(&value) {
                continue;
            }
            let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            lines.push(format!("{name}: {value}"));
            names.push(name);
        }
        if !lines.is_empty() {
            let body = format!("what `{program_id}` said besides:\n{}", lines.join("\n"));
            self.remark(IMPORT, &body, None);
        }
        names
    }
}

/// Decides the features, connects the tasks, and keeps the rest.
pub(super) fn arrange(gathered: Gathered, feature: Option<&str>, otherwise: &str) -> Arranged {
    let Gathered { mut tasks, mut notes } = gathered;
    tell_apart(&mut tasks, &mut notes);
    connect(&mut tasks, &mut notes);
    let mut without_place: BTreeMap<String, usize> = BTreeMap::new();
    for draft in &mut tasks {
        draft.task.feature = if let Some(feature) = feature {
            feature.to_owned()
        } else {
            let suggested = draft.feature.take().unwrap_or_default();
            let name = slug(&suggested);
            if name != suggested {
                draft.keep("feature", suggested);
            }
            if name.is_empty() { otherwise.to_owned() } else { name }
        };
        if let Some(suggested) = draft.feature.take() {
            draft.keep("feature", suggested);
        }
        let id = draft.task.id.clone();
        for name in draft.keep_the_rest(&id) {
            *without_place.entry(name).or_default() += 1;
        }
    }
    for (name, count) in without_place {
        notes.push(format!("`{name}` of {count} tasks has no exact place here: kept in a comment"));
    }
    Arranged { tasks: tasks.into_iter().map(|draft| draft.task).collect(), notes }
}

/// Gives every task an id of its own: other programs have been seen to give one out twice.
fn tell_apart(tasks: &mut [Draft], notes: &mut Vec<String>) {
    let mut seen = BTreeSet::new();
    for draft in tasks {
        let first = draft.task.id.clone();
        let mut number = 1;
        while !seen.insert(draft.task.id.clone()) {
            number += 1;
            draft.task.id = format!("{first}~{number}");
        }
        if number > 1 {
            let (first, id) = (one_line(&first), one_line(&draft.task.id));
            notes.push(format!("there is another `{first}`; this one is called `{id}`"));
        }
    }
}

/// Makes a whole wait for its parts, and the parts for what the whole waits for. What cannot be
/// followed, or goes round in a circle, is kept as a comment and reported.
fn connect(tasks: &mut [Draft], notes: &mut Vec<String>) {
    let places: BTreeMap<String, usize> =
        tasks.iter().enumerate().map(|(place, draft)| (draft.task.id.clone(), place)).collect();
    let mut edges: Vec<BTreeSet<usize>> = vec![BTreeSet::new(); tasks.len()];
    for place in 0..tasks.len() {
        let Some(draft) = tasks.get_mut(place) else { continue };
        for wanted in std::mem::take(&mut draft.task.depends_on) {
            let id = one_line(&draft.task.id);
            let reason = match places.get(&wanted) {
                Some(&needed) if add(&mut edges, place, needed) => continue,
                Some(_) => "which would make a cycle",
                None => "which is not among the tasks",
            };
            draft.keep("depends on", format!("{wanted}, {reason}"));
            notes.push(format!("`{id}` depends on `{}`, {reason}: left out", one_line(&wanted)));
        }
    }
    let wholes: Vec<(usize, String)> = tasks
        .iter()
        .enumerate()
        .filter_map(|(place, draft)| Some((place, draft.whole.clone()?)))
        .collect();
    let said: Vec<BTreeSet<usize>> = edges.clone();
    for (part, whole) in wholes {
        let known = places.get(&whole).copied();
        let waits = known.is_some_and(|whole| add(&mut edges, whole, part));
        if let Some(whole) = known {
            // What follows from the two relations is dropped without a word where it contradicts.
            for needed in said.get(whole).into_iter().flatten() {
                add(&mut edges, part, *needed);
            }
        }
        if !waits && let Some(draft) = tasks.get_mut(part) {
            draft.keep("part of", whole);
        }
    }
    let ids: Vec<String> = tasks.iter().map(|draft| draft.task.id.clone()).collect();
    for (draft, needed) in tasks.iter_mut().zip(edges) {
        draft.task.depends_on =
            needed.into_iter().filter_map(|place| ids.get(place).cloned()).collect();
    }
}

/// Adds that `task` waits for `needed`, unless `needed` waits for `task`.
fn add(edges: &mut [BTreeSet<usize>], task: usize, needed: usize) -> bool {
    let mut seen = BTreeSet::new();
    let mut pending = vec![needed];
    while let Some(place) = pending.pop() {
        if place == task {
            return false;
        }
        if seen.insert(place) {
            pending.extend(edges.get(place).into_iter().flatten());
        }
    }
    edges.get_mut(task).is_some_and(|edges| {
        edges.insert(needed);
        true
    })
}

/// A text or a number as text.
pub(super) fn plain(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

fn says_nothing(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.trim().is_empty(),
        Value::Array(entries) => entries.is_empty(),
        Value::Object(fields) => fields.is_empty(),
        Value::Bool(_) | Value::Number(_) => false,
    }
}

/// The status that a word means, and whether it means exactly that.
fn status(word: &str) -> (Status, bool) {
    let plain: String =
        word.chars().filter(char::is_ascii_alphanumeric).collect::<String>().to_lowercase();
    match plain.as_str() {
        "todo" | "open" | "pending" | "backlog" | "ready" | "new" => (Status::Pending, true),
        "inprogress" | "doing" | "started" | "active" => (Status::InProgress, true),
        "done" | "closed" | "completed" | "complete" => (Status::Done, true),
        "blocked" => (Status::Blocked, true),
        "cancelled" | "canceled" | "skipped" | "wontfix" => (Status::Skipped, true),
        "draft" => (Status::Draft, true),
        "review" | "inreview" | "testing" | "hooked" => (Status::InProgress, false),
        "deferred" | "onhold" | "paused" => (Status::Blocked, false),
        // Nobody is to begin what may not be meant to be begun.
        _ => (Status::Draft, false),
    }
}

fn priority(word: &str) -> (Priority, bool) {
    match word.trim().to_lowercase().as_str() {
        "critical" | "urgent" | "highest" => (Priority::Critical, true),
        "high" => (Priority::High, true),
        "medium" | "normal" => (Priority::Medium, true),
        "low" => (Priority::Low, true),
        _ => (Priority::Medium, false),
    }
}

/// A moment as the board writes it: dates alone are midnight, and what names no zone is UTC.
pub(super) fn moment(text: &str) -> Option<String> {
    let text = text.trim();
    let utc = DateTime::parse_from_rfc3339(text).map(|time| time.with_timezone(&Utc)).ok();
    let utc = utc.or_else(|| {
        let formats = ["%Y-%m-%d %H:%M:%S", "%Y-%m-%d %H:%M"];
        let time = formats.iter().find_map(|f| NaiveDateTime::parse_from_str(text, f).ok());
        let date = || NaiveDate::parse_from_str(text, "%Y-%m-%d").ok()?.and_hms_opt(0, 0, 0);
        Some(time.or_else(date)?.and_utc())
    });
    Some(utc?.to_rfc3339_opts(SecondsFormat::Millis, true))
}

/// A name that a feature can have.
fn slug(text: &str) -> String {
    let mut name = String::new();
    for c in text.to_lowercase().chars() {
        if c.is_ascii_lowercase() || c.is_ascii_digit() {
            name.push(c);
        } else if !name.is_empty() && !name.ends_with('-') {
            name.push('-');
        }
        if name.len() >= 60 {
            break;
        }
    }
    name.trim_end_matches('-').to_owned()
}

/// The items of a list in Markdown, and which of them are ticked off. Lines that are no items
/// belong to the item before; text without any item is one.
pub(super) fn items(text: &str) -> Vec<(String, bool)> {
    let mut items: Vec<(String, bool)> = Vec::new();
    for line in text.lines() {
        let bare = line.trim();
        let item = ["- ", "* ", "+ "].iter().find_map(|mark| bare.strip_prefix(mark));
        // What is indented belongs to the item above it.
        let item = item.filter(|_| items.is_empty() || !line.starts_with("  "));
        match (item, items.last_mut()) {
            (Some(item), _) => items.push(ticked(item.trim())),
            (None, _) if bare.is_empty() => {}
            (None, Some((last, _))) => {
                last.push('\n');
                last.push_str(bare);
            }
            (None, None) => items.push((bare.to_owned(), false)),
        }
    }
    items
}

fn ticked(item: &str) -> (String, bool) {
    let boxes = [("[ ]", false), ("[x]", true), ("[X]", true)];
    let found = boxes.iter().find_map(|(mark, done)| Some((item.strip_prefix(mark)?, *done)));
    found.map_or_else(|| (item.to_owned(), false), |(rest, done)| (rest.trim().to_owned(), done))
}

/// A value of theirs in a message.
pub(super) fn shown(text: &str) -> String {
    cap(one_line(text), 100)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_become_what_the_board_knows() {
        for (word, expected) in [
            ("To Do", (Status::Pending, true)),
            ("in-progress", (Status::InProgress, true)),
            ("Done", (Status::Done, true)),
            ("deferred", (Status::Blocked, false)),
            ("review", (Status::InProgress, false)),
            ("Vielleicht", (Status::Draft, false)),
        ] {
            assert_eq!(status(word), expected, "{word}");
        }
        assert_eq!(slug("M0 - Project Setup!"), "m0-project-setup");
        assert_eq!(slug("¡¿"), "");
    }

    #[test]
    fn moments_are_written_in_one_way() {
        for (text, expected) in [
            ("2025-06-03", "2025-06-03T00:00:00.000Z"),
            ("2025-06-03 12:30", "2025-06-03T12:30:00.000Z"),
            ("2025-10-12T14:43:03.423-07:00", "2025-10-12T21:43:03.423Z"),
        ] {
            assert_eq!(moment(text).as_deref(), Some(expected));
        }
        assert_eq!(moment("tomorrow"), None);
    }

    #[test]
    fn lists_in_markdown_are_items() {
        assert_eq!(
            items("- [x] #1 one\n  more\n- [ ] two\n"),
            [("#1 one\nmore".to_owned(), true), ("two".to_owned(), false)]
        );
        assert_eq!(items("just words\nand more"), [("just words\nand more".to_owned(), false)]);
    }

    #[test]
    fn two_of_one_id_are_two_tasks() {
        let draft = || Draft::new("a".into(), "t".into(), Map::new());
        let arranged = arrange(
            Gathered { tasks: vec![draft(), draft(), draft()], notes: Vec::new() },
            None,
            "f",
        );
        let ids: Vec<&str> = arranged.tasks.iter().map(|task| task.id.as_str()).collect();
        assert_eq!((ids, arranged.notes.len()), (vec!["a", "a~2", "a~3"], 2));
    }

    #[test]
    fn what_goes_round_in_a_circle_is_left_out_and_told() {
        let draft = |id: &str, needs: &[&str], whole: Option<&str>| {
            let mut draft = Draft::new(id.into(), id.into(), Map::new());
            draft.task.depends_on = needs.iter().map(ToString::to_string).collect();
            draft.whole = whole.map(ToOwned::to_owned);
            draft
        };
        let tasks = vec![
            draft("a", &["b", "gone"], None),
            draft("b", &["a"], None),
            draft("part", &[], Some("a")),
        ];
        let arranged = arrange(Gathered { tasks, notes: Vec::new() }, None, "imported");
        let needs: Vec<Vec<String>> =
            arranged.tasks.iter().map(|task| task.depends_on.clone()).collect();
        // The whole waits for its part, and the part for what the whole waits for.
        assert_eq!(needs, [vec!["b".to_owned(), "part".into()], vec![], vec!["b".into()]]);
        assert!(arranged.notes.iter().any(|note| note.contains("`gone`, which is not among")));
        assert!(arranged.notes.iter().any(|note| note.contains("`b` depends on `a`, which would")));
        assert!(arranged.tasks[1].remarks[0].body.contains("depends on: a"));
    }
}
