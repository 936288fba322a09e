//! Disciplines: the roles in which agents work.

use std::collections::BTreeMap;
use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Acronym;

/// The name of a discipline, by which tasks refer to it.
#[derive(
    Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(transparent)]
pub struct DisciplineName(pub(crate) String);

impl DisciplineName {
    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for DisciplineName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A server of tools that sessions of a discipline get beside this one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ToolServer {
    /// The name by which the client knows it.
    pub name: String,
    /// What is started.
    pub command: String,
    /// With which arguments.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub args: Vec<String>,
    /// In which environment.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub env: BTreeMap<String, String>,
}

/// What a discipline takes away from any recipe.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ToolOverrides {
    /// The tools that its sessions do not get.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub additional_disabled: Vec<String>,
}

/// A discipline with everything that is known of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Discipline {
    /// Its name.
    pub name: DisciplineName,
    /// Its name for people.
    pub display_name: String,
    /// Its acronym.
    pub acronym: Acronym,
    /// The name of its icon.
    pub icon: String,
    /// Its colour.
    pub color: String,
    /// What it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// How its agents are to think of themselves.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub system_prompt: Option<String>,
    /// What its agents can do.
    #[serde(default)]
    pub skills: Vec<String>,
    /// How work is done in it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub conventions: Option<String>,
    /// Servers of tools that its sessions get beside this one.
    #[serde(default)]
    pub mcp_servers: Vec<ToolServer>,
    /// What it takes away from any recipe.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mcp_tool_overrides: Option<ToolOverrides>,
}

/// A discipline in a list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct DisciplineEntry {
    /// Its name.
    pub name: DisciplineName,
    /// Its name for people.
    pub display_name: String,
    /// Its acronym.
    pub acronym: Acronym,
    /// The name of its icon.
    pub icon: String,
    /// Its colour.
    pub color: String,
}

/// A discipline to be created.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NewDiscipline {
    /// Its name: a-z, 0-9, `-` and `_`.
    pub name: String,
    /// Its name for people.
    pub display_name: String,
    /// The name of its icon.
    pub icon: String,
    /// Its colour.
    pub color: String,
    /// Its acronym; derived from the name by default.
    pub acronym: Option<String>,
    /// Everything that can also be changed later.
    pub fields: DisciplinePatch,
}

/// What is to be changed of a discipline. What is absent stays; an empty text removes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DisciplinePatch {
    /// Its name for people.
    pub display_name: Option<String>,
    /// The name of its icon.
    pub icon: Option<String>,
    /// Its colour.
    pub color: Option<String>,
    /// What it is.
    pub description: Option<String>,
    /// How its agents are to think of themselves.
    pub system_prompt: Option<String>,
    /// What its agents can do.
    pub skills: Option<Vec<String>>,
    /// How work is done in it.
    pub conventions: Option<String>,
    /// Servers of tools that its sessions get.
    pub mcp_servers: Option<Vec<ToolServer>>,
    /// What it takes away from any recipe.
    pub mcp_tool_overrides: Option<ToolOverrides>,
}
