//! How far the workflow is, for whom the tool that tells it is there.

use rutter_process::workflow::{Loaded, Snapshot, Standing};

use super::Part;
use crate::page::frame::counted;
use crate::page::visit::Visit;

/// The tool that answers the same question.
const TOOL: &str = "suggest_next_calls";
/// The most steps that are named.
const MAX_STEPS: usize = 12;

pub(super) struct Workflow {
    pub(super) done: usize,
    pub(super) ready: usize,
    pub(super) blocked: usize,
    pub(super) total: usize,
    /// What can be done now, by phase, then id.
    pub(super) next: Vec<Step>,
    /// How many more there are.
    pub(super) more: Option<String>,
    pub(super) warning: Option<String>,
}

pub(super) struct Step {
    pub(super) id: String,
    pub(super) title: String,
    pub(super) phase: Option<String>,
}

pub(super) async fn of(visit: &Visit) -> Option<Part<Workflow>> {
    visit.app.tool(TOOL, visit.scope())?;
    Some(Part::of(visit.app.with_progress(look).await))
}

fn look(Snapshot { graph, .. }: &Snapshot, loaded: Loaded) -> Workflow {
    let progress = graph.progress(&loaded.state);
    let count = |standing| graph.standing_at(standing, &progress).count();
    let ready = count(Standing::Ready);
    let next = graph.standing_at(Standing::Ready, &progress).take(MAX_STEPS).map(|node| Step {
        id: node.id.clone(),
        title: node.title.clone(),
        phase: node.phase.clone(),
    });
    Workflow {
        done: count(Standing::Done),
        ready,
        blocked: count(Standing::Blocked),
        total: graph.nodes().len(),
        next: next.collect(),
        more: ready.checked_sub(MAX_STEPS).filter(|more| *more > 0).map(|n| counted(n, "step")),
        warning: loaded.warning,
    }
}
