//! Following the files: what changes on disk changes what is served, and clients are told.

use std::io;
use std::sync::Arc;

use rutter_base::failure::Problem;
use rutter_base::watch::{Mode, Watch};
use rutter_process::workflow::{Difference, Snapshot, Workflow};

use super::{App, toolbox, workflow};
use crate::changes::{Change, Notice};
use crate::module::ModuleId;

/// What the files of a workflow end in.
const WORKFLOW_FILES: &[&str] = &["md", "yaml", "yml", "json"];

impl App {
    /// Watches all files and announces what changes, until the returned value is dropped.
    pub fn watch(self: &Arc<Self>, mode: Mode) -> io::Result<Vec<Watch>> {
        let mut watches = self.watch_library(mode)?;
        watches.extend(self.watch_skills(mode)?);
        watches.extend(self.watch_process(mode)?);
        let Some(workflow) = self.following() else { return Ok(watches) };
        for folder in workflow.folders() {
            let app = Arc::clone(self);
            watches.extend(Watch::start(&folder, WORKFLOW_FILES, mode, move || {
                app.reload_workflow();
            })?);
        }
        // Asking for it works whatever the mode: that is what it is for.
        let app = Arc::clone(self);
        let (folder, file) = workflow.store().reload_request();
        watches.extend(Watch::file(&folder, file, Mode::Poll, move || app.reload())?);
        Ok(watches)
    }

    fn watch_library(self: &Arc<Self>, mode: Mode) -> io::Result<Vec<Watch>> {
        let Some(library) = &self.parts.library else { return Ok(Vec::new()) };
        let app = Arc::clone(self);
        library.watch(mode, move |difference| app.announce_content(difference))
    }

    fn watch_skills(self: &Arc<Self>, mode: Mode) -> io::Result<Vec<Watch>> {
        let Some(skills) = &self.parts.skills else { return Ok(Vec::new()) };
        let app = Arc::clone(self);
        skills.watch(mode, move |difference| {
            app.metrics().reloaded("skills");
            app.log_problems();
            if difference.listed {
                app.changes().announce(Change::Resources);
            }
            for uri in difference.updated {
                app.changes().announce(Change::Resource(uri));
            }
        })
    }

    /// The manifest of a process shapes the schemas of its tools.
    fn watch_process(self: &Arc<Self>, mode: Mode) -> io::Result<Option<Watch>> {
        let guide = self.parts.guide.as_ref();
        let Some((folder, file)) = guide.and_then(|guide| guide.manifest_file()) else {
            return Ok(None);
        };
        let app = Arc::clone(self);
        Watch::file(folder, file, mode, move || {
            tracing::info!(
                event = "process_reloaded",
                "the manifest of the process changed on disk"
            );
            app.metrics().reloaded("process");
            app.log_problems();
            app.refill_toolbox();
            app.changes().announce(Change::Tools);
        })
    }

    fn announce_content(&self, difference: rutter_library::Difference) {
        let catalog = self.parts.library.as_ref().map(|library| library.catalog());
        let skipped = catalog.as_ref().map_or(0, |catalog| catalog.skipped());
        let updated = difference.updated.len();
        self.metrics().reloaded("documents");
        tracing::info!(event = "content_reloaded", updated, skipped, "content changed on disk");
        self.log_problems();
        if difference.documents {
            self.changes().announce(Change::Resources);
        }
        if difference.prompts {
            self.changes().announce(Change::Prompts);
        }
        for uri in difference.updated {
            self.changes().announce(Change::Resource(uri));
        }
        let text = format!(
            "content changed on disk: {updated} documents updated, {skipped} files skipped"
        );
        self.changes().announce(Change::Notice(Notice { warning: skipped > 0, text }));
    }

    /// Reads all files again, because someone asked for it.
    pub fn reload(&self) {
        tracing::info!(event = "reload", "all files are read again");
        if let Some(library) = self.parts.library.as_ref().filter(|library| !library.is_immutable())
        {
            let difference = library.reload();
            if difference.documents || difference.prompts || !difference.updated.is_empty() {
                self.announce_content(difference);
            }
        }
        self.reload_workflow();
    }

    /// The workflow, if its files can change.
    fn following(&self) -> Option<&Arc<Workflow>> {
        self.parts.workflow.as_ref().filter(|workflow| !workflow.is_immutable())
    }

    fn reload_workflow(&self) {
        let Some(workflow) = self.following() else { return };
        match workflow.reload(|next| self.admit(next)) {
            Ok(difference) if difference.is_empty() => {}
            Ok(difference) => self.announce_workflow(workflow, &difference),
            Err(problem) => {
                let text = format!("the workflow was not reloaded: {problem}");
                self.changes().announce(Change::Notice(Notice { warning: true, text }));
            }
        }
        self.log_problems();
    }

    /// A prompt whose name another tool has is not taken over.
    fn admit(&self, next: &Snapshot) -> Result<(), Problem> {
        let others = self.modules().iter().filter(|module| module.id() != ModuleId::Workflow);
        let made = others.flat_map(|module| module.tools());
        let taken: Vec<_> = toolbox::declared(self.modules()).chain(made).collect();
        for prompt in &next.prompts {
            if let Some(other) = taken.iter().find(|entry| entry.name() == prompt.id) {
                let message = format!(
                    "the prompt `{}` has the name of a tool of the module `{}`; rename it",
                    prompt.id,
                    other.module().as_str()
                );
                return Err(Problem::error(prompt.file(), message));
            }
        }
        Ok(())
    }

    fn announce_workflow(&self, workflow: &Workflow, difference: &Difference) {
        let snapshot = workflow.snapshot();
        let (prompts, updated) = (snapshot.prompts.len(), difference.updated.len());
        self.metrics().reloaded("workflow");
        tracing::info!(
            event = "workflow_reloaded",
            prompts,
            updated,
            "the workflow changed on disk"
        );
        if difference.prompts {
            self.refill_toolbox();
            self.changes().announce(Change::Tools);
            self.changes().announce(Change::Resources);
        }
        for prompt in difference.updated.iter().filter_map(|&place| snapshot.prompts.get(place)) {
            if let Some(uri) = workflow::uri(workflow, prompt) {
                self.changes().announce(Change::Resource(uri));
            }
        }
        let text = format!("the workflow changed on disk: {prompts} prompts");
        self.changes().announce(Change::Notice(Notice { warning: false, text }));
    }
}
