//! What was checked, item by item: one shape for structure, health and prerequisites.

use std::collections::BTreeSet;
use std::fmt::Write;

use rutter_base::text;

/// Items that passed or failed, in groups.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checklist {
    /// What was checked: `Project Structure Check`.
    pub title: String,
    /// The project, as its caller names it.
    pub project: String,
    /// What to call those that failed: `Missing`.
    pub failed: &'static str,
    /// The items; consecutive ones of one group stand together.
    pub checks: Vec<Check>,
    /// What else a reader should know.
    pub notes: Vec<String>,
}

/// One item.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Check {
    /// The group that it stands in, where there are several.
    pub group: Option<&'static str>,
    /// The file that it is about.
    pub file: String,
    /// What was checked.
    pub item: String,
    /// How it ended.
    pub outcome: Outcome,
}

/// How a check ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// It holds; with what was found, where that is news.
    Passed(Option<String>),
    /// It does not hold, and why.
    Failed(String),
}

impl Check {
    /// Whether it holds.
    pub fn passed(&self) -> bool {
        matches!(self.outcome, Outcome::Passed(_))
    }

    /// What was found, or what is wrong.
    pub fn detail(&self) -> Option<&str> {
        match &self.outcome {
            Outcome::Passed(found) => found.as_deref(),
            Outcome::Failed(reason) => Some(reason),
        }
    }
}

impl Checklist {
    /// How many items hold.
    pub fn passed(&self) -> usize {
        self.checks.iter().filter(|check| check.passed()).count()
    }

    /// Whether every item holds.
    pub fn is_fine(&self) -> bool {
        self.passed() == self.checks.len()
    }

    /// Those that do not hold.
    pub fn failures(&self) -> impl Iterator<Item = &Check> {
        self.checks.iter().filter(|check| !check.passed())
    }

    /// Those that do not hold; once for a file that is not there, however many look into it.
    pub fn faults(&self) -> Vec<&Check> {
        let mut said = BTreeSet::new();
        self.failures().filter(|check| said.insert((&check.file, check.detail()))).collect()
    }

    /// The whole as text: a line for each item, then the result.
    pub fn to_text(&self) -> String {
        let mut text = format!("{}: {}\n", self.title, text::one_line(&self.project));
        let mut group = None;
        for check in &self.checks {
            if check.group != group
                && let Some(name) = check.group
            {
                let _ = writeln!(text, "\n{name}");
            }
            group = check.group;
            let mark = if check.passed() { '✓' } else { '✗' };
            let _ = write!(text, "{mark} {}", text::one_line(&check.item));
            if let Some(detail) = check.detail() {
                let _ = write!(text, " — {}", text::one_line(detail));
            }
            text.push('\n');
        }
        for note in &self.notes {
            let _ = write!(text, "\nNote: {}\n", text::one_line(note));
        }
        let _ = write!(text, "\nResult: {}/{} passed.", self.passed(), self.checks.len());
        let faults = self.faults();
        let failed: Vec<String> = faults.iter().map(|check| text::one_line(&check.item)).collect();
        if !failed.is_empty() {
            let _ = write!(text, " {}: {}", self.failed, failed.join(", "));
        }
        text
    }
}
