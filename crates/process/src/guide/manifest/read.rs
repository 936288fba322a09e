//! Reading a manifest, and whether it holds together.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use rutter_base::failure::Problem;
use rutter_base::{text, yaml};

use super::{FILE, Manifest, Prerequisite, Written};

/// The shape of manifests that this program reads.
const VERSION: u32 = 1;

static BUILT_IN: LazyLock<Manifest> = LazyLock::new(|| {
    yaml::parse::<Written>(include_str!("../built-in.yaml"))
        .ok()
        .and_then(Written::whole)
        .expect("the built-in manifest is whole: a test reads it")
});

impl Manifest {
    /// The process of the specification.
    pub fn built_in() -> &'static Self {
        &BUILT_IN
    }

    /// Reads a root's own manifest.
    pub fn parse(text: &str) -> Result<Self, Problem> {
        let written: Written = yaml::parse(text)
            .map_err(|error| Problem::error(FILE, error.message).at_line(error.line))?;
        if let Some(version) = written.version.filter(|version| *version != VERSION) {
            let message = format!("`version` is {version}, and this program reads {VERSION}");
            return Err(Problem::error(FILE, message));
        }
        let mut base = Self::built_in().clone();
        base.fit(&written);
        let manifest = written.over(&base);
        let stages = manifest.stages.iter().map(|stage| stage.id.clone()).collect();
        manifest.check(&stages).map_err(|message| Problem::error(FILE, message))?;
        Ok(manifest)
    }

    /// Leaves out what a file's own stages, stubs and documents take the ground from under:
    /// whoever renames the stages need not unname the reviews of the old ones.
    fn fit(&mut self, written: &Written) {
        if let Some(stages) = &written.stages {
            let has = |id: &str| stages.iter().any(|stage| stage.id == id);
            self.reviews.retain(|review| has(&review.stage));
            self.transitions.retain(|step| has(&step.from) && has(&step.to));
        }
        if let Some(stubs) = &written.stubs {
            let has = |id: &String| stubs.iter().any(|stub| stub.id == *id);
            self.scaffold.retain(|starter| starter.stub.as_ref().is_none_or(has));
        }
        if let Some(documents) = &written.documents {
            let has = |id: &str| documents.iter().any(|document| document.id == id);
            for step in &mut self.transitions {
                step.prerequisites.retain(|one| one.document().is_none_or(has));
            }
        }
    }

    /// Whether everything that names something else names something that is there.
    fn check(&self, stages: &BTreeSet<String>) -> Result<(), String> {
        unique("stages", self.stages.iter().map(|stage| stage.id.as_str()))?;
        unique("artifacts", self.artifacts.iter().map(|artifact| artifact.id.as_str()))?;
        unique("stubs", self.stubs.iter().map(|stub| stub.id.as_str()))?;
        unique("transitions", self.transitions.iter().map(|step| step.id.as_str()))?;
        unique("contexts", self.contexts.iter().map(|context| context.id.as_str()))?;
        unique("documents", self.documents.iter().map(|document| document.id.as_str()))?;
        let stage = |section: &str, id: &str| known(section, "stage", id, stages.iter());
        for review in &self.reviews {
            stage("reviews", &review.stage)?;
        }
        for step in &self.transitions {
            stage("transitions", &step.from)?;
            stage("transitions", &step.to)?;
            for document in step.prerequisites.iter().filter_map(Prerequisite::document) {
                let documents = self.documents.iter().map(|document| &document.id);
                known("transitions", "document", document, documents)?;
            }
        }
        for stub in &self.stubs {
            if stub.file.is_none() && stub.variants.is_empty() {
                return Err(format!("`stubs`: `{}` has neither a file nor variants", stub.id));
            }
        }
        for id in self.scaffold.iter().filter_map(|starter| starter.stub.as_ref()) {
            known("scaffold", "stub", id, self.stubs.iter().map(|stub| &stub.id))?;
        }
        Ok(())
    }
}

fn unique<'a>(section: &str, ids: impl Iterator<Item = &'a str>) -> Result<(), String> {
    let mut seen = BTreeSet::new();
    for id in ids {
        if !seen.insert(id) {
            return Err(format!("`{section}`: `{}` is there twice", text::one_line(id)));
        }
    }
    Ok(())
}

fn known<'a>(
    section: &str,
    what: &str,
    id: &str,
    mut all: impl Iterator<Item = &'a String>,
) -> Result<(), String> {
    if all.any(|known| known == id) {
        return Ok(());
    }
    Err(format!("`{section}`: there is no {what} `{}`", text::one_line(id)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_built_in_manifest_is_the_specified_one() {
        let manifest = Manifest::built_in();
        let stages: BTreeSet<String> = manifest.stages.iter().map(|s| s.id.clone()).collect();
        assert_eq!(manifest.check(&stages), Ok(()));
        let artifacts: Vec<_> = manifest.artifacts.iter().map(|a| a.id.as_str()).collect();
        assert_eq!(
            artifacts,
            [
                "brief",
                "intent",
                "status",
                "readme",
                "context",
                "rules",
                "design",
                "backlog",
                "folder_structure",
                "project_types",
                "stages",
                "review"
            ]
        );
        assert_eq!(manifest.structure.len(), 8);
    }

    #[test]
    fn a_section_of_ones_own_replaces_the_built_in_one() {
        let manifest = Manifest::parse(
            "version: 1\nstages:\n  - {id: ship, title: Ship, file: ship.md}\nrules: rules.md\n",
        )
        .unwrap();
        assert_eq!(manifest.stages.len(), 1);
        assert_eq!(manifest.rules, "rules.md");
        assert_eq!((manifest.reviews.len(), manifest.transitions.len()), (0, 0));
        assert_eq!(manifest.artifacts, Manifest::built_in().artifacts);
        assert_eq!(&Manifest::parse("version: 1\n").unwrap(), Manifest::built_in());
    }

    #[track_caller]
    fn refused(text: &str, message: &str) {
        assert_eq!(Manifest::parse(text).unwrap_err().message, message);
    }

    #[test]
    fn a_manifest_that_does_not_hold_together_is_refused() {
        refused("version: 2\n", "`version` is 2, and this program reads 1");
        refused(
            "stages: [{id: a, file: a.md}, {id: a, file: b.md}]\n",
            "`stages`: `a` is there twice",
        );
        refused(
            "reviews: [{stage: ship, phase: internal, file: a.md}]\n",
            "`reviews`: there is no stage `ship`",
        );
        refused("scaffold: [{path: a.md, stub: none}]\n", "`scaffold`: there is no stub `none`");
        refused("stubs: [{id: a}]\n", "`stubs`: `a` has neither a file nor variants");
        refused(
            "transitions:\n  - {id: a, from: discover, to: design, file: a.md, prerequisites: [{issues: {document: plan, none_open: [P1]}}]}\n",
            "`transitions`: there is no document `plan`",
        );
    }
}
