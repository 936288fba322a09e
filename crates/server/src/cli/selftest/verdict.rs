//! What was acknowledged, compared with what is there.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use rutter_base::text::one_line;
use rutter_board::Integrity;
use serde::Serialize;
use serde_json::Value;

use super::writer::{Heard, Said};
use crate::cli::screen::{Screen, Style};

/// How many of each kind of trouble are told.
const SHOWN: usize = 10;

/// The outcome.
#[derive(Debug, Default, Serialize)]
pub(super) struct Verdict {
    processes: usize,
    killed: usize,
    seconds: f64,
    acknowledged: usize,
    tasks: usize,
    moves: usize,
    comments: usize,
    /// On disk, though the process was killed before it could say so.
    unsaid: usize,
    lost: Vec<String>,
    doubled: Vec<String>,
    errors: Vec<String>,
    damage: Vec<String>,
    #[serde(skip)]
    created: BTreeMap<i64, String>,
    #[serde(skip)]
    done: BTreeSet<i64>,
    #[serde(skip)]
    said: BTreeSet<(i64, String)>,
}

impl Verdict {
    pub(super) fn new(processes: usize, killed: usize, took: Duration) -> Self {
        Self { processes, killed, seconds: took.as_secs_f64(), ..Self::default() }
    }

    /// Takes down what a writer said.
    pub(super) fn hear(&mut self, heard: Heard) {
        if heard.stuck {
            self.errors.push("a process did not end when it was asked to".into());
        }
        for said in heard.said {
            match said {
                Said::Created { id, title } => {
                    self.tasks += 1;
                    if let Some(other) = self.created.insert(id, title) {
                        self.doubled.push(format!("id {id} was given out twice, also for {other}"));
                    }
                }
                Said::Done { id } => {
                    self.moves += 1;
                    self.done.insert(id);
                }
                Said::Commented { id, title } => {
                    self.comments += 1;
                    self.said.insert((id, title));
                }
                Said::Failed { reason } => self.errors.push(reason),
            }
        }
        self.acknowledged = self.tasks + self.moves + self.comments;
    }

    /// Looks for all of it on the board, which is given as its exported lines.
    pub(super) fn compare(&mut self, lines: &str, integrity: &Integrity) {
        let mut tasks: BTreeMap<i64, (String, bool)> = BTreeMap::new();
        let mut titles = BTreeSet::new();
        let mut comments = BTreeSet::new();
        for line in lines.lines() {
            let record: Value = serde_json::from_str(line).unwrap_or_default();
            let number = |name: &str| record.get(name).and_then(Value::as_i64).unwrap_or_default();
            let text = |name: &str| {
                record.get(name).and_then(Value::as_str).unwrap_or_default().to_owned()
            };
            match text("kind").as_str() {
                "task" => {
                    if !titles.insert(text("title")) {
                        self.doubled.push(format!("there are two tasks `{}`", text("title")));
                    }
                    tasks.insert(number("id"), (text("title"), text("status") == "done"));
                }
                "comment" => {
                    let id = number("task_id");
                    if !comments.insert((id, text("body"))) {
                        self.doubled.push(format!("there are two of a comment on task {id}"));
                    }
                }
                _ => {}
            }
        }
        for (id, title) in &self.created {
            match tasks.get(id) {
                Some((found, _)) if found == title => {}
                Some((found, _)) => self.lost.push(format!("task {id} is {found}, not {title}")),
                None => self.lost.push(format!("task {id}, {title}")),
            }
        }
        for id in &self.done {
            if !tasks.get(id).is_some_and(|(_, done)| *done) {
                self.lost.push(format!("that task {id} is done"));
            }
        }
        for said in self.said.difference(&comments) {
            self.lost.push(format!("a comment on task {}", said.0));
        }
        self.unsaid = tasks.keys().filter(|id| !self.created.contains_key(id)).count();
        self.damage.extend(integrity.problems.iter().cloned());
        if self.acknowledged == 0 {
            self.errors.push("nothing was acknowledged in all this time".into());
        }
    }

    pub(super) fn is_fine(&self) -> bool {
        self.troubles().iter().all(|(_, troubles)| troubles.is_empty())
    }

    fn troubles(&self) -> [(&'static str, &[String]); 4] {
        [
            ("lost", &self.lost),
            ("doubled", &self.doubled),
            ("errors", &self.errors),
            ("damage", &self.damage),
        ]
    }

    pub(super) fn print(&self, screen: &mut Screen) {
        let Self { processes, killed, seconds, .. } = self;
        screen.line(&format!(
            "{processes} processes wrote for {seconds:.1} s; {killed} were killed at random"
        ));
        let Self { acknowledged, tasks, moves, comments, unsaid, .. } = self;
        screen.line(&format!(
            "  acknowledged  {acknowledged} ({tasks} tasks, {moves} moves, {comments} comments)"
        ));
        screen.line(&format!(
            "  unsaid        {unsaid} tasks on disk whose process was killed before it could say so"
        ));
        for (name, troubles) in self.troubles() {
            let count = troubles.len().to_string();
            let style = if troubles.is_empty() { Style::Good } else { Style::Bad };
            screen.line(&format!("  {name:12}  {}", screen.styled(style, &count)));
            for trouble in troubles.iter().take(SHOWN) {
                screen.line(&format!("    {}", one_line(trouble)));
            }
        }
        let word = if self.is_fine() {
            screen.styled(Style::Good, "nothing was lost")
        } else {
            screen.styled(Style::Bad, "this disk cannot be relied on for a board")
        };
        screen.line(&word);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verdict(said: Vec<Said>, lines: &str) -> Verdict {
        let mut verdict = Verdict::new(1, 0, Duration::ZERO);
        verdict.hear(Heard { said, stuck: false });
        verdict.compare(lines, &Integrity::default());
        verdict
    }

    const TASK: &str = "{\"kind\":\"task\",\"id\":1,\"title\":\"a\",\"status\":\"done\"}\n";
    const COMMENT: &str = "{\"kind\":\"comment\",\"id\":1,\"task_id\":1,\"body\":\"a\"}\n";

    fn all() -> Vec<Said> {
        vec![
            Said::Created { id: 1, title: "a".into() },
            Said::Done { id: 1 },
            Said::Commented { id: 1, title: "a".into() },
        ]
    }

    #[test]
    fn what_is_there_is_fine() {
        let verdict = verdict(all(), &format!("{TASK}{COMMENT}"));
        assert!(verdict.is_fine(), "{verdict:?}");
        assert_eq!((verdict.acknowledged, verdict.unsaid), (3, 0));
    }

    #[test]
    fn whatever_is_missing_or_doubled_is_told() {
        assert_eq!(verdict(all(), "").lost.len(), 3);
        assert_eq!(verdict(all(), TASK).lost, ["a comment on task 1"]);
        let pending = TASK.replace("done", "pending") + COMMENT;
        assert_eq!(verdict(all(), &pending).lost, ["that task 1 is done"]);
        let twice = format!("{TASK}{}{COMMENT}", TASK.replace("\"id\":1", "\"id\":2"));
        let verdict_twice = verdict(all(), &twice);
        assert_eq!(verdict_twice.doubled, ["there are two tasks `a`"]);
        assert_eq!(verdict_twice.unsaid, 1);
        let mut again = all();
        again.push(Said::Created { id: 1, title: "b".into() });
        assert!(!verdict(again, &format!("{TASK}{COMMENT}")).is_fine());
        assert!(!verdict(Vec::new(), "").is_fine());
    }
}
