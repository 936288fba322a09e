//! Tools over the workflow: what can be done next, and that something was done.

use std::collections::BTreeMap;

use rutter_base::failure::Report;
use rutter_base::text;
use rutter_process::workflow::{
    Advance, Graph, Loaded, Node, Progress, STATE_PATH, Snapshot, Standing, mermaid,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::module::ModuleId;
use crate::tool::{Call, Data, Effect, Tool};

/// The `suggest_next_calls` tool.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct SuggestNextCalls {
    /// Also list what is blocked, and by what
    #[serde(default)]
    include_blocked: bool,
}

/// The `advance_state` tool.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct AdvanceState {
    /// The step that is done
    id: String,
    /// What it came to, by name
    #[serde(default)]
    outputs: Option<Map<String, Value>>,
    /// Paths of the files it left, by artifact
    #[serde(default)]
    artifacts: Option<BTreeMap<String, String>>,
}

/// The `export_task_list` tool.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ExportTaskList {
    /// taskmaster: the tasks.json of task-master-ai
    #[serde(default)]
    format: Format,
}

/// The shapes of a task list.
#[derive(Debug, Clone, Copy, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Format {
    #[default]
    Json,
    Taskmaster,
    Mermaid,
}

/// What can be done next.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Next {
    suggestions: Vec<Suggestion>,
    #[serde(skip_serializing_if = "Option::is_none")]
    blocked: Option<Vec<Blocked>>,
    /// How many entries did not fit
    #[serde(skip_serializing_if = "Option::is_none")]
    omitted: Option<usize>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    warnings: Vec<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Suggestion {
    id: String,
    title: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    phase: Option<String>,
    reason: String,
    produces: Vec<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Blocked {
    id: String,
    title: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    phase: Option<String>,
    /// Steps that are not done
    missing_steps: Vec<String>,
    /// Artifacts that are not recorded
    missing_artifacts: Vec<String>,
}

/// What marking a step as done led to.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct StateAdvanced {
    ok: bool,
    #[serde(rename = "statePath")]
    state_path: String,
    /// Steps that can be done now and could not before
    unlocked: Vec<String>,
    warnings: Vec<String>,
}

/// A task list in one of its shapes.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub(super) struct Exported {
    #[serde(skip_serializing_if = "Option::is_none")]
    tasks: Option<Vec<Task>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    master: Option<Tag>,
    #[serde(skip_serializing_if = "Option::is_none")]
    mermaid: Option<String>,
    /// How many tasks did not fit
    #[serde(skip_serializing_if = "Option::is_none")]
    omitted: Option<usize>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Task {
    id: String,
    title: String,
    #[serde(rename = "dependsOn")]
    depends_on: Vec<String>,
    status: Status,
}

#[derive(Debug, Clone, Copy, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Status {
    Pending,
    Done,
}

/// A list of tasks of task-master-ai.
#[derive(Debug, Serialize, JsonSchema)]
struct Tag {
    tasks: Vec<MasterTask>,
    metadata: BTreeMap<String, String>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct MasterTask {
    id: usize,
    title: String,
    description: String,
    details: String,
    #[serde(rename = "testStrategy")]
    test_strategy: String,
    status: Status,
    dependencies: Vec<usize>,
    priority: String,
    subtasks: Vec<String>,
}

impl Tool for SuggestNextCalls {
    const NAME: &'static str = "suggest_next_calls";
    const TITLE: &'static str = "Suggest next calls";
    const DESCRIPTION: &'static str = "Rank the steps of the workflow that can be done now, by \
        phase. Use it to find out what to call next; each id is the name of a tool.";
    const MODULE: ModuleId = ModuleId::Workflow;
    const EFFECT: Effect = Effect::Reads;
    type Output = Data<Next>;

    async fn call(self, call: Call) -> Result<Self::Output, Report> {
        let limit = call.app.limits().payload;
        let value =
            call.app.with_progress(move |s, l| suggest(s, l, self.include_blocked, limit)).await?;
        Ok(Data { value, text: None })
    }
}

impl Tool for AdvanceState {
    const NAME: &'static str = "advance_state";
    const TITLE: &'static str = "Mark a step as done";
    const DESCRIPTION: &'static str = "Mark a step of the workflow as done and record its outputs \
        and the paths of its artifacts. Unlocks the steps that wait for it; the same call again \
        changes nothing.";
    const MODULE: ModuleId = ModuleId::Workflow;
    const EFFECT: Effect = Effect::Changes;
    type Output = Data<StateAdvanced>;

    async fn call(self, call: Call) -> Result<Self::Output, Report> {
        let Self { id, outputs, artifacts } = self;
        let step = text::cap(text::one_line(&id), 100);
        let advance = Advance { id, outputs, artifacts };
        let advanced = call.app.with_workflow(move |workflow| workflow.advance(advance)).await??;
        for warning in &advanced.warnings {
            tracing::warn!(event = "advance_warning", step, "{warning}");
        }
        let value = StateAdvanced {
            ok: true,
            state_path: STATE_PATH.to_owned(),
            unlocked: advanced.unlocked,
            warnings: advanced.warnings,
        };
        Ok(Data { value, text: None })
    }
}

impl Tool for ExportTaskList {
    const NAME: &'static str = "export_task_list";
    const TITLE: &'static str = "Export the task list";
    const DESCRIPTION: &'static str = "All steps of the workflow with dependencies and status, for \
        another planner: as plain tasks, as the file of task-master-ai, or as a Mermaid chart.";
    const MODULE: ModuleId = ModuleId::Workflow;
    const EFFECT: Effect = Effect::Reads;
    type Output = Data<Exported>;

    async fn call(self, call: Call) -> Result<Self::Output, Report> {
        let limit = call.app.limits().payload;
        let value = call.app.with_progress(move |s, l| export(s, &l, self.format, limit)).await?;
        Ok(Data { value, text: None })
    }
}

fn suggest(snapshot: &Snapshot, loaded: Loaded, blocked: bool, limit: usize) -> Next {
    let Snapshot { graph, .. } = snapshot;
    let progress = graph.progress(&loaded.state);
    let mut room = Room::new(limit);
    let ready = graph.standing_at(Standing::Ready, &progress);
    let suggestions = room.fill(ready.map(|node| suggestion(graph, node)));
    let waiting = || graph.standing_at(Standing::Blocked, &progress);
    let blocked = blocked.then(|| room.fill(waiting().map(|node| waits(graph, node, &progress))));
    let warnings = loaded.warning.into_iter().collect();
    Next { suggestions, blocked, omitted: room.omitted(), warnings }
}

fn suggestion(graph: &Graph, node: &Node) -> Suggestion {
    let steps = text::listed(graph.before(node));
    let artifacts = text::listed(graph.required(node));
    let mut reason = match (steps.is_empty(), artifacts.is_empty()) {
        (true, true) => "nothing must come before it".to_owned(),
        (false, true) => format!("done: {steps}"),
        (true, false) => format!("recorded: {artifacts}"),
        (false, false) => format!("done: {steps}; recorded: {artifacts}"),
    };
    if !node.has_prompt {
        reason.push_str("; it has no prompt: do it, then call `advance_state`");
    }
    Suggestion {
        id: node.id.clone(),
        title: node.title.clone(),
        phase: node.phase.clone(),
        reason,
        produces: node.produces.clone(),
    }
}

fn waits(graph: &Graph, node: &Node, progress: &Progress) -> Blocked {
    let missing = graph.missing(node, progress);
    let owned = |names: Vec<&str>| names.into_iter().map(str::to_owned).collect();
    Blocked {
        id: node.id.clone(),
        title: node.title.clone(),
        phase: node.phase.clone(),
        missing_steps: owned(missing.steps),
        missing_artifacts: owned(missing.artifacts),
    }
}

fn export(snapshot: &Snapshot, loaded: &Loaded, format: Format, limit: usize) -> Exported {
    let Snapshot { graph, .. } = snapshot;
    let progress = graph.progress(&loaded.state);
    let mut room = Room::new(limit);
    let status = |node: &Node| match graph.standing(node, &progress) {
        Standing::Done => Status::Done,
        Standing::Ready | Standing::Blocked => Status::Pending,
    };
    let mut exported = Exported::default();
    match format {
        Format::Json => {
            let tasks = graph.nodes().iter().map(|node| Task {
                id: node.id.clone(),
                title: node.title.clone(),
                depends_on: graph.before(node).map(str::to_owned).collect(),
                status: status(node),
            });
            exported.tasks = Some(room.fill(tasks));
        }
        Format::Taskmaster => {
            let tasks = graph.nodes().iter().map(|node| master_task(graph, node, status(node)));
            let tasks = room.fill(tasks);
            let about = ("description".to_owned(), "Steps of the workflow".to_owned());
            exported.master = Some(Tag { tasks, metadata: [about].into() });
        }
        Format::Mermaid => exported.mermaid = Some(text::cap(mermaid(graph, &progress), limit / 2)),
    }
    exported.omitted = room.omitted();
    exported
}

/// Their ids are numbers: the places in our order, counted from 1.
fn master_task(graph: &Graph, node: &Node, status: Status) -> MasterTask {
    let number = |id: &str| graph.number(id).unwrap_or_default();
    let details = match node.produces.as_slice() {
        [] => format!("Step `{}` of the workflow.", node.id),
        produces => {
            let produces = text::listed(produces.iter().map(String::as_str));
            format!("Step `{}` of the workflow. Produces {produces}.", node.id)
        }
    };
    MasterTask {
        id: number(&node.id),
        title: node.title.clone(),
        description: node.description.clone().unwrap_or_else(|| node.title.clone()),
        details,
        test_strategy: node.exit_criteria.join("\n"),
        status,
        dependencies: graph.before(node).map(number).collect(),
        priority: "medium".to_owned(),
        subtasks: Vec::new(),
    }
}

/// What is left of the payload: a list that is cut is still whole JSON.
struct Room {
    left: usize,
    omitted: usize,
}

impl Room {
    /// For what is around the lists.
    const AROUND: usize = 512;

    fn new(limit: usize) -> Self {
        Self { left: limit.saturating_sub(Self::AROUND), omitted: 0 }
    }

    /// As many as fit.
    fn fill<T: Serialize>(&mut self, items: impl Iterator<Item = T>) -> Vec<T> {
        let mut kept = Vec::new();
        for item in items {
            let size = serde_json::to_vec(&item).map_or(0, |json| json.len() + 1);
            if self.omitted > 0 || size > self.left {
                self.omitted += 1;
            } else {
                self.left -= size;
                kept.push(item);
            }
        }
        kept
    }

    fn omitted(&self) -> Option<usize> {
        Some(self.omitted).filter(|&omitted| omitted > 0)
    }
}
