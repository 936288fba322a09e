//! JSON Schemas for tool definitions, and what is wrong with arguments in words.
//!
//! Every byte of a definition is paid for by every agent in every session, so a schema carries
//! what a caller needs and nothing that a generator added for its own sake.

use std::sync::Arc;

use rmcp::model::JsonObject;
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde::de::DeserializeOwned;
use serde_json::Value;
use serde_path_to_error::Segment;

/// The schema of a type, trimmed.
pub fn of<T: JsonSchema>() -> JsonObject {
    let mut settings = SchemaSettings::draft2020_12();
    settings.inline_subschemas = true;
    settings.meta_schema = None;
    let schema = settings.into_generator().into_root_schema_for::<T>();
    let mut value = schema.to_value();
    trim(&mut value);
    match value {
        Value::Object(mut object) => {
            // The description of an input type says what the tool's own description says.
            object.remove("description");
            object.entry("properties").or_insert_with(|| Value::Object(JsonObject::new()));
            object
        }
        _ => JsonObject::new(),
    }
}

/// Removes titles, number formats, and `null` as a value of what may simply be absent.
fn trim(value: &mut Value) {
    match value {
        Value::Object(object) => {
            // A property may itself be called `title` or `format`: those are objects.
            for noise in ["title", "format"] {
                if object.get(noise).is_some_and(Value::is_string) {
                    object.remove(noise);
                }
            }
            if object.get("default").is_some_and(Value::is_null) {
                object.remove("default");
            }
            if let Some(Value::Array(types)) = object.get_mut("type") {
                types.retain(|name| name != "null");
                if let [only] = types.as_slice() {
                    let only = only.clone();
                    object.insert("type".into(), only);
                }
            }
            if let Some(Value::Array(choices)) = object.get_mut("enum") {
                choices.retain(|choice| !choice.is_null());
            }
            if let Some(Value::Array(options)) = object.get_mut("anyOf") {
                options.retain(|option| option.get("type").is_none_or(|name| name != "null"));
                if let [Value::Object(only)] = options.as_mut_slice() {
                    let only = std::mem::take(only);
                    object.remove("anyOf");
                    for (key, value) in only {
                        object.entry(key).or_insert(value);
                    }
                }
            }
            object.values_mut().for_each(trim);
        }
        Value::Array(items) => items.iter_mut().for_each(trim),
        _ => {}
    }
}

/// An object schema from named properties.
pub fn object(properties: JsonObject, required: Vec<Value>) -> Arc<JsonObject> {
    let mut schema = JsonObject::new();
    schema.insert("type".into(), "object".into());
    schema.insert("properties".into(), Value::Object(properties));
    if !required.is_empty() {
        schema.insert("required".into(), Value::Array(required));
    }
    schema.insert("additionalProperties".into(), false.into());
    Arc::new(schema)
}

/// Reads arguments, or says where and why they do not fit: `/depends_on/0: expected integer`.
pub fn arguments<T: DeserializeOwned>(arguments: JsonObject) -> Result<T, String> {
    let arguments = Value::Object(arguments);
    // Keeping track of the place costs; it is needed only when something does not fit.
    if let Ok(arguments) = T::deserialize(&arguments) {
        return Ok(arguments);
    }
    serde_path_to_error::deserialize(arguments).map_err(|error| {
        let steps = error.path().iter().filter_map(|segment| match segment {
            Segment::Seq { index } => Some(format!("/{index}")),
            Segment::Map { key } => Some(format!("/{}", escape(key))),
            Segment::Enum { .. } | Segment::Unknown => None,
        });
        let pointer: String = steps.collect();
        explain(&pointer, &error.inner().to_string())
    })
}

/// What is said of an argument that is not there, as the parser would say it.
pub fn unknown_argument(name: &str, known: &[&str]) -> String {
    let hint = match known {
        [] => String::new(),
        [one, other] => format!("; expected `{one}` or `{other}`"),
        all => format!("; expected {}", rutter_base::text::listed(all.iter().copied())),
    };
    format!("/{}: unknown argument{hint}", escape(name))
}

/// A key as a part of a JSON Pointer (RFC 6901), safe to print.
fn escape(key: &str) -> String {
    rutter_base::text::one_line(&key.replace('~', "~0").replace('/', "~1"))
}

/// The parser's words as a caller's.
fn explain(pointer: &str, message: &str) -> String {
    let quoted = |text: &str| text.split('`').nth(1).map(str::to_owned);
    let parent =
        |name: &str| pointer.strip_suffix(&format!("/{name}")).unwrap_or(pointer).to_owned();
    if message.starts_with("missing field") {
        return format!("{pointer}/{}: required", quoted(message).unwrap_or_default());
    }
    if message.starts_with("unknown field") {
        let name = escape(&quoted(message).unwrap_or_default());
        let expected = message.split_once(", expected ").map(|(_, rest)| rest);
        let hint = expected.map_or_else(String::new, |names| {
            format!("; expected {}", names.strip_prefix("one of ").unwrap_or(names))
        });
        return format!("{}/{name}: unknown argument{hint}", parent(&name));
    }
    let at = if pointer.is_empty() { "/" } else { pointer };
    match message.rsplit_once("expected ") {
        Some((_, expected)) => format!("{at}: expected {}", type_name(expected)),
        None => format!("{at}: {}", rutter_base::text::one_line(message)),
    }
}

/// The parser's name of a type as JSON Schema's.
fn type_name(expected: &str) -> String {
    let name = match expected.trim_start_matches("a ").trim_start_matches("an ") {
        "string" | "str" => "string",
        "boolean" | "bool" => "boolean",
        "f32" | "f64" => "number",
        "sequence" => "array",
        "map" => "object",
        name if name.starts_with("struct ") => "object",
        name if name.starts_with(['i', 'u'])
            && name.trim_start_matches(['i', 'u']).parse::<u8>().is_ok() =>
        {
            "integer"
        }
        "usize" | "isize" => "integer",
        _ => return expected.replace('`', ""),
    };
    name.to_owned()
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;
    use serde_json::json;

    use super::*;

    #[derive(Debug, Deserialize, JsonSchema)]
    #[serde(deny_unknown_fields)]
    #[expect(dead_code, reason = "only the shape matters")]
    struct Arguments {
        /// The id.
        id: u64,
        #[serde(default)]
        depends_on: Vec<i64>,
        #[serde(default)]
        note: Option<String>,
        #[serde(default)]
        level: Option<Level>,
    }

    #[derive(Debug, Deserialize, JsonSchema)]
    #[serde(rename_all = "snake_case")]
    enum Level {
        Low,
        High,
    }

    #[test]
    fn a_schema_carries_what_a_caller_needs() {
        insta::assert_json_snapshot!(of::<Arguments>(), @r#"
        {
          "type": "object",
          "additionalProperties": false,
          "properties": {
            "id": {
              "type": "integer",
              "description": "The id.",
              "minimum": 0
            },
            "depends_on": {
              "type": "array",
              "items": {
                "type": "integer"
              },
              "default": []
            },
            "note": {
              "type": "string"
            },
            "level": {
              "type": "string",
              "enum": [
                "low",
                "high"
              ]
            }
          },
          "required": [
            "id"
          ]
        }
        "#);
    }

    #[track_caller]
    fn check(value: &Value, expected: &str) {
        let error = arguments::<Arguments>(value.as_object().unwrap().clone()).unwrap_err();
        assert_eq!(error, expected);
    }

    #[test]
    fn what_does_not_fit_is_named_with_path_and_reason() {
        let all = ["id", "depends_on", "note", "level"];
        check(&json!({"id": 1, "x": 2}), &unknown_argument("x", &all));
        check(&json!({}), "/id: required");
        check(&json!({"id": "x"}), "/id: expected integer");
        check(&json!({"id": -1}), "/id: expected integer");
        check(&json!({"id": 1, "depends_on": ["a"]}), "/depends_on/0: expected integer");
        check(&json!({"id": 1, "depends_on": 2}), "/depends_on: expected array");
        check(&json!({"id": 1, "note": 2}), "/note: expected string");
        check(&json!({"id": 1, "level": "mid"}), "/level: expected low or high");
        check(
            &json!({"id": 1, "nope\u{1b}": 2}),
            "/nope\u{FFFD}: unknown argument; expected `id`, `depends_on`, `note`, `level`",
        );
    }

    #[test]
    fn null_is_as_good_as_absent() {
        assert!(
            arguments::<Arguments>(json!({"id": 1, "note": null}).as_object().unwrap().clone())
                .is_ok()
        );
    }
}
