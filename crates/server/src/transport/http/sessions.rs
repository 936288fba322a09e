//! Sessions of the older era: how many there may be, whose they are, and when they end.

mod resumable;

use std::cell::Cell;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures_util::{Stream, StreamExt};
use rmcp::model::{ClientJsonRpcMessage, ServerJsonRpcMessage};
use rmcp::transport::streamable_http_server::SessionManager;
use rmcp::transport::streamable_http_server::session::local::{
    LocalSessionManager, LocalSessionManagerError, SessionTransport,
};
use rmcp::transport::streamable_http_server::session::{ServerSseMessage, SessionId};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::Instant;

use crate::caller::{Caller, Identity};
use crate::config::HttpLimits;
use crate::metrics::{Gauge, Inside};
use resumable::Answers;

/// How long a client whose connection broke may take to come back for the rest of an answer.
const RESUMABLE: Duration = Duration::from_mins(1);

tokio::task_local! {
    /// Who makes the request that this task answers: the SDK passes nothing on when it opens a
    /// session or makes a handler.
    static REQUEST: Request;
}

/// A request, as far as sessions need to know it.
struct Request {
    caller: Caller,
    /// Whether a session was refused to it.
    refused: Cell<bool>,
}

/// Answers a request of a caller; `None` when there was no place for its session.
pub(super) async fn answering<T>(caller: Caller, answer: impl Future<Output = T>) -> Option<T> {
    let request = Request { caller, refused: Cell::new(false) };
    let answer = async {
        let answer = answer.await;
        REQUEST.with(|request| !request.refused.get()).then_some(answer)
    };
    REQUEST.scope(request, answer).await
}

/// Who makes the request that is being answered.
pub(super) fn caller() -> Option<Caller> {
    REQUEST.try_with(|request| request.caller.clone()).ok()
}

/// The places for sessions, of whichever transport.
#[derive(Debug, Clone)]
pub(super) struct Places {
    free: Arc<Semaphore>,
    taken: Gauge,
}

/// A place that is taken until this is dropped.
#[derive(Debug)]
pub(super) struct Place {
    _permit: OwnedSemaphorePermit,
    _counted: Inside,
}

impl Places {
    pub(super) fn new(limits: &HttpLimits, taken: Gauge) -> Self {
        Self { free: Arc::new(Semaphore::new(limits.sessions.get())), taken }
    }

    pub(super) fn take(&self) -> Option<Place> {
        let permit = Arc::clone(&self.free).try_acquire_owned().ok()?;
        Some(Place { _permit: permit, _counted: self.taken.enter() })
    }
}

/// The SDK's sessions, each with its owner and its place.
pub(super) struct Sessions {
    inner: LocalSessionManager,
    places: Places,
    idle: Duration,
    open: Mutex<HashMap<SessionId, Open>>,
}

struct Open {
    owner: Identity,
    used: Instant,
    /// The streams that are open have a clone each.
    streams: Arc<()>,
    answers: Answers,
    _place: Place,
}

/// Why there is no session.
#[derive(Debug, thiserror::Error)]
pub(super) enum SessionFailure {
    #[error("there are too many sessions")]
    Full,
    #[error(transparent)]
    Local(#[from] LocalSessionManagerError),
}

impl Sessions {
    pub(super) fn new(limits: &HttpLimits, places: Places) -> Self {
        let mut inner = LocalSessionManager::default();
        inner.session_config.channel_capacity = limits.queue.get();
        // A session whose client listens is not idle; the SDK would end it all the same.
        inner.session_config.keep_alive = None;
        Self { inner, places, idle: limits.idle(), open: Mutex::default() }
    }

    /// Whether a caller has this session. One of someone else is not told from none.
    pub(super) fn belongs(&self, id: &str, caller: &Caller) -> bool {
        self.open().get_mut(id).is_some_and(|session| {
            let own = session.owner == *caller.identity();
            if own {
                session.used = Instant::now();
            }
            own
        })
    }

    /// Ends sessions that nobody uses, for ever.
    pub(super) async fn tidy(self: Arc<Self>) {
        loop {
            tokio::time::sleep((self.idle / 4).min(RESUMABLE)).await;
            let idle: Vec<SessionId> = {
                let open = self.open();
                if let Some(since) = Instant::now().checked_sub(RESUMABLE) {
                    open.values().for_each(|session| session.answers.forget(since));
                }
                let idle = open.iter().filter(|(_, session)| {
                    Arc::strong_count(&session.streams) == 1 && session.used.elapsed() >= self.idle
                });
                idle.map(|(id, _)| id.clone()).collect()
            };
            for id in idle {
                tracing::debug!(event = "session_idle", "a session that nobody used was ended");
                let _ = self.close_session(&id).await;
            }
        }
    }

    /// The last answers of a session.
    fn answers(&self, id: &SessionId) -> Answers {
        self.open().get(id).map(|session| session.answers.clone()).unwrap_or_default()
    }

    fn open(&self) -> MutexGuard<'_, HashMap<SessionId, Open>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The same stream, known to be open until it is dropped.
    fn counted<S: Stream<Item = ServerSseMessage> + Send + Sync + 'static>(
        &self,
        id: &SessionId,
        stream: S,
    ) -> impl Stream<Item = ServerSseMessage> + Send + Sync + 'static + use<S> {
        let counted = self.open().get(id).map(|session| Arc::clone(&session.streams));
        stream.map(move |message| {
            let _ = &counted;
            message
        })
    }
}

impl SessionManager for Sessions {
    type Error = SessionFailure;
    type Transport = SessionTransport;

    async fn create_session(&self) -> Result<(SessionId, Self::Transport), Self::Error> {
        let Some(place) = self.places.take() else {
            let _ = REQUEST.try_with(|request| request.refused.set(true));
            return Err(SessionFailure::Full);
        };
        let (id, transport) = self.inner.create_session().await?;
        let owner = caller().unwrap_or_else(Caller::nobody).identity().clone();
        let session = Open {
            owner,
            used: Instant::now(),
            streams: Arc::default(),
            answers: Answers::default(),
            _place: place,
        };
        self.open().insert(id.clone(), session);
        Ok((id, transport))
    }

    async fn initialize_session(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<ServerJsonRpcMessage, Self::Error> {
        Ok(self.inner.initialize_session(id, message).await?)
    }

    async fn has_session(&self, id: &SessionId) -> Result<bool, Self::Error> {
        Ok(self.inner.has_session(id).await?)
    }

    async fn close_session(&self, id: &SessionId) -> Result<(), Self::Error> {
        self.open().remove(id);
        Ok(self.inner.close_session(id).await?)
    }

    async fn create_stream(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, Self::Error> {
        let answer = self.inner.create_stream(id, message).await?;
        Ok(self.counted(id, self.answers(id).keep(answer)))
    }

    async fn accept_message(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<(), Self::Error> {
        Ok(self.inner.accept_message(id, message).await?)
    }

    async fn create_standalone_stream(
        &self,
        id: &SessionId,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, Self::Error> {
        Ok(self.counted(id, self.inner.create_standalone_stream(id).await?.map(renumbered)))
    }

    async fn resume(
        &self,
        id: &SessionId,
        last_event_id: String,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, Self::Error> {
        if let Some(rest) = self.answers(id).after(&last_event_id) {
            return Ok(self.counted(id, rest.left_stream()));
        }
        let rest = self.inner.resume(id, last_event_id).await?.map(renumbered);
        Ok(self.counted(id, rest.right_stream()))
    }
}

/// Whether an event is one of an answer, and not of a session's own stream.
pub(super) fn is_of_an_answer(event: &str) -> bool {
    resumable::parse(event).is_some()
}

/// The SDK counts the events of a session's own stream from 0, which is the name of the empty event
/// that every stream begins with, and begins again with the event that it is given. One higher,
/// names are unique and nothing is said twice.
fn renumbered(mut event: ServerSseMessage) -> ServerSseMessage {
    let number = event.event_id.as_deref().and_then(|id| id.parse::<u64>().ok());
    if let Some(number) = number.filter(|_| event.message.is_some()) {
        event.event_id = Some((number + 1).to_string());
    }
    event
}
