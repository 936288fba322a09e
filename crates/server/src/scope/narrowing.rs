//! What is left of a tool: some of its arguments, and some of the values that they may have.
//!
//! The listing shows it and the call enforces it, both from the same rules.

use rmcp::model::JsonObject;
use rutter_base::failure::{Kind, Report};
use serde_json::{Value, json};

use super::Rule;
use crate::schema;

/// What is left of one tool.
#[derive(Debug)]
pub struct Narrowing<'a> {
    rules: Vec<&'a Rule>,
}

/// Why a call is outside of what is left.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outside {
    /// An argument that the caller does not have: said as of one that does not exist.
    Argument(String),
    /// A thing that the caller may not touch.
    Target(Report),
}

impl<'a> Narrowing<'a> {
    pub(super) fn of(rules: impl Iterator<Item = &'a Rule>) -> Option<Self> {
        let rules: Vec<_> = rules.collect();
        (!rules.is_empty()).then_some(Self { rules })
    }

    fn has(&self, field: &str) -> bool {
        self.rules.iter().all(|rule| match rule {
            Rule::Fields { fields, .. } => fields.contains(field),
            _ => true,
        })
    }

    fn targets(&self) -> impl Iterator<Item = (&'a str, &'static str, Option<&'a Value>)> {
        self.rules.iter().filter_map(|rule| match rule {
            Rule::Target { field, what, only, .. } => Some((field.as_str(), *what, only.as_ref())),
            _ => None,
        })
    }

    /// The input schema of what is left.
    pub fn schema(&self, whole: &JsonObject) -> JsonObject {
        let mut schema = whole.clone();
        if let Some(Value::Object(properties)) = schema.get_mut("properties") {
            properties.retain(|name, _| self.has(name));
            for (field, _, only) in self.targets() {
                // No value at all is said by the refusal: clients choke on an empty choice.
                if let (Some(Value::Object(property)), Some(only)) =
                    (properties.get_mut(field), only)
                {
                    property.insert("enum".into(), json!([only]));
                }
            }
        }
        let mut required = match schema.remove("required") {
            Some(Value::Array(required)) => required,
            _ => Vec::new(),
        };
        required.retain(|name| name.as_str().is_none_or(|name| self.has(name)));
        for (field, ..) in self.targets() {
            if !required.iter().any(|name| name == field) {
                required.push(json!(field));
            }
        }
        if !required.is_empty() {
            schema.insert("required".into(), Value::Array(required));
        }
        schema
    }

    /// Whether a call stays within what is left. `known` are all arguments of the tool.
    pub fn check(&self, arguments: &JsonObject, known: &[&str]) -> Result<(), Outside> {
        let left: Vec<&str> = known.iter().copied().filter(|name| self.has(name)).collect();
        if let Some(name) = arguments.keys().find(|name| !self.has(name)) {
            return Err(Outside::Argument(schema::unknown_argument(name, &left)));
        }
        for (field, what, only) in self.targets() {
            let Some(only) = only else {
                let report = Report::new(Kind::Refused, format!("this session has no {what}"));
                return Err(Outside::Target(
                    report.hint(format!("prepare one with `rutter session prepare --{what}`")),
                ));
            };
            match arguments.get(field) {
                None => return Err(Outside::Argument(format!("/{field}: required"))),
                Some(value) if value == only => {}
                Some(_) => {
                    let only = only.as_str().map_or_else(|| only.to_string(), str::to_owned);
                    return Err(Outside::Target(
                        Report::new(
                            Kind::Refused,
                            format!("/{field}: this session works on the {what} `{only}` alone"),
                        )
                        .hint(format!("use `{only}`, or leave the other {what} as it is")),
                    ));
                }
            }
        }
        Ok(())
    }
}
