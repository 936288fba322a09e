//! The references in `docs/` are made from the product, so they cannot go stale.
//!
//! `RUTTER_UPDATE_DOCS=1 cargo test -p rutter references` writes them.

use std::fmt::Write;
use std::process::Command;

use rutter_server::config::Config;
use rutter_server::schema;
use rutter_server::settings::Variable;
use serde_json::{Value, json};

use crate::server::Folder;

#[track_caller]
fn hold(file: &str, made: &str) {
    let path = format!("{}/../../docs/{file}", env!("CARGO_MANIFEST_DIR"));
    if std::env::var_os("RUTTER_UPDATE_DOCS").is_some() {
        std::fs::write(&path, made).unwrap();
    }
    let kept = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        kept == made,
        "docs/{file} is stale: run RUTTER_UPDATE_DOCS=1 cargo test -p rutter references"
    );
}

fn cell(text: &str) -> String {
    text.replace('|', "\\|").replace('\n', " ")
}

#[tokio::test]
async fn tools() {
    let mut client = Folder::with(&[(".ralph/.keep", "")]).connect().await;
    let list = client.result("tools/list", json!({})).await;
    let mut made = String::from(
        "# Tools\n\nMade from the tool definitions themselves. A workflow of your own adds a tool for each of its\n\
         prompts; those below with many phases in their names come with the default workflow.\n",
    );
    for tool in list["tools"].as_array().unwrap() {
        let name = tool["name"].as_str().unwrap();
        let kind = if tool["annotations"]["readOnlyHint"] == true { "reads" } else { "writes" };
        write!(
            made,
            "\n## `{name}`\n\n{} ({kind}).\n",
            tool["description"].as_str().unwrap().trim_end_matches('.')
        )
        .unwrap();
        let properties = tool["inputSchema"]["properties"].as_object().unwrap();
        if properties.is_empty() {
            continue;
        }
        made.push_str("\n| argument | type | required | what it is |\n|---|---|---|---|\n");
        for (argument, schema) in properties {
            let required = tool["inputSchema"]["required"]
                .as_array()
                .is_some_and(|list| list.contains(&json!(argument)));
            let choices = schema["enum"]
                .as_array()
                .map(|list| list.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(", "));
            let kind =
                choices.unwrap_or_else(|| schema["type"].as_str().unwrap_or("any").to_owned());
            let required = if required { "yes" } else { "no" };
            let description = cell(schema["description"].as_str().unwrap_or_default());
            writeln!(made, "| `{argument}` | {kind} | {required} | {description} |").unwrap();
        }
    }
    hold("tools.md", &made);
}

#[test]
fn configuration_schema() {
    let mut schema = schema::of::<Config>();
    schema.insert("$schema".into(), json!("https://json-schema.org/draft/2020-12/schema"));
    schema.insert("title".into(), json!("rutter.yaml"));
    let made = serde_json::to_string_pretty(&schema).unwrap() + "\n";
    hold("rutter.schema.json", &made);
}

#[test]
fn settings() {
    let mut made = String::from(
        "# Settings\n\nA flag wins over the environment, the environment over `.env` in the working directory, `.env` over\n\
         the configuration file, and the file over the default.\n\n## Configuration file\n\n\
         `rutter.yaml` or `mcp-metadata.yaml` in the working directory, or the file named with `--config`. Paths are\n\
         relative to the file. Unknown keys are errors. A JSON Schema for editors is in `rutter.schema.json`.\n\n\
         | key | type | what it is |\n|---|---|---|\n",
    );
    rows("", &Value::Object(schema::of::<Config>()), &mut made);
    made.push_str("\n## Environment\n\n| variable | also | what it sets |\n|---|---|---|\n");
    for Variable { name, alias, doc } in Variable::ALL {
        let alias = alias.map_or_else(String::new, |alias| format!("`{alias}`"));
        writeln!(made, "| `{name}` | {alias} | {doc} |").unwrap();
    }
    hold("settings.md", &made);
}

fn rows(prefix: &str, schema: &Value, made: &mut String) {
    for (key, value) in schema["properties"].as_object().into_iter().flatten() {
        let path = format!("{prefix}{key}");
        let kind = match value["type"].as_str() {
            Some("array") => "list",
            Some("boolean") => "true or false",
            Some("object") => "keys",
            Some("string") if value["oneOf"].is_array() => "name",
            Some("string") => "text",
            Some("integer") => "number",
            _ => "name",
        };
        writeln!(
            made,
            "| `{path}` | {kind} | {} |",
            cell(value["description"].as_str().unwrap_or_default())
        )
        .unwrap();
        rows(&format!("{path}."), value, made);
        rows(&format!("{path}[]."), &value["items"], made);
        rows(&format!("{path}.<name>."), &value["additionalProperties"], made);
    }
}

#[test]
fn command_line() {
    let folder = tempfile::tempdir().unwrap();
    let mut made = String::from("# Command line\n\nThe program's own help, as it prints it.\n");
    for verb in [
        "",
        "serve",
        "init",
        "search",
        "eval",
        "check",
        "tools",
        "board",
        "board list",
        "board next",
        "board show",
        "board add",
        "board move",
        "board graph",
        "board stats",
        "board log",
        "board undo",
        "board backup",
        "board restore",
        "board integrity",
        "board export",
        "board import",
        "session",
        "session prepare",
        "session launch",
        "session list",
        "session end",
        "selftest",
        "doctor",
        "completions",
    ] {
        let output = Command::new(env!("CARGO_BIN_EXE_rutter"))
            .args(verb.split_whitespace())
            .arg("--help")
            .env("COLUMNS", "100")
            .current_dir(folder.path())
            .output()
            .unwrap();
        let help = String::from_utf8(output.stdout).unwrap();
        let help: Vec<&str> = help.lines().map(str::trim_end).collect();
        write!(
            made,
            "\n## `{}`\n\n```text\n{}\n```\n",
            format!("rutter {verb}").trim_end(),
            help.join("\n").trim_end()
        )
        .unwrap();
    }
    hold("command-line.md", &made);
}
