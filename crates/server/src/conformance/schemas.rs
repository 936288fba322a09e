//! Tools whose input schema has to reach the client as it was written.

use std::sync::Arc;

use rmcp::model::{JsonObject, Tool as Definition, ToolAnnotations};
use serde_json::{Value, json};

use super::text;
use crate::module::ModuleId;
use crate::tool::{Effect, Entry};

pub(super) fn tools() -> Vec<Entry> {
    vec![
        written(
            "json_schema_2020_12_tool",
            "Tool with JSON Schema 2020-12 features",
            &json!({
                "$schema": "https://json-schema.org/draft/2020-12/schema",
                "type": "object",
                "$defs": {
                    "address": {
                        "$anchor": "addressDef",
                        "type": "object",
                        "properties": {"street": {"type": "string"}, "city": {"type": "string"}},
                    },
                },
                "properties": {
                    "name": {"type": "string"},
                    "address": {"$ref": "#/$defs/address"},
                    "contactMethod": {"type": "string", "enum": ["phone", "email"]},
                    "phone": {"type": "string"},
                    "email": {"type": "string"},
                },
                "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
                "if": {
                    "properties": {"contactMethod": {"const": "phone"}},
                    "required": ["contactMethod"],
                },
                "then": {"required": ["phone"]},
                "else": {"required": ["email"]},
                "additionalProperties": false,
            }),
        ),
        written(
            "test_header_parameter",
            "Takes an argument that a header of the request repeats",
            &json!({
                "type": "object",
                "properties": {"region": {"type": "string", "x-mcp-header": "Region"}},
                "required": ["region"],
                "additionalProperties": false,
            }),
        ),
    ]
}

/// A tool with a schema that no type of ours has. It repeats its arguments.
fn written(name: &'static str, description: &'static str, schema: &Value) -> Entry {
    let schema: Arc<JsonObject> = Arc::new(schema.as_object().cloned().unwrap_or_default());
    let define = move |_: &_| {
        Definition::new(name, description, Arc::clone(&schema))
            .with_annotations(ToolAnnotations::new().read_only(true).open_world(false))
    };
    Entry::new(name, ModuleId::Conformance, Effect::Reads, define, |_, params| {
        let given = Value::Object(params.arguments.unwrap_or_default());
        Box::pin(std::future::ready(Ok(text(given.to_string()))))
    })
}
