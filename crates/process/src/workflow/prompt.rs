//! One prompt of a workflow.

use std::sync::{Arc, PoisonError};

use rutter_base::failure::{Failure, Kind, Report};
use rutter_base::root::{ReadError, RelativePath};
use rutter_base::template::{Template, TemplateError, Values};
use rutter_base::text;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::input::{self, Input, InputError};
use super::{MAX_FILE, Workflow};

/// What `prompts.meta.yaml` says of a prompt.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Prompt {
    /// Its id: also the name of its tool.
    pub id: String,
    /// Its name for people.
    #[serde(default)]
    pub title: Option<String>,
    /// The phase of the work it belongs to.
    #[serde(default)]
    pub phase: Option<Value>,
    /// What it is for.
    #[serde(default)]
    pub description: Option<String>,
    /// What should be done before.
    #[serde(default)]
    pub depends_on: Vec<String>,
    /// What can be filled in.
    #[serde(default, alias = "variables")]
    pub inputs: Vec<Input>,
    /// The artifacts that it produces.
    #[serde(default, alias = "artifacts")]
    pub produces: Vec<String>,
    /// Its file, relative to the metadata file.
    #[serde(default, alias = "path")]
    resource: Option<String>,
}

/// Why a prompt of the workflow was not filled in.
#[derive(Debug, thiserror::Error)]
pub enum WorkflowError {
    /// Its file cannot be read.
    #[error("the file of prompt `{id}` cannot be read")]
    Unreadable {
        /// The prompt.
        id: String,
        /// What is wrong with the file.
        #[source]
        cause: ReadError,
    },
    /// Its file is not a template.
    #[error("the file of prompt `{id}` is not a template")]
    NotATemplate {
        /// The prompt.
        id: String,
        /// What is wrong with it.
        #[source]
        cause: TemplateError,
    },
    /// An input does not fit.
    #[error(transparent)]
    Input(#[from] InputError),
}

impl Failure for WorkflowError {
    fn report(&self) -> Report {
        match self {
            Self::Unreadable { id, .. } => {
                Report::new(Kind::NotFound, format!("the file of prompt `{id}` cannot be read"))
                    .hint("run `rutter check` to see why")
            }
            Self::NotATemplate { id, cause } => Report::new(
                Kind::NotFound,
                format!(
                    "the file of prompt `{id}` cannot be used: line {}: {}",
                    cause.line, cause.message
                ),
            ),
            Self::Input(error) => error.report(),
        }
    }
}

impl Prompt {
    /// The title for people.
    pub fn title(&self) -> &str {
        self.title.as_deref().unwrap_or(&self.id)
    }

    /// The file, relative to the metadata file.
    pub fn file(&self) -> String {
        self.resource.clone().unwrap_or_else(|| format!("prompts/{}.md", self.id))
    }

    /// Why the prompt cannot be used at all.
    pub(super) fn check(&self) -> Result<(), String> {
        let fine = !self.id.is_empty()
            && self.id.len() <= 64
            && self.id.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-'));
        if fine {
            return Ok(());
        }
        let id = text::cap(text::one_line(&self.id), 100);
        Err(format!("`{id}` cannot name a tool: use 1 to 64 letters, digits, `_` and `-`"))
    }

    fn phase(&self) -> String {
        match &self.phase {
            None => "none".into(),
            Some(Value::String(phase)) => phase.clone(),
            Some(phase) => phase.to_string(),
        }
    }
}

impl Workflow {
    /// Fills in a prompt, with a footer that says where it stands in the workflow.
    pub fn render(
        &self,
        prompt: &Prompt,
        values: &Map<String, Value>,
        limit: usize,
    ) -> Result<String, WorkflowError> {
        let texts = input::texts(&prompt.inputs, values)?;
        let footer = self.footer(prompt);
        // The footer is what tells an agent how to go on: it stays when the body is cut.
        let body =
            self.template(prompt)?.render(&Filling(&texts), limit.saturating_sub(footer.len()));
        Ok(body + &footer)
    }

    /// The parsed file of a prompt, as the file is now.
    pub(super) fn template(&self, prompt: &Prompt) -> Result<Arc<Template>, WorkflowError> {
        let unreadable = |cause| WorkflowError::Unreadable { id: prompt.id.clone(), cause };
        let path = RelativePath::new(prompt.file()).map_err(|_| unreadable(ReadError::Escape))?;
        let stamp = self.root.stamp(&path).map_err(unreadable)?;
        let known = || self.templates.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, template)) = known().get(&prompt.id).filter(|(known, _)| *known == stamp) {
            return Ok(Arc::clone(template));
        }
        let contents = self.root.read(&path, MAX_FILE).map_err(unreadable)?;
        let stamp = contents.stamp;
        let text = contents.into_text().map_err(unreadable)?;
        let template = Template::parse(&text)
            .map_err(|cause| WorkflowError::NotATemplate { id: prompt.id.clone(), cause })?;
        let template = Arc::new(template);
        known().insert(prompt.id.clone(), (stamp, Arc::clone(&template)));
        Ok(template)
    }

    fn footer(&self, prompt: &Prompt) -> String {
        let or_nothing = |names: Vec<&str>| {
            if names.is_empty() { "nothing".to_owned() } else { text::listed(names) }
        };
        let strings = |names: &[String]| or_nothing(names.iter().map(String::as_str).collect());
        let next = self.prompts().iter().filter(|other| other.depends_on.contains(&prompt.id));
        let next = or_nothing(next.map(|other| other.id.as_str()).collect());
        format!(
            "\n\n---\nPrompt `{}` · phase: {} · depends on: {} · produces: {} · next: {next}\n",
            prompt.id,
            prompt.phase(),
            strings(&prompt.depends_on),
            strings(&prompt.produces),
        )
    }
}

struct Filling<'a>(&'a [(String, String)]);

impl Values for Filling<'_> {
    fn argument(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "tests write the files that are served")]
mod tests {
    use std::fs;

    use rutter_base::root::Root;
    use serde_json::json;

    use super::*;

    fn workflow(meta: &str) -> (tempfile::TempDir, Result<Workflow, String>) {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("prompts")).unwrap();
        fs::write(
            folder.path().join("prompts/one.md"),
            "Do {{what}}{{if .why}} for {{why}}{{end}}.",
        )
        .unwrap();
        fs::write(folder.path().join("meta.yaml"), meta).unwrap();
        let root = Root::open(folder.path()).unwrap();
        let opened = Workflow::open(root, RelativePath::new("meta.yaml").unwrap());
        (folder, opened.map_err(|problem| problem.to_string()))
    }

    const META: &str = "prompts:\n  - id: one\n    title: One\n    phase: 1\n    produces: [sum]\n    inputs:\n      \
        - {name: what, type: string, required: true}\n      - {name: why, enum: [fun, profit]}\n      \
        - {name: times, type: integer, default: 3}\n  - {id: two, dependsOn: [one], path: prompts/one.md}\n";

    #[test]
    fn inputs_are_checked_and_put_in() {
        let (_folder, workflow) = workflow(META);
        let workflow = workflow.unwrap();
        let render = |values: Value| {
            let values = values.as_object().unwrap().clone();
            workflow
                .render(&workflow.prompts()[0], &values, 10_000)
                .map_err(|e| Report::from(e).to_string())
        };
        assert_eq!(
            render(json!({"what": "it {{why}}", "why": "fun"})).unwrap(),
            "Do it {{why}} for fun.\n\n---\nPrompt `one` · phase: 1 · depends on: nothing · \
             produces: `sum` · next: `two`\n"
        );
        assert_eq!(render(json!({})).unwrap_err(), "/what: required");
        assert_eq!(render(json!({"what": 1})).unwrap_err(), "/what: expected string");
        assert_eq!(
            render(json!({"what": "a", "why": "x"})).unwrap_err(),
            "/why: expected one of fun, profit"
        );
        assert_eq!(
            render(json!({"what": "a", "times": 1.5})).unwrap_err(),
            "/times: expected integer"
        );
        assert_eq!(
            render(json!({"what": "a", "x": 1})).unwrap_err(),
            "/x: unknown argument; expected `what`, `why`, `times`"
        );
    }

    #[test]
    fn the_footer_survives_a_cut() {
        let (_folder, workflow) = workflow(META);
        let workflow = workflow.unwrap();
        let values = json!({"what": "x".repeat(1_000)}).as_object().unwrap().clone();
        let text = workflow.render(&workflow.prompts()[0], &values, 200).unwrap();
        assert!(
            text.len() <= 200 && text.contains("truncated") && text.ends_with("next: `two`\n"),
            "{text}"
        );
    }

    #[test]
    fn bad_metadata_is_told_apart() {
        let (_folder, twice) = workflow("[{id: a}, {id: a}]");
        assert_eq!(twice.unwrap_err(), "meta.yaml: two prompts have the id `a`");
        let (_folder, odd) = workflow("[{id: 'a b'}, {id: two, path: ../x.md}, {id: one}]");
        let odd = odd.unwrap();
        let problems: Vec<String> = odd.problems().iter().map(ToString::to_string).collect();
        assert_eq!(
            problems,
            [
                "meta.yaml: `a b` cannot name a tool: use 1 to 64 letters, digits, `_` and `-`",
                "../x.md: the file of prompt `two` cannot be read; run `rutter check` to see why",
            ]
        );
    }
}
