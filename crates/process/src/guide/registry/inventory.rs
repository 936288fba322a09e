//! The inventory of a registry, in whichever shape it has.

use rutter_base::text;
use serde_json::{Map, Value};

use super::{Capability, singular};

/// The keys under which an inventory keeps its entries.
const LISTS: [&str; 4] = ["capabilities", "items", "entries", "inventory"];

/// The capabilities of an inventory, each with what a query looks through.
#[derive(Debug)]
pub(super) struct Inventory {
    pub(super) all: Vec<(Capability, String)>,
    pub(super) skipped: usize,
}

impl Inventory {
    pub(super) fn parse(bytes: &[u8]) -> Result<Self, String> {
        if bytes.iter().all(u8::is_ascii_whitespace) {
            return Err("it is empty".to_owned());
        }
        let value: Value = serde_json::from_slice(bytes)
            .map_err(|error| format!("it is not JSON (line {})", error.line()))?;
        let entries = entries(value)
            .ok_or("expected a list of capabilities, or an object with `capabilities`")?;
        let count = entries.len();
        let all: Vec<(Capability, String)> = entries
            .into_iter()
            .filter_map(|(key, value)| entry(value.as_object()?, key.as_deref()))
            .map(|capability| {
                let said = capability.said();
                (capability, said)
            })
            .collect();
        let skipped = count - all.len();
        Ok(Self { all, skipped })
    }

    pub(super) fn capabilities(&self) -> impl Iterator<Item = &Capability> {
        self.all.iter().map(|(capability, _)| capability)
    }
}

/// The entries of an inventory, each with its key where it has one.
fn entries(inventory: Value) -> Option<Vec<(Option<String>, Value)>> {
    let unnamed = |list: Vec<Value>| list.into_iter().map(|value| (None, value)).collect();
    match inventory {
        Value::Array(list) => Some(unnamed(list)),
        Value::Object(mut object) => {
            if let Some(list) = LISTS.iter().find_map(|key| object.remove(*key)) {
                return entries(list);
            }
            // A list for each type, or an object whose keys are the ids.
            if !object.is_empty() && object.values().all(Value::is_array) {
                let typed = object.into_iter().flat_map(|(kind, list)| typed(&kind, list));
                return Some(typed.map(|value| (None, value)).collect());
            }
            let keyed = object.values().all(Value::is_object);
            keyed.then(|| object.into_iter().map(|(id, value)| (Some(id), value)).collect())
        }
        _ => None,
    }
}

/// The entries of a list named after their type, which each gets unless it says another.
fn typed(kind: &str, list: Value) -> Vec<Value> {
    let Value::Array(mut list) = list else { return Vec::new() };
    for object in list.iter_mut().filter_map(Value::as_object_mut) {
        object.entry("type").or_insert_with(|| Value::String(singular(kind)));
    }
    list
}

/// A capability from its fields, if they name one.
pub(super) fn entry(fields: &Map<String, Value>, key: Option<&str>) -> Option<Capability> {
    let name = text_of(fields, "name");
    let id = text_of(fields, "id").or_else(|| key.map(str::to_owned)).or_else(|| name.clone())?;
    let tags = match fields.get("tags") {
        Some(Value::Array(tags)) => {
            tags.iter().filter_map(Value::as_str).map(text::one_line).collect()
        }
        Some(Value::String(tags)) => tags
            .split(',')
            .map(|tag| text::one_line(tag.trim()))
            .filter(|t| !t.is_empty())
            .collect(),
        _ => Vec::new(),
    };
    Some(Capability {
        name: name.unwrap_or_else(|| id.clone()),
        id,
        kind: text_of(fields, "type"),
        description: text_of(fields, "description"),
        tags,
        install_level: text_of(fields, "install_level"),
    })
}

/// A field as text on one line, if it has any.
pub(super) fn text_of(fields: &Map<String, Value>, name: &str) -> Option<String> {
    let value = fields.get(name)?.as_str()?.trim();
    (!value.is_empty())
        .then(|| text::one_line(&value.split_whitespace().collect::<Vec<_>>().join(" ")))
}
