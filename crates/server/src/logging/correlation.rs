//! Ids that tie the log lines of one request together.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

tokio::task_local! {
    /// The request that the task works on.
    static CURRENT: Request;
}

/// A request, as its log lines name it.
#[derive(Debug, Clone)]
pub(super) struct Request {
    /// What only this request has.
    pub(super) id: Id,
    /// The method that it calls.
    pub(super) method: &'static str,
    /// The name of the credential that was shown with it.
    pub(super) caller: Option<Arc<str>>,
}

/// A random part for the process and a number for the request: unique across processes, without
/// asking the system for randomness at every request.
#[derive(Debug, Clone, Copy)]
pub(super) struct Id {
    process: u64,
    number: u64,
}

impl Request {
    fn next(method: &'static str, caller: Option<Arc<str>>) -> Self {
        static PROCESS: OnceLock<u64> = OnceLock::new();
        static NUMBER: AtomicU64 = AtomicU64::new(1);
        let process = *PROCESS.get_or_init(|| uuid::Uuid::new_v4().as_u64_pair().0);
        let id = Id { process, number: NUMBER.fetch_add(1, Ordering::Relaxed) };
        Self { id, method, caller }
    }

    /// The request that this task works on.
    pub(super) fn current() -> Option<Self> {
        CURRENT.try_get().ok()
    }
}

/// Does the work of a request: every line that is logged meanwhile has its id.
pub fn within<F: Future>(
    method: &'static str,
    caller: Option<Arc<str>>,
    work: F,
) -> impl Future<Output = F::Output> + use<F> {
    CURRENT.scope(Request::next(method, caller), work)
}

/// The same work on whichever thread: its lines have the id of the request that it is for.
pub fn carried<T>(work: impl FnOnce() -> T) -> impl FnOnce() -> T {
    let request = Request::current();
    move || match request {
        Some(request) => CURRENT.sync_scope(request, work),
        None => work(),
    }
}

impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}-{:x}", self.process, self.number)
    }
}
