//! Whether a project may go from one stage to the next.

use rutter_base::failure::{Kind, Report};

use super::checklist::{Check, Checklist, Outcome};
use super::manifest::{Document, IssueRule, Manifest, Prerequisite};
use super::project::{Content, Place};
use super::table::{self, same};
use super::{Guide, GuideError, Project};

/// The document that says where a project is.
const STATUS: &str = "status";
/// Where the status says it in prose.
const STATE: &str = "Current State";
/// The section with a document's issues.
const ISSUE_LOG: &str = "Issue Log";
/// The columns of an issue log that say how grave an issue is.
const LEVEL_COLUMNS: [&str; 4] = ["severity", "priority", "impact", "level"];
/// What an issue that is no longer open says.
const CLOSED: [&str; 11] = [
    "resolved",
    "closed",
    "done",
    "fixed",
    "complete",
    "completed",
    "deferred",
    "accepted",
    "wontfix",
    "won't",
    "rejected",
];

impl Guide {
    /// Checks the prerequisites of a transition against a project.
    pub fn check_readiness(&self, name: &str, project: &Project) -> Result<Checklist, GuideError> {
        let manifest = self.manifest();
        let step = self.step(&manifest, name)?;
        let mut papers = Papers::new(&manifest, project);
        let checks = step.prerequisites.iter().map(|one| papers.check(one));
        let checks = checks.collect::<Result<Vec<_>, _>>()?;
        Ok(Checklist {
            title: format!("Transition Validation ({} → {})", step.from, step.to),
            project: project.name().to_owned(),
            failed: "Not met",
            checks,
            notes: papers.notes,
        })
    }
}

/// The documents that the prerequisites look into, each read once.
struct Papers<'a> {
    manifest: &'a Manifest,
    project: &'a Project,
    read: Vec<(&'a str, Paper)>,
    notes: Vec<String>,
}

#[derive(Clone)]
struct Paper {
    path: String,
    content: std::rc::Rc<Content>,
}

impl<'a> Papers<'a> {
    fn new(manifest: &'a Manifest, project: &'a Project) -> Self {
        Self { manifest, project, read: Vec::new(), notes: Vec::new() }
    }

    /// A document, or an error that says where it was looked for: without it nothing can be said.
    fn get(&mut self, id: &str) -> Result<Paper, GuideError> {
        if let Some((_, paper)) = self.read.iter().find(|(known, _)| *known == id) {
            return Ok(paper.clone());
        }
        let Some(document) = self.manifest.document(id) else {
            let known = self.manifest.documents.iter().map(|one| one.id.clone()).collect();
            return Err(GuideError::Unknown { what: "document", name: id.to_owned(), known });
        };
        let place = self.project.locate(document).ok_or_else(|| not_found(document))?;
        if let Some(note) = place.note() {
            self.notes.push(note);
        }
        let content =
            self.project.read(&place.path).map_err(|reason| unusable(&place.path, &reason))?;
        let paper = Paper { path: place.path, content: content.into() };
        self.read.push((&document.id, paper.clone()));
        Ok(paper)
    }

    fn check(&mut self, prerequisite: &Prerequisite) -> Result<Check, GuideError> {
        // The status is needed for every transition, whatever its prerequisites.
        let status = self.get(STATUS)?;
        let paper = match prerequisite.document().map(|id| (id, self.get(id))) {
            None => status,
            Some((id, Err(_))) if !self.is_required(id) => return Ok(self.absent(id, prerequisite)),
            Some((_, paper)) => paper?,
        };
        let content = &paper.content;
        let outcome = match prerequisite {
            Prerequisite::Stage(wanted) => {
                compare(content.state("stage"), |found| found.eq_ignore_ascii_case(wanted))
            }
            Prerequisite::Phase(wanted) => phase(content, wanted),
            Prerequisite::Document(rule) => {
                compare(content.field("status"), |found| is_status(found, &rule.status))
            }
            Prerequisite::Issues(rule) => issues(content, rule),
        };
        let item = item(prerequisite, &paper.path);
        Ok(Check { group: None, file: paper.path, item, outcome })
    }

    /// Whether every project must have a document: without it there is nothing to validate.
    fn is_required(&self, id: &str) -> bool {
        self.manifest.document(id).is_some_and(|document| document.health.is_some())
    }

    /// A document that only this transition needs, and that is not there yet.
    fn absent(&self, id: &str, prerequisite: &Prerequisite) -> Check {
        let path = self.manifest.document(id).and_then(|document| document.paths.first());
        let path = path.map_or(id, String::as_str);
        Check {
            group: None,
            file: path.to_owned(),
            item: item(prerequisite, path),
            outcome: Outcome::Failed("missing, or not a text file".to_owned()),
        }
    }
}

/// What is checked, in words.
fn item(prerequisite: &Prerequisite, path: &str) -> String {
    match prerequisite {
        Prerequisite::Stage(wanted) => format!("the stage is {wanted}"),
        Prerequisite::Phase(wanted) => format!("the phase is {wanted}"),
        Prerequisite::Document(rule) => format!("{path} has the status {}", rule.status),
        Prerequisite::Issues(rule) => {
            format!("no open {} entry in the issue log of {path}", rule.none_open.join(" or "))
        }
    }
}

fn compare(found: Option<String>, fits: impl Fn(&str) -> bool) -> Outcome {
    match found {
        Some(found) if fits(&found) => Outcome::Passed(Some(format!("found `{found}`"))),
        Some(found) => Outcome::Failed(format!("found `{found}`")),
        None => Outcome::Failed("found nothing; say it in the frontmatter".to_owned()),
    }
}

/// `complete` is also met by `completed`.
fn is_status(found: &str, wanted: &str) -> bool {
    found.eq_ignore_ascii_case(wanted) || found.eq_ignore_ascii_case(&format!("{wanted}d"))
}

/// A phase has come as far as wanted when the status of the whole says so, or the phase itself.
fn phase(content: &Content, wanted: &str) -> Outcome {
    let (phase, status) = (content.state("phase"), content.state("status"));
    let found: Vec<String> = [("phase", &phase), ("status", &status)]
        .into_iter()
        .filter_map(|(name, value)| Some(format!("{name} `{}`", value.as_ref()?)))
        .collect();
    if found.is_empty() {
        return Outcome::Failed("found neither a phase nor a status".to_owned());
    }
    let found = format!("found {}", found.join(" and "));
    let far = status.is_some_and(|status| is_status(&status, wanted))
        || phase.is_some_and(|phase| says(&phase, wanted));
    if far { Outcome::Passed(Some(found)) } else { Outcome::Failed(found) }
}

/// Whether a phrase like `Finalization (complete)` says a word, and does not take it back.
fn says(phrase: &str, wanted: &str) -> bool {
    const TAKEN_BACK: [&str; 8] =
        ["not", "nearly", "almost", "partly", "partially", "until", "to", "when"];
    let words: Vec<String> = phrase
        .split(|c: char| !c.is_alphanumeric() && c != '%')
        .map(str::to_lowercase)
        .filter(|word| !word.is_empty())
        .collect();
    let partly = words.iter().any(|word| word.ends_with('%') && word != "100%");
    let said = words.iter().any(|word| is_status(word, wanted));
    said && !partly && !words.iter().any(|word| TAKEN_BACK.contains(&word.as_str()))
}

fn issues(content: &Content, rule: &IssueRule) -> Outcome {
    let Some(log) = content.section(ISSUE_LOG) else {
        return Outcome::Passed(Some("there is no issue log".to_owned()));
    };
    let mut entries = 0;
    let mut open: Vec<String> = Vec::new();
    for table in table::tables(log) {
        let levels: Vec<usize> =
            LEVEL_COLUMNS.iter().filter_map(|name| table.column(&[name])).collect();
        let status = table.column(&["status", "state"]);
        for row in &table.rows {
            entries += 1;
            let cell = |at: usize| row.get(at).map(String::as_str).unwrap_or_default();
            let grave = levels.iter().any(|at| is_grave(cell(*at), &rule.none_open));
            // Without a status nobody has said that it is closed.
            if grave && !status.is_some_and(|at| is_closed(cell(at))) {
                open.push(table::bare(cell(0)).to_owned());
            }
        }
    }
    for line in log.lines().filter_map(|line| line.trim_start().strip_prefix(['-', '*'])) {
        let line = line.trim();
        let ticked = line.starts_with("[x]") || line.starts_with("[X]");
        let words = line.trim_start_matches(['[', ']', 'x', 'X', ' ', '*']);
        if is_grave(words.split([':', ' ', '*']).next().unwrap_or_default(), &rule.none_open) {
            entries += 1;
            if !ticked && !line.split_whitespace().any(is_closed) {
                open.push(rutter_base::text::cap(words.to_owned(), 60));
            }
        }
    }
    if entries == 0 {
        return Outcome::Passed(Some("the issue log has no entries".to_owned()));
    }
    if open.is_empty() {
        return Outcome::Passed(Some(format!("none of {entries} entries")));
    }
    let shown: Vec<&str> = open.iter().take(5).map(String::as_str).collect();
    let more = if open.len() > shown.len() { ", …" } else { "" };
    Outcome::Failed(format!("{} open: {}{more}", open.len(), shown.join(", ")))
}

fn is_grave(cell: &str, levels: &[String]) -> bool {
    levels.iter().any(|level| same(cell, level))
}

fn is_closed(cell: &str) -> bool {
    let first = cell.split_whitespace().next().unwrap_or_default();
    let first = first.trim_matches(|c: char| !c.is_alphanumeric() && c != '\'');
    CLOSED.iter().any(|word| first.eq_ignore_ascii_case(word))
}

impl Content {
    /// What a status says of the project: in its frontmatter, else under its current state.
    fn state(&self, name: &str) -> Option<String> {
        self.field(name).or_else(|| self.bullet(STATE, name))
    }
}

impl Place {
    /// What to say when the document was one of several.
    pub(super) fn note(&self) -> Option<String> {
        let Self { path, candidates } = self;
        (*candidates > 1).then(|| {
            format!("{candidates} files could be meant; `{path}` is the first in order of name")
        })
    }
}

fn not_found(document: &Document) -> GuideError {
    let places = rutter_base::text::listed(document.paths.iter().map(String::as_str));
    let what = &document.id;
    GuideError::Said(
        Report::new(Kind::NotFound, format!("the project has no {what}: looked for {places}"))
            .hint("write one (get_artifact_stub gives a start), or pass another project_path"),
    )
}

fn unusable(path: &str, reason: &str) -> GuideError {
    GuideError::Said(
        Report::new(Kind::Refused, format!("`{path}` of the project cannot be used: {reason}"))
            .hint("put a text file in its place"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_phase_is_complete_when_it_says_so_and_does_not_take_it_back() {
        for phrase in [
            "Complete",
            "complete",
            "Finalization (completed)",
            "Review — COMPLETE",
            "100% complete",
        ] {
            assert!(says(phrase, "complete"), "{phrase}");
        }
        for phrase in [
            "Exploration",
            "incomplete",
            "not complete",
            "80% complete",
            "nearly complete",
            "to be completed",
        ] {
            assert!(!says(phrase, "complete"), "{phrase}");
        }
    }

    #[track_caller]
    fn check_issues(log: &str, expected: Result<&str, &str>) {
        let content = Content { frontmatter: Ok([].into()), body: log.to_owned() };
        let rule =
            IssueRule { document: "brief".into(), none_open: vec!["P1".into(), "Critical".into()] };
        let outcome = issues(&content, &rule);
        let expected = match expected {
            Ok(found) => Outcome::Passed(Some(found.to_owned())),
            Err(reason) => Outcome::Failed(reason.to_owned()),
        };
        assert_eq!(outcome, expected, "{log}");
    }

    #[test]
    fn open_issues_are_found_in_the_logs_of_the_field() {
        check_issues("# Brief\n", Ok("there is no issue log"));
        let severity = "## Issue Log\n\n| # | Issue | Source | Severity | Complexity | Status | Resolution |\n|---|---|---|---|---|---|---|\n";
        check_issues(
            &format!(
                "{severity}| 1 | Critical path | R | High | Low | Open | - |\n| 2 | x | R | Critical | Low | Resolved | y |\n"
            ),
            Ok("none of 2 entries"),
        );
        check_issues(
            &format!(
                "{severity}| 7 | x | R | **critical** | Low | Open | - |\n| 8 | x | R | Critical | Low | | - |\n"
            ),
            Err("2 open: 7, 8"),
        );
        let priority = "### Issue Log\n| # | Issue | Source | Impact | Priority | Status | Resolution |\n|---|---|---|---|---|---|---|\n";
        check_issues(
            &format!("{priority}| - | - | - | - | - | - | - |\n"),
            Ok("none of 1 entries"),
        );
        check_issues(
            &format!("{priority}| 1 | a | b | High | P1 | In progress | |\n"),
            Err("1 open: 1"),
        );
        check_issues(
            "## Issue Log\n- [ ] P1: mend it\n- [x] P1: done\n- P2: later\n",
            Err("1 open: P1: mend it"),
        );
    }
}
