//! Marking a step as done.

use std::collections::BTreeMap;

use rutter_base::failure::{Failure, Kind, Report};
use rutter_base::text;
use serde_json::{Map, Value};

use super::graph::{Graph, Node};
use super::planner::{Looked, Standing};
use super::store::StateError;
use super::{Gating, Snapshot, Workflow};

/// The longest key of an artifact, in characters.
const MAX_KEY: usize = 128;
/// The longest path of an artifact, in characters.
const MAX_PATH: usize = 4_096;
/// How many artifacts one call records.
const MAX_ARTIFACTS: usize = 1_000;
/// The most bytes of outputs, as JSON.
const MAX_OUTPUTS: usize = 64 * 1024;

/// A step that is done.
#[derive(Debug, Clone, Default)]
pub struct Advance {
    /// The step.
    pub id: String,
    /// What it came to.
    pub outputs: Option<Map<String, Value>>,
    /// Where its artifacts are: recorded, never opened.
    pub artifacts: Option<BTreeMap<String, String>>,
}

/// What marking a step as done led to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Advanced {
    /// The steps that can be done now and could not before.
    pub unlocked: Vec<String>,
    /// What the caller should know.
    pub warnings: Vec<String>,
}

/// Why a step was not marked as done.
#[derive(Debug, thiserror::Error)]
pub enum AdvanceError {
    /// There is no such step.
    #[error("there is no step `{id}`")]
    Unknown {
        /// What was asked for.
        id: String,
        /// What may have been meant.
        meant: Option<String>,
    },
    /// Something must come before it.
    #[error("`{id}` is out of order: it waits for {missing}")]
    OutOfOrder {
        /// The step.
        id: String,
        /// What it waits for.
        missing: String,
    },
    /// An argument does not fit: where, and why.
    #[error("{0}")]
    Argument(String),
    /// The state cannot be used.
    #[error(transparent)]
    State(#[from] StateError),
}

impl Failure for AdvanceError {
    fn report(&self) -> Report {
        match self {
            Self::Unknown { meant, .. } => {
                let report = Report::new(Kind::NotFound, self.to_string());
                match meant {
                    Some(meant) => report.hint(format!("did you mean `{meant}`?")),
                    None => report.hint("call `export_task_list` to see all steps"),
                }
            }
            Self::OutOfOrder { .. } => Report::new(Kind::Refused, self.to_string())
                .hint("call `suggest_next_calls` to see what can be done now"),
            Self::Argument(_) => Report::new(Kind::Invalid, self.to_string()),
            Self::State(error) => error.report(),
        }
    }
}

impl Workflow {
    /// Marks a step as done, durably. The same again changes nothing.
    pub fn advance(&self, advance: Advance) -> Result<Advanced, AdvanceError> {
        let snapshot = self.snapshot();
        let Snapshot { graph, .. } = &*snapshot;
        let Some(node) = graph.node(&advance.id) else {
            let ids = graph.nodes().iter().map(|node| node.id.as_str());
            return Err(AdvanceError::Unknown {
                meant: text::closest(&advance.id, ids).map(str::to_owned),
                id: text::cap(text::one_line(&advance.id), 100),
            });
        };
        let Advance { id, outputs, artifacts } = advance;
        check(outputs.as_ref(), artifacts.as_ref())?;
        let mut warnings = unfamiliar(graph, artifacts.as_ref());
        let keys: Vec<String> = artifacts.iter().flatten().map(|(key, _)| key.clone()).collect();
        let mut unlocked = Vec::new();
        let updated = self.store().update(|state, now| {
            let before = Looked { graph, state };
            if graph.standing(node, &before) == Standing::Blocked {
                let missing = graph.missing(node, &before).to_string();
                if self.gating() == Gating::Strict {
                    return Err(AdvanceError::OutOfOrder { id: id.clone(), missing });
                }
                warnings.push(format!("out of order: `{id}` waits for {missing}"));
            }
            let waiting = graph.waiting_for(node, keys.iter().map(String::as_str), &before);
            let changed = state.complete(&id, outputs, artifacts, now);
            let after = Looked { graph, state };
            let ready = |node: &&Node| graph.standing(node, &after) == Standing::Ready;
            unlocked = waiting.into_iter().filter(ready).map(|node| node.id.clone()).collect();
            let absent = node.produces.iter().filter(|key| !state.artifacts().contains_key(*key));
            warnings.extend(absent.map(|key| {
                format!(
                    "`{id}` produces `{key}`, which is not recorded: pass its path in `artifacts`"
                )
            }));
            Ok(changed)
        })?;
        warnings.extend(updated.warning);
        Ok(Advanced { unlocked, warnings })
    }
}

/// What is recorded must be readable in a log and in a list.
fn check(
    outputs: Option<&Map<String, Value>>,
    artifacts: Option<&BTreeMap<String, String>>,
) -> Result<(), AdvanceError> {
    let refuse = |reason: String| Err(AdvanceError::Argument(reason));
    let fits = |text: &str, most: usize| {
        !text.trim().is_empty()
            && text.chars().take(most + 1).count() <= most
            && !text.contains(char::is_control)
    };
    let size =
        outputs.map_or(0, |outputs| serde_json::to_vec(outputs).map_or(0, |json| json.len()));
    if size > MAX_OUTPUTS {
        return refuse(format!(
            "/outputs: expected at most {MAX_OUTPUTS} bytes of JSON, not {size}"
        ));
    }
    let artifacts = artifacts.into_iter().flatten();
    if artifacts.clone().count() > MAX_ARTIFACTS {
        return refuse(format!("/artifacts: expected at most {MAX_ARTIFACTS}"));
    }
    for (key, path) in artifacts {
        let shown = text::cap(text::one_line(key), 60);
        if !fits(key, MAX_KEY) {
            return refuse(format!(
                "/artifacts/{shown}: expected a key of 1 to {MAX_KEY} printable characters"
            ));
        }
        if !fits(path, MAX_PATH) {
            return refuse(format!(
                "/artifacts/{shown}: expected a path of 1 to {MAX_PATH} printable characters"
            ));
        }
    }
    Ok(())
}

/// Keys that no step produces or requires are most often misspelt.
fn unfamiliar(graph: &Graph, artifacts: Option<&BTreeMap<String, String>>) -> Vec<String> {
    let odd = artifacts
        .into_iter()
        .flatten()
        .filter(|(key, _)| !graph.artifact_numbers.contains_key(*key));
    odd.map(|(key, _)| {
        let meant = text::closest(key, graph.artifacts.iter().map(String::as_str))
            .map_or_else(String::new, |meant| format!("; did you mean `{meant}`?"));
        format!("no step produces or requires the artifact `{key}`{meant}")
    })
    .collect()
}
