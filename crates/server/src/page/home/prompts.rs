//! The prompts that the caller may use.

use std::sync::Arc;

use rutter_base::text;

use crate::app::blocking;
use crate::page::visit::Visit;
use crate::scope::Subject;

pub(super) struct Prompt {
    pub(super) name: String,
    pub(super) description: String,
    pub(super) arguments: Vec<Argument>,
}

pub(super) struct Argument {
    pub(super) name: String,
    pub(super) required: bool,
}

pub(super) async fn of(visit: &Visit) -> Vec<Prompt> {
    let (app, scope) = (Arc::clone(&visit.app), Arc::clone(visit.scope()));
    let immutable = app.is_immutable();
    let listed = blocking(immutable, move || {
        let mut listed = Vec::new();
        for module in app.modules() {
            let visible = module.prompts().into_iter().filter(|prompt| {
                scope.admits(Subject::Prompt { name: &prompt.name, module: module.id() })
            });
            listed.extend(visible.map(prompt));
        }
        listed
    });
    listed.await.unwrap_or_default()
}

fn prompt(prompt: rmcp::model::Prompt) -> Prompt {
    let arguments = prompt.arguments.into_iter().flatten().map(|argument| Argument {
        required: argument.required.unwrap_or_default(),
        name: argument.name,
    });
    Prompt {
        name: prompt.name,
        description: text::one_line(&prompt.description.unwrap_or_default()),
        arguments: arguments.collect(),
    }
}
