//! The tasks of Backlog.md: a Markdown file each, with fields before the text and sections in it.

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
    // Ids that are numbers are in the order of numbers.
    gathered.tasks.sort_by_cached_key(|draft| order(&draft.task.id));
    Ok(gathered)
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
    let document = match Document::<Map<String, Value>>::parse(&text) {
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
    fn ids_are_in_the_order_of_numbers() {
        assert!(order("task-4.9") < order("task-4.10"));
        assert!(order("task-9") < order("task-10"));
    }
}
