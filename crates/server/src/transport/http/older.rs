//! The older pair of addresses: a stream of events from `GET /sse`, and `POST /messages` to it.
//!
//! The stream is the session: its first event names the address for messages, all answers and
//! notifications follow on it, and when it ends the session does.

use std::collections::{HashMap, HashSet};
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, Request, State};
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use axum::http::{HeaderName, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::{Extension, Router, routing};
use futures_util::stream;
use rmcp::model::{
    ClientJsonRpcMessage, ClientNotification, JsonRpcNotification, RequestId, ServerJsonRpcMessage,
};
use rmcp::service::{RoleServer, RxJsonRpcMessage, TxJsonRpcMessage, serve_directly_with_ct};
use rmcp::transport::Transport;
use serde::Deserialize;
use tokio::sync::{Notify, mpsc};
use tokio::time::timeout;
use tokio_util::sync::{CancellationToken, DropGuard};

use super::messages::{self, Bounds};
use super::sessions::{Place, Places};
use super::{ending, no_place, not_found};
use crate::app::App;
use crate::caller::{Caller, Identity};
use crate::config::HttpLimits;
use crate::mcp::Handler;
use crate::transport::decode::Incoming;

/// How often an idle stream says that it is alive: proxies close those that say nothing.
const KEEP_ALIVE: Duration = Duration::from_secs(15);

/// The sessions that are open.
pub(super) struct Older {
    app: Arc<App>,
    places: Places,
    bounds: Bounds,
    queue: usize,
    stall: Duration,
    shutdown: CancellationToken,
    open: Mutex<HashMap<String, Open>>,
}

#[derive(Clone)]
struct Open {
    owner: Identity,
    incoming: mpsc::Sender<ClientJsonRpcMessage>,
    unanswered: Arc<Unanswered>,
}

/// The requests of a session that have no answer yet. Whoever asks for more than it reads waits.
#[derive(Default)]
struct Unanswered {
    ids: Mutex<HashSet<RequestId>>,
    fewer: Notify,
}

impl Unanswered {
    fn ids(&self) -> MutexGuard<'_, HashSet<RequestId>> {
        self.ids.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until there are fewer than `most`.
    async fn enter(&self, id: RequestId, most: usize) -> Entered<'_> {
        loop {
            let fewer = self.fewer.notified();
            {
                let mut ids = self.ids();
                if ids.len() < most {
                    ids.insert(id.clone());
                    return Entered { unanswered: self, id: Some(id) };
                }
            }
            fewer.await;
        }
    }

    fn leave(&self, id: &RequestId) {
        self.ids().remove(id);
        self.fewer.notify_waiters();
    }
}

/// A request that is about to be handed over; if it is not, it needs no answer.
struct Entered<'a> {
    unanswered: &'a Unanswered,
    id: Option<RequestId>,
}

impl Entered<'_> {
    fn handed_over(mut self) {
        self.id = None;
    }
}

impl Drop for Entered<'_> {
    fn drop(&mut self) {
        self.id.iter().for_each(|id| self.unanswered.leave(id));
    }
}

impl Older {
    pub(super) fn router(
        app: Arc<App>,
        places: Places,
        limits: &HttpLimits,
        shutdown: CancellationToken,
    ) -> Router {
        let older = Arc::new(Self {
            app,
            places,
            bounds: Bounds::new(limits),
            queue: limits.queue.get(),
            stall: limits.stall(),
            shutdown,
            open: Mutex::default(),
        });
        Router::new()
            .route("/sse", routing::get(connect))
            .route("/messages", routing::post(receive))
            .with_state(older)
    }

    fn open(&self) -> MutexGuard<'_, HashMap<String, Open>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Opens a session and its stream.
async fn connect(
    State(older): State<Arc<Older>>,
    Extension(caller): Extension<Caller>,
) -> Response {
    let Some(place) = older.places.take() else { return no_place() };
    let id = uuid::Uuid::new_v4().to_string();
    let (incoming, received) = mpsc::channel(older.queue);
    let (events, outgoing) = mpsc::channel(older.queue);
    let endpoint = format!("event: endpoint\ndata: /messages?sessionId={id}\n\n");
    let owner = caller.identity().clone();
    let unanswered = Arc::<Unanswered>::default();
    let open = Open { owner, incoming, unanswered: Arc::clone(&unanswered) };
    older.open().insert(id.clone(), open);
    let (shutdown, ending) = (older.shutdown.clone(), CancellationToken::new());
    let handler = Handler::new(Arc::clone(&older.app), caller, shutdown.clone());
    let pair =
        Pair { received, events, unanswered, stall: older.stall, shutdown, ending: ending.clone() };
    let service = serve_directly_with_ct(handler, pair, None, ending.clone());
    tokio::spawn(async move {
        let _ = service.waiting().await;
    });
    let session = Session { id, older, _place: place, _ends: ending.drop_guard() };
    let body = Body::from_stream(stream::unfold(
        (session, outgoing, Some(Bytes::from(endpoint))),
        |(session, mut outgoing, first)| async move {
            if let Some(first) = first {
                return Some((Ok::<_, io::Error>(first), (session, outgoing, None)));
            }
            // There is nothing more when the service has ended, and with it what it was asked.
            let event = match timeout(KEEP_ALIVE, outgoing.recv()).await {
                Ok(event) => event?,
                Err(_) => Bytes::from_static(b": alive\n\n"),
            };
            Some((Ok(event), (session, outgoing, None)))
        },
    ));
    let headers = [
        (CONTENT_TYPE, "text/event-stream"),
        (CACHE_CONTROL, "no-cache"),
        (HeaderName::from_static("x-accel-buffering"), "no"),
    ];
    (headers, body).into_response()
}

/// What ends with the stream.
struct Session {
    id: String,
    older: Arc<Older>,
    _place: Place,
    _ends: DropGuard,
}

impl Drop for Session {
    fn drop(&mut self) {
        self.older.open().remove(&self.id);
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct To {
    session_id: String,
}

/// Takes a message for a session; the answer comes on its stream.
async fn receive(
    State(older): State<Arc<Older>>,
    Extension(caller): Extension<Caller>,
    to: Result<Query<To>, QueryRejection>,
    request: Request,
) -> Response {
    if older.shutdown.is_cancelled() {
        return ending();
    }
    let Ok(Query(to)) = to else {
        return (StatusCode::BAD_REQUEST, "`sessionId` is missing\n").into_response();
    };
    // One of someone else is not told from none.
    let session = older.open().get(&to.session_id).cloned();
    let session = session.filter(|session| session.owner == *caller.identity());
    let Some(session) = session else { return not_found("there is no such session\n") };
    let (parts, body) = request.into_parts();
    let body = match older.bounds.read(&parts.headers, body).await {
        Ok(body) => body,
        Err(answer) => return answer,
    };
    match messages::decode(&body) {
        Incoming::Message(message) => older.pass_on(&session, *message).await,
        Incoming::Nothing => StatusCode::ACCEPTED.into_response(),
        Incoming::Refused(refusal) => messages::refused(&refusal),
    }
}

impl Older {
    /// Hands a message to its session, once the session may have it.
    async fn pass_on(&self, session: &Open, message: ClientJsonRpcMessage) -> Response {
        let ended = || not_found("the session has ended\n");
        let entered = match &message {
            ClientJsonRpcMessage::Request(request) => {
                let entered = session.unanswered.enter(request.id.clone(), self.queue);
                let entered = tokio::select! {
                    entered = timeout(self.stall, entered) => entered,
                    () = session.incoming.closed() => return ended(),
                };
                let Ok(entered) = entered else {
                    let what = "too many requests of this session have no answer yet\n";
                    return (StatusCode::SERVICE_UNAVAILABLE, what).into_response();
                };
                Some(entered)
            }
            ClientJsonRpcMessage::Notification(JsonRpcNotification {
                notification: ClientNotification::CancelledNotification(cancelled),
                ..
            }) => {
                // It gets no answer any more.
                cancelled.params.request_id.iter().for_each(|id| session.unanswered.leave(id));
                None
            }
            _ => None,
        };
        match session.incoming.send(message).await {
            Ok(()) => {
                entered.into_iter().for_each(Entered::handed_over);
                StatusCode::ACCEPTED.into_response()
            }
            Err(_) => ended(),
        }
    }
}

/// The two halves of a session, as a transport of the SDK.
struct Pair {
    received: mpsc::Receiver<ClientJsonRpcMessage>,
    events: mpsc::Sender<Bytes>,
    unanswered: Arc<Unanswered>,
    stall: Duration,
    /// The server takes no more messages.
    shutdown: CancellationToken,
    /// Nobody reads any more.
    ending: CancellationToken,
}

impl Transport<RoleServer> for Pair {
    type Error = io::Error;

    fn send(
        &mut self,
        item: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        let (events, stall, ending) = (self.events.clone(), self.stall, self.ending.clone());
        let unanswered = Arc::clone(&self.unanswered);
        async move {
            let message = serde_json::to_string(&item)?;
            let event = Bytes::from(format!("event: message\ndata: {message}\n\n"));
            if let Ok(Ok(())) = timeout(stall, events.send(event)).await {
                match &item {
                    ServerJsonRpcMessage::Response(answer) => unanswered.leave(&answer.id),
                    ServerJsonRpcMessage::Error(answer) => {
                        answer.id.iter().for_each(|id| unanswered.leave(id));
                    }
                    _ => {}
                }
                return Ok(());
            }
            // A reader that does not read is not waited for.
            ending.cancel();
            Err(io::ErrorKind::BrokenPipe.into())
        }
    }

    /// `None` ends the service once it has answered what it was asked.
    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        tokio::select! {
            message = self.received.recv() => message,
            () = self.shutdown.cancelled() => None,
        }
    }

    async fn close(&mut self) -> io::Result<()> {
        self.ending.cancel();
        Ok(())
    }
}
