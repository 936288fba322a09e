//! What a prompt asks for: typed inputs, checked with the path and the reason.

use rutter_base::failure::{Failure, Kind, Report};
use rutter_base::text;
use serde::Deserialize;
use serde_json::{Map, Value, json};

/// A declared input.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct Input {
    /// Its name in the prompt.
    pub name: String,
    /// What values it takes.
    #[serde(default, rename = "type")]
    pub kind: Type,
    /// What to fill in.
    #[serde(default)]
    pub description: Option<String>,
    /// Whether the prompt makes no sense without it.
    #[serde(default)]
    pub required: bool,
    /// What is used when it is absent.
    #[serde(default)]
    pub default: Option<Value>,
    /// The only values that it takes.
    #[serde(default, rename = "enum")]
    pub choices: Vec<Value>,
}

/// The type of an input.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Type {
    /// Text.
    #[default]
    String,
    /// A number.
    Number,
    /// A whole number.
    Integer,
    /// True or false.
    Boolean,
}

impl Type {
    /// Its name in JSON Schema.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::String => "string",
            Self::Number => "number",
            Self::Integer => "integer",
            Self::Boolean => "boolean",
        }
    }

    fn admits(self, value: &Value) -> bool {
        match self {
            Self::String => value.is_string(),
            Self::Number => value.is_number(),
            Self::Integer => value.is_i64() || value.is_u64(),
            Self::Boolean => value.is_boolean(),
        }
    }
}

/// An input that does not fit.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("/{name}: {reason}")]
pub struct InputError {
    /// The input.
    pub name: String,
    /// Why it does not fit.
    pub reason: String,
}

impl Failure for InputError {
    fn report(&self) -> Report {
        Report::new(Kind::Invalid, self.to_string())
    }
}

impl Input {
    /// The JSON Schema of this input.
    pub fn schema(&self) -> Value {
        let mut schema = Map::new();
        schema.insert("type".into(), json!(self.kind.as_str()));
        if let Some(description) = &self.description {
            schema.insert("description".into(), json!(description));
        }
        if !self.choices.is_empty() {
            schema.insert("enum".into(), json!(self.choices));
        }
        if let Some(default) = &self.default {
            schema.insert("default".into(), default.clone());
        }
        Value::Object(schema)
    }

    /// The text to put into the prompt: the value, the default, or nothing.
    fn text(&self, value: Option<&Value>) -> Result<String, InputError> {
        let fail = |reason: String| InputError { name: self.name.clone(), reason };
        let value = match value.filter(|value| !value.is_null()) {
            None if self.required => return Err(fail("required".into())),
            None => return Ok(self.default.as_ref().map(plain).unwrap_or_default()),
            Some(value) => value,
        };
        if !self.kind.admits(value) {
            return Err(fail(format!("expected {}", self.kind.as_str())));
        }
        if !self.choices.is_empty() && !self.choices.contains(value) {
            let choices: Vec<String> = self.choices.iter().map(plain).collect();
            return Err(fail(format!("expected one of {}", choices.join(", "))));
        }
        Ok(plain(value))
    }
}

/// Checks `values` against the declared inputs: the text for each, by name.
pub(super) fn texts(
    inputs: &[Input],
    values: &Map<String, Value>,
) -> Result<Vec<(String, String)>, InputError> {
    if let Some(name) = values.keys().find(|name| !inputs.iter().any(|input| input.name == **name))
    {
        let known = text::listed(inputs.iter().map(|input| input.name.as_str()));
        let reason = if known.is_empty() {
            "unknown argument; there are none".into()
        } else {
            format!("unknown argument; expected {known}")
        };
        return Err(InputError { name: text::one_line(name), reason });
    }
    inputs
        .iter()
        .map(|input| Ok((input.name.clone(), input.text(values.get(&input.name))?)))
        .collect()
}

fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}
