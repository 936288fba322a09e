//! The two formats of prompt files: Markdown with frontmatter, and JSON.

use std::collections::BTreeSet;

use rutter_base::document::Document;
use rutter_base::failure::Problem;
use rutter_base::template::Template;
use rutter_base::text::one_line;
use serde::Deserialize;

use super::{Argument, Part, Prompt, Role, document_problem};
use crate::source::SourceName;

/// How many characters an argument called `code` may have in the architecture layout.
const CODE: usize = 10_000;
/// How many characters any other argument may have there.
const OTHER: usize = 2_000;

/// What a prompt file is, and what holds for the prompts in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Format {
    /// Markdown; the name has the source's before it.
    Markdown,
    /// JSON; the name stands alone, and all arguments have limits.
    Json,
    /// Markdown with the names and limits of the JSON prompts.
    PlainMarkdown,
}

impl Format {
    /// How the names of the files end.
    pub(crate) fn extension(self) -> &'static str {
        match self {
            Self::Markdown | Self::PlainMarkdown => "md",
            Self::Json => "json",
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
    arguments: Option<Vec<Argument>>,
}

/// A JSON prompt. The text is in one of the last three; other keys are the author's own.
#[derive(Deserialize)]
#[serde(expecting = "an object with a `name` and a text")]
struct JsonPrompt {
    name: String,
    #[serde(default)]
    description: Option<String>,
    #[serde(default)]
    arguments: Option<Vec<Argument>>,
    #[serde(default)]
    messages: Option<Vec<JsonMessage>>,
    #[serde(default)]
    template: Option<String>,
    #[serde(default)]
    content: Option<String>,
}

#[derive(Deserialize)]
struct JsonMessage {
    role: Role,
    content: JsonContent,
}

#[derive(Deserialize)]
#[serde(untagged, expecting = "`content` is neither a text nor {\"type\": \"text\", \"text\": …}")]
enum JsonContent {
    Text(String),
    Block {
        #[serde(rename = "type")]
        _type: TextType,
        text: String,
    },
}

#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum TextType {
    Text,
}

impl Prompt {
    /// Reads a prompt file; beside the prompt, the flaws that it is served with.
    pub(crate) fn parse(
        format: Format,
        source: &SourceName,
        file: &str,
        text: &str,
    ) -> Result<(Self, Vec<Problem>), Problem> {
        let mut prompt = match format {
            Format::Markdown | Format::PlainMarkdown => markdown(file, text)?,
            Format::Json => json(file, text)?,
        };
        check_arguments(&prompt.arguments)
            .map_err(|message| Problem::error(file, message).at_line(Some(1)))?;
        match format {
            Format::Markdown => prompt.name = format!("{source}:{}", prompt.name),
            Format::Json | Format::PlainMarkdown => {
                for argument in &mut prompt.arguments {
                    let usual = if argument.name == "code" { CODE } else { OTHER };
                    argument.max_length.get_or_insert(usual);
                }
            }
        }
        let problems = undeclared(&prompt)
            .into_iter()
            .map(|used| {
                let message =
                    format!("`{{{{{used}}}}}` is no declared argument and stays as it is");
                Problem::warning(file, message)
            })
            .collect();
        Ok((prompt, problems))
    }
}

fn markdown(file: &str, text: &str) -> Result<Prompt, Problem> {
    let document: Document<Frontmatter> =
        Document::parse(text).map_err(|error| document_problem(file, &error))?;
    let Frontmatter { name, description, arguments } = document.frontmatter;
    if name.trim().is_empty() {
        return Err(Problem::error(file, "`name` is missing").at_line(Some(1)));
    }
    let lines_above = line_count(text).saturating_sub(line_count(&document.body));
    let template = Template::parse(&document.body).map_err(|error| {
        let line = error.line + lines_above;
        Problem::error(file, error.message).at_line(Some(line))
    })?;
    Ok(Prompt {
        name: name.trim().to_owned(),
        description,
        arguments: arguments.unwrap_or_default(),
        parts: vec![Part { role: Role::User, template }],
    })
}

fn json(file: &str, text: &str) -> Result<Prompt, Problem> {
    let text = text.strip_prefix('\u{FEFF}').unwrap_or(text);
    let parsed: JsonPrompt = serde_json::from_str(text).map_err(|error| {
        let line = u32::try_from(error.line()).ok().filter(|&line| line > 0);
        Problem::error(file, json_message(&error)).at_line(line)
    })?;
    let fail = |message: String| Problem::error(file, message);
    let JsonPrompt { name, description, arguments, messages, template, content } = parsed;
    let fine = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    if name.is_empty() || !name.chars().all(fine) {
        let name = one_line(&name);
        return Err(fail(format!(
            "`{name}` cannot name a prompt: use lower-case letters, digits and `-`"
        )));
    }
    let texts: Vec<(Role, String)> = match (messages, template, content) {
        (Some(messages), None, None) => messages
            .into_iter()
            .map(|JsonMessage { role, content }| match content {
                JsonContent::Text(text) | JsonContent::Block { text, .. } => (role, text),
            })
            .collect(),
        (None, Some(text), None) | (None, None, Some(text)) => vec![(Role::User, text)],
        _ => {
            return Err(fail(
                "the text is missing or there twice: use one of `messages`, `template` and `content`"
                    .into(),
            ));
        }
    };
    if texts.is_empty() {
        return Err(fail("`messages` is empty".into()));
    }
    let parts = texts.into_iter().map(|(role, text)| {
        // A line within a JSON text is none of the file.
        let template = Template::parse(&text).map_err(|error| fail(error.message))?;
        Ok(Part { role, template })
    });
    let parts = parts.collect::<Result<_, Problem>>()?;
    Ok(Prompt { name, description, arguments: arguments.unwrap_or_default(), parts })
}

fn check_arguments(arguments: &[Argument]) -> Result<(), String> {
    let mut seen = BTreeSet::new();
    for argument in arguments {
        if argument.name.is_empty() || !seen.insert(&argument.name) {
            let name = one_line(&argument.name);
            return Err(format!("argument `{name}` is empty or there twice"));
        }
    }
    Ok(())
}

fn undeclared(prompt: &Prompt) -> BTreeSet<&str> {
    let used = prompt.parts.iter().flat_map(|part| part.template.names());
    used.filter(|used| !prompt.takes(used)).collect()
}

/// The parser's words, without the position, which stands before them already.
fn json_message(error: &serde_json::Error) -> String {
    let message = error.to_string();
    let end = message.rfind(" at line ").unwrap_or(message.len());
    one_line(message.get(..end).unwrap_or(&message)).replace("expected usize", "expected a number")
}

fn line_count(text: &str) -> u32 {
    u32::try_from(text.lines().count()).unwrap_or(u32::MAX)
}
