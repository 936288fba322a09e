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
    /// Whether there ever was a board.
    existed: bool,
    /// The discipline that was read last, and what it takes away.
    known: Option<(String, BTreeSet<String>)>,
}

impl Overrides {
    pub(super) fn new(board: Arc<Board>) -> Self {
        Self { board, seen: Mutex::default() }
    }

    /// The tools that a discipline takes away; none when there is no such discipline.
    pub(super) async fn of(&self, discipline: &str) -> Result<BTreeSet<String>, Report> {
        let mut seen = self.seen.lock().await;
        seen.existed |= self.board.exists();
        // Looking at what is allowed begins no board. One that was there and is gone is an error.
        if !seen.existed {
            return Ok(BTreeSet::new());
        }
        // In this order: what changes while the discipline is read is seen the next time.
        let happened = self.board.happened(&mut seen.follower).await?;
        let known = seen.known.take().filter(|_| happened == Happened::Nothing);
        let disabled = match known {
            Some((known, disabled)) if known == discipline => disabled,
            _ => match self.board.discipline(discipline).await {
                Err(BoardError::Missing { .. }) => BTreeSet::new(),
                found => found?
                    .mcp_tool_overrides
                    .map(|overrides| overrides.additional_disabled.into_iter().collect())
                    .unwrap_or_default(),
            },
        };
        seen.known = Some((discipline.to_owned(), disabled.clone()));
        Ok(disabled)
    }
}
