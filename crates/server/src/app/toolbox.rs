//! All tools of an [`App`](super::App), by name.

use std::collections::BTreeMap;
use std::sync::Arc;

use rutter_base::failure::{Kind, Report};

use crate::module::Module;
use crate::tool::Entry;
use crate::tools;

/// The tools, by name.
pub(super) type Toolbox = BTreeMap<String, Arc<Entry>>;

/// The table, and what the content of the modules makes. Two tools of one name are an error.
pub(super) fn build(modules: &[Arc<dyn Module>]) -> Result<Toolbox, Report> {
    let made = modules.iter().flat_map(|module| module.tools());
    let mut toolbox = Toolbox::new();
    for entry in declared(modules).chain(made) {
        if let Some(first) = toolbox.get(entry.name()) {
            return Err(clash(entry.name(), first, &entry));
        }
        toolbox.insert(entry.name().to_owned(), Arc::new(entry));
    }
    Ok(toolbox)
}

/// The tools of the table whose module is on.
pub(super) fn declared(modules: &[Arc<dyn Module>]) -> impl Iterator<Item = Entry> {
    let on = |entry: &Entry| modules.iter().any(|module| module.id() == entry.module());
    tools::table().into_iter().filter(on)
}

fn clash(name: &str, first: &Entry, second: &Entry) -> Report {
    let (one, other) = (first.module().as_str(), second.module().as_str());
    Report::new(
        Kind::Invalid,
        format!("two tools are called `{name}`: one of the module `{one}` and one of the module `{other}`"),
    )
    .hint("rename one of them")
}
