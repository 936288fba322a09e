//! Streamable HTTP at `/mcp`: the SDK's service, with what it leaves to others.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::header::ACCEPT;
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::{Extension, Router, routing};
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use tokio_util::sync::CancellationToken;

use super::messages::{self, Bounds};
use super::sessions::{self, Places, Sessions};
use super::{no_place, not_found};
use crate::app::App;
use crate::caller::Caller;
use crate::config::HttpLimits;
use crate::mcp::Handler;
use crate::transport::decode::Incoming;

/// What a client takes that takes anything.
const BOTH: HeaderValue = HeaderValue::from_static("application/json, text/event-stream");

struct Streamable {
    service: StreamableHttpService<Handler, Sessions>,
    sessions: Arc<Sessions>,
    bounds: Bounds,
}

pub(super) fn router(
    app: Arc<App>,
    places: Places,
    limits: &HttpLimits,
    shutdown: CancellationToken,
) -> Router {
    let sessions = Arc::new(Sessions::new(limits, places));
    tokio::spawn(Arc::clone(&sessions).tidy());
    let config = StreamableHttpServerConfig::default()
        // Every request has passed the guard, on whichever route.
        .disable_allowed_hosts()
        .disable_allowed_origins()
        .with_json_response(true)
        .with_max_request_body_bytes(limits.body_bytes.get())
        .with_cancellation_token(shutdown.child_token());
    let service = StreamableHttpService::new(
        move || {
            let caller = sessions::caller().unwrap_or_else(Caller::nobody);
            Ok(Handler::new(Arc::clone(&app), caller, shutdown.clone()))
        },
        Arc::clone(&sessions),
        config,
    );
    let streamable = Streamable { service, sessions, bounds: Bounds::new(limits) };
    Router::new().route("/mcp", routing::any(answer)).with_state(Arc::new(streamable))
}

async fn answer(
    State(streamable): State<Arc<Streamable>>,
    Extension(caller): Extension<Caller>,
    request: Request,
) -> Response {
    if let Some(id) = request.headers().get("mcp-session-id")
        && !id.to_str().is_ok_and(|id| streamable.sessions.belongs(id, &caller))
    {
        return not_found("there is no such session\n");
    }
    let (mut parts, body) = request.into_parts();
    accept_both(&mut parts.headers);
    let ended = parts.method == Method::DELETE;
    let body = if parts.method == Method::POST {
        match streamable.bounds.read(&parts.headers, body).await {
            Ok(body) => body,
            Err(answer) => return answer,
        }
    } else {
        axum::body::Bytes::new()
    };
    let request = Request::from_parts(parts, Body::from(body.clone()));
    let answer = sessions::answering(caller, Box::pin(streamable.service.handle(request))).await;
    let Some(answer) = answer else { return no_place() };
    match answer.status() {
        // That it is JSON has been seen to: it is no message.
        StatusCode::UNSUPPORTED_MEDIA_TYPE => match messages::decode(&body) {
            Incoming::Refused(refusal) => messages::refused(&refusal),
            Incoming::Nothing | Incoming::Message(_) => StatusCode::ACCEPTED.into_response(),
        },
        // The SDK's words are for its log, which has them.
        StatusCode::INTERNAL_SERVER_ERROR => {
            (StatusCode::INTERNAL_SERVER_ERROR, "internal error\n").into_response()
        }
        // Some clients take 202 for a session that is not ended yet.
        StatusCode::ACCEPTED if ended => StatusCode::NO_CONTENT.into_response(),
        _ => answer.map(Body::new),
    }
}

/// A client that takes anything takes both kinds of answers.
fn accept_both(headers: &mut HeaderMap) {
    let anything = headers.get(ACCEPT).is_none_or(|accept| {
        accept.to_str().is_ok_and(|accept| {
            accept.split(',').any(|kind| kind.trim().split(';').next() == Some("*/*"))
        })
    });
    if anything {
        headers.insert(ACCEPT, BOTH);
    }
}
