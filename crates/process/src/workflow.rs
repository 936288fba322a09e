//! Prompts that follow each other: each is a Markdown file with declared inputs, described in
//! `prompts.meta.yaml`; a graph says what must come before what, and a state file what was done.

mod advance;
mod draw;
mod graph;
mod input;
mod lines;
mod phase;
mod planner;
mod prompt;
mod render;
mod seal;
mod state;
mod store;

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use arc_swap::ArcSwapOption;
use rutter_base::failure::{Problem, Report};
use rutter_base::root::{ReadError, RelativePath, Root, Stamp};
use rutter_base::template::Template;
use rutter_base::yaml;
use serde::Deserialize;

pub use advance::{Advance, AdvanceError, Advanced};
pub use draw::{dot, mermaid};
pub use graph::{Graph, GraphFile, Node};
pub use input::{Input, InputError, Type};
pub use planner::{Known, Missing, Progress, Standing};
pub use prompt::Prompt;
pub use render::{Rendered, Rendering, WorkflowError};
pub use seal::{Key, SealError};
pub use state::{Change, Completion, State, What};
pub use store::{FOLDER, Loaded, STATE_PATH, StateError, Store, Updated};

/// The largest prompt, and the largest metadata file.
const MAX_FILE: u64 = 16 * 1024 * 1024;
/// The largest graph.
const MAX_GRAPH: u64 = 64 * 1024 * 1024;
/// The graph that is looked for beside the metadata file.
const GRAPH: &str = "default-graph.json";

/// Where a workflow is written down.
#[derive(Debug, Clone)]
pub struct Sources {
    /// The folder of the metadata file; prompt files are relative to it.
    pub root: Root,
    /// The metadata file.
    pub meta: RelativePath,
    /// The graph, if it is not beside the metadata file.
    pub graph: Option<(Root, RelativePath)>,
}

/// What happens to a call that is out of order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Gating {
    /// It is answered with a warning.
    #[default]
    Warn,
    /// It is refused.
    Strict,
}

/// A workflow: its prompts and its graph as they are now, and its state.
#[derive(Debug)]
pub struct Workflow {
    sources: Sources,
    gating: Gating,
    store: Store,
    current: ArcSwapOption<Snapshot>,
    /// Held while files are read: the first question and a reload may come together.
    reading: Mutex<()>,
    /// Why files that changed were not taken over.
    refused: Mutex<Option<Problem>>,
    /// Parsed templates, each with the state of the file that it was parsed from.
    templates: Mutex<BTreeMap<String, (Stamp, Arc<Template>)>>,
}

/// The prompts and the graph at one moment.
#[derive(Debug, Default)]
pub struct Snapshot {
    /// The prompts, in the order of the metadata file.
    pub prompts: Vec<Prompt>,
    /// The steps.
    pub graph: Graph,
    /// The prompts' files, as they were found.
    stamps: Vec<Option<Stamp>>,
    problems: Vec<Problem>,
}

/// What a reload changed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Difference {
    /// Whether a prompt came, went, or is described differently.
    pub prompts: bool,
    /// Whether the graph is another.
    pub graph: bool,
    /// The places of prompts whose file changed.
    pub updated: Vec<usize>,
}

impl Difference {
    /// Whether nothing is different.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// `prompts.meta.yaml` is a list, or a map with `prompts:`.
#[derive(Deserialize)]
#[serde(untagged)]
enum Meta {
    List(Vec<Prompt>),
    Map { prompts: Vec<Prompt> },
}

impl Workflow {
    /// Reads the metadata file and the graph.
    pub fn open(sources: Sources, gating: Gating, store: Store) -> Result<Self, Problem> {
        let snapshot = Snapshot::read(&sources)?;
        let workflow = Self::deferred(sources, gating, store);
        workflow.current.store(Some(Arc::new(snapshot)));
        Ok(workflow)
    }

    /// Reads them when they are first asked for: for files that are known to be good.
    pub fn deferred(sources: Sources, gating: Gating, store: Store) -> Self {
        Self {
            sources,
            gating,
            store,
            current: ArcSwapOption::empty(),
            reading: Mutex::default(),
            refused: Mutex::default(),
            templates: Mutex::default(),
        }
    }

    /// The prompts and the graph as they are now.
    pub fn snapshot(&self) -> Arc<Snapshot> {
        if let Some(snapshot) = self.current.load_full() {
            return snapshot;
        }
        let _reading = self.reading.lock().unwrap_or_else(PoisonError::into_inner);
        self.current.load_full().unwrap_or_else(|| {
            let broken = |problem| Snapshot { problems: vec![problem], ..Snapshot::default() };
            let snapshot = Arc::new(Snapshot::read(&self.sources).unwrap_or_else(broken));
            self.current.store(Some(Arc::clone(&snapshot)));
            snapshot
        })
    }

    /// Reads the files again. What is broken, or what `admit` does not admit, is not taken over:
    /// the workflow stays as it was, and [`Self::problems`] says why.
    pub fn reload(
        &self,
        admit: impl FnOnce(&Snapshot) -> Result<(), Problem>,
    ) -> Result<Difference, Problem> {
        let before = self.snapshot();
        let _reading = self.reading.lock().unwrap_or_else(PoisonError::into_inner);
        let read = Snapshot::read(&self.sources)
            .and_then(|next| admit(&next).map(|()| next))
            .map_err(|mut problem| {
                problem.message = format!("{}; the workflow stays as it was", problem.message);
                problem
            });
        *self.refused.lock().unwrap_or_else(PoisonError::into_inner) = read.as_ref().err().cloned();
        let next = read?;
        let difference = before.difference(&next);
        self.current.store(Some(Arc::new(next)));
        Ok(difference)
    }

    /// What is wrong with the metadata, the graph and the files.
    pub fn problems(&self) -> Vec<Problem> {
        let snapshot = self.snapshot();
        let refused = self.refused.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let in_files = snapshot.prompts.iter().flat_map(|prompt| self.problems_of(prompt));
        refused.into_iter().chain(snapshot.problems.iter().cloned()).chain(in_files).collect()
    }

    fn problems_of(&self, prompt: &Prompt) -> Vec<Problem> {
        let template = match self.template(prompt) {
            Ok(template) => template,
            Err(error) => {
                return vec![Problem::error(prompt.file(), Report::from(error).to_string())];
            }
        };
        let declared = |name: &&str| prompt.inputs.iter().any(|input| input.name == **name);
        let undeclared = template.names().into_iter().filter(|name| !declared(name));
        let told = undeclared.map(|name| {
            let message = format!("`{{{{{name}}}}}` is no declared input and stays as it is");
            Problem::warning(prompt.file(), message)
        });
        told.collect()
    }

    /// What happens to a call that is out of order.
    pub fn gating(&self) -> Gating {
        self.gating
    }

    /// What was done.
    pub fn store(&self) -> &Store {
        &self.store
    }

    /// The folders whose files make the workflow; none for the embedded one.
    pub fn folders(&self) -> Vec<PathBuf> {
        let graph = self.sources.graph.as_ref().and_then(|(root, _)| root.path());
        let mut folders: Vec<PathBuf> =
            self.sources.root.path().into_iter().map(PathBuf::from).collect();
        folders.extend(graph.map(PathBuf::from));
        let all = folders.clone();
        let below =
            |folder: &PathBuf| all.iter().any(|other| folder != other && folder.starts_with(other));
        folders.retain(|folder| !below(folder));
        folders.dedup();
        folders
    }

    /// Where the operator keeps the file of a prompt; `None` for embedded ones and for paths
    /// that lead out of the folder.
    pub fn path_of(&self, prompt: &Prompt) -> Option<PathBuf> {
        let path = RelativePath::new(prompt.file()).ok()?;
        Some(self.sources.root.path()?.join(path.as_str()))
    }

    /// Whether no list can change while the process lives.
    pub fn is_immutable(&self) -> bool {
        self.sources.root.is_immutable() && self.sources.graph.is_none()
    }
}

impl Snapshot {
    fn read(sources: &Sources) -> Result<Self, Problem> {
        let Sources { root, meta, .. } = sources;
        let file = meta.as_str();
        let text = root
            .read_text(meta, MAX_FILE)
            .map_err(|error| Problem::error(file, error.to_string()))?;
        let parsed = yaml::parse_large::<Meta>(&text)
            .map_err(|error| Problem::error(file, error.message).at_line(error.line))?;
        let (Meta::List(listed) | Meta::Map { prompts: listed }) = parsed;
        let mut ids = BTreeSet::new();
        let mut snapshot = Self::default();
        for prompt in listed {
            if let Err(reason) = prompt.check() {
                snapshot.problems.push(Problem::error(file, reason));
            } else if !ids.insert(prompt.id.clone()) {
                let message = format!("two prompts have the id `{}`", prompt.id);
                return Err(Problem::error(file, message));
            } else {
                snapshot.prompts.push(prompt);
            }
        }
        snapshot.connect(sources)?;
        if !root.is_immutable() {
            let stamp = |prompt: &Prompt| root.stamp(&RelativePath::new(prompt.file()).ok()?).ok();
            snapshot.stamps = snapshot.prompts.iter().map(stamp).collect();
        }
        Ok(snapshot)
    }

    fn connect(&mut self, sources: &Sources) -> Result<(), Problem> {
        let beside = || Some((sources.root.clone(), RelativePath::new(GRAPH).ok()?));
        let named = sources.graph.is_some();
        let Some((root, path)) = sources.graph.clone().or_else(beside) else { return Ok(()) };
        let fail = |message: String| Problem::error(path.as_str(), message);
        let graph = match root.read(&path, MAX_GRAPH) {
            Err(ReadError::NotFound) if !named => None,
            contents => {
                let contents = contents.map_err(|error| fail(error.to_string()))?;
                let parsed = serde_json::from_slice::<GraphFile>(&contents.bytes);
                Some(parsed.map_err(|error| {
                    let line = u32::try_from(error.line()).ok();
                    fail(format!("this is not a graph: {}", json_words(&error))).at_line(line)
                })?)
            }
        };
        let file = if graph.is_some() { path.as_str() } else { sources.meta.as_str() };
        self.graph = Graph::new(graph, &self.prompts)
            .map_err(|error| Problem::error(file, error.to_string()))?;
        let unmet = self.graph.never_produced();
        self.problems.extend(unmet.into_iter().map(|(artifact, node)| {
            let message = format!("`{node}` requires `{artifact}`, which no step produces");
            Problem::warning(file, message)
        }));
        let orphans = self.graph.nodes().iter().filter(|node| !node.has_prompt);
        self.problems.extend(orphans.map(|node| {
            Problem::warning(file, format!("there is no prompt for the step `{}`", node.id))
        }));
        Ok(())
    }

    fn difference(&self, next: &Self) -> Difference {
        let before: BTreeMap<&str, Option<Stamp>> = self
            .prompts
            .iter()
            .zip(&self.stamps)
            .map(|(p, stamp)| (p.id.as_str(), *stamp))
            .collect();
        let changed = |prompt: &Prompt, stamp: Option<Stamp>| {
            before.get(prompt.id.as_str()).is_some_and(|known| *known != stamp)
        };
        let found = next.prompts.iter().zip(&next.stamps).enumerate();
        Difference {
            prompts: self.prompts != next.prompts,
            graph: self.graph != next.graph,
            updated: found
                .filter(|(_, (prompt, stamp))| changed(prompt, **stamp))
                .map(|(place, _)| place)
                .collect(),
        }
    }
}

/// The parser's words without its position, which is told apart.
fn json_words(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let words = text.rsplit_once(" at line ").map_or(text.as_str(), |(words, _)| words);
    rutter_base::text::one_line(words)
}

#[cfg(test)]
mod tests;
