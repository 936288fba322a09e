//! What can be done next: a pure question to the graph and the state.

use std::collections::BTreeSet;

use super::graph::{Graph, Node};
use super::state::State;

/// How far the work is: which steps are done, which artifacts are recorded.
#[derive(Debug, Clone)]
pub struct Progress {
    done: Vec<bool>,
    recorded: Vec<bool>,
}

/// What is known of the steps and the artifacts of a graph.
pub trait Known {
    /// Whether the step at this place is done.
    fn is_done(&self, place: usize) -> bool;
    /// Whether the artifact with this number is recorded.
    fn is_recorded(&self, artifact: usize) -> bool;
}

/// Asks the state itself: for few questions, where [`Progress`] would look at every step.
#[derive(Debug, Clone, Copy)]
pub(super) struct Looked<'a> {
    pub(super) graph: &'a Graph,
    pub(super) state: &'a State,
}

impl Known for Looked<'_> {
    fn is_done(&self, place: usize) -> bool {
        let node = self.graph.nodes.get(place);
        node.is_some_and(|node| self.state.completed().contains_key(&node.id))
    }

    fn is_recorded(&self, artifact: usize) -> bool {
        let key = self.graph.artifacts.get(artifact);
        key.is_some_and(|key| self.state.artifacts().contains_key(key))
    }
}

/// Where a step stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// It was completed.
    Done,
    /// It can be done now.
    Ready,
    /// Something must come before it.
    Blocked,
}

/// What a step waits for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Missing<'a> {
    /// Steps that are not done.
    pub steps: Vec<&'a str>,
    /// Artifacts that are not recorded.
    pub artifacts: Vec<&'a str>,
}

impl Missing<'_> {
    /// Whether it waits for nothing.
    pub fn is_empty(&self) -> bool {
        self.steps.is_empty() && self.artifacts.is_empty()
    }
}

impl std::fmt::Display for Missing<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let steps = rutter_base::text::listed(self.steps.iter().copied());
        let artifacts = rutter_base::text::listed(self.artifacts.iter().copied());
        match (self.steps.as_slice(), self.artifacts.as_slice()) {
            ([], []) => f.write_str("nothing"),
            (_, []) => write!(f, "{steps}"),
            ([], [_]) => write!(f, "the artifact {artifacts}"),
            ([], _) => write!(f, "the artifacts {artifacts}"),
            (_, [_]) => write!(f, "{steps} and the artifact {artifacts}"),
            (_, _) => write!(f, "{steps} and the artifacts {artifacts}"),
        }
    }
}

impl Graph {
    /// How far a state is. What it knows of steps and artifacts that are gone does not matter.
    pub fn progress(&self, state: &State) -> Progress {
        let mut progress = Progress {
            done: vec![false; self.nodes.len()],
            recorded: vec![false; self.artifacts.len()],
        };
        for place in state.completed().keys().filter_map(|id| self.place(id)) {
            if let Some(done) = progress.done.get_mut(place) {
                *done = true;
            }
        }
        for number in state.artifacts().keys().filter_map(|key| self.artifact_numbers.get(key)) {
            if let Some(recorded) = progress.recorded.get_mut(*number) {
                *recorded = true;
            }
        }
        progress
    }

    /// Where a step stands.
    pub fn standing(&self, node: &Node, progress: &impl Known) -> Standing {
        if progress.is_done(node.place) {
            Standing::Done
        } else if node.depends_on.iter().all(|&place| progress.is_done(place))
            && node.requires.iter().all(|&artifact| progress.is_recorded(artifact))
        {
            Standing::Ready
        } else {
            Standing::Blocked
        }
    }

    /// The steps that stand there, by phase, then id.
    pub fn standing_at<'a>(
        &'a self,
        standing: Standing,
        progress: &'a Progress,
    ) -> impl Iterator<Item = &'a Node> {
        self.nodes.iter().filter(move |node| self.standing(node, progress) == standing)
    }

    /// What a step waits for.
    pub fn missing(&self, node: &Node, progress: &impl Known) -> Missing<'_> {
        let steps = node.depends_on.iter().filter(|&&place| !progress.is_done(place));
        let artifacts = node.requires.iter().filter(|&&number| !progress.is_recorded(number));
        Missing {
            steps: steps.filter_map(|&place| Some(self.nodes.get(place)?.id.as_str())).collect(),
            artifacts: artifacts
                .filter_map(|&number| Some(self.artifacts.get(number)?.as_str()))
                .collect(),
        }
    }

    /// The steps that a completion with these artifacts may make ready, and that are not ready
    /// now: those that wait for the step itself or for one of the artifacts.
    pub(super) fn waiting_for<'a>(
        &'a self,
        node: &Node,
        artifacts: impl Iterator<Item = &'a str>,
        now: &impl Known,
    ) -> Vec<&'a Node> {
        let requirers = artifacts
            .filter_map(|key| self.requirers.get(*self.artifact_numbers.get(key)?))
            .flatten();
        let places: BTreeSet<usize> = node.dependents.iter().chain(requirers).copied().collect();
        let nodes = places.into_iter().filter_map(|place| self.nodes.get(place));
        nodes.filter(|node| self.standing(node, now) == Standing::Blocked).collect()
    }
}

impl Known for Progress {
    fn is_done(&self, place: usize) -> bool {
        self.done.get(place).copied().unwrap_or_default()
    }

    fn is_recorded(&self, artifact: usize) -> bool {
        self.recorded.get(artifact).copied().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::graph::GraphFile;
    use super::*;

    fn graph() -> Graph {
        let file: GraphFile = serde_json::from_value(json!({"nodes": [
            {"id": "discover", "phase": 1, "produces": ["summary"]},
            {"id": "define", "phase": 2, "dependsOn": ["discover"], "requiresArtifacts": ["summary"]},
            {"id": "aside", "phase": 2},
            {"id": "design", "phase": 3, "dependsOn": ["define", "aside"]},
        ]}))
        .unwrap();
        Graph::new(Some(file), &[]).unwrap()
    }

    fn state(completed: &[&str], artifacts: &[&str]) -> State {
        let completed: serde_json::Map<_, _> =
            completed.iter().map(|&id| (id.to_owned(), json!({"at": "t"}))).collect();
        let artifacts: serde_json::Map<_, _> =
            artifacts.iter().map(|&key| (key.to_owned(), json!("path"))).collect();
        serde_json::from_value(
            json!({"version": 1, "completed": completed, "artifacts": artifacts}),
        )
        .unwrap()
    }

    fn ids<'a>(graph: &'a Graph, standing: Standing, state: &State) -> Vec<&'a str> {
        let progress = graph.progress(state);
        graph
            .nodes()
            .iter()
            .filter(|node| graph.standing(node, &progress) == standing)
            .map(|node| node.id.as_str())
            .collect()
    }

    #[test]
    fn what_waits_for_nothing_is_ready() {
        let graph = graph();
        assert_eq!(ids(&graph, Standing::Ready, &state(&[], &[])), ["discover", "aside"]);
        assert_eq!(ids(&graph, Standing::Blocked, &state(&[], &[])), ["define", "design"]);
        assert_eq!(ids(&graph, Standing::Done, &state(&["aside", "gone"], &[])), ["aside"]);
    }

    #[test]
    fn a_step_needs_its_artifacts_too() {
        let graph = graph();
        let without = state(&["discover"], &["other"]);
        assert_eq!(ids(&graph, Standing::Ready, &without), ["aside"]);
        let progress = graph.progress(&without);
        let missing = graph.missing(graph.node("define").unwrap(), &progress);
        assert_eq!(missing.to_string(), "the artifact `summary`");
        let missing = graph.missing(graph.node("design").unwrap(), &progress);
        assert_eq!(missing.steps, ["aside", "define"]);
        let with = state(&["discover"], &["summary"]);
        assert_eq!(ids(&graph, Standing::Ready, &with), ["aside", "define"]);
    }

    #[test]
    fn what_a_completion_may_unlock_is_what_waits_for_it_or_its_artifacts() {
        let graph = graph();
        let waiting = |state: &State, id: &str, artifacts: &[&'static str]| {
            let now = Looked { graph: &graph, state };
            let node = graph.node(id).unwrap();
            let found = graph.waiting_for(node, artifacts.iter().copied(), &now);
            found.into_iter().map(|node| node.id.clone()).collect::<Vec<_>>()
        };
        let empty = state(&[], &[]);
        assert_eq!(waiting(&empty, "discover", &["summary"]), ["define"]);
        assert_eq!(waiting(&empty, "define", &["summary", "other"]), ["define", "design"]);
        assert_eq!(waiting(&empty, "aside", &[]), ["design"]);
        assert!(waiting(&empty, "design", &[]).is_empty());
        // What is ready or done already is not unlocked again.
        let later = state(&["discover", "aside", "design"], &["summary"]);
        assert!(waiting(&later, "discover", &["summary"]).is_empty());
        assert!(waiting(&later, "aside", &[]).is_empty());
    }

    #[test]
    fn the_state_itself_says_the_same_as_progress() {
        let graph = graph();
        for (completed, artifacts) in [
            (&[][..], &[][..]),
            (&["discover"], &["summary"]),
            (&["discover", "aside", "gone"], &["other"]),
            (&["define", "aside"], &["summary"]),
        ] {
            let state = state(completed, artifacts);
            let (looked, progress) =
                (Looked { graph: &graph, state: &state }, graph.progress(&state));
            for node in graph.nodes() {
                assert_eq!(graph.standing(node, &looked), graph.standing(node, &progress));
                assert_eq!(graph.missing(node, &looked), graph.missing(node, &progress));
            }
        }
    }
}
