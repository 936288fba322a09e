//! How work is done here: stages, artifacts, prompts and checks, named by a manifest.
//!
//! Everything is read when it is asked for, so an answer is never older than the file. What
//! this module is about it only reads: nothing here opens a file for writing.

mod checklist;
mod error;
mod files;
mod health;
mod knowledge;
mod manifest;
mod project;
mod readiness;
mod registry;
mod scaffold;
mod structure;
mod table;
mod types;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use rutter_base::failure::{Problem, Report};
use rutter_base::root::{ReadError, RelativePath, Root, Stamp};
use rutter_base::text;

pub use checklist::{Check, Checklist, Outcome};
pub use error::GuideError;
pub use knowledge::{Article, Articles};
pub use manifest::{Manifest, OneOf, Stage};
pub use project::Project;
pub use registry::{Capabilities, Capability, Question};
pub use scaffold::File as Starter;

use knowledge::Shelf;
use registry::Kept;

/// A process: the manifest, and the folders with the files that it names.
#[derive(Debug)]
pub struct Guide {
    root: Root,
    registry: Option<Root>,
    /// The knowledge base, where it is not a folder below the root.
    knowledge: Option<Root>,
    manifest: RwLock<Option<Loaded>>,
    shelf: Mutex<Shelf>,
    kept: Kept,
}

/// The manifest, and the state of the file that it was read from.
#[derive(Debug, Clone)]
struct Loaded {
    manifest: Arc<Manifest>,
    stamp: Option<Stamp>,
}

impl Guide {
    /// Reads the manifest of a folder. A folder without one follows the built-in process, whose
    /// files are named as the specification names them.
    pub fn open(root: Root) -> Result<Self, Problem> {
        let guide = Self::deferred(root);
        guide.load()?;
        Ok(guide)
    }

    /// Reads the manifest when it is first asked for: for files that are known to be good.
    pub fn deferred(root: Root) -> Self {
        Self {
            root,
            registry: None,
            knowledge: None,
            manifest: RwLock::default(),
            shelf: Mutex::default(),
            kept: Kept::default(),
        }
    }

    /// With the folder of a capabilities registry.
    #[must_use]
    pub fn with_registry(mut self, registry: Option<Root>) -> Self {
        self.registry = registry;
        self
    }

    /// With a knowledge base that is elsewhere than the manifest says.
    #[must_use]
    pub fn with_knowledge(mut self, knowledge: Root) -> Self {
        self.knowledge = Some(knowledge);
        self
    }

    /// Whether nothing can change while the process lives.
    pub fn is_immutable(&self) -> bool {
        self.root.is_immutable() && self.registry.as_ref().is_none_or(Root::is_immutable)
    }

    /// The folder and the file of the manifest, to be watched; `None` if it cannot change.
    pub fn manifest_file(&self) -> Option<(&Path, &'static str)> {
        self.root.path().map(|folder| (folder, manifest::FILE))
    }

    /// The manifest as it is now. One that broke while the server runs stays as it was before.
    pub fn manifest(&self) -> Arc<Manifest> {
        self.load().unwrap_or_else(|_| {
            let kept = self.manifest.read().unwrap_or_else(PoisonError::into_inner);
            kept.as_ref().map_or_else(
                || Arc::new(Manifest::built_in().clone()),
                |loaded| Arc::clone(&loaded.manifest),
            )
        })
    }

    fn load(&self) -> Result<Arc<Manifest>, Problem> {
        let path = files::path(manifest::FILE)?;
        let kept = self.manifest.read().unwrap_or_else(PoisonError::into_inner).clone();
        if let Some(loaded) = kept
            && (self.root.is_immutable() || self.root.stamp(&path).ok() == loaded.stamp)
        {
            return Ok(loaded.manifest);
        }
        let (manifest, stamp) = match self.root.read(&path, files::MAX) {
            Err(ReadError::NotFound) => (Manifest::built_in().clone(), None),
            Err(error) => return Err(Problem::error(manifest::FILE, files::plain(&error))),
            Ok(contents) => {
                let stamp = contents.stamp;
                let text = contents
                    .into_text()
                    .map_err(|error| Problem::error(manifest::FILE, error.to_string()))?;
                (Manifest::parse(&text)?, Some(stamp))
            }
        };
        let manifest = Arc::new(manifest);
        let loaded = Loaded { manifest: Arc::clone(&manifest), stamp };
        *self.manifest.write().unwrap_or_else(PoisonError::into_inner) = Some(loaded);
        Ok(manifest)
    }

    /// The stages that there are, in the order of the process.
    pub fn stages(&self) -> Vec<Stage> {
        let manifest = self.manifest();
        let there = |stage: &&Stage| !stage.optional || self.finds(&stage.file);
        manifest.stages.iter().filter(there).cloned().collect()
    }

    /// The names of the stages that there are.
    pub fn stage_names(&self) -> Vec<String> {
        self.stages().into_iter().map(|stage| stage.id).collect()
    }

    /// The specification of a stage.
    pub fn stage(&self, name: &str) -> Result<String, GuideError> {
        let manifest = self.manifest();
        let stage = manifest.stages.iter().find(|stage| is(&stage.id, name));
        match stage {
            Some(stage) if !stage.optional || self.finds(&stage.file) => self.text(&stage.file),
            other => Err(GuideError::UnknownStage {
                stage: shown(name),
                known: self.stage_names(),
                note: other.and_then(|stage| stage.absent.clone()),
            }),
        }
    }

    /// The specification of an artifact.
    pub fn artifact(&self, name: &str) -> Result<String, GuideError> {
        self.named("artifact", &self.manifest().artifacts, name)
    }

    /// The specification of context files at a level.
    pub fn context(&self, level: &str) -> Result<String, GuideError> {
        self.named("level", &self.manifest().contexts, level)
    }

    /// The rules about rules.
    pub fn rules(&self) -> Result<String, GuideError> {
        self.text(&self.manifest().rules)
    }

    fn named(
        &self,
        what: &'static str,
        all: &[manifest::Named],
        name: &str,
    ) -> Result<String, GuideError> {
        let Some(found) = all.iter().find(|one| is(&one.id, name)) else {
            let known = all.iter().map(|one| one.id.clone()).collect();
            return Err(GuideError::Unknown { what, name: shown(name), known });
        };
        self.text(&found.file)
    }

    /// A template to begin an artifact with. The type of project chooses among variants, and is
    /// ignored where there are none.
    pub fn stub(&self, name: &str, project_type: Option<&str>) -> Result<String, GuideError> {
        let manifest = self.manifest();
        let Some(stub) = manifest.stubs.iter().find(|stub| is(&stub.id, name)) else {
            let known = manifest.stubs.iter().map(|stub| stub.id.clone()).collect();
            return Err(GuideError::Unknown { what: "stub", name: shown(name), known });
        };
        if let Some(file) = &stub.file {
            return self.text(file);
        }
        match (project_type, stub.variants.first()) {
            (None, Some(default)) => self.text(&default.file),
            (wanted, _) => self.named("project type", &stub.variants, wanted.unwrap_or_default()),
        }
    }

    /// The prompt of a review.
    pub fn review(&self, stage: &str, phase: &str) -> Result<String, GuideError> {
        let manifest = self.manifest();
        let there = |review: &&manifest::Review| !review.optional || self.finds(&review.file);
        let reviews: Vec<_> = manifest.reviews.iter().filter(there).collect();
        let of_stage: Vec<_> = reviews.iter().filter(|review| is(&review.stage, stage)).collect();
        if of_stage.is_empty() {
            let note = manifest.stages.iter().find(|known| is(&known.id, stage));
            return Err(GuideError::UnknownStage {
                stage: shown(stage),
                known: distinct(reviews.iter().map(|review| review.stage.as_str())),
                note: note.and_then(|stage| stage.absent.clone()),
            });
        }
        let Some(found) = of_stage.iter().find(|review| is(&review.phase, phase)) else {
            let known = distinct(of_stage.iter().map(|review| review.phase.as_str()));
            return Err(GuideError::Unknown { what: "review phase", name: shown(phase), known });
        };
        self.text(&found.file)
    }

    /// The stages and the phases that have a review.
    pub fn reviews(&self) -> (Vec<String>, Vec<String>) {
        let manifest = self.manifest();
        let there = |review: &&manifest::Review| !review.optional || self.finds(&review.file);
        let reviews: Vec<_> = manifest.reviews.iter().filter(there).collect();
        (
            distinct(reviews.iter().map(|review| review.stage.as_str())),
            distinct(reviews.iter().map(|review| review.phase.as_str())),
        )
    }

    /// The names of the transitions that there are.
    pub fn transitions(&self) -> Vec<String> {
        let manifest = self.manifest();
        let there = |step: &&manifest::Transition| {
            !step.optional || files::transition(&self.root, step).is_some()
        };
        manifest.transitions.iter().filter(there).map(|step| step.id.clone()).collect()
    }

    /// The prompt of a transition.
    pub fn transition(&self, name: &str) -> Result<String, GuideError> {
        let manifest = self.manifest();
        let step = self.step(&manifest, name)?;
        let file = files::transition(&self.root, step).unwrap_or_else(|| step.file.clone());
        self.text(&file)
    }

    fn step<'a>(
        &self,
        manifest: &'a Manifest,
        name: &str,
    ) -> Result<&'a manifest::Transition, GuideError> {
        let known = self.transitions();
        let step = manifest.transitions.iter().find(|step| is(&step.id, name));
        step.filter(|step| known.contains(&step.id)).ok_or_else(|| GuideError::Unknown {
            what: "transition",
            name: shown(name),
            known,
        })
    }

    /// What is wrong with the files that the manifest names.
    pub fn problems(&self) -> Vec<Problem> {
        let manifest = match self.load() {
            Ok(manifest) => manifest,
            Err(problem) => return vec![problem],
        };
        let mut named: BTreeMap<&str, bool> = BTreeMap::new();
        let mut name = |file, optional| {
            named.entry(file).and_modify(|known| *known &= optional).or_insert(optional);
        };
        manifest.stages.iter().for_each(|stage| name(&stage.file, stage.optional));
        manifest.reviews.iter().for_each(|review| name(&review.file, review.optional));
        for one in manifest.artifacts.iter().chain(&manifest.contexts) {
            name(&one.file, false);
        }
        for stub in &manifest.stubs {
            stub.file.iter().for_each(|file| name(file, false));
            stub.variants.iter().for_each(|variant| name(&variant.file, false));
        }
        name(&manifest.rules, false);
        name(&manifest.project_types.file, false);
        let steps = manifest.transitions.iter().filter(|step| !step.optional);
        let steps = steps.filter_map(|step| self.transition(&step.id).err());
        let files = named.into_iter().filter(|(file, optional)| !optional || self.finds(file));
        let files = files.filter_map(|(file, _)| self.text(file).err());
        files
            .chain(steps)
            .map(|error| Problem::error(manifest::FILE, Report::from(error).to_string()))
            .collect()
    }

    /// Whether a file is there, under the name of either generation.
    fn finds(&self, file: &str) -> bool {
        files::find(&self.root, file).is_some()
    }

    /// A file of the process, as it is now.
    fn text(&self, file: &str) -> Result<String, GuideError> {
        files::text(&self.root, file)
    }
}

/// Whether a caller's word is a name of the manifest.
fn is(name: &str, word: &str) -> bool {
    name.eq_ignore_ascii_case(word.trim())
}

/// A caller's word as it may be repeated.
fn shown(word: &str) -> String {
    text::cap(text::one_line(word), 100)
}

/// Each name once, in order of first appearance.
fn distinct<'a>(names: impl Iterator<Item = &'a str>) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    for name in names {
        if !all.iter().any(|known| known == name) {
            all.push(name.to_owned());
        }
    }
    all
}

/// A path that is known to be one.
fn relative(path: &str) -> Option<RelativePath> {
    RelativePath::new(path).ok()
}

#[cfg(test)]
mod tests;
