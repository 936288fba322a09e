//! Ids that tie the log lines of one request together.

use std::fmt;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

/// A random part for the process and a number for the request: unique across processes, without
/// asking the system for randomness at every request.
#[derive(Debug, Clone, Copy)]
pub(super) struct Id {
    process: u64,
    number: u64,
}

/// The id of the next request.
pub(super) fn next() -> Id {
    static PROCESS: OnceLock<u64> = OnceLock::new();
    static NUMBER: AtomicU64 = AtomicU64::new(1);
    let process = *PROCESS.get_or_init(|| uuid::Uuid::new_v4().as_u64_pair().0);
    Id { process, number: NUMBER.fetch_add(1, Ordering::Relaxed) }
}

impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}-{:x}", self.process, self.number)
    }
}
