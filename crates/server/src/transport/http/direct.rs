//! The short way for a call that has nothing to say before its answer.
//!
//! For every request of the newer era the SDK runs a server of its own: four tasks, three queues
//! and a second look at the message. A tool's call that asks for no progress and no log gets one
//! message, its answer, and needs none of that. What is not plainly such a call is left to the
//! SDK, so that there is one place that refuses.

use std::convert::Infallible;
use std::future::{pending, ready};
use std::mem;

use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use rmcp::model::{
    CallToolRequest, ClientCapabilities, ClientRequest, ErrorCode, GetExtensions, GetMeta,
    Implementation, InitializeRequestParams, JsonObject, JsonRpcRequest, ProtocolVersion,
    RequestMetaObject, ServerJsonRpcMessage,
};
use rmcp::service::{
    RequestContext, RoleServer, RunningService, RxJsonRpcMessage, Service, TxJsonRpcMessage,
    serve_directly,
};
use rmcp::transport::Transport;
use serde_json::Value;

use super::single;
use crate::caller::Caller;
use crate::mcp::Handler;
use crate::transport::decode;

const METHOD: &str = "tools/call";

/// Answers calls without a server of the SDK around each.
pub(super) struct Direct {
    handler: Box<dyn Fn(Caller) -> Handler + Send + Sync>,
    /// What handlers are given to talk to their client with: nobody hears it.
    silence: RunningService<RoleServer, Handler>,
}

impl Direct {
    /// `handler` makes what answers a caller.
    pub(super) fn new(handler: impl Fn(Caller) -> Handler + Send + Sync + 'static) -> Self {
        let newer =
            InitializeRequestParams::new(ClientCapabilities::default(), Implementation::default())
                .with_protocol_version(ProtocolVersion::V_2026_07_28);
        let silence = serve_directly(handler(Caller::nobody()), Nowhere, Some(newer));
        Self { handler: Box::new(handler), silence }
    }

    /// The answer to a plain call; `None` if the message is anything else.
    pub(super) async fn answer(
        &self,
        caller: &Caller,
        headers: &HeaderMap,
        body: &[u8],
    ) -> Option<Response> {
        let call = plain_call(headers, body)?;
        let handler = (self.handler)(caller.clone());
        let schema = handler.input_schema(&call.request.params.name);
        if schema.is_some_and(|schema| has_headers(&schema)) {
            return None;
        }
        let mut context = RequestContext::new(call.id.clone(), self.silence.peer().clone());
        let mut request = ClientRequest::CallToolRequest(call.request);
        mem::swap(&mut context.meta, request.get_meta_mut());
        mem::swap(&mut context.extensions, request.extensions_mut());
        // In a task of its own: work that has begun is ended by nobody who hangs up.
        let work = tokio::spawn(async move { handler.handle_request(request, context).await });
        let message = match work.await {
            Ok(Ok(result)) => ServerJsonRpcMessage::response(result, call.id),
            Ok(Err(error)) => ServerJsonRpcMessage::error(error, Some(call.id)),
            Err(_) => return Some(StatusCode::INTERNAL_SERVER_ERROR.into_response()),
        };
        Some(written(&message))
    }
}

/// The call that a message is, if its headers say the same as its body and it wants one answer.
fn plain_call(headers: &HeaderMap, body: &[u8]) -> Option<JsonRpcRequest<CallToolRequest>> {
    let version = ProtocolVersion::V_2026_07_28;
    let named = |name: &str, value: &str| {
        single(headers, name).is_ok_and(|header| header.is_some_and(|header| header == value))
    };
    if !named("mcp-protocol-version", version.as_str()) || !named("mcp-method", METHOD) {
        return None;
    }
    let call = decode::call(std::str::from_utf8(body).ok()?)?;
    let meta = call.request.extensions.get::<RequestMetaObject>()?;
    let plain = meta.protocol_version().as_ref() == Some(&version)
        && meta.client_capabilities().is_some()
        && meta.get_progress_token().is_none()
        && meta.log_level().is_none()
        && named("mcp-name", &call.request.params.name)
        // The header would have to be decoded.
        && !call.request.params.name.starts_with("=?");
    plain.then_some(call)
}

/// Whether arguments are repeated in headers, which must then be held against them.
fn has_headers(schema: &JsonObject) -> bool {
    let properties = schema.get("properties").and_then(Value::as_object);
    properties
        .into_iter()
        .flat_map(JsonObject::values)
        .filter_map(Value::as_object)
        .any(|property| property.contains_key("x-mcp-header") || has_headers(property))
}

/// An answer, with the status that the SDK would give it.
fn written(message: &ServerJsonRpcMessage) -> Response {
    let status = match message {
        ServerJsonRpcMessage::Error(error) => match error.error.code {
            ErrorCode::HEADER_MISMATCH
            | ErrorCode::MISSING_REQUIRED_CLIENT_CAPABILITY
            | ErrorCode::UNSUPPORTED_PROTOCOL_VERSION => StatusCode::BAD_REQUEST,
            ErrorCode::METHOD_NOT_FOUND => StatusCode::NOT_FOUND,
            _ => StatusCode::OK,
        },
        _ => StatusCode::OK,
    };
    match serde_json::to_vec(message) {
        Ok(body) => (status, [(CONTENT_TYPE, "application/json")], body).into_response(),
        Err(_) => StatusCode::INTERNAL_SERVER_ERROR.into_response(),
    }
}

/// A client that says nothing and hears nothing.
struct Nowhere;

impl Transport<RoleServer> for Nowhere {
    type Error = Infallible;

    fn send(
        &mut self,
        _: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = Result<(), Infallible>> + Send + 'static {
        ready(Ok(()))
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        pending().await
    }

    async fn close(&mut self) -> Result<(), Infallible> {
        Ok(())
    }
}
