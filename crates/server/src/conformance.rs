//! The fixtures of the official conformance suite: tools, resources, prompts and completions
//! whose names and answers it prescribes.
//!
//! They are a [`Module`] on the product's own router, so that what the suite tests is what
//! ships. Only a binary that is built with the cargo feature `conformance` has them.

mod asking;
mod content;
mod input_required;
mod prompts;
mod resources;
mod round;
mod schemas;
mod telling;

use std::sync::Arc;

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, GetPromptRequestParams,
    GetPromptResponse, Prompt, ReadResourceResult, Resource, ResourceTemplate, Tool as Definition,
    ToolAnnotations,
};
use rutter_base::failure::Report;
use schemars::JsonSchema;
use serde::Deserialize;

use self::round::Seal;
use crate::module::{Completion, Module, ModuleId, Reader};
use crate::schema;
use crate::tool::{Call, CallError, Effect, Entry};

/// The suite's fixtures, as a module like any other.
#[derive(Debug, Default)]
pub(crate) struct Fixtures {
    seal: Arc<Seal>,
}

impl Module for Fixtures {
    fn id(&self) -> ModuleId {
        ModuleId::Conformance
    }

    fn summary(&self) -> String {
        "fixtures of the conformance suite".into()
    }

    fn is_immutable(&self) -> bool {
        true
    }

    fn tools(&self) -> Vec<Entry> {
        let mut tools = content::tools();
        tools.extend(telling::tools());
        tools.extend(asking::tools());
        tools.extend(input_required::tools(&self.seal));
        tools.extend(schemas::tools());
        tools
    }

    fn resources(&self, _: &Reader) -> Vec<Resource> {
        resources::listed()
    }

    fn templates(&self) -> Vec<ResourceTemplate> {
        resources::templates()
    }

    fn read(&self, uri: &str, _: &Reader) -> Option<Result<ReadResourceResult, Report>> {
        resources::read(uri).map(Ok)
    }

    fn prompts(&self) -> Vec<Prompt> {
        prompts::listed()
    }

    fn prompt(
        &self,
        params: &GetPromptRequestParams,
        _: usize,
    ) -> Option<Result<GetPromptResponse, Report>> {
        prompts::fill(params, &self.seal)
    }

    fn complete(&self, question: &Completion<'_>) -> Option<Vec<String>> {
        prompts::complete(question).or_else(|| resources::complete(question))
    }
}

/// What a call of a fixture gives.
type Outcome = Result<CallToolResponse, CallError>;

/// No arguments.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Nothing {}

/// A tool without arguments.
fn bare<W>(
    name: &'static str,
    description: &'static str,
    work: impl Fn(Call, CallToolRequestParams) -> W + Send + Sync + 'static,
) -> Entry
where
    W: Future<Output = Outcome> + Send + 'static,
{
    let define = move |_: &_| {
        Definition::new(name, description, Arc::new(schema::of::<Nothing>()))
            .with_annotations(ToolAnnotations::new().read_only(true).open_world(false))
    };
    Entry::new(name, ModuleId::Conformance, Effect::Reads, define, move |call, mut params| {
        let arguments = params.arguments.take().unwrap_or_default();
        match schema::arguments::<Nothing>(arguments) {
            Ok(Nothing {}) => Box::pin(work(call, params)),
            Err(reason) => Box::pin(std::future::ready(Err(CallError::Arguments(reason)))),
        }
    })
}

/// An answer that is one text.
fn text(text: impl Into<String>) -> CallToolResponse {
    CallToolResult::success(vec![ContentBlock::text(text)]).into()
}
