//! The capabilities registry: an inventory in JSON, and a folder with a file for each capability.
//!
//! Registries in the field differ: the inventory is a list or an object around one, a capability's
//! folder lies directly below `capabilities/` or in a folder of its type. All of them are read.

mod inventory;

use std::cell::LazyCell;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use rutter_base::failure::{Kind, Report};
use rutter_base::root::{EntryKind, ReadError, RelativePath, Root, Stamp};
use rutter_base::{text, yaml};
use serde_json::{Map, Value};

use super::{Guide, GuideError, files, relative, shown};
use inventory::{Inventory, entry, text_of};

const INVENTORY: &str = "inventory.json";
const FOLDER: &str = "capabilities";
const DETAIL: &str = "capability.yaml";
/// The largest inventory: some ten thousand entries.
const MAX_INVENTORY: u64 = 16 * 1024 * 1024;
/// The largest file of a capability.
const MAX_DETAIL: u64 = 1024 * 1024;
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

/// What was read of a registry, with the states that its files were in.
#[derive(Debug, Default)]
pub(super) struct Kept {
    inventory: Mutex<Option<(Stamp, Arc<Inventory>)>>,
    levels: Mutex<BTreeMap<RelativePath, (Stamp, Option<String>)>>,
}

impl Guide {
    /// The capabilities that match.
    pub fn capabilities(&self, question: &Question) -> Result<Capabilities, GuideError> {
        let inventory = self.inventory()?;
        let mut found = Capabilities { skipped: inventory.skipped, ..Capabilities::default() };
        let terms = question.terms();
        for (capability, said) in &inventory.all {
            if question.fits(capability) && terms.iter().all(|term| said.contains(term)) {
                found.total += 1;
                if found.matches.len() < MAX_MATCHES {
                    found.matches.push(capability.clone());
                }
            }
        }
        let types = LazyCell::new(|| self.registry.as_ref().map(types).unwrap_or_default());
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
        let mut look = |folder: Option<&str>| -> Result<bool, GuideError> {
            let Some(path) = place(id, folder) else { return Ok(false) };
            let read = match root.read_text(&path, MAX_DETAIL) {
                Err(ReadError::NotFound) => return Ok(false),
                read => read.map_err(|error| unusable(path.as_str(), &files::plain(&error)))?,
            };
            let fields = fields(&read).map_err(|reason| unusable(path.as_str(), &reason))?;
            let own = text_of(&fields, "type").or_else(|| folder.map(singular));
            let fits =
                kind.is_none_or(|kind| own.as_deref().is_some_and(|own| same_type(own, kind)));
            if fits {
                found.push((own, read, fields));
            }
            Ok(fits)
        };
        if !look(None)? {
            for folder in types(root) {
                look(Some(&folder))?;
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
        let inventory = self.inventory().ok();
        let level = inventory.as_ref().and_then(|inventory| {
            let fits =
                |one: &&Capability| one.id == id && own.as_deref().is_none_or(|own| one.is_a(own));
            inventory.capabilities().find(fits)?.install_level.clone()
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
        capability.install_level = level.or(capability.install_level);
        Ok((capability, read, fields))
    }

    fn no_such(&self, id: &str, kind: Option<&str>) -> GuideError {
        let of = kind.map_or_else(String::new, |kind| format!(" of the type `{}`", shown(kind)));
        let report = Report::new(Kind::NotFound, format!("there is no capability `{id}`{of}"));
        let inventory = self.inventory().ok();
        let all = || inventory.iter().flat_map(|inventory| inventory.capabilities());
        if all().any(|one| one.id == id && kind.is_none_or(|kind| one.is_a(kind))) {
            return said(Report::new(
                Kind::NotFound,
                format!("capability `{id}` is in the inventory, but has no `{DETAIL}` below `{FOLDER}/`"),
            )
            .hint("query_capabilities shows what the inventory says of it"));
        }
        let report = match text::closest(
            id,
            all().map(|one| one.id.as_str()).filter(|known| *known != id),
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

    /// All capabilities; kept while the file is as it was.
    fn inventory(&self) -> Result<Arc<Inventory>, GuideError> {
        let root = self.registry()?;
        let broken = |reason: &str| unusable(INVENTORY, reason);
        let path = relative(INVENTORY).ok_or_else(|| broken("there is no such file"))?;
        let mut kept = self.kept.inventory.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((stamp, inventory)) = kept.as_ref()
            && root.stamp(&path).is_ok_and(|now| now == *stamp)
        {
            return Ok(Arc::clone(inventory));
        }
        let contents =
            root.read(&path, MAX_INVENTORY).map_err(|error| broken(&files::plain(&error)))?;
        let inventory = Arc::new(Inventory::parse(&contents.bytes).map_err(|why| broken(&why))?);
        *kept = Some((contents.stamp, Arc::clone(&inventory)));
        Ok(inventory)
    }

    /// What a capability's own file says of its install level; kept while the file is as it was.
    fn own_level<F: FnOnce() -> Vec<String>>(
        &self,
        capability: &Capability,
        types: &LazyCell<Vec<String>, F>,
    ) -> Option<String> {
        let root = self.registry.as_ref()?;
        if !is_id(&capability.id) {
            return None;
        }
        let stamped = |folder: Option<&str>| {
            let path = place(&capability.id, folder)?;
            Some((root.stamp(&path).ok()?, path))
        };
        let deeper = || {
            let folders = types.iter().filter(|folder| capability.is_a(folder));
            folders.into_iter().find_map(|folder| stamped(Some(folder)))
        };
        let (stamp, path) = stamped(None).or_else(deeper)?;
        let mut levels = self.kept.levels.lock().unwrap_or_else(PoisonError::into_inner);
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
    /// What a query looks through, in lower case.
    fn said(&self) -> String {
        let description = self.description.as_deref().unwrap_or_default();
        [&self.id, &self.name, description, &self.tags.join("\n")].join("\n").to_lowercase()
    }

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
        kind && self.tags.iter().all(tagged)
    }

    /// The words of the query, each of which must be said somewhere.
    fn terms(&self) -> Vec<String> {
        let query = self.query.as_deref().unwrap_or_default().to_lowercase();
        query.split_whitespace().map(str::to_owned).collect()
    }
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

/// Where the file of a capability may be: directly below, or in the folder of a type.
fn place(id: &str, folder: Option<&str>) -> Option<RelativePath> {
    match folder {
        None => relative(&format!("{FOLDER}/{id}/{DETAIL}")),
        Some(folder) => relative(&format!("{FOLDER}/{folder}/{id}/{DETAIL}")),
    }
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
