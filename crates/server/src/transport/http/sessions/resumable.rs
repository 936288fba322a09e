//! Answers that outlive the connection they were to be sent on.
//!
//! The SDK forgets an answer as soon as it is handed over, and an answer whose client is gone at
//! once. Here the last few of each session are kept for a while, so that a client whose
//! connection broke gets the rest of them when it comes back with the id of the last event.

use std::collections::VecDeque;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};

use futures_util::{Stream, StreamExt, stream};
use rmcp::model::ServerJsonRpcMessage;
use rmcp::transport::streamable_http_server::session::ServerSseMessage;
use tokio::sync::Notify;
use tokio::time::Instant;

/// How many answers of a session are kept.
const KEPT: usize = 4;
/// How many events of one answer are kept.
const EVENTS: usize = 64;

/// The last answers of one session.
#[derive(Debug, Clone, Default)]
pub(super) struct Answers(Arc<Mutex<VecDeque<Arc<Kept>>>>);

/// One answer: the events of its stream.
#[derive(Debug)]
struct Kept {
    /// What its events have in common: the SDK names them `<number>/<request>`.
    request: String,
    since: Instant,
    state: Mutex<State>,
    more: Notify,
}

#[derive(Debug, Default)]
struct State {
    events: VecDeque<ServerSseMessage>,
    ended: bool,
}

impl Answers {
    /// The same stream, whose events can be had again.
    pub(super) fn keep<S>(&self, events: S) -> Resumable<S>
    where
        S: Stream<Item = ServerSseMessage> + Send + 'static,
    {
        Resumable { answers: self.clone(), kept: None, events: Some(Box::pin(events)) }
    }

    /// What followed an event, and what follows yet; `None` if it is of no answer that is kept.
    pub(super) fn after(
        &self,
        event: &str,
    ) -> Option<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static + use<>> {
        let (index, request) = parse(event)?;
        let kept = self.all().iter().find(|kept| kept.request == request).cloned()?;
        Some(stream::unfold((kept, index), |(kept, last)| async move {
            loop {
                let more = kept.more.notified();
                let (next, ended) = kept.next(last);
                if let Some((index, event)) = next {
                    return Some((event, (Arc::clone(&kept), index)));
                }
                if ended {
                    return None;
                }
                more.await;
            }
        }))
    }

    /// Forgets what is older than `since`.
    pub(super) fn forget(&self, since: Instant) {
        self.all().retain(|kept| kept.since >= since);
    }

    fn all(&self) -> MutexGuard<'_, VecDeque<Arc<Kept>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn begin(&self, request: &str) -> Arc<Kept> {
        let kept = Arc::new(Kept {
            request: request.to_owned(),
            since: Instant::now(),
            state: Mutex::default(),
            more: Notify::new(),
        });
        let mut all = self.all();
        if all.len() == KEPT {
            all.pop_front();
        }
        all.push_back(Arc::clone(&kept));
        kept
    }
}

impl Kept {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn push(&self, event: ServerSseMessage) {
        let mut state = self.state();
        if state.events.len() == EVENTS {
            state.events.pop_front();
        }
        state.events.push_back(event);
        drop(state);
        self.more.notify_waiters();
    }

    fn end(&self) {
        self.state().ended = true;
        self.more.notify_waiters();
    }

    /// The first event after one, and whether there will be no more.
    fn next(&self, last: u64) -> (Option<(u64, ServerSseMessage)>, bool) {
        let state = self.state();
        let mut numbered = state
            .events
            .iter()
            .filter_map(|event| Some((parse(event.event_id.as_deref()?)?.0, event)));
        let next = numbered.find(|(index, _)| *index > last);
        (next.map(|(index, event)| (index, event.clone())), state.ended)
    }
}

/// The number of an event, and the request whose answer it belongs to.
pub(super) fn parse(event: &str) -> Option<(u64, &str)> {
    let (index, request) = event.split_once('/')?;
    Some((index.parse().ok()?, request))
}

/// The stream of an answer, whose events are kept as they pass, and also when nobody takes them.
pub(super) struct Resumable<S: Stream<Item = ServerSseMessage> + Send + 'static> {
    answers: Answers,
    kept: Option<Arc<Kept>>,
    events: Option<Pin<Box<S>>>,
}

impl<S: Stream<Item = ServerSseMessage> + Send + 'static> Resumable<S> {
    fn note(&mut self, event: &ServerSseMessage) {
        if let (None, Some((_, request))) = (&self.kept, event.event_id.as_deref().and_then(parse))
        {
            self.kept = Some(self.answers.begin(request));
        }
        if let Some(kept) = &self.kept {
            kept.push(event.clone());
        }
    }
}

impl<S: Stream<Item = ServerSseMessage> + Send + 'static> Stream for Resumable<S> {
    type Item = ServerSseMessage;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let Some(events) = &mut self.events else { return Poll::Ready(None) };
        let next = std::task::ready!(events.as_mut().poll_next(context));
        match &next {
            Some(event) => self.note(event),
            None => self.events = None,
        }
        if (self.events.is_none() || next.as_ref().is_some_and(is_last))
            && let Some(kept) = &self.kept
        {
            kept.end();
        }
        Poll::Ready(next)
    }
}

impl<S: Stream<Item = ServerSseMessage> + Send + 'static> Drop for Resumable<S> {
    fn drop(&mut self) {
        let (Some(mut events), Some(kept)) = (self.events.take(), self.kept.take()) else { return };
        if kept.state().ended {
            return;
        }
        // The connection is gone and the answer is not there yet. The runtime may be gone, too.
        let Ok(runtime) = tokio::runtime::Handle::try_current() else { return };
        runtime.spawn(async move {
            while let Some(event) = events.next().await {
                let last = is_last(&event);
                kept.push(event);
                if last {
                    break;
                }
            }
            kept.end();
        });
    }
}

/// Whether an event is the answer itself, after which there is nothing more.
fn is_last(event: &ServerSseMessage) -> bool {
    matches!(
        event.message.as_deref(),
        Some(ServerJsonRpcMessage::Response(_) | ServerJsonRpcMessage::Error(_))
    )
}
