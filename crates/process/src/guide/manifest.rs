//! The manifest: what a process consists of, and which file each part is.
//!
//! The built-in one is a data file. A root's own `process.yaml` gives the sections in which it
//! differs; the others stay as they are.

mod read;

use serde::Deserialize;

/// The name of a root's own manifest.
pub(super) const FILE: &str = "process.yaml";

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
    /// A document by its name in the manifest.
    pub fn document(&self, id: &str) -> Option<&Document> {
        self.documents.iter().find(|document| document.id == id)
    }
}
