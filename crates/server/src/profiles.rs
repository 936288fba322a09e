//! Profiles: a name for what a server shows and who it says it is.

use clap::ValueEnum;

use crate::module::ModuleId;
use crate::scope::{Rule, Scope};

/// The profiles. Each shows exactly the surface of one kind of server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, serde::Deserialize, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Profile {
    /// Documents and prompts: search and read, `acdc://` resources
    Acdc,
    /// How work is done: stages, artifacts, checks, capabilities
    Acm,
    /// Architecture documents and prompts, no tools
    Architecture,
    /// A tool for every prompt, and a planner
    Prompts,
    /// The task board
    Ralph,
}

impl Profile {
    /// The name on the command line.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Acdc => "acdc",
            Self::Acm => "acm",
            Self::Architecture => "architecture",
            Self::Prompts => "prompts",
            Self::Ralph => "ralph",
        }
    }

    /// The name and version that the server reports; `None` is what the configuration says.
    pub fn identity(self) -> Option<(&'static str, &'static str)> {
        match self {
            Self::Acdc => None,
            Self::Acm => Some(("acm", "1.0.0")),
            Self::Architecture => Some(("architecture", "1.0.0")),
            Self::Prompts => Some(("prompts-mcp-server", "0.1.0")),
            Self::Ralph => Some(("ralph-project", "1.0.0")),
        }
    }

    /// Whether it may write anything, a cache among it.
    pub fn writes(self) -> bool {
        matches!(self, Self::Prompts | Self::Ralph)
    }

    /// The module whose surface the profile shows.
    pub fn module(self) -> ModuleId {
        match self {
            Self::Acdc | Self::Architecture => ModuleId::Knowledge,
            Self::Acm => ModuleId::Process,
            Self::Prompts => ModuleId::Workflow,
            Self::Ralph => ModuleId::Board,
        }
    }

    /// What it leaves of everything.
    ///
    /// The skill is the companion of `acm` alone. Its files can be read there, and `skills/list`
    /// names them, but the list of resources stays as empty as that kind of server's is.
    pub fn scope(self) -> Scope {
        let modules =
            |modules: &[ModuleId]| Scope::of(Rule::Modules(modules.iter().copied().collect()));
        let module = modules(&[self.module()]);
        let schemes = |schemes: &[&str]| {
            Scope::of(Rule::ResourceSchemes(
                schemes.iter().map(|&scheme| scheme.to_owned()).collect(),
            ))
        };
        let prompts_of_sources = |wanted| Scope::of(Rule::PromptsOfSources(wanted));
        match self {
            Self::Acdc => module.and(&schemes(&["acdc"])).and(&prompts_of_sources(true)),
            Self::Architecture => module
                .and(&schemes(&["architecture"]))
                .and(&prompts_of_sources(false))
                .and(&Scope::of(Rule::Tools([].into()))),
            Self::Acm => modules(&[self.module(), ModuleId::Skills]).and(&schemes(&[])),
            Self::Prompts | Self::Ralph => module,
        }
    }
}
