//! The manifest: what a process consists of, and which file each part is.
//!
//! The built-in one is a data file. A root's own `process.yaml` gives the sections in which it
//! differs; the others stay as they are.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use rutter_base::failure::Problem;
use rutter_base::text;
use rutter_base::yaml;
use serde::Deserialize;

/// The name of a root's own manifest.
pub(super) const FILE: &str = "process.yaml";
/// The shape of manifests that this program reads.
const VERSION: u32 = 1;

static BUILT_IN: LazyLock<Manifest> = LazyLock::new(|| {
    yaml::parse::<Written>(include_str!("built-in.yaml"))
        .ok()
        .and_then(Written::whole)
        .expect("the built-in manifest is whole: a test reads it")
});

macro_rules! sections {
    ($($(#[$doc:meta])* $name:ident: $type:ty,)*) => {
        /// What a process consists of.
        #[derive(Debug, Clone, PartialEq, Eq)]
        pub struct Manifest {
            $($(#[$doc])* pub $name: $type,)*
        }

        /// What a file says: a section that it leaves out is the built-in one.
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Written {
            #[serde(default)]
            version: Option<u32>,
            $(#[serde(default)] $name: Option<$type>,)*
        }

        impl Written {
            fn whole(self) -> Option<Manifest> {
                Some(Manifest { $($name: self.$name?,)* })
            }

            fn over(self, base: &Manifest) -> Manifest {
                Manifest { $($name: self.$name.unwrap_or_else(|| base.$name.clone()),)* }
            }
        }
    };
}

sections! {
    /// The stages, in order.
    stages: Vec<Stage>,
    /// The specification of each kind of artifact.
    artifacts: Vec<Named>,
    /// Templates to begin an artifact with.
    stubs: Vec<Stub>,
    /// The prompt of each review.
    reviews: Vec<Review>,
    /// The steps from stage to stage.
    transitions: Vec<Transition>,
    /// The file with the rules about rules.
    rules: String,
    /// The specification of context files, by level.
    contexts: Vec<Named>,
    /// What projects can be.
    project_types: ProjectTypes,
    /// What a project must have; a folder ends in `/`.
    structure: Vec<String>,
    /// The documents of a project, where they are, and what must be in them.
    documents: Vec<Document>,
    /// What is made where it is missing.
    scaffold: Vec<Starter>,
    /// The folder with the knowledge base.
    knowledge: String,
}

/// A stage of the process.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Stage {
    /// What a caller names it by.
    pub id: String,
    /// What a person names it by.
    #[serde(default)]
    pub title: Option<String>,
    /// The file with its specification.
    pub file: String,
    /// What it is for.
    #[serde(default)]
    pub summary: Option<String>,
    /// Whether it is a stage only where its file is there.
    #[serde(default)]
    pub optional: bool,
    /// What to say to a caller who asks for it where it is not there.
    #[serde(default)]
    pub absent: Option<String>,
}

/// A file with a name.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Named {
    /// What a caller names it by.
    pub id: String,
    /// The file.
    pub file: String,
}

/// A template to begin an artifact with: one file, or one for each type of project.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Stub {
    /// What a caller names it by.
    pub id: String,
    /// The file.
    #[serde(default)]
    pub file: Option<String>,
    /// The file of each type; the first is the default.
    #[serde(default)]
    pub variants: Vec<Named>,
}

/// The prompt of a review.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Review {
    /// The stage whose outcome is reviewed.
    pub stage: String,
    /// Which review of the stage.
    pub phase: String,
    /// The prompt.
    pub file: String,
    /// Whether there is such a review only where its file is there.
    #[serde(default)]
    pub optional: bool,
}

/// The step from one stage to the next.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Transition {
    /// What a caller names it by.
    pub id: String,
    /// The stage that ends.
    pub from: String,
    /// The stage that begins.
    pub to: String,
    /// The prompt.
    pub file: String,
    /// Whether there is such a step only where its file is there.
    #[serde(default)]
    pub optional: bool,
    /// What must hold before.
    #[serde(default)]
    pub prerequisites: Vec<Prerequisite>,
}

/// What must hold before a transition.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase", deny_unknown_fields)]
pub enum Prerequisite {
    /// The project is in this stage.
    Stage(String),
    /// The phase that the project is in has come this far.
    Phase(String),
    /// A document says that it has this status.
    Document(DocumentStatus),
    /// A document's issue log has nothing open at these levels.
    Issues(IssueRule),
}

impl Prerequisite {
    /// The document that it looks into, other than the status.
    pub fn document(&self) -> Option<&str> {
        match self {
            Self::Document(rule) => Some(&rule.id),
            Self::Issues(rule) => Some(&rule.document),
            Self::Stage(_) | Self::Phase(_) => None,
        }
    }
}

/// The status that a document must have.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DocumentStatus {
    /// The document.
    pub id: String,
    /// What its frontmatter must say.
    pub status: String,
}

/// What must not be open in an issue log.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct IssueRule {
    /// The document that has the log.
    pub document: String,
    /// The levels that count.
    pub none_open: Vec<String>,
}

/// What projects can be.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProjectTypes {
    /// The file that describes them.
    pub file: String,
    /// The types.
    pub types: Vec<String>,
    /// For how many.
    #[serde(default)]
    pub scales: Vec<OneOf>,
    /// How much at first.
    #[serde(default)]
    pub scopes: Vec<OneOf>,
}

/// One text, or several of which one is enough.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(untagged)]
pub enum OneOf {
    /// The only one.
    One(String),
    /// Any of these.
    Any(Vec<String>),
}

impl OneOf {
    /// All that will do.
    pub fn all(&self) -> &[String] {
        match self {
            Self::One(one) => std::slice::from_ref(one),
            Self::Any(all) => all,
        }
    }

    /// For people.
    pub fn shown(&self) -> String {
        self.all().join(" or ")
    }
}

/// A document of a project.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Document {
    /// What the rest of the manifest names it by.
    pub id: String,
    /// Where it may be: the first that is there counts.
    pub paths: Vec<String>,
    /// What must be in it; nothing for a document that a project need not have.
    #[serde(default)]
    pub health: Option<Health>,
}

/// What must be in a document.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Health {
    /// Whether it must begin with valid frontmatter.
    #[serde(default)]
    pub frontmatter: bool,
    /// The sections that it must have.
    #[serde(default)]
    pub sections: Vec<OneOf>,
}

/// What is made where it is missing.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Starter {
    /// The file.
    pub path: String,
    /// The stub that it is made from.
    #[serde(default)]
    pub stub: Option<String>,
    /// The text that it is made of, where there is no stub.
    #[serde(default)]
    pub text: Option<String>,
}

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

    /// A document by its name in the manifest.
    pub fn document(&self, id: &str) -> Option<&Document> {
        self.documents.iter().find(|document| document.id == id)
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
