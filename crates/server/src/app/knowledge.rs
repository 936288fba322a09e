//! The library as a module: documents as resources, prompts as prompts.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use chrono::{DateTime, Utc};
use rmcp::model::{
    Annotations, GetPromptRequestParams, GetPromptResponse, GetPromptResult, Prompt,
    PromptArgument, PromptMessage, ReadResourceResult, Reference, Resource, ResourceContents,
    ResourceTemplate, Role,
};
use rutter_base::failure::{Kind, Problem, Report};
use rutter_base::text;
use rutter_library::{Layout, Library, Scheme, Uri};
use serde_json::Value;

use crate::module::{Completion, Module, ModuleId, Reader};

const MARKDOWN: &str = "text/markdown";

/// The template of documents of named sources.
const ACDC: &str = "acdc://{source}/{+path}";
/// The template of architecture documents.
const ARCHITECTURE: &str = "architecture://{folder}/{+path}";

#[derive(Debug)]
pub(super) struct Knowledge(pub(super) Arc<Library>);

impl Module for Knowledge {
    fn id(&self) -> ModuleId {
        ModuleId::Knowledge
    }

    fn summary(&self) -> String {
        let catalog = self.0.catalog();
        let names = text::listed(self.0.sources().iter().map(|source| source.name.as_str()));
        format!(
            "{} documents and {} prompts from {names}",
            catalog.documents().count(),
            catalog.prompts().count()
        )
    }

    fn problems(&self) -> Vec<Problem> {
        self.0.catalog().problems().to_vec()
    }

    fn review(&self) -> Vec<Problem> {
        self.0.catalog().review()
    }

    fn is_immutable(&self) -> bool {
        self.0.is_immutable()
    }

    fn resources(&self, _: &Reader) -> Vec<Resource> {
        let catalog = self.0.catalog();
        let listed = catalog.documents().map(|entry| {
            let resource = Resource::new(entry.uri.to_string(), &entry.name)
                .with_title(&entry.name)
                .with_description(&entry.description)
                .with_mime_type(MARKDOWN)
                // Of the file: reading rewrites links, so this is approximate.
                .with_size(entry.size);
            match entry.stamp.modified() {
                Some(time) => resource.with_annotations(
                    Annotations::default().with_timestamp(DateTime::<Utc>::from(time)),
                ),
                None => resource,
            }
        });
        listed.collect()
    }

    fn templates(&self) -> Vec<ResourceTemplate> {
        let has = |architecture| {
            self.0
                .sources()
                .iter()
                .any(|source| (source.layout == Layout::Architecture) == architecture)
        };
        let mut templates = Vec::new();
        if has(false) {
            templates.push(
                ResourceTemplate::new(ACDC, "document")
                    .with_title("Document of a source")
                    .with_description("A Markdown document, by its source and its path without .md")
                    .with_mime_type(MARKDOWN),
            );
        }
        if has(true) {
            templates.push(
                ResourceTemplate::new(ARCHITECTURE, "architecture")
                    .with_title("Architecture document")
                    .with_description(
                        "A guideline, pattern or decision record, by its folder and its name",
                    )
                    .with_mime_type(MARKDOWN),
            );
        }
        templates
    }

    fn read(&self, uri: &str, reader: &Reader) -> Option<Result<ReadResourceResult, Report>> {
        Uri::parse(uri).ok()?;
        let body = self.0.catalog().read(uri).map_err(Report::from);
        Some(body.map(|body| {
            let text = text::cap(body.text, reader.limit);
            let contents = ResourceContents::text(text, body.uri).with_mime_type(MARKDOWN);
            ReadResourceResult::new(vec![contents])
        }))
    }

    fn prompts(&self) -> Vec<Prompt> {
        let catalog = self.0.catalog();
        let listed = catalog.prompts().map(|prompt| {
            let arguments = prompt.arguments.iter().map(|argument| {
                let listed = PromptArgument::new(&argument.name).with_required(argument.required);
                match &argument.description {
                    Some(description) => listed.with_description(description),
                    None => listed,
                }
            });
            let arguments: Vec<PromptArgument> = arguments.collect();
            Prompt::new(
                &prompt.name,
                prompt.description.clone(),
                Some(arguments).filter(|list| !list.is_empty()),
            )
        });
        listed.collect()
    }

    fn prompt(
        &self,
        params: &GetPromptRequestParams,
        limit: usize,
    ) -> Option<Result<GetPromptResponse, Report>> {
        let catalog = self.0.catalog();
        let prompt = catalog.prompt(&params.name)?;
        let mut values = BTreeMap::new();
        for (name, value) in params.arguments.iter().flatten() {
            let Value::String(value) = value else {
                let place = text::one_line(name);
                return Some(Err(Report::new(Kind::Invalid, format!("/{place}: expected string"))));
            };
            values.insert(name.clone(), value.clone());
        }
        let messages = match prompt.render(&values, &catalog, limit) {
            Ok(messages) => messages,
            Err(error) => return Some(Err(error.into())),
        };
        let messages = messages.into_iter().map(|message| {
            let role = match message.role {
                rutter_library::Role::User => Role::User,
                rutter_library::Role::Assistant => Role::Assistant,
            };
            PromptMessage::new_text(role, message.text)
        });
        let mut result = GetPromptResult::new(messages.collect());
        result.description.clone_from(&prompt.description);
        Some(Ok(result.into()))
    }

    fn complete(&self, question: &Completion<'_>) -> Option<Vec<String>> {
        let catalog = self.0.catalog();
        let reference = match question.reference {
            Reference::Resource(reference) => reference,
            Reference::Prompt(reference) => {
                let mut arguments = catalog.prompt(&reference.name)?.arguments.iter();
                let argument = arguments.find(|argument| argument.name == question.argument)?;
                return Some(argument.values.clone());
            }
            _ => return None,
        };
        let scheme = match reference.uri.as_str() {
            ACDC => Scheme::Acdc,
            ARCHITECTURE => Scheme::Architecture,
            _ => return None,
        };
        let uris = catalog.documents().map(|entry| &entry.uri).filter(|uri| uri.scheme == scheme);
        let values: BTreeSet<String> = match question.argument {
            "source" | "folder" => uris.map(|uri| uri.source.clone()).collect(),
            "path" => {
                let chosen = question.known.get("source").or_else(|| question.known.get("folder"));
                uris.filter(|uri| chosen.is_none_or(|source| uri.source == **source))
                    .map(|uri| uri.path.to_string())
                    .collect()
            }
            _ => return None,
        };
        Some(values.into_iter().collect())
    }
}
