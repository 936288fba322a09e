//! The issues of beads: one object a line.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::foreign::{Draft, Gathered, items, shown};

/// Relations that keep an issue from being begun.
const BLOCKING: [&str; 3] = ["blocks", "conditional-blocks", "waits-for"];

pub(super) fn read(text: &str) -> Result<Gathered, String> {
    let mut gathered = Gathered::default();
    let mut deleted = 0;
    for (index, line) in text.lines().enumerate() {
        if line.trim().is_empty() {
            continue;
        }
        let number = index + 1;
        let Ok(Value::Object(fields)) = serde_json::from_str(line) else {
            return Err(format!("line {number} is not an issue"));
        };
        if fields.get("status").is_some_and(|status| status == "tombstone") {
            deleted += 1;
            continue;
        }
        gathered.tasks.push(read_issue(fields, number)?);
    }
    if gathered.tasks.is_empty() && deleted == 0 {
        return Err("it has no issues".into());
    }
    if deleted > 0 {
        gathered.notes.push(format!("{deleted} issues were deleted in beads: left out"));
    }
    Ok(gathered)
}

fn read_issue(mut fields: Map<String, Value>, line: usize) -> Result<Draft, String> {
    let Some(Value::String(id)) = fields.remove("id") else {
        return Err(format!("line {line} has no `id`"));
    };
    let Some(Value::String(title)) = fields.remove("title") else {
        return Err(format!("line {line} has no `title`"));
    };
    let priority = fields.remove("priority");
    let relations = fields.remove("dependencies");
    let said = fields.remove("comments");
    let mut draft = Draft::new(id, title, fields);
    draft.status("status");
    if let Some(priority) = priority {
        let levels = BTreeMap::from([(0, "critical"), (1, "high"), (2, "medium"), (3, "low")]);
        let level = priority.as_i64();
        let word = level.and_then(|level| levels.get(&level)).copied();
        draft.fields.insert("priority".into(), word.unwrap_or("low").into());
        draft.priority("priority");
        if word.is_none() {
            draft.keep("priority", format!("{priority} (it is low here)"));
        }
    }
    draft.task.description = draft.text("description");
    draft.task.pseudocode = draft.text("design");
    if let Some(criteria) = draft.text("acceptance_criteria") {
        let mut met = Vec::new();
        for (text, done) in items(&criteria) {
            draft.task.acceptance_criteria.push(text);
            if done {
                met.push(draft.task.acceptance_criteria.len().to_string());
            }
        }
        if !met.is_empty() {
            draft.keep("criteria that are met", met.join(", "));
        }
    }
    draft.task.tags = draft.list("labels");
    if let Some(kind) = draft.text("issue_type").filter(|kind| kind != "task")
        && !draft.task.tags.contains(&kind)
    {
        draft.task.tags.push(kind);
    }
    draft.task.created = draft.time("created_at");
    draft.task.completed = draft.time("closed_at");
    if let Some(notes) = draft.text("notes") {
        draft.remark("notes", &notes, None);
    }
    relate(&mut draft, relations, line)?;
    comment(&mut draft, said, line)?;
    Ok(draft)
}

fn relate(draft: &mut Draft, relations: Option<Value>, line: usize) -> Result<(), String> {
    let relations = match relations {
        None | Some(Value::Null) => return Ok(()),
        Some(Value::Array(relations)) => relations,
        Some(_) => return Err(format!("`dependencies` of line {line} is not a list")),
    };
    for relation in relations {
        let of = |name: &str| relation.get(name).and_then(Value::as_str).unwrap_or_default();
        let (to, kind) = (of("depends_on_id").to_owned(), of("type").to_owned());
        if to.is_empty() {
            return Err(format!("a dependency of line {line} names no issue"));
        }
        if kind.is_empty() || BLOCKING.contains(&kind.as_str()) {
            if !kind.is_empty() && kind != "blocks" {
                draft.keep("relation", format!("{} {}", shown(&kind), shown(&to)));
            }
            draft.task.depends_on.push(to);
        } else if kind == "parent-child" && draft.whole.is_none() {
            draft.whole = Some(to);
        } else {
            draft.keep("relation", format!("{} {}", shown(&kind), shown(&to)));
        }
    }
    Ok(())
}

fn comment(draft: &mut Draft, said: Option<Value>, line: usize) -> Result<(), String> {
    let said = match said {
        None | Some(Value::Null) => return Ok(()),
        Some(Value::Array(said)) => said,
        Some(_) => return Err(format!("`comments` of line {line} is not a list")),
    };
    for comment in said {
        let of = |name: &str| comment.get(name).and_then(Value::as_str).unwrap_or_default();
        let created = super::foreign::moment(of("created_at"));
        draft.remark(of("author"), of("text"), created.as_deref());
    }
    Ok(())
}
