//! Tools over the board, one file a family.
//!
//! Names, descriptions and arguments are the specification's. A field has a description only
//! where its name does not say enough: every agent pays for every byte.

mod claims;
mod comments;
mod disciplines;
mod features;
mod project;
mod state_files;
mod tasks;

use std::sync::Arc;

use rmcp::model::{CallToolResult, JsonObject};
use rutter_base::failure::Report;
use rutter_board::{Actor, Board, PageRequest};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use crate::schema;
use crate::session::Context;
use crate::tool::{Call, Data, Entry, Output, Tool};

/// All of them.
pub(super) fn table() -> Vec<Entry> {
    vec![
        Entry::of::<tasks::ListTasks>(),
        Entry::of::<tasks::GetTask>(),
        Entry::of::<tasks::CreateTask>(),
        Entry::of::<tasks::UpdateTask>(),
        Entry::of::<tasks::DeleteTask>(),
        Entry::of::<tasks::SetTaskStatus>(),
        Entry::of::<tasks::EnrichTask>(),
        Entry::of::<claims::ListReadyTasks>(),
        Entry::of::<claims::ClaimTask>(),
        Entry::of::<comments::AddTaskComment>(),
        Entry::of::<comments::UpdateTaskComment>(),
        Entry::of::<comments::DeleteTaskComment>(),
        Entry::of::<features::ListFeatures>(),
        Entry::of::<features::GetFeature>(),
        Entry::of::<features::CreateFeature>(),
        Entry::of::<features::UpdateFeature>(),
        Entry::of::<features::DeleteFeature>(),
        Entry::of::<features::AppendFeatureLearning>(),
        Entry::of::<features::AddFeatureContextFile>(),
        Entry::of::<disciplines::ListDisciplines>(),
        Entry::of::<disciplines::GetDiscipline>(),
        Entry::of::<disciplines::CreateDiscipline>(),
        Entry::of::<disciplines::UpdateDiscipline>(),
        Entry::of::<disciplines::DeleteDiscipline>(),
        Entry::of::<project::GetProjectInfo>(),
        Entry::of::<project::GetProjectProgress>(),
        Entry::of::<state_files::AppendLearning>(),
        Entry::of::<state_files::ReadLearnings>(),
        Entry::of::<state_files::AppendProgress>(),
        Entry::of::<state_files::ReadProgress>(),
    ]
}

/// A record: as data, and as the same JSON in text.
#[derive(Debug)]
struct Record<T>(T);

impl<T: Serialize + JsonSchema + Send> Output for Record<T> {
    fn schema() -> Option<Arc<JsonObject>> {
        let mut schema = Value::Object(schema::of::<T>());
        plain(&mut schema);
        match schema {
            Value::Object(schema) => Some(Arc::new(schema)),
            _ => None,
        }
    }

    fn into_result(self, limit: usize) -> CallToolResult {
        Data { value: self.0, text: None }.into_result(limit)
    }
}

/// Removes descriptions: the names of a record say enough to whoever reads one.
fn plain(schema: &mut Value) {
    match schema {
        Value::Object(object) => {
            // A property may itself be called `description`: that one is an object.
            if object.get("description").is_some_and(Value::is_string) {
                object.remove("description");
            }
            object.values_mut().for_each(plain);
        }
        Value::Array(items) => items.iter_mut().for_each(plain),
        _ => {}
    }
}

/// A record that is gone.
#[derive(Debug, Serialize, JsonSchema)]
struct Deleted<I> {
    #[serde(flatten)]
    which: I,
    deleted: bool,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Id {
    id: i64,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Name {
    name: String,
}

fn deleted<I>(which: I) -> Record<Deleted<I>> {
    Record(Deleted { which, deleted: true })
}

/// The board, and on whose behalf a tool works on it.
fn board_for<T: Tool>(call: &Call) -> Result<(Arc<Board>, Actor), Report> {
    let board = Arc::clone(call.app.board()?);
    Ok((board, actor(call, T::NAME)))
}

/// On whose behalf a change is made, for the journal: a caller on the network whose session has no
/// name goes by its own.
fn actor(call: &Call, tool: &str) -> Actor {
    let Context { session_id, recipe, discipline, .. } =
        call.session.as_deref().cloned().unwrap_or_default();
    let session = session_id.or_else(|| call.caller.name().map(ToString::to_string));
    Actor { session, recipe, discipline, ..Actor::of(tool) }
}

fn page(cursor: Option<String>, limit: Option<i64>) -> PageRequest {
    PageRequest { cursor, limit }
}
