//! Prompts: templates with declared arguments.

use std::collections::{BTreeMap, BTreeSet};

use rutter_base::document::{Document, DocumentError};
use rutter_base::failure::{Failure, Kind, Problem, Report};
use rutter_base::template::{Template, Values};
use rutter_base::text;
use serde::Deserialize;

use crate::source::SourceName;

/// A prompt that can be filled in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Prompt {
    /// Its full name: `<source>:<name>`.
    pub name: String,
    /// What it is for.
    pub description: Option<String>,
    /// What can be filled in.
    pub arguments: Vec<Argument>,
    template: Template,
}

/// What can be filled in.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Argument {
    /// Its name in the template.
    pub name: String,
    /// What to fill in.
    #[serde(default)]
    pub description: Option<String>,
    /// Whether the prompt makes no sense without it.
    #[serde(default = "yes")]
    pub required: bool,
}

fn yes() -> bool {
    true
}

/// Why a prompt was not filled in.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PromptError {
    /// A required argument is absent or empty.
    #[error("/{name}: required")]
    Missing {
        /// The argument.
        name: String,
    },
    /// An argument that the prompt does not have.
    #[error("/{name}: unknown argument")]
    Unknown {
        /// The argument.
        name: String,
        /// The arguments that it has.
        known: Vec<String>,
    },
}

impl Failure for PromptError {
    fn report(&self) -> Report {
        let report = Report::new(Kind::Invalid, self.to_string());
        match self {
            Self::Missing { .. } => report,
            Self::Unknown { known, .. } if known.is_empty() => {
                report.hint("this prompt takes no arguments")
            }
            Self::Unknown { name, known } => {
                let known = || known.iter().map(String::as_str);
                match text::closest(name, known()) {
                    Some(meant) => report.hint(format!("did you mean `{meant}`?")),
                    None => report.hint(format!("this prompt takes {}", text::listed(known()))),
                }
            }
        }
    }
}

#[derive(Deserialize)]
struct Frontmatter {
    #[serde(default)]
    name: String,
    #[serde(default)]
    description: Option<String>,
    #[serde(default)]
    arguments: Vec<Argument>,
}

impl Prompt {
    /// Reads a prompt file; beside the prompt, the flaws that it is served with.
    pub(crate) fn parse(
        source: &SourceName,
        file: &str,
        text: &str,
    ) -> Result<(Self, Vec<Problem>), Problem> {
        let document: Document<Frontmatter> = Document::parse(text)
            .map_err(|error| Problem::error(file, error.to_string()).at_line(error.line()))?;
        let Frontmatter { name, description, arguments } = document.frontmatter;
        if name.trim().is_empty() {
            return Err(Problem::error(file, "`name` is missing").at_line(Some(1)));
        }
        let mut seen = BTreeSet::new();
        for argument in &arguments {
            if argument.name.is_empty() || !seen.insert(&argument.name) {
                let message = format!(
                    "argument `{}` is empty or there twice",
                    text::one_line(&argument.name)
                );
                return Err(Problem::error(file, message).at_line(Some(1)));
            }
        }
        let lines_above = line_count(text).saturating_sub(line_count(&document.body));
        let template = Template::parse(&document.body).map_err(|error| {
            let line = error.line + lines_above;
            Problem::error(file, error.message).at_line(Some(line))
        })?;
        let problems = template
            .names()
            .into_iter()
            .filter(|used| !arguments.iter().any(|argument| argument.name == *used))
            .map(|used| {
                Problem::warning(
                    file,
                    format!("`{{{{{used}}}}}` is no declared argument and stays as it is"),
                )
            })
            .collect();
        let name = format!("{source}:{}", name.trim());
        Ok((Self { name, description, arguments, template }, problems))
    }

    /// Fills in the prompt, into at most `limit` bytes.
    pub fn render(
        &self,
        values: &BTreeMap<String, String>,
        limit: usize,
    ) -> Result<String, PromptError> {
        if let Some(name) = values.keys().find(|name| !self.takes(name)) {
            let known = self.arguments.iter().map(|argument| argument.name.clone()).collect();
            return Err(PromptError::Unknown { name: text::one_line(name), known });
        }
        for argument in self.arguments.iter().filter(|argument| argument.required) {
            if values.get(&argument.name).is_none_or(String::is_empty) {
                return Err(PromptError::Missing { name: argument.name.clone() });
            }
        }
        Ok(self.template.render(&Filling { prompt: self, values }, limit))
    }

    fn takes(&self, name: &str) -> bool {
        self.arguments.iter().any(|argument| argument.name == name)
    }
}

struct Filling<'a> {
    prompt: &'a Prompt,
    values: &'a BTreeMap<String, String>,
}

impl Values for Filling<'_> {
    fn argument(&self, name: &str) -> Option<&str> {
        let value = self.values.get(name).map(String::as_str);
        value.or_else(|| self.prompt.takes(name).then_some(""))
    }
}

fn line_count(text: &str) -> u32 {
    u32::try_from(text.lines().count()).unwrap_or(u32::MAX)
}

/// A document error as the problem of a file.
pub(crate) fn document_problem(file: &str, error: &DocumentError) -> Problem {
    Problem::error(file, error.to_string()).at_line(error.line())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn prompt(text: &str) -> Result<(Prompt, Vec<Problem>), Problem> {
        Prompt::parse(&SourceName::new("docs").unwrap(), "p.md", text)
    }

    fn fill(prompt: &Prompt, values: &[(&str, &str)]) -> Result<String, String> {
        let values = values.iter().map(|(k, v)| ((*k).into(), (*v).into())).collect();
        prompt.render(&values, 1_000).map_err(|error| Report::from(error).to_string())
    }

    const ADR: &str = "---\nname: adr\narguments:\n  - name: topic\n  - {name: note, required: false}\n---\n\
                       On {{.topic}}{{if note}} ({{note}}){{end}}.";

    #[test]
    fn arguments_are_required_unless_they_say_otherwise() {
        let (adr, problems) = prompt(ADR).unwrap();
        assert_eq!(problems, []);
        assert_eq!(adr.name, "docs:adr");
        assert_eq!(fill(&adr, &[("topic", "a")]).unwrap(), "On a.");
        assert_eq!(
            fill(&adr, &[("topic", "{{note}}"), ("note", "n")]).unwrap(),
            "On {{note}} (n)."
        );
        assert_eq!(fill(&adr, &[]).unwrap_err(), "/topic: required");
        assert_eq!(fill(&adr, &[("topic", "")]).unwrap_err(), "/topic: required");
        assert_eq!(
            fill(&adr, &[("topic", "a"), ("notes", "")]).unwrap_err(),
            "/notes: unknown argument; did you mean `note`?"
        );
    }

    #[test]
    fn undeclared_placeholders_are_reported_and_other_actions_refused() {
        let (_, problems) = prompt("---\nname: a\n---\n{{x}}").unwrap();
        assert_eq!(
            problems[0].to_string(),
            "p.md: `{{x}}` is no declared argument and stays as it is"
        );
        let problem = prompt("---\nname: a\n---\n\n{{range .x}}").unwrap_err();
        assert_eq!(problem.line, Some(5));
        assert!(prompt("---\ndescription: no name\n---\n").is_err());
    }
}
