//! The tasks of Backlog.md: a Markdown file each, with fields before the text and sections in it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use rutter_base::document::{Document, DocumentError};
use rutter_base::root::{RelativePath, Root};
use rutter_board::Status;
use serde_json::{Map, Value};

use super::foreign::{Draft, Gathered, items, plain, shown};

/// The largest task.
const MAX_FILE: u64 = 4 * 1024 * 1024;
/// The folders that hold tasks; what is in `archive` was thrown away there.
const FOLDERS: [&str; 3] = ["tasks", "drafts", "completed"];
/// The folder's other usual name.
const HIDDEN: &str = ".backlog";

pub(super) fn read(folder: &Path) -> Result<Gathered, String> {
    let hidden = folder.with_file_name(HIDDEN);
    let folder = if folder.is_dir() || !hidden.is_dir() { folder } else { &hidden };
    let root = Root::open(folder).map_err(|_| "there is no such folder".to_owned())?;
    let walk = root.walk(&["md"]);
    let mut gathered = Gathered::default();
    for problem in &walk.problems {
        gathered.notes.push(format!("passed over: {problem}"));
    }
    let mut archived = 0;
    for found in &walk.files {
        let (first, _) = found.path.as_str().split_once('/').unwrap_or_default();
        if first == "archive" {
            archived += 1;
        } else if FOLDERS.contains(&first) {
            read_file(&root, &found.path, first, &mut gathered)?;
        }
    }
    if gathered.tasks.is_empty() {
        return Err("it has no tasks in `tasks`, `drafts` or `completed`".into());
    }
    if archived > 0 {
        gathered.notes.push(format!("{archived} files in `archive` are left out"));
    }
    name_by_number(&mut gathered);
    // Ids that are numbers are in the order of numbers.
    gathered.tasks.sort_by_cached_key(|draft| order(&draft.task.id));
    Ok(gathered)
}

/// The prefix of ids can be changed there, and `4.01` is `4.1`: an id that is not known, but whose
/// numbers one task alone has, means that task.
fn name_by_number(gathered: &mut Gathered) {
    let mut known: BTreeMap<Vec<u64>, Vec<String>> = BTreeMap::new();
    for draft in &gathered.tasks {
        known.entry(order(&draft.task.id).1).or_default().push(draft.task.id.clone());
    }
    let ids: BTreeSet<String> = known.values().flatten().cloned().collect();
    let mut meant = BTreeMap::new();
    for draft in &mut gathered.tasks {
        for id in draft.task.depends_on.iter_mut().chain(&mut draft.whole) {
            let same = known.get(&order(id).1).map(Vec::as_slice);
            if let Some([only]) = same.filter(|_| !ids.contains(id)) {
                meant.insert(std::mem::replace(id, only.clone()), only.clone());
            }
        }
    }
    if let Some((id, only)) = meant.first_key_value() {
        let (id, only, more) = (shown(id), shown(only), meant.len() - 1);
        gathered
            .notes
            .push(format!("`{id}` is read as `{only}`, and {more} others in the same way"));
    }
}

/// `task-4.10` after `task-4.9`.
fn order(id: &str) -> (String, Vec<u64>) {
    let prefix: String = id.chars().take_while(|c| !c.is_ascii_digit()).collect();
    let numbers = id.split(|c: char| !c.is_ascii_digit()).filter_map(|part| part.parse().ok());
    (prefix, numbers.collect())
}

fn read_file(
    root: &Root,
    path: &RelativePath,
    folder: &str,
    gathered: &mut Gathered,
) -> Result<(), String> {
    let name = shown(path.as_str());
    let text = root.read_text(path, MAX_FILE).map_err(|error| format!("{name}: {error}"))?;
    let parse = |text: &str| Document::<Map<String, Value>>::parse(text);
    let parsed = match parse(&text) {
        // The program itself reads names that YAML would have in quotes.
        Err(error @ DocumentError::Yaml(_)) => parse(&with_quotes(&text)).map_err(|_| error),
        parsed => parsed,
    };
    let document = match parsed {
        Ok(document) => document,
        Err(DocumentError::NoFrontmatter) => {
            gathered.notes.push(format!("`{name}` is no task: it has no fields"));
            return Ok(());
        }
        Err(error) => {
            let line = error.line().map_or_else(String::new, |line| format!(":{line}"));
            return Err(format!("{name}{line}: {error}"));
        }
    };
    let mut fields = document.frontmatter;
    let id = fields.remove("id").as_ref().and_then(plain);
    let id = id.ok_or_else(|| format!("{name} has no `id`"))?;
    let title = fields.remove("title").as_ref().and_then(plain);
    let title = title.ok_or_else(|| format!("{name} has no `title`"))?;
    // Dependencies name ids in any case.
    let mut draft = Draft::new(id.to_lowercase(), title, fields);
    draft.status("status");
    if folder == "drafts" {
        draft.task.status = Status::Draft;
    }
    draft.priority("priority");
    draft.task.tags = draft.list("labels");
    if let Some(kind) = draft.text("type")
        && !draft.task.tags.contains(&kind)
    {
        draft.task.tags.push(kind);
    }
    draft.task.depends_on =
        draft.list("dependencies").into_iter().map(|id| id.to_lowercase()).collect();
    draft.whole = draft.text("parent_task_id").map(|id| id.to_lowercase());
    // The parts name their whole as well.
    draft.fields.remove("subtasks");
    draft.feature = draft.text("milestone");
    draft.task.created = draft.time("created_date");
    draft.task.completed = draft.time("completed_date");
    for (title, text) in sections(&document.body) {
        place(&mut draft, &title, &text);
    }
    gathered.tasks.push(draft);
    Ok(())
}

/// The text with quotes around the names in its fields that begin with `@`.
fn with_quotes(text: &str) -> String {
    let quoted = |name: &str| format!("\"{}\"", name.replace('\\', "\\\\").replace('"', "\\\""));
    let mut ends = 0;
    let line = |line: &str| {
        ends += usize::from(line.trim_end() == "---");
        let value = line.find(": ").map(|at| at + 2);
        let value = value.or_else(|| {
            line.trim_start().starts_with("- ").then(|| line.find("- ").unwrap_or(0) + 2)
        });
        let Some((before, value)) =
            value.and_then(|at| line.split_at_checked(at)).filter(|_| ends == 1)
        else {
            return line.to_owned();
        };
        let value = value.trim();
        if value.starts_with('@') {
            return format!("{before}{}", quoted(value));
        }
        match value.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            Some(names) if names.contains('@') => {
                let names = names
                    .split(',')
                    .map(str::trim)
                    .map(|name| if name.starts_with('@') { quoted(name) } else { name.to_owned() });
                format!("{before}[{}]", names.collect::<Vec<_>>().join(", "))
            }
            _ => line.to_owned(),
        }
    };
    text.lines().map(line).collect::<Vec<_>>().join("\n")
}

/// Puts a section where it belongs.
fn place(draft: &mut Draft, title: &str, text: &str) {
    let text = text.trim();
    if text.is_empty() {
        return;
    }
    match title.trim_end_matches("(Optional)").trim().to_lowercase().as_str() {
        "" | "description" => match &mut draft.task.description {
            Some(description) => {
                description.push_str("\n\n");
                description.push_str(text);
            }
            none => *none = Some(text.to_owned()),
        },
        "acceptance criteria" => {
            let mut met = Vec::new();
            for (criterion, done) in items(text) {
                draft.task.acceptance_criteria.push(without_number(&criterion).to_owned());
                if done {
                    met.push(draft.task.acceptance_criteria.len().to_string());
                }
            }
            if !met.is_empty() {
                draft.keep("criteria that are met", met.join(", "));
            }
        }
        "implementation plan" => draft.task.pseudocode = Some(text.to_owned()),
        _ => draft.remark(title, text, None),
    }
}

/// `#3 It works` without the number.
fn without_number(criterion: &str) -> &str {
    let rest = criterion
        .strip_prefix('#')
        .map(|rest| rest.trim_start_matches(|c: char| c.is_ascii_digit()));
    rest.filter(|rest| rest.starts_with(' ')).map_or(criterion, str::trim_start)
}

/// The sections below headings of the second level. Between a pair of the program's own marks, and
/// within code, a heading is text.
fn sections(body: &str) -> Vec<(String, String)> {
    let mut sections = vec![(String::new(), String::new())];
    let (mut marked, mut fenced) = (None, false);
    for line in body.lines() {
        let bare = line.trim();
        if let Some(mark) = bare.strip_prefix("<!-- ").and_then(|rest| rest.strip_suffix(" -->")) {
            if marked.is_none()
                && let Some(name) = mark.strip_suffix(":BEGIN")
            {
                marked = Some(name.to_owned());
                continue;
            }
            if marked.is_some() && mark.strip_suffix(":END") == marked.as_deref() {
                marked = None;
                continue;
            }
        }
        if bare.starts_with("```") || bare.starts_with("~~~") {
            fenced = !fenced;
        }
        let title = line.strip_prefix("## ").filter(|_| marked.is_none() && !fenced);
        match (title, sections.last_mut()) {
            (Some(title), _) => sections.push((title.trim().to_owned(), String::new())),
            (None, Some((_, text))) => {
                text.push_str(line);
                text.push('\n');
            }
            (None, None) => {}
        }
    }
    sections
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sections_end_where_the_next_begins() {
        let body = "first\n## Description\n<!-- SECTION:DESCRIPTION:BEGIN -->\na\n## not a section\n\
            <!-- SECTION:DESCRIPTION:END -->\n## Acceptance Criteria\n<!-- AC:BEGIN -->\n- [x] #1 b\n<!-- AC:END -->\n\
            ## Notes\n```\n## code\n```\n";
        let found = sections(body);
        let titles: Vec<&str> = found.iter().map(|(title, _)| title.as_str()).collect();
        assert_eq!(titles, ["", "Description", "Acceptance Criteria", "Notes"]);
        assert_eq!(found[1].1, "a\n## not a section\n");
        assert_eq!(found[2].1, "- [x] #1 b\n");
        assert_eq!(without_number("#12 works"), "works");
        assert_eq!(without_number("#hash works"), "#hash works");
    }

    #[test]
    fn names_without_quotes_are_read_as_the_program_reads_them() {
        let text = "---\nassignee: @a\nreporter: [@b, 'c']\nlist:\n  - @d\n---\nmail: @e\n";
        let quoted =
            "---\nassignee: \"@a\"\nreporter: [\"@b\", 'c']\nlist:\n  - \"@d\"\n---\nmail: @e";
        assert_eq!(with_quotes(text), quoted);
    }

    #[test]
    fn ids_are_in_the_order_of_numbers() {
        assert!(order("task-4.9") < order("task-4.10"));
        assert!(order("task-9") < order("task-10"));
    }
}
