//! Telling clients what any process changed on the board.
//!
//! Nothing is looked at before somebody lists or subscribes; from then on it costs a look at a
//! number and at two files, twice a second.

use std::sync::{Arc, Weak};
use std::time::Duration;

use rutter_base::root::Stamp;
use rutter_board::{Entity, Follower, Happened, StateFile, Touched};

use super::{App, board};
use crate::caller::Caller;
use crate::changes::Change;
use crate::module::ModuleId;

/// The time between two looks.
const BETWEEN: Duration = Duration::from_millis(500);

/// What was seen so far.
struct Seen {
    follower: Follower,
    /// Whether there was a database.
    existed: bool,
    files: [Option<Stamp>; 2],
}

/// The files that are looked at, and what they are called.
const FILES: [(StateFile, &str); 2] =
    [(StateFile::Learnings, board::LEARNINGS), (StateFile::Progress, board::PROGRESS)];

impl App {
    /// Sees to it that changes of the board are announced. What is there now is no change.
    pub async fn follow_board(self: &Arc<Self>) {
        if !self.modules.iter().any(|module| module.id() == ModuleId::Board) {
            return;
        }
        self.following
            .get_or_init(|| async {
                let mut seen =
                    Seen { follower: Follower::default(), existed: false, files: [None, None] };
                // What this look finds was there before anyone followed.
                let _ = self.look(&mut seen).await;
                tokio::spawn(follow(Arc::downgrade(self), seen));
            })
            .await;
    }

    /// What else changes for a caller when something did: a session's own resource shows what it is
    /// about, and what its discipline takes away is announced by looking.
    pub async fn implied(&self, change: &Change, caller: &Caller) -> Option<Change> {
        let Change::Resource(uri) = change else { return None };
        let context = caller.session(self).filter(|_| board::is_ours(uri))?.context()?;
        if !board::uris_of(&context).contains(uri) {
            return None;
        }
        caller.view(self).await;
        Some(Change::Resource(board::SESSION.to_owned()))
    }

    /// Whether a resource is one that [`App::follow_board`] is for.
    pub fn is_of_board(uri: &str) -> bool {
        board::is_ours(uri)
    }

    /// What changed since the last look.
    async fn look(&self, seen: &mut Seen) -> Vec<Change> {
        let mut changes = Vec::new();
        let Ok(board) = self.board() else { return changes };
        if board.exists() {
            let began = !std::mem::replace(&mut seen.existed, true);
            match board.happened(&mut seen.follower).await {
                Ok(Happened::Records(touched)) => changes.extend(announced(&touched)),
                Ok(Happened::Nothing) if !began => {}
                // A board that is gone, locked or damaged is reported to those who use it.
                Err(_) => {}
                Ok(Happened::Nothing | Happened::Anything) => {
                    changes.extend(everything());
                }
            }
        }
        for ((file, uri), seen) in FILES.iter().zip(&mut seen.files) {
            let file = *file;
            let stamp = self.with_state_files(move |files| files.stamp(file)).await.ok().flatten();
            if std::mem::replace(seen, stamp) != stamp {
                changes.push(Change::Resource((*uri).to_owned()));
            }
        }
        changes
    }
}

/// What clients are told when all may be different.
fn everything() -> Vec<Change> {
    vec![Change::Resources, Change::ResourcesBelow(board::SCHEME)]
}

/// What clients are told of records that were changed.
fn announced(touched: &[Touched]) -> Vec<Change> {
    if touched.iter().any(|touched| touched.entity == Entity::Board) {
        return everything();
    }
    let listed = touched
        .iter()
        .any(|touched| touched.listed && !matches!(touched.entity, rutter_board::Entity::Task));
    let list = listed.then_some(Change::Resources);
    let mut uris: Vec<String> = touched.iter().filter_map(board::uri_of).collect();
    uris.dedup();
    list.into_iter().chain(uris.into_iter().map(Change::Resource)).collect()
}

async fn follow(app: Weak<App>, mut seen: Seen) {
    loop {
        tokio::time::sleep(BETWEEN).await;
        let Some(app) = app.upgrade() else { return };
        // What a session's context or discipline took away is announced by looking.
        if app.session().is_some_and(|session| session.last().context.is_some()) {
            app.view().await;
        }
        for change in app.look(&mut seen).await {
            app.changes.announce(change);
        }
    }
}
