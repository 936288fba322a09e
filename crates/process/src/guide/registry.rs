//! The capabilities registry: an inventory in JSON, and a folder with a file for each capability.
//!
//! Registries in the field differ: the inventory is a list or an object around one, a capability's
//! folder lies directly below `capabilities/` or in a folder of its type. All of them are read.

use std::collections::BTreeMap;
use std::sync::PoisonError;

use rutter_base::failure::{Kind, Report};
use rutter_base::root::{EntryKind, ReadError, RelativePath, Root, Stamp};
use rutter_base::{text, yaml};
use serde_json::{Map, Value};

use super::{Guide, GuideError, files, relative, shown};

const INVENTORY: &str = "inventory.json";
const FOLDER: &str = "capabilities";
const DETAIL: &str = "capability.yaml";
/// The largest inventory: some ten thousand entries.
const MAX_INVENTORY: u64 = 16 * 1024 * 1024;
/// The largest file of a capability.
const MAX_DETAIL: u64 = 1024 * 1024;
/// The keys under which an inventory keeps its entries.
const LISTS: [&str; 4] = ["capabilities", "items", "entries", "inventory"];
/// The folders of types that are looked into.
const MAX_TYPES: usize = 256;
/// The most matches that are given at once.
const MAX_MATCHES: usize = 200;

/// What is looked for; all that is given must hold.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Question {
    /// Words in the name, the description or the tags.
    pub query: Option<String>,
    /// The type.
    pub kind: Option<String>,
    /// Tags, of which all must be there.
    pub tags: Vec<String>,
}

/// A capability, as the inventory tells of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Capability {
    /// What it is asked for by.
    pub id: String,
    /// Its name.
    pub name: String,
    /// What it is: a skill, a tool, an agent, a plugin.
    pub kind: Option<String>,
    /// What it does.
    pub description: Option<String>,
    /// What it is about.
    pub tags: Vec<String>,
    /// Where it is installed.
    pub install_level: Option<String>,
}

/// Capabilities that match.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Capabilities {
    /// The first of them, in the order of the inventory.
    pub matches: Vec<Capability>,
    /// How many match.
    pub total: usize,
    /// How many entries of the inventory are no capabilities.
    pub skipped: usize,
}

/// The install level in a capability's file, and the state that the file was in.
pub(super) type Levels = BTreeMap<RelativePath, (Stamp, Option<String>)>;

impl Guide {
    /// The capabilities that match.
    pub fn capabilities(&self, question: &Question) -> Result<Capabilities, GuideError> {
        let (all, skipped) = self.inventory()?;
        let mut found = Capabilities { skipped, ..Capabilities::default() };
        for capability in all.into_iter().filter(|capability| question.fits(capability)) {
            found.total += 1;
            if found.matches.len() < MAX_MATCHES {
                found.matches.push(capability);
            }
        }
        let types = self.registry.as_ref().map(types).unwrap_or_default();
        for capability in &mut found.matches {
            if capability.install_level.is_none() {
                capability.install_level = self.own_level(capability, &types);
            }
        }
        Ok(found)
    }

    /// The whole file of a capability, with what it and the inventory say of its install level.
    pub fn capability(
        &self,
        id: &str,
        kind: Option<&str>,
    ) -> Result<(Capability, String, Map<String, Value>), GuideError> {
        if !is_id(id) {
            return Err(said(Report::new(
                Kind::Invalid,
                "/capability_id: expected lower-case letters, digits and hyphens, as in `acm-env`",
            )));
        }
        let root = self.registry()?;
        let mut found = Vec::new();
        for (folder, path) in candidates(id, &types(root)) {
            let read = match root.read_text(&path, MAX_DETAIL) {
                Err(ReadError::NotFound) => continue,
                read => read.map_err(|error| unusable(path.as_str(), &files::plain(&error)))?,
            };
            let fields = fields(&read).map_err(|reason| unusable(path.as_str(), &reason))?;
            let own = text_of(&fields, "type").or_else(|| folder.map(|name| singular(&name)));
            if kind.is_none_or(|kind| own.as_deref().is_some_and(|own| same_type(own, kind))) {
                let direct = path.as_str().matches('/').count() == 2;
                found.push((own, read, fields));
                if direct {
                    break;
                }
            }
        }
        if found.len() > 1 {
            let types: Vec<&str> = found.iter().filter_map(|(own, ..)| own.as_deref()).collect();
            let message = format!("`{id}` is the id of {} capabilities", found.len());
            return Err(said(
                Report::new(Kind::Refused, message)
                    .hint(format!("say which with `type`: {}", text::listed(types))),
            ));
        }
        let Some((own, read, fields)) = found.pop() else { return Err(self.no_such(id, kind)) };
        let listed = self.inventory().ok().and_then(|(all, _)| {
            let fits =
                |one: &Capability| one.id == id && own.as_deref().is_none_or(|own| one.is_a(own));
            all.into_iter().find(fits)
        });
        let mut capability = entry(&fields, Some(id)).unwrap_or_else(|| Capability {
            id: id.to_owned(),
            name: id.to_owned(),
            kind: None,
            description: None,
            tags: Vec::new(),
            install_level: None,
        });
        capability.kind = own;
        if let Some(level) = listed.and_then(|listed| listed.install_level) {
            capability.install_level = Some(level);
        }
        Ok((capability, read, fields))
    }

    fn no_such(&self, id: &str, kind: Option<&str>) -> GuideError {
        let of = kind.map_or_else(String::new, |kind| format!(" of the type `{}`", shown(kind)));
        let report = Report::new(Kind::NotFound, format!("there is no capability `{id}`{of}"));
        let all = self.inventory().map(|(all, _)| all).unwrap_or_default();
        if all.iter().any(|one| one.id == id && kind.is_none_or(|kind| one.is_a(kind))) {
            return said(Report::new(
                Kind::NotFound,
                format!("capability `{id}` is in the inventory, but has no `{DETAIL}` below `{FOLDER}/`"),
            )
            .hint("query_capabilities shows what the inventory says of it"));
        }
        let report = match text::closest(
            id,
            all.iter().map(|one| one.id.as_str()).filter(|known| *known != id),
        ) {
            Some(meant) => report.hint(format!("did you mean `{meant}`?")),
            None => report,
        };
        said(report.hint("query_capabilities shows what there is"))
    }

    fn registry(&self) -> Result<&Root, GuideError> {
        self.registry.as_ref().ok_or_else(|| {
            said(
                Report::new(Kind::NotFound, "there is no capabilities registry here")
                    .hint("the operator names one with ACM_REGISTRY_ROOT or `process.registry`"),
            )
        })
    }

    /// All capabilities, and the number of entries that are none.
    fn inventory(&self) -> Result<(Vec<Capability>, usize), GuideError> {
        let root = self.registry()?;
        let broken = |reason: &str| unusable(INVENTORY, reason);
        let path = relative(INVENTORY).ok_or_else(|| broken("there is no such file"))?;
        let contents =
            root.read(&path, MAX_INVENTORY).map_err(|error| broken(&files::plain(&error)))?;
        if contents.bytes.iter().all(u8::is_ascii_whitespace) {
            return Err(broken("it is empty"));
        }
        let value: Value = serde_json::from_slice(&contents.bytes)
            .map_err(|error| broken(&format!("it is not JSON (line {})", error.line())))?;
        let entries = entries(value).ok_or_else(|| {
            broken("expected a list of capabilities, or an object with `capabilities`")
        })?;
        let count = entries.len();
        let all: Vec<Capability> = entries
            .into_iter()
            .filter_map(|(key, value)| entry(value.as_object()?, key.as_deref()))
            .collect();
        let skipped = count - all.len();
        Ok((all, skipped))
    }

    /// What a capability's own file says of its install level; kept while the file is as it was.
    fn own_level(&self, capability: &Capability, types: &[String]) -> Option<String> {
        let root = self.registry.as_ref()?;
        if !is_id(&capability.id) {
            return None;
        }
        let fits = |(folder, path): (Option<String>, RelativePath)| {
            let fits = folder.is_none_or(|folder| capability.is_a(&folder));
            fits.then(|| root.stamp(&path).ok().map(|stamp| (path, stamp))).flatten()
        };
        let (path, stamp) = candidates(&capability.id, types).into_iter().find_map(fits)?;
        let mut levels = self.levels.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, level)) = levels.get(&path).filter(|(known, _)| *known == stamp) {
            return level.clone();
        }
        let contents = root.read(&path, MAX_DETAIL).ok()?;
        let stamp = contents.stamp;
        let fields = contents.into_text().ok().and_then(|text| fields(&text).ok());
        let level = fields.and_then(|fields| text_of(&fields, "install_level"));
        levels.insert(path, (stamp, level.clone()));
        level
    }
}

impl Capability {
    fn is_a(&self, kind: &str) -> bool {
        self.kind.as_deref().is_none_or(|own| same_type(own, kind))
    }
}

impl Question {
    fn fits(&self, capability: &Capability) -> bool {
        let kind = self
            .kind
            .as_deref()
            .is_none_or(|kind| capability.kind.as_deref().is_some_and(|own| same_type(own, kind)));
        let tagged =
            |tag: &String| capability.tags.iter().any(|own| own.eq_ignore_ascii_case(tag.trim()));
        kind && self.tags.iter().all(tagged) && self.says(capability)
    }

    /// Whether every word of the query is somewhere in the name, the description or the tags.
    fn says(&self, capability: &Capability) -> bool {
        let Some(query) = &self.query else { return true };
        let description = capability.description.as_deref().unwrap_or_default();
        let tags = capability.tags.join("\n");
        let all = [&capability.id, &capability.name, description, &tags].join("\n").to_lowercase();
        query.to_lowercase().split_whitespace().all(|word| all.contains(word))
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

fn entry(fields: &Map<String, Value>, key: Option<&str>) -> Option<Capability> {
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

fn text_of(fields: &Map<String, Value>, name: &str) -> Option<String> {
    let value = fields.get(name)?.as_str()?.trim();
    (!value.is_empty())
        .then(|| text::one_line(&value.split_whitespace().collect::<Vec<_>>().join(" ")))
}

fn fields(text: &str) -> Result<Map<String, Value>, String> {
    if text.trim().is_empty() {
        return Err("it is empty".to_owned());
    }
    yaml::parse(text).map_err(|error| {
        let line = error.line.map_or_else(String::new, |line| format!(" (line {line})"));
        format!("it is not YAML with keys and values{line}: {}", text::cap(error.message, 200))
    })
}

/// Where the file of a capability may be, with the folder of its type.
fn candidates(id: &str, types: &[String]) -> Vec<(Option<String>, RelativePath)> {
    let direct = (None, format!("{FOLDER}/{id}/{DETAIL}"));
    let deeper =
        types.iter().map(|kind| (Some(kind.clone()), format!("{FOLDER}/{kind}/{id}/{DETAIL}")));
    let all = std::iter::once(direct).chain(deeper);
    all.filter_map(|(kind, path)| Some((kind, relative(&path)?))).collect()
}

/// The folders directly below `capabilities/`.
fn types(root: &Root) -> Vec<String> {
    let listed = relative(FOLDER).map(|folder| root.list(&folder)).unwrap_or_default();
    // In a registry without folders of types these are the capabilities themselves.
    let folders = listed.into_iter().filter(|entry| entry.kind == EntryKind::Folder);
    folders.map(|entry| entry.name).take(MAX_TYPES).collect()
}

fn is_id(id: &str) -> bool {
    id.len() <= 100
        && id.starts_with(|c: char| c.is_ascii_lowercase() || c.is_ascii_digit())
        && id.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-')
}

fn same_type(one: &str, other: &str) -> bool {
    singular(one).eq_ignore_ascii_case(&singular(other.trim()))
}

fn singular(kind: &str) -> String {
    kind.strip_suffix('s').unwrap_or(kind).to_owned()
}

fn said(report: Report) -> GuideError {
    GuideError::Said(report)
}

fn unusable(file: &str, reason: &str) -> GuideError {
    let message = format!("`{file}` of the capabilities registry cannot be used: {reason}");
    said(Report::new(Kind::Refused, message).hint(
        "mend the file, or name another registry with ACM_REGISTRY_ROOT or `process.registry`",
    ))
}
