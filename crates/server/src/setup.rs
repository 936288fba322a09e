//! What the settings mean: which folders are opened, which modules are on, what is shown.
//!
//! For each kind of content the configuration file decides; where it says nothing, what is
//! found in the working directory is served; and where nothing is found, the embedded pack is.

mod find;
mod search;
mod workflow;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rutter_base::failure::{Kind, Problem, Report};
use rutter_base::root::Root;
use rutter_base::text::one_line;
use rutter_base::watch::Mode;
use rutter_board::recipes::Recipes;
use rutter_board::{Board, StateFiles};
use rutter_library::{Layout, Library, Source, SourceName};
use rutter_process::guide::Guide;
use serde_saphyr::Spanned;

use crate::app::{App, Identity, Limits, Parts};
use crate::config::{Config, Content};
use crate::module::ModuleId;
use crate::outbound::Outbound;
use crate::pack;
use crate::profiles::Profile;
use crate::projects::{Places, expand};
use crate::scope::{Rule, Scope};
use crate::session::{ContextFile, Session};
use crate::settings::{Environment, Variable};
use crate::skills::Skills;

/// What was asked for on the command line, as far as it decides what is served.
#[derive(Debug, Default)]
pub struct Request {
    /// `--config`
    pub config: Option<PathBuf>,
    /// `--profile`
    pub profile: Option<Profile>,
    /// `--read-only`
    pub read_only: bool,
    /// `--context`
    pub context: Option<PathBuf>,
    /// `--search-…`
    pub search: crate::config::Search,
}

/// Everything that is served, and where it comes from.
#[derive(Debug)]
pub struct Setup {
    /// The parts, put together.
    pub app: Arc<App>,
    /// The profile, if one was chosen.
    pub profile: Option<Profile>,
    /// Whether writing tools are hidden.
    pub read_only: bool,
    /// The configuration file, if there is one.
    pub config_file: Option<PathBuf>,
    /// Where each kind of content comes from, for a person.
    pub origins: Vec<Origin>,
    /// The folder of the board, if there is one.
    pub board: Option<Root>,
    /// The kinds of sessions that there are.
    pub recipes: Arc<Recipes>,
    /// What is odd about the configuration, but no reason not to start.
    pub problems: Vec<Problem>,
    /// How changes of files are noticed.
    pub watch: Mode,
    /// The server over HTTP, as configured.
    pub http: crate::config::Http,
    /// The folder that paths in the configuration are relative to.
    pub base: PathBuf,
}

/// Where a kind of content comes from.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Origin {
    /// The kind: `documents`, `prompts`, `process`, `registry`, `workflow`, `board`.
    pub kind: &'static str,
    /// The place: a folder, or the embedded pack.
    pub place: String,
    /// Why it is served: `configured`, `found` or `default`.
    pub because: Because,
}

/// Why something is served.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Because {
    /// The configuration or a variable says so.
    Configured,
    /// It was found in the working directory.
    Found,
    /// There was nothing else.
    Default,
}

impl Setup {
    /// Decides everything for a server that runs in `folder`.
    pub fn new(
        request: &Request,
        environment: &Environment,
        folder: &Path,
    ) -> Result<Self, Report> {
        let named =
            request.config.clone().or_else(|| environment.get(Variable::CONFIG).map(PathBuf::from));
        let (config_file, config) = find::config(named.as_deref(), folder)?;
        let profile = match request.profile {
            Some(profile) => Some(profile),
            None => environment.parse(
                Variable::PROFILE,
                |name| <Profile as clap::ValueEnum>::from_str(name, true).ok(),
                "acdc, acm, architecture, prompts or ralph",
            )?,
        };
        let read_only = request.read_only
            || environment.parse(Variable::READ_ONLY, flag, "1 or 0")?.unwrap_or_default();
        let watch = environment.parse(Variable::WATCH, watch_mode, "auto, poll or off")?;
        let mut draft = Draft {
            base: config_file.as_deref().and_then(Path::parent).unwrap_or(folder).to_owned(),
            file: config_file.as_deref().map(find::shown).unwrap_or_default(),
            folder: folder.to_owned(),
            origins: Vec::new(),
        };
        let recipes = Recipes::with(&config.recipes);
        let recipes = Arc::new(recipes.map_err(|error| draft.in_file(&error.into()))?);
        let mut scope = profile.map(Profile::scope).unwrap_or_default();
        if read_only {
            scope = scope.and(&Scope::of(Rule::ReadOnly));
        }
        let scope = Arc::new(scope);
        let writes = !read_only && profile.is_none_or(Profile::writes);
        let board = draft.board(&config)?;
        let file = context_file(request, environment, folder, board.as_ref(), profile)?;
        let store = board.as_ref().map(|root| {
            Arc::new(Board::new(
                root,
                rutter_board::Options { read_only: !writes, ..Default::default() },
            ))
        });
        let session = file.map(|file| {
            Arc::new(Session::new(file, Arc::clone(&recipes), store.clone(), Arc::clone(&scope)))
        });
        let limits = limits(&config, &draft.file)?;
        let mut library = Library::new(draft.sources(config.content.as_deref(), profile)?);
        if let Some(cache) = search::cache(environment).filter(|_| writes) {
            library = library.keeping_index(cache);
        }
        let parts = Parts {
            library: Some(Arc::new(library)),
            guide: Some(Arc::new(draft.guide(&config, environment)?)),
            projects: draft.projects(&config),
            workflow: Some(Arc::new(draft.workflow(&config, environment)?)),
            state_files: board.clone().map(|root| Arc::new(StateFiles::new(root))),
            board: store,
            skills: Some(Arc::new(draft.skills(&config, limits)?)),
            search: search::settings(&request.search, environment, &config.search)?,
            outbound: Outbound::new(
                environment.parse(Variable::ALLOW_HTTP, flag, "1 or 0")?.unwrap_or_default(),
            ),
            session,
        };
        let identity = identity(profile, &config, parts.library.as_deref());
        let descriptions: BTreeMap<String, String> =
            config.tools.iter().map(|tool| (tool.name.clone(), tool.description.clone())).collect();
        let app = App::new(identity, scope, limits, parts, descriptions)
            .map_err(|report| draft.in_file(&report))?;
        Ok(Self {
            problems: named_in_vain(&app, &recipes, &draft.file),
            recipes: Arc::clone(&recipes),
            board,
            app: Arc::new(app),
            profile,
            read_only,
            config_file,
            origins: draft.origins,
            base: draft.base,
            watch: watch.or(config.watch).unwrap_or_default(),
            http: config.http,
        })
    }
}

/// What the configuration says of tools and arguments that are not there.
fn named_in_vain(app: &App, recipes: &Recipes, file: &str) -> Vec<Problem> {
    let no_tool = |what: &str, tool: &str| format!("{what} `{tool}`, which is no tool here");
    let described = app.described_in_vain().into_iter();
    let described = described.map(|tool| no_tool("`tools` describes", &one_line(tool)));
    let allowed = recipes.own().flat_map(|recipe| {
        recipe.tools.iter().flat_map(|(tool, allowed)| match app.tool(tool, &Scope::everything()) {
            None => vec![no_tool("`recipes` allows", &one_line(tool))],
            Some(entry) => entry.misfits(app, &recipe.name, allowed),
        })
    });
    described.chain(allowed).map(|message| Problem::warning(file, message)).collect()
}

/// Where the context of the session is: the file that was named, or the one in the board's
/// folder, which is for those who see the board.
fn context_file(
    request: &Request,
    environment: &Environment,
    folder: &Path,
    board: Option<&Root>,
    profile: Option<Profile>,
) -> Result<Option<ContextFile>, Report> {
    let named = request.context.as_deref();
    if let Some(path) = named.or_else(|| environment.get(Variable::CONTEXT).map(Path::new)) {
        return ContextFile::named(folder, path).map(Some);
    }
    let shown = profile.is_none_or(|profile| profile.module() == ModuleId::Board);
    board.filter(|_| shown).map(ContextFile::default_in).transpose()
}

/// What is known while the parts are put together.
struct Draft {
    /// Paths in the configuration are relative to this folder.
    base: PathBuf,
    /// The configuration file's name for messages.
    file: String,
    folder: PathBuf,
    origins: Vec<Origin>,
}

impl Draft {
    fn note(&mut self, kind: &'static str, place: impl Into<String>, because: Because) {
        self.origins.push(Origin { kind, place: place.into(), because });
    }

    /// A failure with the file that caused it.
    fn in_file(&self, report: &Report) -> Report {
        if self.file.is_empty() {
            return report.clone();
        }
        let mut named = Report::new(report.kind(), format!("{}: {}", self.file, report.message()));
        for hint in report.hints() {
            named = named.hint(hint);
        }
        named
    }

    /// A failure of a value in the file, with its line and key.
    fn at<T>(&self, key: &str, value: &Spanned<T>, what: impl std::fmt::Display) -> Report {
        let line = value.referenced.line();
        Report::new(Kind::Invalid, format!("{}:{line}: `{key}`: {what}", self.file))
    }

    fn resolve(&self, path: &str) -> PathBuf {
        self.base.join(expand(path))
    }

    fn open(&self, key: &str, path: &Spanned<String>) -> Result<Root, Report> {
        Root::open(&self.resolve(&path.value)).map_err(|error| {
            let what = match error.kind() {
                std::io::ErrorKind::NotFound => "there is no folder",
                std::io::ErrorKind::NotADirectory => "there is no folder, but a file, at",
                _ => "the folder cannot be opened:",
            };
            self.at(key, path, format!("{what} `{}`", one_line(&path.value)))
        })
    }

    /// All sources: those of the configuration or those that are found, then the pack's.
    ///
    /// Of the pack come its documents where there are no others, and its prompts: by their names
    /// alone where architecture documents are served, else as `rutter:<name>`. A configuration
    /// that names sources gets what the architecture layout promises, and nothing else of it.
    fn sources(
        &mut self,
        content: Option<&[Content]>,
        profile: Option<Profile>,
    ) -> Result<Vec<Source>, Report> {
        let mut sources = match content {
            Some(content) => self.configured_sources(content)?,
            None => self.found_sources(profile)?,
        };
        let architecture = profile == Some(Profile::Architecture)
            || profile != Some(Profile::Acdc)
                && sources.iter().any(|source| source.layout == Layout::Architecture);
        let layout = match content {
            _ if architecture => Layout::ArchitecturePrompts,
            Some(_) => return Ok(sources),
            None if sources.is_empty() => Layout::Acdc,
            None => Layout::PromptsOnly,
        };
        if layout.has_documents() {
            self.note("documents", "embedded pack", Because::Default);
        }
        self.note("prompts", "embedded pack", Because::Default);
        sources.push(Source {
            name: source_name(pack::SOURCE)?,
            description: "How to use Rutter, and good practice for working with agents".into(),
            root: pack::part("content"),
            layout,
        });
        Ok(sources)
    }

    /// What is in the working directory.
    fn found_sources(&mut self, profile: Option<Profile>) -> Result<Vec<Source>, Report> {
        let mut sources = Vec::new();
        for find::Folder { name, path, layout, beside } in find::CONTENT {
            let Some(root) = Root::open(&self.folder.join(path)).ok() else {
                continue;
            };
            let layout = match layout {
                // Any project may have a folder of this name, for its own purposes.
                Some(_) if !find::is_served(&root) && profile != Some(Profile::Architecture) => {
                    continue;
                }
                Some(layout) => *layout,
                None => Source::detect(&root),
            };
            self.note("documents", *path, Because::Found);
            let description = format!("The project's {path}/ folder");
            sources.push(Source { name: source_name(name)?, description, root, layout });
            if let Some((name, file, root)) = beside.as_ref().and_then(|b| b.look(&self.folder)) {
                self.note("documents", file, Because::Found);
                let description = format!("The project's {file}");
                let layout = Layout::File(file);
                sources.push(Source { name: source_name(name)?, description, root, layout });
            }
        }
        Ok(sources)
    }

    fn configured_sources(&mut self, content: &[Content]) -> Result<Vec<Source>, Report> {
        let mut sources: Vec<Source> = Vec::new();
        for (index, entry) in content.iter().enumerate() {
            let name_key = format!("content[{index}].name");
            let name = SourceName::new(entry.name.value.as_str())
                .map_err(|error| self.at(&name_key, &entry.name, error))?;
            if sources.iter().any(|source| source.name == name) {
                return Err(self.at(
                    &name_key,
                    &entry.name,
                    format!("there already is a source `{name}`"),
                ));
            }
            let root = self.open(&format!("content[{index}].path"), &entry.path)?;
            self.note("documents", &entry.path.value, Because::Configured);
            let layout = Source::detect(&root);
            sources.push(Source { name, description: entry.description.clone(), root, layout });
        }
        Ok(sources)
    }

    fn guide(&mut self, config: &Config, environment: &Environment) -> Result<Guide, Report> {
        let configured = config.process.as_ref().and_then(|process| process.root.as_ref());
        let root = self.named_folder(
            environment,
            Variable::PROCESS_ROOT,
            ("process", "process.root"),
            configured,
        )?;
        let registry = self.registry(config, environment, root.as_ref())?;
        let Some(root) = root else {
            self.note("process", "embedded pack", Because::Default);
            return Ok(Guide::deferred(pack::part("process"))
                .with_registry(Some(registry))
                .with_knowledge(pack::part(pack::KNOWLEDGE)));
        };
        let guide =
            Guide::open(root).map_err(|problem| Report::new(Kind::Invalid, problem.to_string()))?;
        let guide = guide.with_registry(Some(registry));
        let knowledge = config.process.as_ref().and_then(|process| process.knowledge.as_ref());
        Ok(match knowledge {
            Some(folder) => guide.with_knowledge(self.open("process.knowledge", folder)?),
            None => guide,
        })
    }

    /// The registry that is named, else the one in or beside the process's folder, else the pack's.
    fn registry(
        &mut self,
        config: &Config,
        environment: &Environment,
        process: Option<&Root>,
    ) -> Result<Root, Report> {
        let configured = config.process.as_ref().and_then(|process| process.registry.as_ref());
        let named = self.named_folder(
            environment,
            Variable::REGISTRY_ROOT,
            ("registry", "process.registry"),
            configured,
        )?;
        if let Some(root) = named {
            return Ok(root);
        }
        let near = process.and_then(Root::path).and_then(find::registry);
        if near.is_some() {
            self.note("registry", find::REGISTRY, Because::Found);
        }
        Ok(near.unwrap_or_else(|| pack::part(pack::REGISTRY)))
    }

    /// The folder that a variable names, else the one that the configuration names.
    fn named_folder(
        &mut self,
        environment: &Environment,
        variable: Variable,
        (kind, key): (&'static str, &str),
        configured: Option<&Spanned<String>>,
    ) -> Result<Option<Root>, Report> {
        if let Some(path) = environment.get(variable) {
            self.note(kind, path, Because::Configured);
            let root = Root::open(&self.folder.join(expand(path))).map_err(|_| {
                let message = format!("{}: there is no folder `{}`", variable.name, one_line(path));
                Report::new(Kind::Invalid, message)
            })?;
            return Ok(Some(root));
        }
        let Some(path) = configured else { return Ok(None) };
        self.note(kind, &path.value, Because::Configured);
        self.open(key, path).map(Some)
    }

    /// Where projects may be that are checked.
    fn projects(&self, config: &Config) -> Places {
        let configured = config.process.iter().flat_map(|process| &process.project_roots);
        Places {
            working: self.folder.clone(),
            home: std::env::home_dir(),
            configured: configured.map(|path| self.resolve(&path.value)).collect(),
        }
    }

    /// The skills of the configuration, then the embedded one.
    fn skills(&mut self, config: &Config, limits: Limits) -> Result<Skills, Report> {
        let mut places = Vec::new();
        if let Some(skills) = &config.skills {
            self.note("skills", &skills.path.value, Because::Configured);
            places.push(self.open("skills.path", &skills.path)?);
        } else {
            self.note("skills", "embedded", Because::Default);
        }
        places.push(crate::skills::embedded());
        Ok(Skills::new(places, limits.payload))
    }

    fn board(&mut self, config: &Config) -> Result<Option<Root>, Report> {
        if let Some(board) = &config.board {
            self.note("board", &board.path.value, Because::Configured);
            return Ok(Some(self.open("board.path", &board.path)?));
        }
        let found = Root::open(&self.folder.join(find::BOARD)).ok();
        if found.is_some() {
            self.note("board", find::BOARD, Because::Found);
        }
        Ok(found)
    }
}

fn source_name(name: &str) -> Result<SourceName, Report> {
    SourceName::new(name).map_err(|error| Report::new(Kind::Internal, error.to_string()))
}

fn flag(value: &str) -> Option<bool> {
    match value.to_ascii_lowercase().as_str() {
        "1" | "true" | "yes" => Some(true),
        "0" | "false" | "no" => Some(false),
        _ => None,
    }
}

fn watch_mode(value: &str) -> Option<Mode> {
    match value.to_ascii_lowercase().as_str() {
        "auto" => Some(Mode::Auto),
        "poll" => Some(Mode::Poll),
        "off" => Some(Mode::Off),
        _ => None,
    }
}

fn limits(config: &Config, file: &str) -> Result<Limits, Report> {
    /// Below this, no answer says anything.
    const LEAST_PAYLOAD: usize = 1024;
    let mut limits = Limits::default();
    if let Some(payload) = &config.limits.payload {
        if payload.value < LEAST_PAYLOAD {
            let line = payload.referenced.line();
            let what =
                format!("{file}:{line}: `limits.payload`: expected at least {LEAST_PAYLOAD} bytes");
            return Err(Report::new(Kind::Invalid, what));
        }
        limits.payload = payload.value;
    }
    Ok(limits)
}

fn identity(profile: Option<Profile>, config: &Config, library: Option<&Library>) -> Identity {
    let (name, version) = match profile.and_then(Profile::identity) {
        Some((name, version)) => (name.to_owned(), version.to_owned()),
        None => (
            config.server.name.clone().unwrap_or_else(|| "rutter".into()),
            config.server.version.clone().unwrap_or_else(|| env!("CARGO_PKG_VERSION").into()),
        ),
    };
    Identity { name, version, instructions: instructions(config, library) }
}

/// What the operator says, then the sources: an agent learns what there is before it asks.
fn instructions(config: &Config, library: Option<&Library>) -> Option<String> {
    let mut text = config.server.instructions.as_deref().unwrap_or_default().trim().to_owned();
    let sources = library.map(Library::sources).unwrap_or_default();
    let described: Vec<String> = sources
        .iter()
        .filter(|source| source.layout.has_documents())
        .map(|source| match source.description.as_str() {
            "" => format!("- {}", source.name),
            description => format!("- {}: {description}", source.name),
        })
        .collect();
    if !described.is_empty() {
        if !text.is_empty() {
            text.push_str("\n\n");
        }
        text.push_str("Sources of documents:\n");
        text.push_str(&described.join("\n"));
    }
    Some(text).filter(|text| !text.is_empty())
}
