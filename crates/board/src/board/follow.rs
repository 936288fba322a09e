//! Noticing what any process changed, cheaply.

use super::Board;
use crate::error::BoardError;
use crate::journal;
use crate::model::Entity;
use crate::store::Watcher;

/// What was changed since it was last asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Happened {
    /// Nothing.
    Nothing,
    /// These records, each once, oldest change first.
    Records(Vec<Touched>),
    /// Something that the journal does not tell: another program wrote, or another file is there.
    Anything,
}

/// A record that was changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Touched {
    /// What kind of record.
    pub entity: Entity,
    /// Which one.
    pub record: String,
    /// Whether it came to be or went, so that lists are different as well.
    pub listed: bool,
}

/// Remembers what was seen.
#[derive(Debug, Default)]
pub struct Follower {
    watcher: Watcher,
    seen: Option<((u64, u64), i64)>,
    last: i64,
}

impl Board {
    /// Whether there is a database yet; asking anything else of the board begins one.
    pub fn exists(&self) -> bool {
        self.store.exists()
    }

    /// What was changed since `follower` asked last; nothing when it asks for the first time.
    ///
    /// While nothing changes this costs one look at a number in shared memory.
    pub async fn happened(&self, follower: &mut Follower) -> Result<Happened, BoardError> {
        let version = self.store.version(&mut follower.watcher).await?;
        let Some(seen) = follower.seen.replace(version) else {
            follower.last = self.last_change().await?;
            return Ok(Happened::Nothing);
        };
        if seen == version {
            return Ok(Happened::Nothing);
        }
        let last = follower.last;
        follower.last = self.last_change().await?;
        if seen.0 != version.0 || follower.last <= last {
            return Ok(Happened::Anything);
        }
        let since = self.store.read(|read| Box::pin(journal::since(read, last))).await?;
        Ok(Happened::Records(since))
    }

    async fn last_change(&self) -> Result<i64, BoardError> {
        self.store.read(|read| Box::pin(journal::last(read))).await
    }
}
