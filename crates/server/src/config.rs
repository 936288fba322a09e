//! The configuration file: what was written, checked for shape.
//!
//! It is a superset of `mcp-metadata.yaml`. What it means (which folders are opened, what is
//! detected where it says nothing) is decided in [`crate::setup`].

mod http;

use std::collections::BTreeMap;

use rutter_base::failure::{Kind, Report};
use rutter_base::text;
use rutter_base::watch::Mode;
use rutter_process::workflow::Gating;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_saphyr::Spanned;

pub use http::{AuthType, Http, HttpKey, HttpLimits, OAuth, Tls};

/// A configuration file. Every path in it is relative to the file.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// Who the server says it is
    pub server: Server,
    /// Where documents and prompts come from
    pub content: Option<Vec<Content>>,
    /// Descriptions that replace the built-in ones
    pub tools: Vec<ToolDescription>,
    /// How documents are searched
    pub search: Search,
    /// How work is done here
    pub process: Option<Process>,
    /// Prompts that follow each other
    pub workflow: Option<Workflow>,
    /// Where the work is recorded
    pub board: Option<Board>,
    /// Kinds of sessions of your own, and the tools that they may use
    pub recipes: BTreeMap<String, rutter_board::recipes::Draft>,
    /// Agent Skills of one's own
    pub skills: Option<Skills>,
    /// What bounds every answer
    pub limits: Limits,
    /// How changes of files are noticed: auto, poll or off
    #[schemars(with = "Option<WatchName>")]
    pub watch: Option<Mode>,
    /// The server with `--transport http`
    pub http: Http,
}

/// Who the server says it is.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Server {
    /// The name that clients see
    pub name: Option<String>,
    /// The version that clients see
    pub version: Option<String>,
    /// How to use the server, for agents
    pub instructions: Option<String>,
}

/// A place with documents and prompts.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Content {
    /// Its name: a part of every URI
    #[schemars(with = "String")]
    pub name: Spanned<String>,
    /// What it holds, for agents
    #[serde(default)]
    pub description: String,
    /// The folder
    #[schemars(with = "String")]
    pub path: Spanned<String>,
}

/// A description that replaces the built-in one.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ToolDescription {
    /// The tool
    pub name: String,
    /// When to use it
    pub description: String,
}

/// How documents are searched.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Search {
    /// How many documents a search gives; 10 unless set
    pub max_results: Option<usize>,
    /// What a match in the keywords weighs; 3 unless set
    pub keywords_boost: Option<f32>,
    /// What a match in the name weighs; 2 unless set
    pub name_boost: Option<f32>,
    /// What a match in the text weighs; 1 unless set
    pub content_boost: Option<f32>,
}

/// How work is done here.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Process {
    /// The folder with the files of the process and, where it is not the built-in one, `process.yaml`
    #[schemars(with = "Option<String>")]
    pub root: Option<Spanned<String>>,
    /// The folder with the capabilities registry: `inventory.json` and `capabilities/`
    #[schemars(with = "Option<String>")]
    pub registry: Option<Spanned<String>>,
    /// The folder with the knowledge base; what `process.yaml` says unless set
    #[schemars(with = "Option<String>")]
    pub knowledge: Option<Spanned<String>>,
    /// Folders whose projects may be checked: over HTTP these alone, over stdio beside the working directory, the client's roots and the user's home
    #[schemars(with = "Vec<String>")]
    pub project_roots: Vec<Spanned<String>>,
}

/// Prompts that follow each other.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Workflow {
    /// The metadata file
    #[schemars(with = "Option<String>")]
    #[serde(default)]
    pub prompts: Option<Spanned<String>>,
    /// The graph; `default-graph.json` beside the metadata file unless set
    #[schemars(with = "Option<String>")]
    #[serde(default)]
    pub graph: Option<Spanned<String>>,
    /// What happens to a call that is out of order: warn or strict
    #[schemars(with = "Option<GatingName>")]
    #[serde(default)]
    pub gating: Gating,
    /// The folder whose `.mcp/state.json` keeps what was done; the working directory unless set
    #[schemars(with = "Option<String>")]
    #[serde(default)]
    pub workspace: Option<Spanned<String>>,
}

/// The names of [`Gating`], which knows nothing of schemas.
#[derive(JsonSchema)]
#[serde(rename_all = "lowercase")]
#[expect(dead_code, reason = "only its schema is used")]
enum GatingName {
    /// It is answered with a warning
    Warn,
    /// It is refused
    Strict,
}

/// Where the work is recorded.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Board {
    /// The folder, usually `.ralph`
    #[schemars(with = "String")]
    pub path: Spanned<String>,
}

/// Agent Skills of one's own.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Skills {
    /// The folder: each folder in it that has a `SKILL.md` is a skill
    #[schemars(with = "String")]
    pub path: Spanned<String>,
}

/// What bounds every answer.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Limits {
    /// The bytes of one text in an answer; 1 MiB unless set
    #[schemars(with = "Option<usize>")]
    pub payload: Option<Spanned<usize>>,
}

/// The names of [`Mode`], which knows nothing of schemas.
#[derive(JsonSchema)]
#[serde(rename_all = "lowercase")]
#[expect(dead_code, reason = "only its schema is used")]
enum WatchName {
    /// By events of the system, and by polling where there are none
    Auto,
    /// By polling alone, for network file systems
    Poll,
    /// Not at all
    Off,
}

impl Config {
    /// Reads a configuration. An error is one line that names the key, the file and the line.
    pub fn parse(file: &str, text: &str) -> Result<Self, Report> {
        // An empty file configures nothing, which is fine; the parser would miss a document.
        if text.lines().all(|line| line.trim().is_empty() || line.trim_start().starts_with('#')) {
            return Ok(Self::default());
        }
        rutter_base::yaml::parse_with_path(text).map_err(|(path, error)| {
            let line = error.line.map_or_else(String::new, |line| format!(":{line}"));
            Report::new(Kind::Invalid, format!("{file}{line}: {}", explain(&path, &error.message)))
        })
    }
}

/// The parser's words as an operator's, with the key.
fn explain(path: &str, message: &str) -> String {
    // Values that remember their line are one level deeper for the parser than in the file.
    let path = path.trim_end_matches(".value").trim_end_matches('?').trim_matches('.');
    let quoted = |text: &str| text.split('`').nth(1).map(str::to_owned);
    if let Some(rest) = message.strip_prefix("unknown field")
        && let Some(key) = quoted(rest)
    {
        let known: Vec<&str> = rest
            .split_once("one of ")
            .map(|(_, names)| names.split(", ").collect())
            .unwrap_or_default();
        let parent = path.strip_suffix(&key).unwrap_or(path).trim_end_matches('.');
        let place = if parent.is_empty() { String::new() } else { format!(" in `{parent}`") };
        let hint = match text::closest(&key, known.iter().copied()) {
            Some(meant) => format!("did you mean `{meant}`?"),
            None => format!("the keys are {}", text::listed(known)),
        };
        return format!("unknown key `{}`{place}; {hint}", text::one_line(&key));
    }
    let key = if path.is_empty() { String::new() } else { format!("`{path}`: ") };
    if let Some(rest) = message.strip_prefix("missing field")
        && let Some(field) = quoted(rest)
    {
        return format!("{key}`{field}` is missing");
    }
    if let Some((_, names)) =
        message.strip_prefix("unknown variant").and_then(|rest| rest.split_once("one of "))
    {
        return format!("{key}expected one of {names}");
    }
    format!("{key}{message}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        assert_eq!(Config::parse("rutter.yaml", text).unwrap_err().to_string(), expected);
    }

    #[test]
    fn errors_name_the_key_the_file_and_the_line() {
        check(
            "server: {name: a}\ncontnet: []\n",
            "rutter.yaml:2: unknown key `contnet`; did you mean `content`?",
        );
        check(
            "server:\n  nmae: a\n",
            "rutter.yaml:2: unknown key `nmae` in `server`; did you mean `name`?",
        );
        check(
            "server:\n  zzz: a\n",
            "rutter.yaml:2: unknown key `zzz` in `server`; the keys are `name`, `version`, `instructions`",
        );
        check(
            "content:\n  - name: docs\n    path: [a]\n",
            "rutter.yaml:3: `content[0].path`: expected a text",
        );
        check("content:\n  - name: docs\n", "rutter.yaml:2: `content[0]`: `path` is missing");
        check("content: docs\n", "rutter.yaml:1: `content`: expected a list");
        check("http: {port: 99999}\n", "rutter.yaml:1: `http.port`: expected a number in range");
        check("watch: sometimes\n", "rutter.yaml:1: `watch`: expected one of auto, poll, off");
        check("server: [\n", "rutter.yaml:1: `server`: expected keys with values");
        check("server: {name: a, name: b}", "rutter.yaml:1: `server`: `name` is there twice");
        check("- a\n", "rutter.yaml:1: expected keys with values");
    }

    #[test]
    fn a_bomb_is_an_error() {
        let bomb = format!("server: {{name: {}}}", "[".repeat(50_000));
        assert!(Config::parse("rutter.yaml", &bomb).is_err());
    }

    #[test]
    fn the_specified_file_is_understood() {
        let config = Config::parse(
            "mcp-metadata.yaml",
            "server:\n  name: x\n  version: 1.2.0\n  instructions: |\n    Use it.\ncontent:\n  - name: docs\n    \
             description: d\n    path: ./docs\ntools:\n  - name: search\n    description: s\n",
        )
        .unwrap();
        assert_eq!(config.server.version.as_deref(), Some("1.2.0"));
        assert_eq!(config.content.unwrap()[0].path.value, "./docs");
        assert!(Config::parse("rutter.yaml", "").unwrap().content.is_none());
        assert!(Config::parse("rutter.yaml", "# nothing\n\n").unwrap().content.is_none());
    }
}
