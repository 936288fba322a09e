//! Streamable HTTP at `/mcp`: the SDK's service, with what it leaves to others.

use std::sync::Arc;

use axum::body::{Body, Bytes};
use axum::extract::{Request, State};
use axum::http::header::{ACCEPT, CONTENT_TYPE};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::{Extension, Router, routing};
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::direct::Direct;
use super::held::hold;
use super::messages::{self, Bounds};
use super::sessions::{self, Places, Sessions};
use super::{ending, no_place, not_found};
use crate::app::App;
use crate::caller::Caller;
use crate::config::HttpLimits;
use crate::mcp::Handler;
use crate::transport::decode::Incoming;

/// Both kinds of answers.
const BOTH: HeaderValue = HeaderValue::from_static("application/json, text/event-stream");
const JSON: HeaderValue = HeaderValue::from_static("application/json");

struct Streamable {
    service: StreamableHttpService<Handler, Sessions>,
    direct: Direct,
    sessions: Arc<Sessions>,
    bounds: Bounds,
    /// The messages that have no whole answer yet.
    unanswered: TaskTracker,
    /// Whether the SDK sends nothing any more.
    over: CancellationToken,
}

pub(super) fn router(
    app: Arc<App>,
    places: Places,
    limits: &HttpLimits,
    shutdown: CancellationToken,
) -> Router {
    let sessions = Arc::new(Sessions::new(limits, places));
    tokio::spawn(Arc::clone(&sessions).tidy());
    let unanswered = TaskTracker::new();
    let over = after(shutdown.clone(), unanswered.clone());
    let config = StreamableHttpServerConfig::default()
        // Every request has passed the guard, on whichever route.
        .disable_allowed_hosts()
        .disable_allowed_origins()
        .with_json_response(true)
        .with_max_request_body_bytes(limits.body_bytes.get())
        .with_cancellation_token(over.clone());
    let handler = move |caller: Caller| Handler::new(Arc::clone(&app), caller, shutdown.clone());
    let service = {
        let handler = handler.clone();
        let of_request = move || Ok(handler(sessions::caller().unwrap_or_else(Caller::nobody)));
        StreamableHttpService::new(of_request, Arc::clone(&sessions), config)
    };
    let (direct, bounds) = (Direct::new(handler), Bounds::new(limits));
    let streamable = Streamable { service, direct, sessions, bounds, unanswered, over };
    Router::new().route("/mcp", routing::any(answer)).with_state(Arc::new(streamable))
}

/// Cancelled when the server is to end and has answered what it was asked: the SDK breaks off
/// whatever it sends.
fn after(shutdown: CancellationToken, unanswered: TaskTracker) -> CancellationToken {
    let over = CancellationToken::new();
    let ends = over.clone();
    tokio::spawn(async move {
        shutdown.cancelled().await;
        unanswered.close();
        unanswered.wait().await;
        ends.cancel();
    });
    over
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
    let both = accepts_both(&mut parts.headers);
    match parts.method {
        Method::POST => {
            let unanswered = streamable.unanswered.token();
            if streamable.over.is_cancelled() {
                return ending();
            }
            let body = match streamable.bounds.read(&parts.headers, body).await {
                Ok(body) => body,
                Err(answer) => return answer,
            };
            hold(streamable.take(caller, parts, body, both).await, unanswered)
        }
        Method::DELETE => {
            let ended = streamable.pass_on(caller, parts, Bytes::new()).await;
            // Some clients take 202 for a session that is not ended yet.
            match ended.status() {
                StatusCode::ACCEPTED => StatusCode::NO_CONTENT.into_response(),
                _ => ended,
            }
        }
        // The rest of an answer, whose connection broke.
        Method::GET if resumes_an_answer(&parts.headers) => {
            let unanswered = streamable.unanswered.token();
            hold(streamable.pass_on(caller, parts, Bytes::new()).await, unanswered)
        }
        _ => streamable.pass_on(caller, parts, Bytes::new()).await,
    }
}

/// Whether a client comes back for an answer.
fn resumes_an_answer(headers: &HeaderMap) -> bool {
    let last = headers.get("last-event-id").and_then(|id| id.to_str().ok());
    last.is_some_and(sessions::is_of_an_answer)
}

impl Streamable {
    /// Answers a message.
    async fn take(&self, caller: Caller, mut parts: Parts, body: Bytes, both: bool) -> Response {
        if both && let Some(answer) = self.direct.answer(&caller, &parts.headers, &body).await {
            return answer;
        }
        // It was read in whichever case.
        parts.headers.insert(CONTENT_TYPE, JSON);
        let answer = self.pass_on(caller.clone(), parts.clone(), body.clone()).await;
        if answer.status() != StatusCode::UNSUPPORTED_MEDIA_TYPE {
            return answer;
        }
        // It says that it is JSON, so it is no message as the SDK knows them.
        match messages::decode(&body) {
            Incoming::Refused(refusal) => messages::refused(&refusal),
            Incoming::Nothing => StatusCode::ACCEPTED.into_response(),
            Incoming::Message(message) => match serde_json::to_vec(&message) {
                Ok(plain) => self.pass_on(caller, parts, plain.into()).await,
                Err(_) => StatusCode::INTERNAL_SERVER_ERROR.into_response(),
            },
        }
    }

    /// Has the SDK answer.
    async fn pass_on(&self, caller: Caller, parts: Parts, body: Bytes) -> Response {
        let request = Request::from_parts(parts, Body::from(body));
        let answer = sessions::answering(caller, Box::pin(self.service.handle(request))).await;
        match answer {
            None => no_place(),
            // The SDK's words are for its log, which has them.
            Some(answer) if answer.status() == StatusCode::INTERNAL_SERVER_ERROR => {
                (StatusCode::INTERNAL_SERVER_ERROR, "internal error\n").into_response()
            }
            Some(answer) => answer.map(Body::new),
        }
    }
}

/// Whether a client takes both kinds of answers, and if so, says it as the SDK reads it: a client
/// that takes anything takes both, and it may say so in two headers.
fn accepts_both(headers: &mut HeaderMap) -> bool {
    let takes = |kind| {
        let said = headers.get_all(ACCEPT).iter().filter_map(|accept| accept.to_str().ok());
        let mut kinds = said.flat_map(|accept| accept.split(','));
        kinds.any(|said| {
            said.split(';').next().is_some_and(|said| said.trim().eq_ignore_ascii_case(kind))
        })
    };
    let both = !headers.contains_key(ACCEPT)
        || takes("*/*")
        || takes("application/json") && takes("text/event-stream");
    if both {
        headers.insert(ACCEPT, BOTH);
    }
    both
}
