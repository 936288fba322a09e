//! The context of a session: a file that says what the session is for.

use std::path::{Component, Path};

use rutter_base::failure::{Kind, Report};
use rutter_base::root::{ReadError, RelativePath, Root};
use rutter_base::text::{self, one_line};
use rutter_board::recipes::{Own, Recipe};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::schema;
use crate::scope::{Rule, Scope};

/// A context is a page at most: a larger file is something else.
const MAX_FILE: u64 = 64 * 1024;

/// What a session is for.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Context {
    /// The name of the session.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    /// The recipe, which decides the tools.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recipe: Option<String>,
    /// The discipline that it works in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub discipline: Option<String>,
    /// The feature that it works on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub feature: Option<String>,
    /// The task that it works on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub task_id: Option<i64>,
    /// Tools that are taken away besides.
    pub disabled_tools: Vec<String>,
}

impl Context {
    /// Understands the text of a context file, or says in words what is wrong with it.
    pub fn parse(text: &str) -> Result<Self, String> {
        match serde_json::from_str(text) {
            Ok(Value::Object(object)) => schema::arguments(object)
                .map_err(|what| what.replace("unknown argument", "unknown key")),
            Ok(_) => Err("it is not a JSON object".into()),
            Err(error) => Err(format!("it is not JSON, from line {} on", error.line())),
        }
    }

    /// What the session has of its own.
    pub fn own(&self, own: Own) -> Option<Value> {
        match own {
            Own::Discipline => self.discipline.as_ref().map(|name| json!(name)),
            Own::Feature => self.feature.as_ref().map(|name| json!(name)),
            Own::Task => self.task_id.map(|id| json!(id)),
        }
    }

    /// What a recipe and this context leave.
    pub fn scope(&self, recipe: Option<&Recipe>) -> Scope {
        let disabled = Rule::WithoutTools(self.disabled_tools.iter().cloned().collect());
        let recipe = recipe.into_iter().flat_map(|recipe| {
            let tools = Rule::Tools(recipe.tools.keys().cloned().collect());
            let narrowed = recipe.tools.iter().flat_map(|(tool, allowed)| {
                let fields = allowed
                    .fields
                    .iter()
                    .map(|fields| Rule::Fields { tool: tool.clone(), fields: fields.clone() });
                let targets = allowed.targets.iter().map(|(field, own)| Rule::Target {
                    tool: tool.clone(),
                    field: field.clone(),
                    what: own.as_str(),
                    only: self.own(*own),
                });
                fields.chain(targets)
            });
            std::iter::once(tools).chain(narrowed)
        });
        Scope::all(std::iter::once(disabled).chain(recipe))
    }
}

/// Where a context is read from.
#[derive(Debug, Clone)]
pub struct ContextFile {
    /// The folder; `None` where there is none, so that there is no file either.
    root: Option<Root>,
    path: RelativePath,
    /// Whether there must be such a file.
    named: bool,
}

impl ContextFile {
    /// The file that is looked for when none is named.
    pub fn default_in(board: &Root) -> Result<Self, Report> {
        Ok(Self { root: Some(board.clone()), path: relative("mcp/context.json")?, named: false })
    }

    /// The file that the operator named, relative to the project's folder.
    ///
    /// What is below the project is opened beneath it, so that no link leads out of it.
    pub fn named(project: &Path, path: &Path) -> Result<Self, Report> {
        let below = path.strip_prefix(project).unwrap_or(path);
        let plain =
            below.components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
        let parts = below.components().filter(|part| *part != Component::CurDir);
        let parts: Option<Vec<&str>> = parts.map(|part| part.as_os_str().to_str()).collect();
        if let (true, Some(parts)) = (plain, parts) {
            let root = Root::open(project).ok();
            return Ok(Self { root, path: relative(&parts.join("/"))?, named: true });
        }
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let root = path.parent().and_then(|folder| Root::open(&project.join(folder)).ok());
        Ok(Self { root, path: relative(name)?, named: true })
    }

    /// The file as the operator knows it.
    pub fn shown(&self) -> String {
        one_line(self.path.as_str())
    }

    /// Whether there must be such a file.
    pub fn is_named(&self) -> bool {
        self.named
    }

    /// What the file holds; `None` when there is none and there need not be one.
    pub fn read(&self) -> Result<Option<String>, Unusable> {
        let read = match &self.root {
            Some(root) => root.read_text(&self.path, MAX_FILE),
            None => Err(ReadError::NotFound),
        };
        match read {
            Ok(text) => Ok(Some(text)),
            Err(ReadError::NotFound) if !self.named => Ok(None),
            Err(ReadError::NotFound) => Err(self.unusable("is missing")),
            Err(ReadError::Io(error)) => Err(self.unread(&error)),
            Err(error) => Err(self.unusable(&format!("cannot be used: {error}"))),
        }
    }

    /// Why a session with this file has no tools.
    pub fn unusable(&self, what: &str) -> Unusable {
        let what = text::cap(one_line(what), 500);
        let report = Report::new(
            Kind::Invalid,
            format!("this session has no tools: the context file `{}` {what}", self.shown()),
        )
        .hint("prepare the session again with `rutter session prepare`");
        Unusable { report, passing: false }
    }

    /// The same, while the machine cannot read the file.
    fn unread(&self, error: &std::io::Error) -> Unusable {
        let file = self.shown();
        let message =
            format!("this session has no tools while its context file `{file}` cannot be read");
        let report = Report::new(Kind::Busy, message).hint("try again").because(error);
        Unusable { report, passing: true }
    }
}

/// Why a session has no tools.
#[derive(Debug)]
pub struct Unusable {
    /// What a caller is told.
    pub report: Report,
    /// Whether another look may find nothing wrong.
    pub passing: bool,
}

fn relative(path: &str) -> Result<RelativePath, Report> {
    RelativePath::new(path).map_err(|_| {
        Report::new(Kind::Invalid, "the name of the context file cannot be one")
            .hint("name a file with --context")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_specified_file_is_understood() {
        let context = Context::parse(
            r#"{"session_id": "task-exec-7-2026-02-10T14:30:00Z", "recipe": "task_execution",
                "discipline": "frontend", "feature": "authentication", "task_id": 7,
                "disabled_tools": ["create_feature"]}"#,
        )
        .unwrap();
        assert_eq!(context.own(Own::Task), Some(json!(7)));
        assert_eq!(context.disabled_tools, ["create_feature"]);
        assert_eq!(Context::parse("{}").unwrap(), Context::default());
        assert_eq!(Context::parse(r#"{"recipe": null}"#).unwrap(), Context::default());
    }

    #[test]
    fn what_is_wrong_is_said_without_the_parsers_words() {
        for (text, expected) in [
            ("", "it is not JSON, from line 1 on"),
            ("{\n\"recipe\"", "it is not JSON, from line 2 on"),
            ("[]", "it is not a JSON object"),
            (r#"{"task_id": "7"}"#, "/task_id: expected integer"),
            (r#"{"disabled_tools": "all"}"#, "/disabled_tools: expected array"),
            (r#"{"disabled_tools": [1]}"#, "/disabled_tools/0: expected string"),
            (r#"{"recipe": ["yap"]}"#, "/recipe: expected string"),
            (
                r#"{"recpie": "yap"}"#,
                "/recpie: unknown key; expected `session_id`, `recipe`, `discipline`, `feature`, `task_id`, `disabled_tools`",
            ),
        ] {
            assert_eq!(Context::parse(text).unwrap_err(), expected, "{text}");
        }
    }
}
