//! Adding a server to a file that a person keeps, without losing or moving anything in it.
//!
//! Each function gives the new text, the same text when the server is already there, and `None`
//! when it cannot be added without guessing.

use jsonc_parser::ParseOptions;
use jsonc_parser::cst::{CstInputValue, CstRootNode};
use serde_json::{Value, json};
use toml_edit::DocumentMut;

use super::clients::SERVER;

/// What editors write: JSON, with comments and commas at the end.
const JSON: ParseOptions = ParseOptions {
    allow_comments: true,
    allow_trailing_commas: true,
    allow_loose_object_property_names: false,
    allow_missing_commas: false,
    allow_single_quoted_strings: false,
    allow_hexadecimal_numbers: false,
    allow_unary_plus_numbers: false,
    allow_bare_decimal_point_numbers: false,
    allow_non_finite_numbers: false,
    allow_extended_string_escapes: false,
};

/// Adds the server below `key` in JSON.
pub(super) fn json(text: Option<&str>, key: &str, entry: &Value) -> Option<String> {
    let Some(text) = text.filter(|text| !text.trim().is_empty()) else {
        return Some(format!("{:#}\n", json!({key: {SERVER: entry}})));
    };
    let (mark, plain) = without_mark(text);
    let root = CstRootNode::parse(plain, &JSON).ok()?;
    let servers = root.object_value()?.object_value_or_create(key)?;
    if servers.get(SERVER).is_some() {
        return Some(text.to_owned());
    }
    servers.append(SERVER, input(entry));
    Some(format!("{mark}{root}"))
}

fn input(value: &Value) -> CstInputValue {
    match value {
        Value::Null => CstInputValue::Null,
        Value::Bool(value) => CstInputValue::Bool(*value),
        Value::Number(value) => CstInputValue::Number(value.to_string()),
        Value::String(value) => CstInputValue::String(value.clone()),
        Value::Array(values) => CstInputValue::Array(values.iter().map(input).collect()),
        Value::Object(fields) => CstInputValue::Object(
            fields.iter().map(|(name, value)| (name.clone(), input(value))).collect(),
        ),
    }
}

/// Adds the server below `key` in TOML, as a table at the end.
pub(super) fn toml(text: Option<&str>, key: &str, entry: &Value) -> Option<String> {
    let text = text.unwrap_or_default();
    let (_, plain) = without_mark(text);
    let has_server = |text: &str| {
        let document: DocumentMut = text.parse().ok()?;
        let Some(servers) = document.get(key) else { return Some(false) };
        Some(servers.as_table_like()?.contains_key(SERVER))
    };
    if has_server(plain)? {
        return Some(text.to_owned());
    }
    let end = line_end(text);
    let gap = match text {
        "" => "",
        _ if text.ends_with('\n') => end,
        _ => &[end, end].concat(),
    };
    let fields = toml_fields(entry).map(|field| format!("{field}{end}")).collect::<Vec<_>>();
    let table = format!("[{key}.{SERVER}]{end}{}", fields.concat());
    let edited = format!("{text}{gap}{table}");
    // Where the servers are one value (`mcp_servers = {…}`), a table cannot be added to them.
    has_server(without_mark(&edited).1).filter(|&there| there).map(|_| edited)
}

/// The same on one line, for a person to paste.
pub(super) fn toml_inline(entry: &Value) -> String {
    format!("{{ {} }}", toml_fields(entry).collect::<Vec<_>>().join(", "))
}

/// JSON's strings and lists are TOML's as well.
fn toml_fields(entry: &Value) -> impl Iterator<Item = String> {
    entry.as_object().into_iter().flatten().map(|(name, value)| format!("{name} = {value}"))
}

/// How the lines of a text end.
pub(super) fn line_end(text: &str) -> &'static str {
    if text.contains("\r\n") { "\r\n" } else { "\n" }
}

/// A byte order mark, and the text after it.
fn without_mark(text: &str) -> (&str, &str) {
    match text.strip_prefix('\u{FEFF}') {
        Some(plain) => ("\u{FEFF}", plain),
        None => ("", text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry() -> Value {
        json!({"command": "rutter", "args": ["serve"]})
    }

    #[track_caller]
    fn check_json(before: &str, after: Option<&str>) {
        let edited = json(Some(before), "servers", &entry());
        assert_eq!(edited.as_deref(), after);
        // Twice is once.
        if let Some(edited) = edited {
            assert_eq!(json(Some(&edited), "servers", &entry()), Some(edited));
        }
    }

    #[test]
    fn comments_order_and_line_ends_stay_in_json() {
        check_json(
            "{\r\n\t// mine\r\n\t\"z\": 1,\r\n\t\"servers\": {\r\n\t\t\"a\": {\"x\": [1,2]}, // why\r\n\t},\r\n}\r\n",
            Some(
                "{\r\n\t// mine\r\n\t\"z\": 1,\r\n\t\"servers\": {\r\n\t\t\"a\": {\"x\": [1,2]}, // why\r\n\
                 \t\t\"rutter\": {\r\n\t\t\t\"command\": \"rutter\",\r\n\t\t\t\"args\": [\"serve\"],\r\n\t\t},\r\n\t},\r\n}\r\n",
            ),
        );
        check_json(
            "\u{FEFF}{}",
            Some(
                "\u{FEFF}{\n  \"servers\": {\n    \"rutter\": {\n      \"command\": \"rutter\",\n      \"args\": [\"serve\"]\n    }\n  }\n}",
            ),
        );
        let own = "{\"servers\": {\"rutter\": {\"command\": \"mine\"}}}";
        check_json(own, Some(own));
    }

    #[test]
    fn what_is_not_json_is_refused() {
        for text in [
            "{",
            "// mine\n",
            "[]",
            "{\"servers\": []}",
            "{servers: {}}",
            "{'servers': {}}",
            "{\"a\": 1 \"b\": 2}",
            &"[".repeat(100_000),
        ] {
            check_json(text, None);
        }
    }

    #[track_caller]
    fn check_toml(before: &str, after: Option<&str>) {
        let edited = toml(Some(before), "mcp_servers", &entry());
        assert_eq!(edited.as_deref(), after);
        if let Some(edited) = edited {
            assert_eq!(toml(Some(&edited), "mcp_servers", &entry()), Some(edited));
        }
    }

    #[test]
    fn every_byte_stays_in_toml() {
        let table = "[mcp_servers.rutter]\ncommand = \"rutter\"\nargs = [\"serve\"]\n";
        for before in [
            "[a]\nb=1 # keep\n\n\n# the end\n",
            "[mcp_servers.other]\ncommand = 'x'\n",
            "mcp_servers.x.command = 'q'\n",
        ] {
            check_toml(before, Some(&format!("{before}\n{table}")));
        }
        check_toml("", Some(table));
        check_toml("a = 1", Some(&format!("a = 1\n\n{table}")));
        check_toml("a = 1\r\n", Some(&format!("a = 1\r\n\r\n{}", table.replace('\n', "\r\n"))));
        let own = "mcp_servers.rutter.command = 'mine'\n";
        check_toml(own, Some(own));
        for text in ["a =", "[[mcp_servers]]\n", "mcp_servers = {}\n", "mcp_servers = 1\n"] {
            check_toml(text, None);
        }
    }

    #[test]
    fn a_path_with_odd_characters_is_quoted() {
        let entry = json!({"command": "/a b/\"c\"\\d/rutter", "args": ["serve"]});
        let text = toml(None, "mcp_servers", &entry).unwrap();
        let document: DocumentMut = text.parse().unwrap();
        assert_eq!(
            document["mcp_servers"]["rutter"]["command"].as_str(),
            entry["command"].as_str()
        );
        assert_eq!(
            toml_inline(&entry),
            r#"{ command = "/a b/\"c\"\\d/rutter", args = ["serve"] }"#
        );
    }
}
