//! The tasks of task-master-ai: `tasks.json`, with lists by tag, or one list in older files.

use rutter_base::text::one_line;
use serde_json::{Map, Value};

use super::foreign::{Draft, Gathered, items, plain, shown};

/// The list of a file that has only one, and of most files with several.
const MAIN: &str = "master";

pub(super) fn read(text: &str) -> Result<Gathered, String> {
    let file: Value =
        serde_json::from_str(text).map_err(|error| format!("line {} is not JSON", error.line()))?;
    let Value::Object(file) = file else { return Err("it is not an object".into()) };
    let mut gathered = Gathered::default();
    if file.contains_key("tasks") {
        read_list(MAIN, file, &mut gathered)?;
        return Ok(gathered);
    }
    let mut lists = 0;
    for (tag, list) in file {
        match list {
            Value::Object(list) if list.contains_key("tasks") => {
                lists += 1;
                read_list(&tag, list, &mut gathered)?;
            }
            _ => gathered.notes.push(format!("`{}` is no list of tasks: left out", shown(&tag))),
        }
    }
    if lists == 0 { Err("it has no list of tasks".into()) } else { Ok(gathered) }
}

fn read_list(
    tag: &str,
    mut list: Map<String, Value>,
    gathered: &mut Gathered,
) -> Result<(), String> {
    let Some(Value::Array(tasks)) = list.remove("tasks") else {
        return Err(format!("`tasks` of `{}` is not a list", shown(tag)));
    };
    for (name, value) in list {
        gathered.notes.push(format!(
            "`{}` of the list `{}` has no place here: {}",
            shown(&name),
            shown(tag),
            one_line(&value.to_string())
        ));
    }
    for (place, task) in tasks.into_iter().enumerate() {
        let at = format!("task {} of `{}`", place + 1, shown(tag));
        read_task(tag, None, task, &at, gathered)?;
    }
    Ok(())
}

/// Reads a task and, after it, its parts.
fn read_task(
    tag: &str,
    whole: Option<&str>,
    task: Value,
    at: &str,
    gathered: &mut Gathered,
) -> Result<(), String> {
    let Value::Object(mut fields) = task else { return Err(format!("{at} is not an object")) };
    let number = fields.remove("id").as_ref().and_then(plain);
    let number = number.ok_or_else(|| format!("{at} has no `id`"))?;
    let Some(Value::String(title)) = fields.remove("title") else {
        return Err(format!("{at} has no `title`"));
    };
    // A part may be numbered alone, or with its whole: `2` or `7.2`.
    let number = match whole {
        Some(whole) if !number.contains('.') => format!("{whole}.{number}"),
        _ => number,
    };
    let parts = match fields.remove("subtasks") {
        Some(Value::Array(parts)) => parts,
        None | Some(Value::Null) => Vec::new(),
        Some(_) => return Err(format!("`subtasks` of {at} is not a list")),
    };
    // What only repeats where the part stands.
    if whole.is_some() {
        for name in ["parentTaskId", "parentId", "parentTask", "isSubtask"] {
            fields.remove(name);
        }
    }
    let named = |number: &str| format!("{tag}/{number}");
    let mut draft = Draft::new(named(&number), title, fields);
    draft.feature = Some(tag.to_owned());
    draft.whole = whole.map(named);
    draft.status("status");
    draft.priority("priority");
    let needed = draft.list("dependencies").into_iter().map(|needed| match whole {
        // Among parts, a number alone is a part of the same whole.
        Some(whole) if !needed.contains('.') => named(&format!("{whole}.{needed}")),
        _ => named(&needed),
    });
    draft.task.depends_on = needed.collect();
    draft.task.description = draft.text("description");
    draft.task.pseudocode = draft.text("details");
    if let Some(criteria) = draft.text("acceptanceCriteria") {
        draft.task.acceptance_criteria =
            items(&criteria).into_iter().map(|(text, _)| text).collect();
    }
    if let Some(test) = draft.text("testStrategy") {
        // A criterion has its limit; a comment has room.
        if test.chars().count() <= 1_900 {
            draft.task.acceptance_criteria.push(format!("Test: {}", test.trim()));
        } else {
            draft.remark("test strategy", &test, None);
        }
    }
    gathered.tasks.push(draft);
    for (place, part) in parts.into_iter().enumerate() {
        let at = format!("part {} of {at}", place + 1);
        read_task(tag, Some(&number), part, &at, gathered)?;
    }
    Ok(())
}
