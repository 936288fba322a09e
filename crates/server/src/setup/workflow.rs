//! Which workflow is served, and where its state is kept.

use std::path::Path;

use rutter_base::failure::{Kind, Problem, Report};
use rutter_base::root::{RelativePath, Root};
use rutter_process::workflow::{Gating, Key, Sources, Store, Workflow};
use serde_saphyr::Spanned;

use super::{Because, Draft, find};
use crate::config::Config;
use crate::pack;
use crate::settings::{Environment, Variable};

impl Draft {
    pub(super) fn workflow(
        &mut self,
        config: &Config,
        environment: &Environment,
    ) -> Result<Workflow, Report> {
        let broken = |problem: Problem| Report::new(Kind::Invalid, problem.to_string());
        let configured = config.workflow.as_ref();
        let gating = configured.map_or_else(Gating::default, |workflow| workflow.gating);
        let store = self.store(configured.and_then(|w| w.workspace.as_ref()), environment)?;
        let graph = configured.and_then(|workflow| workflow.graph.as_ref());
        let graph = graph.map(|path| self.open_file("workflow.graph", path)).transpose()?;
        if let Some(prompts) = configured.and_then(|workflow| workflow.prompts.as_ref()) {
            self.note("workflow", &prompts.value, Because::Configured);
            let (root, meta) = self.open_file("workflow.prompts", prompts)?;
            return Workflow::open(Sources { root, meta, graph }, gating, store)
                .map_err(|problem| self.at("workflow.prompts", prompts, problem));
        }
        if let Some((root, meta)) = find::workflow(&self.folder) {
            self.note("workflow", find::WORKFLOW, Because::Found);
            let sources = Sources { root, meta, graph };
            return Workflow::open(sources, gating, store).map_err(broken);
        }
        self.note("workflow", "embedded pack", Because::Default);
        let meta = RelativePath::new(find::META)
            .map_err(|error| Report::new(Kind::Internal, error.to_string()))?;
        let named = graph.is_some();
        let sources = Sources { root: pack::part("workflow"), meta, graph };
        if named {
            // Another graph over the embedded prompts has not been tested.
            return Workflow::open(sources, gating, store).map_err(broken);
        }
        Ok(Workflow::deferred(sources, gating, store))
    }

    /// Where the workflow's state is kept; nothing is opened yet.
    fn store(
        &self,
        workspace: Option<&Spanned<String>>,
        environment: &Environment,
    ) -> Result<Store, Report> {
        let workspace = match workspace {
            Some(path) => {
                self.open("workflow.workspace", path)?;
                self.resolve(&path.value)
            }
            None => self.folder.clone(),
        };
        Ok(Store::new(workspace, state_key(environment, &self.folder)?))
    }

    /// A file that the configuration names: its folder, and its name there.
    fn open_file(&self, key: &str, path: &Spanned<String>) -> Result<(Root, RelativePath), Report> {
        let resolved = self.resolve(&path.value);
        let file = resolved.file_name().and_then(|name| RelativePath::new(name.to_str()?).ok());
        let root = resolved.parent().and_then(|folder| Root::open(folder).ok());
        root.zip(file).ok_or_else(|| self.at(key, path, "there is no such file"))
    }
}

/// The key that the state is encrypted with, if there is one.
fn state_key(environment: &Environment, folder: &Path) -> Result<Option<Key>, Report> {
    let text = environment.secret(Variable::STATE_KEY, Variable::STATE_KEY_FILE, folder)?;
    let wrong =
        |error| Report::new(Kind::Invalid, format!("{}: {error}", Variable::STATE_KEY.name));
    text.map(|text| Key::new(&text).map_err(wrong)).transpose()
}
