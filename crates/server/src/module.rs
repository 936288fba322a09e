//! What a module offers besides the tools in the table: resources, templates, prompts,
//! completions, and tools that its content makes.

use std::collections::BTreeMap;
use std::sync::Arc;

use rmcp::model::{
    GetPromptRequestParams, GetPromptResponse, ReadResourceResult, Reference, Resource,
    ResourceTemplate,
};
use rutter_base::failure::{Problem, Report};

use crate::session::{Context, Session};
use crate::tool::Entry;

/// The parts of the product that can be on or off.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    serde::Serialize,
    serde::Deserialize,
    schemars::JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum ModuleId {
    /// Documents and prompts.
    Knowledge,
    /// How work is done here.
    Process,
    /// Prompts that follow each other.
    Workflow,
    /// Where the work is recorded.
    Board,
    /// How to use all of it, as Agent Skills.
    Skills,
    /// Fixtures of the conformance suite.
    #[cfg(feature = "conformance")]
    Conformance,
}

impl ModuleId {
    /// All of them, in the order in which they are shown.
    pub const ALL: &'static [Self] = &[
        Self::Knowledge,
        Self::Process,
        Self::Workflow,
        Self::Board,
        Self::Skills,
        #[cfg(feature = "conformance")]
        Self::Conformance,
    ];

    /// Its name for people.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Knowledge => "knowledge",
            Self::Process => "process",
            Self::Workflow => "workflow",
            Self::Board => "board",
            Self::Skills => "skills",
            #[cfg(feature = "conformance")]
            Self::Conformance => "conformance",
        }
    }
}

/// A part of the product that is on.
///
/// All methods may read files and are called where that may block. Listings are in a fixed
/// order. `None` from [`Module::read`], [`Module::prompt`] and [`Module::complete`] means that
/// the question is not for this module.
pub trait Module: Send + Sync + 'static {
    /// Which part it is.
    fn id(&self) -> ModuleId;

    /// What it serves, in one line for a person.
    fn summary(&self) -> String;

    /// What is wrong with its content.
    fn problems(&self) -> Vec<Problem> {
        Vec::new()
    }

    /// What else is wrong with it when every document is read, which may take a while.
    fn review(&self) -> Vec<Problem> {
        Vec::new()
    }

    /// Whether nothing of it can change while the process lives: such answers need no thread
    /// that may block, and clients may keep them.
    fn is_immutable(&self) -> bool {
        false
    }

    /// The tools that its content makes. Those that are always there are in the table.
    fn tools(&self) -> Vec<Entry> {
        Vec::new()
    }

    /// What a reader can list and read.
    fn resources(&self, reader: &Reader) -> Vec<Resource> {
        let _ = reader;
        Vec::new()
    }

    /// The shapes of its URIs.
    fn templates(&self) -> Vec<ResourceTemplate> {
        Vec::new()
    }

    /// Reads a resource.
    fn read(&self, uri: &str, reader: &Reader) -> Option<Result<ReadResourceResult, Report>> {
        let _ = (uri, reader);
        None
    }

    /// Its prompts.
    fn prompts(&self) -> Vec<rmcp::model::Prompt> {
        Vec::new()
    }

    /// Fills in a prompt.
    fn prompt(
        &self,
        params: &GetPromptRequestParams,
        limit: usize,
    ) -> Option<Result<GetPromptResponse, Report>> {
        let _ = (params, limit);
        None
    }

    /// The values that an argument of a prompt or a variable of a template may take.
    fn complete(&self, question: &Completion<'_>) -> Option<Vec<String>> {
        let _ = question;
        None
    }
}

/// Who reads a resource, as far as that makes a difference.
#[derive(Debug)]
pub struct Reader {
    /// The reader's session.
    pub session: Option<Arc<Session>>,
    /// The most bytes of an answer.
    pub limit: usize,
}

impl Reader {
    /// What the reader's session is for.
    pub fn context(&self) -> Option<Arc<Context>> {
        self.session.as_ref().and_then(|session| session.context())
    }
}

/// A question for the values of an argument.
#[derive(Debug)]
pub struct Completion<'a> {
    /// The prompt or template that has the argument.
    pub reference: &'a Reference,
    /// The argument.
    pub argument: &'a str,
    /// What was typed so far.
    pub typed: &'a str,
    /// The arguments that are already filled in.
    pub known: BTreeMap<&'a str, &'a str>,
}
