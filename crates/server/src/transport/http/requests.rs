//! What is open on a connection that has many requests at once.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

use super::held::Hold;

/// The requests of one connection.
#[derive(Debug)]
pub(super) struct Requests(Mutex<State>);

#[derive(Debug)]
struct State {
    /// Those that are open, and since when it is for the reader to take more of the answer.
    open: HashMap<u64, Option<Instant>>,
    next: u64,
    /// When the last of them ended.
    since: Instant,
}

/// A request that is open until this is dropped.
#[derive(Debug)]
pub(super) struct Open {
    number: u64,
    requests: Arc<Requests>,
}

impl Requests {
    pub(super) fn none() -> Arc<Self> {
        let state = State { open: HashMap::new(), next: 0, since: Instant::now() };
        Arc::new(Self(Mutex::new(state)))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn enter(self: &Arc<Self>) -> Open {
        let mut state = self.state();
        let number = state.next;
        state.next += 1;
        state.open.insert(number, None);
        Open { number, requests: Arc::clone(self) }
    }

    /// How long there has been no request.
    pub(super) fn idle(&self) -> Duration {
        let state = self.state();
        if state.open.is_empty() { state.since.elapsed() } else { Duration::ZERO }
    }

    /// How long there has been an answer of which the reader takes nothing.
    pub(super) fn untaken(&self) -> Duration {
        let state = self.state();
        let first = state.open.values().flatten().min();
        first.map_or(Duration::ZERO, Instant::elapsed)
    }
}

impl Hold for Open {
    fn asked(&self, waits: bool) {
        let since = (!waits).then(Instant::now);
        self.requests.state().open.insert(self.number, since);
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        let mut state = self.requests.state();
        state.open.remove(&self.number);
        state.since = Instant::now();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_reader_is_waited_for_and_the_server_is_not() {
        let second = Duration::from_secs(1);
        let requests = Requests::none();
        tokio::time::sleep(second).await;
        assert_eq!(requests.idle(), second);
        let (listening, reading) = (requests.enter(), requests.enter());
        listening.asked(true);
        reading.asked(false);
        tokio::time::sleep(second).await;
        assert_eq!((requests.idle(), requests.untaken()), (Duration::ZERO, second));
        reading.asked(false);
        assert_eq!(requests.untaken(), Duration::ZERO);
        drop(reading);
        tokio::time::sleep(second).await;
        assert_eq!((requests.idle(), requests.untaken()), (Duration::ZERO, Duration::ZERO));
        drop(listening);
        tokio::time::sleep(second).await;
        assert_eq!(requests.idle(), second);
    }
}
