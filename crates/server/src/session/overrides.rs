//! What a session's discipline takes away from every recipe.

use std::collections::BTreeSet;
use std::sync::Arc;

use rutter_base::failure::Report;
use rutter_board::{Board, BoardError, Follower, Happened};
use tokio::sync::Mutex;

/// Asks the board what disciplines take away, and reads it again only when the board changed.
#[derive(Debug)]
pub(super) struct Overrides {
    board: Arc<Board>,
    seen: Mutex<Seen>,
}

#[derive(Debug, Default)]
struct Seen {
    follower: Follower,
    discipline: Option<String>,
    disabled: BTreeSet<String>,
}

impl Overrides {
    pub(super) fn new(board: Arc<Board>) -> Self {
        Self { board, seen: Mutex::default() }
    }

    /// The tools that a discipline takes away; none when there is no such discipline.
    pub(super) async fn of(&self, discipline: &str) -> Result<BTreeSet<String>, Report> {
        // Looking at what is allowed begins no board.
        if !self.board.exists() {
            return Ok(BTreeSet::new());
        }
        let mut seen = self.seen.lock().await;
        // In this order: what changes while the discipline is read is seen the next time.
        let happened = self.board.happened(&mut seen.follower).await?;
        if happened != Happened::Nothing || seen.discipline.as_deref() != Some(discipline) {
            // Until it was read, what was known before is not known to be true.
            seen.discipline = None;
            seen.disabled = match self.board.discipline(discipline).await {
                Err(BoardError::Missing { .. }) => BTreeSet::new(),
                found => found?
                    .mcp_tool_overrides
                    .map(|overrides| overrides.additional_disabled.into_iter().collect())
                    .unwrap_or_default(),
            };
            seen.discipline = Some(discipline.to_owned());
        }
        Ok(seen.disabled.clone())
    }
}
