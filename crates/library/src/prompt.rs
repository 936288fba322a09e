//! Prompts: templates with declared arguments, from Markdown or JSON.

mod embed;
mod format;

use std::collections::BTreeMap;

use rutter_base::document::DocumentError;
use rutter_base::failure::{Failure, Kind, Problem, Report};
use rutter_base::template::{Template, Values};
use rutter_base::text;
use serde::Deserialize;

use crate::catalog::Catalog;
use embed::Embedding;
pub(crate) use embed::{MAX_DOCUMENTS, Pattern};
pub(crate) use format::Format;

/// A prompt that can be filled in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Prompt {
    /// Its full name: `<source>:<name>`, or the name alone in the architecture layout.
    pub name: String,
    /// What it is for.
    pub description: Option<String>,
    /// What can be filled in.
    pub arguments: Vec<Argument>,
    parts: Vec<Part>,
}

/// A message before it is filled in.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Part {
    role: Role,
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
    /// How many characters it may have; `None` is any number.
    #[serde(default, rename = "maxLength")]
    pub max_length: Option<usize>,
    /// The only values that it may have; none is any value.
    #[serde(default, rename = "enum")]
    pub values: Vec<String>,
}

fn yes() -> bool {
    true
}

/// Who says a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// The person.
    User,
    /// The model.
    Assistant,
}

/// A message of a prompt that was filled in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    /// Who says it.
    pub role: Role,
    /// What is said.
    pub text: String,
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
    /// An argument that has more characters than it may.
    #[error("/{name}: at most {limit} characters")]
    TooLong {
        /// The argument.
        name: String,
        /// What it may have.
        limit: usize,
    },
    /// A value that is none of those that the argument declares.
    #[error("/{name}: expected one of {}", text::listed(values.iter().map(String::as_str)))]
    NotAmong {
        /// The argument.
        name: String,
        /// What it may be.
        values: Vec<String>,
    },
    /// More documents are embedded than may be.
    #[error("the prompt embeds more than {limit} documents")]
    TooManyDocuments {
        /// How many may be.
        limit: usize,
    },
    /// The prompt, with what it embeds, is larger than it may be.
    #[error("the prompt has more than {limit} bytes with the documents that it embeds")]
    TooLarge {
        /// How many bytes there may be.
        limit: usize,
    },
}

impl Failure for PromptError {
    fn report(&self) -> Report {
        let report = Report::new(Kind::Invalid, self.to_string());
        match self {
            Self::Missing { .. } | Self::TooLong { .. } | Self::NotAmong { .. } => report,
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
            Self::TooManyDocuments { .. } | Self::TooLarge { .. } => {
                report.hint("narrow its `{{resource:…}}`, or read the documents one by one")
            }
        }
    }
}

impl Prompt {
    /// Fills in the prompt. Documents that it embeds are read from `catalog`, as they are now.
    ///
    /// A single text is cut to `limit` bytes as every text is (see [`text::cap`]). Where documents
    /// are embedded, or several messages follow each other, a cut would leave out something that
    /// nobody can see was there: that is an error.
    pub fn render(
        &self,
        values: &BTreeMap<String, String>,
        catalog: &Catalog,
        limit: usize,
    ) -> Result<Vec<Message>, PromptError> {
        self.check(values)?;
        let embedding = Embedding::of(catalog, self.embedded());
        let filling = Filling { prompt: self, values, embedding: &embedding };
        if let [Part { role, template }] = self.parts.as_slice()
            && embedding.is_empty()
        {
            return Ok(vec![Message { role: *role, text: template.render(&filling, limit) }]);
        }
        let mut messages = Vec::with_capacity(self.parts.len());
        let mut left = limit;
        for Part { role, template } in &self.parts {
            // A text that was cut is longer than what is left, so that the cut is noticed.
            let text = template.render(&filling, left.saturating_add(CUT_NOTICED));
            embedding.within_limits()?;
            left = left.checked_sub(text.len()).ok_or(PromptError::TooLarge { limit })?;
            messages.push(Message { role: *role, text });
        }
        Ok(messages)
    }

    /// What is embedded, as it stands in the file.
    pub(crate) fn embedded(&self) -> impl Iterator<Item = &str> {
        self.parts.iter().flat_map(|part| part.template.resources())
    }

    fn check(&self, values: &BTreeMap<String, String>) -> Result<(), PromptError> {
        if let Some(name) = values.keys().find(|name| !self.takes(name)) {
            let known = self.arguments.iter().map(|argument| argument.name.clone()).collect();
            return Err(PromptError::Unknown { name: text::one_line(name), known });
        }
        for argument in &self.arguments {
            let name = || argument.name.clone();
            let value = match values.get(&argument.name) {
                Some(value) if !value.is_empty() => value,
                _ if argument.required => return Err(PromptError::Missing { name: name() }),
                _ => continue,
            };
            if let Some(limit) = argument.max_length
                && value.chars().nth(limit).is_some()
            {
                return Err(PromptError::TooLong { name: name(), limit });
            }
            if !argument.values.is_empty() && !argument.values.contains(value) {
                let values = argument.values.clone();
                return Err(PromptError::NotAmong { name: name(), values });
            }
        }
        Ok(())
    }

    fn takes(&self, name: &str) -> bool {
        self.arguments.iter().any(|argument| argument.name == name)
    }
}

/// More than [`text::cap`] can fall short of its limit for the sake of a whole character.
const CUT_NOTICED: usize = 64;

struct Filling<'a> {
    prompt: &'a Prompt,
    values: &'a BTreeMap<String, String>,
    embedding: &'a Embedding<'a>,
}

impl Values for Filling<'_> {
    fn argument(&self, name: &str) -> Option<&str> {
        let value = self.values.get(name).map(String::as_str);
        value.or_else(|| self.prompt.takes(name).then_some(""))
    }

    fn resource(&self, uri: &str) -> Option<&str> {
        self.embedding.text(uri)
    }
}

/// A document error as the problem of a file.
pub(crate) fn document_problem(file: &str, error: &DocumentError) -> Problem {
    Problem::error(file, error.to_string()).at_line(error.line())
}

#[cfg(test)]
mod tests;
