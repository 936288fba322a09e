//! Steps and what must come before each: a graph without cycles.
//!
//! Nodes are kept in the order in which they are suggested (phase, then id), and refer to each
//! other by their places, so that asking what is ready is one pass. Nothing here recurses: a chain
//! may be as long as memory allows.

use std::collections::{BTreeSet, HashMap};

use rutter_base::text;
use serde::Deserialize;
use serde_json::Value;

use super::phase::{Phase, Phases};
use super::prompt::Prompt;

/// What `default-graph.json` says.
#[derive(Debug, Clone, Default, Deserialize)]
pub struct GraphFile {
    /// The phases, in order.
    #[serde(default)]
    phases: Vec<Value>,
    nodes: Vec<NodeFile>,
}

/// What it says of one step.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
struct NodeFile {
    id: String,
    #[serde(default)]
    title: Option<String>,
    #[serde(default)]
    phase: Option<Value>,
    #[serde(default)]
    depends_on: Vec<String>,
    #[serde(default)]
    produces: Vec<String>,
    #[serde(default)]
    requires_artifacts: Vec<String>,
    #[serde(default)]
    exit_criteria: Vec<String>,
}

/// A step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Node {
    /// Its id: the name of its tool, where it has a prompt.
    pub id: String,
    /// Its name for people.
    pub title: String,
    /// The phase of the work it belongs to.
    pub phase: Option<String>,
    /// What it is for.
    pub description: Option<String>,
    /// The artifacts that it produces.
    pub produces: Vec<String>,
    /// When it is done.
    pub exit_criteria: Vec<String>,
    /// Whether there is a prompt for it.
    pub has_prompt: bool,
    /// Its place in the order of suggestions.
    pub(super) place: usize,
    /// The places of the steps before it.
    pub(super) depends_on: Vec<usize>,
    /// The places of the steps right after it.
    pub(super) dependents: Vec<usize>,
    /// The numbers of the artifacts that it cannot start without.
    pub(super) requires: Vec<usize>,
}

/// The steps of a workflow.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Graph {
    pub(super) nodes: Vec<Node>,
    places: HashMap<String, usize>,
    /// The artifacts that any step requires or produces, by number.
    pub(super) artifacts: Vec<String>,
    pub(super) artifact_numbers: HashMap<String, usize>,
    /// The places of the steps that require each.
    pub(super) requirers: Vec<Vec<usize>>,
}

/// Why steps do not make a graph.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum GraphError {
    /// Two steps have one id.
    #[error("two nodes have the id `{0}`")]
    Twice(String),
    /// An id is empty, too long, or not printable.
    #[error("`{0}` cannot be the id of a node: use 1 to 64 letters, digits, `_` and `-`")]
    BadId(String),
    /// A step waits for one that is not there.
    #[error("`{node}` depends on `{dependency}`, which is no node")]
    Unknown {
        /// The step.
        node: String,
        /// What it names.
        dependency: String,
    },
    /// A step waits for itself.
    #[error("`{0}` depends on itself")]
    Itself(String),
    /// Steps wait for each other.
    #[error("a cycle: {0}")]
    Cycle(String),
}

impl Graph {
    /// Puts the graph file and the prompts together. What the file says of a step wins; prompts
    /// that it lacks are steps with their own `dependsOn`.
    pub(super) fn new(file: Option<GraphFile>, prompts: &[Prompt]) -> Result<Self, GraphError> {
        let GraphFile { phases, nodes } = file.unwrap_or_default();
        let mut known: HashMap<&str, &Prompt> =
            prompts.iter().map(|prompt| (prompt.id.as_str(), prompt)).collect();
        let mut drafts: Vec<NodeDraft> = Vec::with_capacity(nodes.len().max(prompts.len()));
        let mut ids: BTreeSet<String> = BTreeSet::new();
        for node in nodes {
            let id = node.id.clone();
            if !super::prompt::is_tool_name(&id) {
                return Err(GraphError::BadId(text::cap(text::one_line(&id), 100)));
            }
            drafts.push(NodeDraft::of_file(node, known.remove(id.as_str())));
            if !ids.insert(id.clone()) {
                return Err(GraphError::Twice(id));
            }
        }
        let rest = prompts.iter().filter(|prompt| known.contains_key(prompt.id.as_str()));
        drafts.extend(rest.map(NodeDraft::of_prompt));
        Self::assemble(drafts, &phases)
    }

    fn assemble(mut drafts: Vec<NodeDraft>, listed: &[Value]) -> Result<Self, GraphError> {
        let phases = Phases::new(listed, drafts.iter().map(|draft| &draft.phase));
        drafts
            .sort_by_cached_key(|draft| (phases.rank(draft.phase.as_ref()), draft.node.id.clone()));
        let places: HashMap<String, usize> = drafts
            .iter()
            .enumerate()
            .map(|(place, draft)| (draft.node.id.clone(), place))
            .collect();
        let mut graph = Self { places, ..Self::default() };
        for draft in drafts {
            graph.add(draft)?;
        }
        for place in 0..graph.nodes.len() {
            for before in
                graph.nodes.get(place).map(|node| node.depends_on.clone()).unwrap_or_default()
            {
                if let Some(node) = graph.nodes.get_mut(before) {
                    node.dependents.push(place);
                }
            }
        }
        graph.refuse_cycles()?;
        Ok(graph)
    }

    fn add(&mut self, draft: NodeDraft) -> Result<(), GraphError> {
        let NodeDraft { mut node, depends_on, requires, .. } = draft;
        let mut before = BTreeSet::new();
        for dependency in depends_on {
            if dependency == node.id {
                return Err(GraphError::Itself(node.id));
            }
            let Some(&place) = self.places.get(&dependency) else {
                let dependency = text::cap(text::one_line(&dependency), 100);
                return Err(GraphError::Unknown { node: node.id, dependency });
            };
            before.insert(place);
        }
        node.depends_on = before.into_iter().collect();
        node.place = self.nodes.len();
        for artifact in requires {
            let number = self.numbered(&artifact);
            if !node.requires.contains(&number) {
                node.requires.push(number);
                if let Some(requirers) = self.requirers.get_mut(number) {
                    requirers.push(node.place);
                }
            }
        }
        for artifact in &node.produces {
            self.numbered(artifact);
        }
        self.nodes.push(node);
        Ok(())
    }

    fn numbered(&mut self, artifact: &str) -> usize {
        if let Some(&number) = self.artifact_numbers.get(artifact) {
            return number;
        }
        let number = self.artifacts.len();
        self.artifact_numbers.insert(artifact.to_owned(), number);
        self.artifacts.push(artifact.to_owned());
        self.requirers.push(Vec::new());
        number
    }

    /// Takes away what waits for nothing, again and again; what stays waits for itself.
    fn refuse_cycles(&self) -> Result<(), GraphError> {
        let mut waiting: Vec<usize> = self.nodes.iter().map(|node| node.depends_on.len()).collect();
        let mut free: Vec<usize> =
            (0..waiting.len()).filter(|&place| waiting.get(place) == Some(&0)).collect();
        let mut taken = 0;
        while let Some(place) = free.pop() {
            taken += 1;
            for &after in
                self.nodes.get(place).map(|node| node.dependents.as_slice()).unwrap_or_default()
            {
                if let Some(count) = waiting.get_mut(after) {
                    *count -= 1;
                    if *count == 0 {
                        free.push(after);
                    }
                }
            }
        }
        if taken == self.nodes.len() {
            return Ok(());
        }
        Err(GraphError::Cycle(self.cycle(&waiting)))
    }

    /// One cycle among the nodes that still wait: from any of them, backwards until one comes
    /// again.
    fn cycle(&self, waiting: &[usize]) -> String {
        /// A longer cycle is told by its first nodes.
        const SHOWN: usize = 12;
        let stuck = |place: &usize| waiting.get(*place).is_some_and(|&count| count > 0);
        let mut path: Vec<usize> = Vec::new();
        let mut seen: HashMap<usize, usize> = HashMap::new();
        let mut next = (0..waiting.len()).find(stuck);
        while let Some(place) = next {
            if let Some(start) = seen.insert(place, path.len()) {
                path.drain(..start);
                break;
            }
            path.push(place);
            next =
                self.nodes.get(place).and_then(|node| node.depends_on.iter().copied().find(stuck));
        }
        // From what comes first to what comes after it.
        path.reverse();
        let id = |place: &usize| self.nodes.get(*place).map_or("", |node| node.id.as_str());
        let mut names: Vec<String> =
            path.iter().take(SHOWN).map(|place| format!("`{}`", id(place))).collect();
        if path.len() > SHOWN {
            names.push(format!("… {} more …", path.len() - SHOWN));
        }
        names.extend(path.first().map(|place| format!("`{}`", id(place))));
        names.join(" → ")
    }

    /// The steps, by phase, then id.
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// The step with this id.
    pub fn node(&self, id: &str) -> Option<&Node> {
        self.nodes.get(*self.places.get(id)?)
    }

    /// The number of a step in the order of suggestions, from 1.
    pub fn number(&self, id: &str) -> Option<usize> {
        self.place(id).map(|place| place + 1)
    }

    pub(super) fn place(&self, id: &str) -> Option<usize> {
        self.places.get(id).copied()
    }

    /// The ids of the steps before this one.
    pub fn before<'a>(&'a self, node: &'a Node) -> impl Iterator<Item = &'a str> {
        self.ids(&node.depends_on)
    }

    /// The ids of the steps right after this one.
    pub fn after<'a>(&'a self, node: &'a Node) -> impl Iterator<Item = &'a str> {
        self.ids(&node.dependents)
    }

    /// The artifacts that a step cannot start without.
    pub fn required<'a>(&'a self, node: &'a Node) -> impl Iterator<Item = &'a str> {
        node.requires.iter().filter_map(|&number| Some(self.artifacts.get(number)?.as_str()))
    }

    fn ids<'a>(&'a self, places: &'a [usize]) -> impl Iterator<Item = &'a str> {
        places.iter().filter_map(|&place| Some(self.nodes.get(place)?.id.as_str()))
    }

    /// The artifacts that are required and that no step produces, each with a step that waits.
    pub(super) fn never_produced(&self) -> Vec<(&str, &str)> {
        let produced: BTreeSet<&str> =
            self.nodes.iter().flat_map(|node| &node.produces).map(String::as_str).collect();
        let mut told = BTreeSet::new();
        let waits = self
            .nodes
            .iter()
            .flat_map(|node| self.required(node).map(|artifact| (artifact, node.id.as_str())));
        waits
            .filter(|(artifact, _)| !produced.contains(artifact) && told.insert(*artifact))
            .collect()
    }
}

/// A step whose neighbours are still names.
struct NodeDraft {
    node: Node,
    phase: Option<Phase>,
    depends_on: Vec<String>,
    requires: Vec<String>,
}

impl NodeDraft {
    fn of_file(node: NodeFile, prompt: Option<&Prompt>) -> Self {
        let phase = node.phase.as_ref().or(prompt.and_then(|prompt| prompt.phase.as_ref()));
        let phase = phase.and_then(Phase::new);
        let title = node.title.or_else(|| prompt.map(|prompt| prompt.title().to_owned()));
        let produces = match prompt {
            Some(prompt) if node.produces.is_empty() => prompt.produces.clone(),
            _ => node.produces,
        };
        Self {
            node: Node {
                title: title.unwrap_or_else(|| node.id.clone()),
                id: node.id,
                phase: phase.as_ref().map(ToString::to_string),
                description: prompt.and_then(|prompt| prompt.description.clone()),
                produces,
                exit_criteria: node.exit_criteria,
                has_prompt: prompt.is_some(),
                place: 0,
                depends_on: Vec::new(),
                dependents: Vec::new(),
                requires: Vec::new(),
            },
            phase,
            depends_on: node.depends_on,
            requires: node.requires_artifacts,
        }
    }

    fn of_prompt(prompt: &Prompt) -> Self {
        let file = NodeFile {
            id: prompt.id.clone(),
            title: None,
            phase: None,
            depends_on: prompt.depends_on.clone(),
            produces: Vec::new(),
            requires_artifacts: prompt.requires_artifacts.clone(),
            exit_criteria: Vec::new(),
        };
        Self::of_file(file, Some(prompt))
    }
}

#[cfg(test)]
mod tests;
