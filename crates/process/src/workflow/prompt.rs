//! One prompt of a workflow, as the metadata file describes it.

use std::collections::BTreeMap;

use rutter_base::text;
use serde::{Deserialize, Deserializer};
use serde_json::Value;

use super::input::Input;

/// What `prompts.meta.yaml` says of a prompt.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Prompt {
    /// Its id: also the name of its tool.
    pub id: String,
    /// Its name for people.
    #[serde(default)]
    pub title: Option<String>,
    /// The phase of the work it belongs to.
    #[serde(default)]
    pub phase: Option<Value>,
    /// What it is for.
    #[serde(default)]
    pub description: Option<String>,
    /// What should be done before.
    #[serde(default)]
    pub depends_on: Vec<String>,
    /// What can be filled in.
    #[serde(default, alias = "variables")]
    pub inputs: Vec<Input>,
    /// What is reported when it is done.
    #[serde(default, deserialize_with = "names")]
    pub outputs: Vec<String>,
    /// The artifacts that it produces.
    #[serde(default, alias = "artifacts", deserialize_with = "names")]
    pub produces: Vec<String>,
    /// The artifacts that it cannot start without.
    #[serde(default)]
    pub requires_artifacts: Vec<String>,
    /// Its file, relative to the metadata file.
    #[serde(default, alias = "path")]
    resource: Option<String>,
}

impl Prompt {
    /// The title for people.
    pub fn title(&self) -> &str {
        self.title.as_deref().unwrap_or(&self.id)
    }

    /// The file, relative to the metadata file.
    pub fn file(&self) -> String {
        self.resource.clone().unwrap_or_else(|| format!("prompts/{}.md", self.id))
    }

    /// Why the prompt cannot be used at all.
    pub(super) fn check(&self) -> Result<(), String> {
        if is_tool_name(&self.id) {
            return Ok(());
        }
        let id = text::cap(text::one_line(&self.id), 100);
        Err(format!("`{id}` cannot name a tool: use 1 to 64 letters, digits, `_` and `-`"))
    }
}

/// Whether every client accepts this as the name of a tool.
pub(super) fn is_tool_name(id: &str) -> bool {
    !id.is_empty()
        && id.len() <= 64
        && id.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-'))
}

/// Names are a list, a list of things with a name, or a map from names to anything.
fn names<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Names {
        List(Vec<Named>),
        Map(BTreeMap<String, Value>),
    }
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Named {
        Name(String),
        Described {
            #[serde(alias = "key", alias = "id")]
            name: String,
        },
    }
    Ok(match Option::<Names>::deserialize(deserializer)? {
        None => Vec::new(),
        Some(Names::Map(map)) => map.into_keys().collect(),
        Some(Names::List(list)) => {
            list.into_iter().map(|(Named::Name(name) | Named::Described { name })| name).collect()
        }
    })
}
