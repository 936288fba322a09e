//! `App`: everything a tool may use, shared by all connections.

mod board;
mod follow;
mod knowledge;
mod process;
mod reload;
mod skills;
mod toolbox;
mod workflow;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use arc_swap::ArcSwapOption;
use rutter_base::failure::{Kind, Problem, Report};
use rutter_board::{Board, StateFiles};
use rutter_library::Library;
use rutter_library::search::{Boosts, Indexing};
use rutter_process::guide::Guide;
use rutter_process::workflow::{Loaded, Snapshot, Workflow};

use crate::changes::{Change, Changes};
use crate::logging;
use crate::metrics::Metrics;
use crate::module::{Module, ModuleId};
use crate::outbound::Outbound;
use crate::projects::Places;
use crate::scope::{Scope, Subject};
use crate::session::{Session, View};
use crate::skills::Skills;
use crate::tool::Entry;
use crate::tools;
use toolbox::Toolbox;

/// Who the server says it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Identity {
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: String,
    /// How to use it, for agents.
    pub instructions: Option<String>,
}

/// What bounds every answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// The bytes of one text in an answer.
    pub payload: usize,
    /// The entries on one page of a list.
    pub page: usize,
    /// How long a tool may take.
    pub deadline: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self { payload: 1024 * 1024, page: 200, deadline: Duration::from_mins(1) }
    }
}

/// How documents are searched.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SearchSettings {
    /// How many documents a search gives unless it is asked for more or fewer.
    pub max_results: usize,
    /// What the fields weigh.
    pub boosts: Boosts,
}

impl Default for SearchSettings {
    fn default() -> Self {
        Self { max_results: 10, boosts: Boosts::default() }
    }
}

/// What the parts of an [`App`] are made of.
#[derive(Debug, Default)]
pub struct Parts {
    /// Documents and prompts.
    pub library: Option<Arc<Library>>,
    /// How work is done here.
    pub guide: Option<Arc<Guide>>,
    /// Where projects may be that the process looks at.
    pub projects: Places,
    /// Prompts that follow each other.
    pub workflow: Option<Arc<Workflow>>,
    /// Where the work is recorded.
    pub board: Option<Arc<Board>>,
    /// The text files beside it.
    pub state_files: Option<Arc<StateFiles>>,
    /// How to use all of it.
    pub skills: Option<Arc<Skills>>,
    /// How documents are searched.
    pub search: SearchSettings,
    /// Requests to other servers.
    pub outbound: Outbound,
    /// What the server runs in.
    pub session: Option<Arc<Session>>,
}

/// Everything a tool may use.
pub struct App {
    identity: Identity,
    scope: Arc<Scope>,
    limits: Limits,
    parts: Parts,
    modules: Vec<Arc<dyn Module>>,
    /// The tools by name; made when they are first asked for, unless their names could clash, and
    /// again when content changes.
    toolbox: ArcSwapOption<Toolbox>,
    metrics: Metrics,
    descriptions: BTreeMap<String, String>,
    changes: Changes,
    /// Whether changes of the board are announced.
    following: tokio::sync::OnceCell<()>,
    /// The problems that are in the log already.
    logged: Mutex<BTreeSet<String>>,
}

impl std::fmt::Debug for App {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("App").field("identity", &self.identity).finish_non_exhaustive()
    }
}

impl App {
    /// Puts the parts together. Two tools of one name are an error that names both owners.
    pub fn new(
        identity: Identity,
        scope: Arc<Scope>,
        limits: Limits,
        parts: Parts,
        descriptions: BTreeMap<String, String>,
    ) -> Result<Self, Report> {
        let mut modules: Vec<Arc<dyn Module>> = Vec::new();
        if let Some(library) = &parts.library {
            library.on_indexing(|Indexing { done, total }| {
                tracing::info!(event = "indexing", done, total, "indexing documents");
            });
            modules.push(Arc::new(knowledge::Knowledge(Arc::clone(library))));
        }
        if let Some(guide) = &parts.guide {
            modules.push(Arc::new(process::Process(Arc::clone(guide))));
        }
        if let Some(workflow) = &parts.workflow {
            modules.push(Arc::new(workflow::Prompts(Arc::clone(workflow))));
        }
        let shown = Subject::Resource { module: ModuleId::Board, uri: board::PROGRESS };
        if let (Some(board), Some(files)) = (&parts.board, &parts.state_files)
            // A profile that hides the board leaves its database alone.
            && scope.admits(shown)
        {
            modules.push(Arc::new(board::Tasks::new(Arc::clone(board), Arc::clone(files))));
        }
        if let Some(skills) = &parts.skills {
            modules.push(Arc::new(skills::Served(Arc::clone(skills))));
        }
        #[cfg(feature = "conformance")]
        modules.push(Arc::new(crate::conformance::Fixtures::default()));
        // The embedded workflow has been tested with the table; any other may claim a name twice.
        let tested = parts.workflow.as_ref().is_none_or(|workflow| workflow.is_immutable());
        let toolbox = if tested { None } else { Some(Arc::new(toolbox::build(&modules)?)) };
        let changes = Changes::default();
        Ok(Self {
            identity,
            scope,
            limits,
            parts,
            modules,
            toolbox: ArcSwapOption::from(toolbox),
            metrics: Metrics::default(),
            descriptions,
            changes,
            following: tokio::sync::OnceCell::new(),
            logged: Mutex::default(),
        })
    }

    /// Who the server says it is.
    pub fn identity(&self) -> &Identity {
        &self.identity
    }

    /// What any caller of this process may see at most.
    pub fn scope(&self) -> &Arc<Scope> {
        &self.scope
    }

    /// What a caller may see now: what its session leaves of that.
    pub async fn view(&self) -> View {
        let Some(session) = &self.parts.session else { return View::of(Arc::clone(&self.scope)) };
        let before = session.last().context;
        let (view, shrunk) = session.look().await;
        if shrunk {
            self.changes.announce(Change::Tools);
        }
        if before.is_some() && before != view.context {
            self.changes.announce(Change::Resource(board::SESSION.to_owned()));
        }
        view
    }

    /// The session that the server runs in, if there can be one.
    pub fn session(&self) -> Option<&Arc<Session>> {
        self.parts.session.as_ref()
    }

    /// What bounds every answer.
    pub fn limits(&self) -> Limits {
        self.limits
    }

    /// The parts that are on.
    pub fn modules(&self) -> &[Arc<dyn Module>] {
        &self.modules
    }

    /// The change bus.
    pub fn changes(&self) -> &Changes {
        &self.changes
    }

    /// What is counted.
    pub fn metrics(&self) -> &Metrics {
        &self.metrics
    }

    /// Requests to other servers.
    pub fn outbound(&self) -> &Outbound {
        &self.parts.outbound
    }

    fn toolbox(&self) -> Arc<Toolbox> {
        self.toolbox.load_full().unwrap_or_else(|| self.refill_toolbox())
    }

    fn refill_toolbox(&self) -> Arc<Toolbox> {
        let toolbox = toolbox::build(&self.modules).unwrap_or_else(|report| {
            tracing::error!(event = "internal_error", reason = %report);
            Toolbox::new()
        });
        let toolbox = Arc::new(toolbox);
        self.toolbox.store(Some(Arc::clone(&toolbox)));
        toolbox
    }

    /// Whether `scope` could admit a tool; cheaper than to make them all.
    pub fn may_have_tools(&self, scope: &Scope) -> bool {
        let on = |module: ModuleId| self.modules.iter().any(|known| known.id() == module);
        let workflow = Subject::Tool { name: "", module: ModuleId::Workflow, writes: false };
        (self.parts.workflow.is_some() && scope.admits(workflow))
            || tools::table()
                .iter()
                .any(|entry| on(entry.module()) && scope.admits(entry.subject()))
    }

    /// The tools that `scope` admits, in order of name.
    pub fn tools(&self, scope: &Scope) -> Vec<Arc<Entry>> {
        let toolbox = self.toolbox();
        let visible = toolbox.values().filter(|entry| scope.admits(entry.subject()));
        visible.cloned().collect()
    }

    /// A tool that `scope` admits. One that it hides is not told from one that does not exist.
    pub fn tool(&self, name: &str, scope: &Scope) -> Option<Arc<Entry>> {
        self.toolbox().get(name).filter(|entry| scope.admits(entry.subject())).cloned()
    }

    /// The description that the operator gave a tool.
    pub fn description_of(&self, tool: &str) -> Option<&str> {
        self.descriptions.get(tool).map(String::as_str)
    }

    /// Whether there is such a tool, for anyone.
    pub fn has_tool(&self, name: &str) -> bool {
        self.toolbox().contains_key(name)
    }

    /// Whether no list of tools, resources or prompts can change while the process lives.
    pub fn is_immutable(&self) -> bool {
        self.modules.iter().all(|module| module.is_immutable())
    }

    /// What is wrong with the content of all modules.
    pub fn problems(&self) -> Vec<(ModuleId, Problem)> {
        let of = |module: &Arc<dyn Module>| {
            let id = module.id();
            module.problems().into_iter().map(move |problem| (id, problem)).collect::<Vec<_>>()
        };
        self.modules.iter().flat_map(of).collect()
    }

    /// Logs each problem with the content once, and again when it comes back.
    pub fn log_problems(&self) {
        let problems = self.problems();
        let mut logged = self.logged.lock().unwrap_or_else(PoisonError::into_inner);
        for (module, problem) in &problems {
            if !logged.contains(&problem.to_string()) {
                let Problem { file, line, message, .. } = problem;
                let module = module.as_str();
                tracing::warn!(event = "content_problem", module, file, line, "{message}");
            }
        }
        *logged = problems.iter().map(|(_, problem)| problem.to_string()).collect();
    }

    /// The tools that the operator describes and that are not there.
    pub fn described_in_vain(&self) -> Vec<&str> {
        if self.descriptions.is_empty() {
            return Vec::new();
        }
        let toolbox = self.toolbox();
        let described = self.descriptions.keys().map(String::as_str);
        described.filter(|name| !toolbox.contains_key(*name)).collect()
    }

    /// How documents are searched.
    pub fn search_settings(&self) -> SearchSettings {
        self.parts.search
    }

    /// The library, if it is on.
    pub fn library(&self) -> Result<&Arc<Library>, Report> {
        self.parts.library.as_ref().ok_or_else(|| off(ModuleId::Knowledge))
    }

    /// Works with the library where reading files may block.
    pub async fn with_library<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Library) -> T + Send + 'static,
    ) -> Result<T, Report> {
        let library = Arc::clone(self.library()?);
        let immutable = library.is_immutable();
        blocking(immutable, move || work(&library)).await
    }

    /// The process, if it is on.
    pub fn guide(&self) -> Result<&Arc<Guide>, Report> {
        self.parts.guide.as_ref().ok_or_else(|| off(ModuleId::Process))
    }

    /// Where projects may be that the process looks at.
    pub fn projects(&self) -> &Places {
        &self.parts.projects
    }

    /// Works with the process where reading files may block.
    pub async fn with_guide<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Guide) -> T + Send + 'static,
    ) -> Result<T, Report> {
        let guide = Arc::clone(self.guide()?);
        let immutable = guide.is_immutable();
        blocking(immutable, move || work(&guide)).await
    }

    /// Works with the skills where reading files may block; `None` if there are none.
    pub async fn with_skills<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Skills) -> T + Send + 'static,
    ) -> Option<Result<T, Report>> {
        let skills = self.parts.skills.clone()?;
        Some(blocking(skills.is_immutable(), move || work(&skills)).await)
    }

    /// The workflow, if it is on.
    pub fn workflow(&self) -> Result<&Arc<Workflow>, Report> {
        self.parts.workflow.as_ref().ok_or_else(|| off(ModuleId::Workflow))
    }

    /// Works with the steps of the workflow and what was done of them: at once where one look at
    /// the state's file is enough and the steps are few, else where reading may block.
    pub async fn with_progress<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Snapshot, Loaded) -> T + Send + 'static,
    ) -> Result<T, Report> {
        /// With more, the answer takes longer than going to another thread does.
        const FEW: usize = 1_000;
        let workflow = Arc::clone(self.workflow()?);
        let snapshot = workflow.snapshot();
        let known =
            if snapshot.graph.nodes().len() <= FEW { workflow.store().glance() } else { None };
        let at_once = known.is_some();
        let work = move || {
            let loaded = match known {
                Some(state) => Loaded { state, warning: None },
                None => workflow.store().load()?,
            };
            Ok::<_, Report>(work(&snapshot, loaded))
        };
        blocking(at_once, work).await?
    }

    /// Works with the workflow and its state where files may block.
    pub async fn with_workflow<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Workflow) -> T + Send + 'static,
    ) -> Result<T, Report> {
        let workflow = Arc::clone(self.workflow()?);
        blocking(false, move || work(&workflow)).await
    }

    /// Works with the board's files where that may block.
    pub async fn with_state_files<T: Send + 'static>(
        &self,
        work: impl FnOnce(&StateFiles) -> T + Send + 'static,
    ) -> Result<T, Report> {
        let files = self.parts.state_files.clone().ok_or_else(|| off(ModuleId::Board))?;
        blocking(false, move || work(&files)).await
    }

    /// The board, if it is on.
    pub fn board(&self) -> Result<&Arc<Board>, Report> {
        self.parts.board.as_ref().ok_or_else(|| off(ModuleId::Board))
    }
}

/// Runs work that may wait for a disk on a thread that may wait, and work that cannot at once.
pub async fn blocking<T: Send + 'static>(
    immutable: bool,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, Report> {
    if immutable {
        return Ok(work());
    }
    tokio::task::spawn_blocking(logging::carried(work))
        .await
        .map_err(|error| Report::new(Kind::Internal, "internal error").because(&error))
}

fn off(module: ModuleId) -> Report {
    Report::new(Kind::Refused, format!("the module `{}` is off", module.as_str()))
}
