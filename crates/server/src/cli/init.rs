//! `rutter init`

mod board;

use std::path::Path;

use clap::Args;
use rutter_base::failure::{Kind, Report};
use rutter_base::root::{Created, ReadError, RelativePath, Root};
use serde::Serialize;
use serde_json::{Map, Value, json};

use super::screen::{Screen, Style};
use super::{FINE, Surroundings};
use crate::pack;

/// Where the editable copy of the pack goes.
const FOLDER: &str = "rutter";
const CONFIG: &str = "rutter.yaml";
const CLIENTS: &str = ".mcp.json";
const MAX_FILE: u64 = 8 * 1024 * 1024;

#[derive(Debug, Args)]
#[command(
    after_help = "Nothing that exists is overwritten: run it again after an update to get what is new.

Examples:
  mkdir handbook && cd handbook && rutter init && rutter doctor
  rutter init --with board --title Shop --disciplines frontend,backend,testing"
)]
pub(super) struct Init {
    #[command(flatten)]
    board: board::WithBoard,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Done {
    file: String,
    what: What,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum What {
    Written,
    Kept,
    Extended,
}

impl From<Created> for What {
    fn from(created: Created) -> Self {
        match created {
            Created::New => Self::Written,
            Created::Kept => Self::Kept,
        }
    }
}

impl Init {
    pub(super) fn run(
        &self,
        surroundings: &Surroundings,
        screen: &mut Screen,
    ) -> Result<u8, Report> {
        let root = Root::open(&surroundings.folder).map_err(|error| cannot_write(".", &error))?;
        let made = self.board.run(&root)?.into_iter();
        let mut done: Vec<Done> =
            made.map(|(file, created)| Done { file, what: created.into() }).collect();
        for part in pack::PARTS {
            let pack = pack::part(part);
            for found in pack.walk(&["md", "yaml", "json"]).files {
                let contents = pack.read(&found.path, MAX_FILE).map_err(|error| {
                    Report::new(Kind::Internal, "the embedded pack cannot be read").because(&error)
                })?;
                let path = found.path.below(&format!("{FOLDER}/{part}"));
                done.push(create(&root, path.as_str(), &contents.bytes)?);
            }
        }
        done.push(create(&root, CONFIG, CONFIG_TEXT.as_bytes())?);
        done.push(wire(&root)?);
        if self.json {
            screen.json(&done);
            return Ok(FINE);
        }
        for Done { file, what } in &done {
            let (style, word) = match what {
                What::Written => (Style::Good, "written "),
                What::Extended => (Style::Good, "extended"),
                What::Kept => (Style::Faint, "kept    "),
            };
            screen.line(&format!("{} {file}", screen.styled(style, word)));
        }
        screen.line("\nNext: edit what is in rutter/, run `rutter doctor`, and start your client in this folder.");
        Ok(FINE)
    }
}

fn create(root: &Root, file: &str, bytes: &[u8]) -> Result<Done, Report> {
    let path =
        RelativePath::new(file).map_err(|error| Report::new(Kind::Internal, error.to_string()))?;
    let created = root.create(&path, bytes).map_err(|error| cannot_write(file, &error))?;
    Ok(Done { file: file.to_owned(), what: created.into() })
}

/// Names the server in the project's `.mcp.json`. What others wrote there stays as it is.
fn wire(root: &Root) -> Result<Done, Report> {
    let entry = json!({"command": command(), "args": ["serve"]});
    let done = |what| Done { file: CLIENTS.to_owned(), what };
    let path = RelativePath::new(CLIENTS)
        .map_err(|error| Report::new(Kind::Internal, error.to_string()))?;
    let text = match root.read_text(&path, MAX_FILE) {
        Ok(text) => text,
        Err(ReadError::NotFound) => {
            let text = pretty(&json!({"mcpServers": {"rutter": entry}}));
            return create(root, CLIENTS, text.as_bytes());
        }
        Err(error) => {
            return Err(Report::new(Kind::Invalid, format!("{CLIENTS} cannot be read: {error}")));
        }
    };
    let by_hand = || {
        Report::new(
            Kind::Invalid,
            format!("{CLIENTS} is not a JSON object with `mcpServers`, and was left alone"),
        )
        .hint(format!("mend it, or add this to it: \"rutter\": {entry}"))
    };
    let mut object: Map<String, Value> = serde_json::from_str(&text).map_err(|_| by_hand())?;
    let servers = object.entry("mcpServers").or_insert_with(|| json!({}));
    let servers = servers.as_object_mut().ok_or_else(by_hand)?;
    if servers.contains_key("rutter") {
        return Ok(done(What::Kept));
    }
    servers.insert("rutter".into(), entry);
    let text = pretty(&Value::Object(object));
    root.replace(&path, text.as_bytes()).map_err(|error| cannot_write(CLIENTS, &error))?;
    Ok(done(What::Extended))
}

fn pretty(value: &Value) -> String {
    serde_json::to_string_pretty(value).unwrap_or_default() + "\n"
}

/// How a client starts this program: by its name where the shell finds it, else by its path.
pub(super) fn command() -> String {
    let on_path = std::env::var_os("PATH").is_some_and(|path| {
        std::env::split_paths(&path).any(|folder| folder.join("rutter").is_file())
    });
    let here = || std::env::current_exe().ok().as_deref().and_then(Path::to_str).map(str::to_owned);
    if on_path { None } else { here() }.unwrap_or_else(|| "rutter".to_owned())
}

fn cannot_write(file: &str, error: &std::io::Error) -> Report {
    Report::new(Kind::Invalid, format!("`{file}` cannot be written: {}", error.kind()))
}

const CONFIG_TEXT: &str = "\
# What Rutter serves from this folder. Paths are relative to this file.
# `rutter doctor` says what is in effect; unknown keys are errors.

server:
  name: rutter
  # instructions: What agents should know before they use this server.

content:
  - name: handbook
    description: How we work, and how to use this server
    path: rutter/content
  # - name: docs
  #   description: The product's documentation
  #   path: docs

process:
  root: rutter/process

workflow:
  prompts: rutter/workflow/prompts.meta.yaml
";
