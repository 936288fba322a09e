//! Tools over the process, a file for each family.

pub(super) mod artifacts;
pub(super) mod capabilities;
pub(super) mod governance;
pub(super) mod knowledge;
pub(super) mod orchestration;
pub(super) mod project;

use rmcp::model::JsonObject;
use serde_json::Value;

/// Says in a schema which values an argument can take. A caller who passes another gets an answer
/// that lists them, so this is for those who choose.
fn choices(schema: &mut JsonObject, argument: &str, values: impl IntoIterator<Item = String>) {
    let values: Vec<Value> = values.into_iter().map(Value::from).collect();
    let argument = schema.get_mut("properties").and_then(|all| all.get_mut(argument));
    if let Some(Value::Object(argument)) = argument
        && !values.is_empty()
    {
        argument.insert("enum".into(), Value::Array(values));
    }
}
