//! The tools that the caller may use, and what they cost.

use rutter_base::text;

use crate::cost::Cost;
use crate::module::ModuleId;
use crate::page::frame::{counted, number};
use crate::page::visit::Visit;
use crate::scope::Subject;

/// The tools of one module.
pub(super) struct Group {
    pub(super) module: &'static str,
    pub(super) about: &'static str,
    pub(super) tools: Vec<Tool>,
    pub(super) cost: Cost,
}

pub(super) struct Tool {
    pub(super) name: String,
    pub(super) description: String,
    pub(super) writes: bool,
    pub(super) cost: Cost,
}

impl Tool {
    pub(super) fn price(&self) -> String {
        price(self.cost)
    }
}

impl Group {
    pub(super) fn price(&self) -> String {
        price(self.cost)
    }

    pub(super) fn size(&self) -> String {
        counted(self.tools.len(), "tool")
    }
}

/// A cost in words.
pub(super) fn price(cost: Cost) -> String {
    format!("{} bytes, about {} tokens", number(cost.bytes), number(cost.tokens))
}

/// The longest description that is shown, in bytes.
const MAX_DESCRIPTION: usize = 300;

/// All of them, by module, in the order in which modules are shown.
pub(super) fn of(visit: &Visit) -> Vec<Group> {
    let entries = visit.app.tools(visit.scope());
    let groups = ModuleId::ALL.iter().filter_map(|&module| {
        let of_it = entries.iter().filter(|entry| entry.module() == module);
        let tools: Vec<Tool> = of_it
            .map(|entry| {
                let definition = entry.narrowed(&visit.app, visit.scope());
                let description = definition.description.as_deref().unwrap_or_default();
                Tool {
                    name: entry.name().to_owned(),
                    description: brief(description),
                    writes: matches!(entry.subject(), Subject::Tool { writes: true, .. }),
                    cost: Cost::of_definition(&definition),
                }
            })
            .collect();
        let cost = tools.iter().map(|tool| tool.cost).sum();
        let (module, about) = (module.as_str(), about(module));
        (!tools.is_empty()).then_some(Group { module, about, tools, cost })
    });
    groups.collect()
}

/// The first sentence, or what fits of it.
fn brief(description: &str) -> String {
    let sentence = text::first_sentence(description);
    let sentence = sentence.unwrap_or_else(|| text::one_line(description.trim()));
    text::cap(sentence, MAX_DESCRIPTION)
}

fn about(module: ModuleId) -> &'static str {
    match module {
        ModuleId::Knowledge => "What is known here",
        ModuleId::Process => "How work is done here",
        ModuleId::Workflow => "What can be done next",
        ModuleId::Board => "Where the work is recorded",
        ModuleId::Skills => "How to use all of it",
        #[cfg(feature = "conformance")]
        ModuleId::Conformance => "Fixtures of the conformance suite",
    }
}
