//! The methods of the skills extension (SEP-2640), which is there where skills are.

use rmcp::ErrorData;
use rmcp::model::{
    CustomRequest, CustomResult, ExtensionCapabilities, PaginatedRequestParams, ServerCapabilities,
};
use rmcp::service::{RequestContext, RoleServer};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::{Handler, cache_hints, is_newer_era, misshapen, page, protocol_error};
use crate::scope::Subject;
use crate::skills::Skills;

const EXTENSION: &str = "io.modelcontextprotocol/skills";

const LIST: &str = "skills/list";
const GET: &str = "skills/get";
const DIRECTORY: &str = "resources/directory/read";

#[derive(Deserialize)]
struct Place {
    uri: String,
    cursor: Option<String>,
}

/// Says in the capabilities that the methods are there.
pub(super) fn declare(capabilities: &mut ServerCapabilities) {
    let settings = Map::from_iter([("directoryRead".to_owned(), json!(true))]);
    let extensions = capabilities.extensions.get_or_insert_with(ExtensionCapabilities::new);
    extensions.insert(EXTENSION.to_owned(), settings);
}

/// Answers a method of the extension; `None` if it is none, or not for this caller.
pub(super) async fn answer(
    handler: &Handler,
    request: &CustomRequest,
    context: &RequestContext<RoleServer>,
) -> Option<Result<CustomResult, ErrorData>> {
    if !handler.scope.admits(Subject::Skill) {
        return None;
    }
    match request.method.as_str() {
        LIST => Some(handler.answer(LIST, list(handler, request, context)).await),
        GET => Some(handler.answer(GET, get(handler, request, context)).await),
        DIRECTORY => Some(handler.answer(DIRECTORY, directory(handler, request, context)).await),
        _ => None,
    }
}

async fn list(
    handler: &Handler,
    request: &CustomRequest,
    context: &RequestContext<RoleServer>,
) -> Result<CustomResult, ErrorData> {
    let params: Option<PaginatedRequestParams> =
        request.params_as().map_err(|_| misshapen(LIST))?;
    let (entries, immutable) =
        ask(handler, |skills| (skills.entries(), skills.is_immutable())).await?;
    let size = handler.app.limits().page;
    let (entries, next) = page::cut(entries, |entry| entry.uri.as_str(), params, size)?;
    let mut result = Map::from_iter([("skills".to_owned(), json!(entries))]);
    add_cursor(&mut result, next);
    add_cache_hints(&mut result, context, immutable);
    Ok(complete(result, context))
}

async fn get(
    handler: &Handler,
    request: &CustomRequest,
    context: &RequestContext<RoleServer>,
) -> Result<CustomResult, ErrorData> {
    let Place { uri, .. } = place(request)?;
    let (entry, immutable) =
        ask(handler, move |skills| (skills.entry(&uri), skills.is_immutable())).await?;
    let entry = entry.ok_or_else(|| {
        ErrorData::invalid_params(
            "there is no skill at that URI; list the skills to see what there is",
            None,
        )
    })?;
    let mut result = Map::from_iter([("skill".to_owned(), json!(entry))]);
    add_cache_hints(&mut result, context, immutable);
    Ok(complete(result, context))
}

async fn directory(
    handler: &Handler,
    request: &CustomRequest,
    context: &RequestContext<RoleServer>,
) -> Result<CustomResult, ErrorData> {
    let Place { uri, cursor } = place(request)?;
    let children = ask(handler, move |skills| skills.children(&uri)).await?.ok_or_else(|| {
        ErrorData::invalid_params("there is no directory at that URI; its form is `skill://<name>`, without a final slash", None)
    })?;
    let params = PaginatedRequestParams::default().with_cursor(cursor);
    let size = handler.app.limits().page;
    let (children, next) = page::cut(children, |child| child.uri.as_str(), Some(params), size)?;
    let mut result = Map::from_iter([("resources".to_owned(), json!(children))]);
    add_cursor(&mut result, next);
    Ok(complete(result, context))
}

fn place(request: &CustomRequest) -> Result<Place, ErrorData> {
    let params = request.params_as().ok().flatten();
    params.ok_or_else(|| misshapen(&request.method))
}

async fn ask<T: Send + 'static>(
    handler: &Handler,
    question: impl FnOnce(&Skills) -> T + Send + 'static,
) -> Result<T, ErrorData> {
    match handler.app.with_skills(question).await {
        Some(answer) => answer.map_err(|report| protocol_error(&report)),
        None => Err(ErrorData::internal_error("internal error", None)),
    }
}

fn add_cursor(result: &mut Map<String, Value>, next: Option<String>) {
    if let Some(next) = next {
        result.insert("nextCursor".to_owned(), json!(next));
    }
}

fn add_cache_hints(
    result: &mut Map<String, Value>,
    context: &RequestContext<RoleServer>,
    immutable: bool,
) {
    let (ttl_ms, scope) = cache_hints(context, immutable);
    if let Some((ttl_ms, scope)) = ttl_ms.zip(scope) {
        result.insert("ttlMs".to_owned(), json!(ttl_ms));
        result.insert("cacheScope".to_owned(), json!(scope));
    }
}

/// The newer era says of every result that it is one.
fn complete(mut result: Map<String, Value>, context: &RequestContext<RoleServer>) -> CustomResult {
    if is_newer_era(context) {
        result.insert("resultType".to_owned(), json!("complete"));
    }
    CustomResult::new(Value::Object(result))
}
