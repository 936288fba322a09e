//! The workflow as a module: a tool for every prompt.

use std::sync::Arc;

use rmcp::model::{
    CallToolResponse, CallToolResult, ContentBlock, JsonObject, Tool as Definition, ToolAnnotations,
};
use rutter_base::failure::{Kind, Problem, Report};
use rutter_process::workflow::{Prompt, Workflow};

use crate::module::{Module, ModuleId};
use crate::schema;
use crate::tool::{Effect, Entry};

#[derive(Debug)]
pub(super) struct Prompts(pub(super) Arc<Workflow>);

impl Module for Prompts {
    fn id(&self) -> ModuleId {
        ModuleId::Workflow
    }

    fn summary(&self) -> String {
        format!("{} prompts as tools", self.0.prompts().len())
    }

    fn problems(&self) -> Vec<Problem> {
        self.0.problems()
    }

    fn is_immutable(&self) -> bool {
        // The list of prompts is read once; their text is read anew at each call.
        true
    }

    fn tools(&self) -> Vec<Entry> {
        let entries = self.0.prompts().iter().enumerate().map(|(index, prompt)| {
            let workflow = Arc::clone(&self.0);
            let definition = definition(prompt);
            Entry::new(
                prompt.id.clone(),
                ModuleId::Workflow,
                Effect::Reads,
                move |_| definition.clone(),
                move |call, params| {
                    let workflow = Arc::clone(&workflow);
                    Box::pin(async move {
                        let limit = call.app.limits().payload;
                        let values = params.arguments.unwrap_or_default();
                        let immutable = workflow.is_immutable();
                        let work = move || match workflow.prompts().get(index) {
                            Some(prompt) => {
                                workflow.render(prompt, &values, limit).map_err(Report::from)
                            }
                            None => Err(Report::new(Kind::Internal, "internal error")),
                        };
                        let text = crate::app::blocking(immutable, work).await??;
                        Ok(CallToolResponse::from(CallToolResult::success(vec![
                            ContentBlock::text(text),
                        ])))
                    })
                },
            )
        });
        entries.collect()
    }
}

fn definition(prompt: &Prompt) -> Definition {
    let mut properties = JsonObject::new();
    for input in &prompt.inputs {
        properties.insert(input.name.clone(), input.schema());
    }
    let required =
        prompt.inputs.iter().filter(|input| input.required).map(|input| input.name.as_str().into());
    let input = schema::object(properties, required.collect());
    let description = prompt.description.clone().unwrap_or_else(|| prompt.title().to_owned());
    Definition::new(prompt.id.clone(), description, input)
        .with_title(prompt.title())
        .with_annotations(
            ToolAnnotations::with_title(prompt.title()).read_only(true).open_world(false),
        )
}
