//! The change bus: whoever changes something says so once, and every connection hears it.

use tokio::sync::broadcast;

/// How many changes a slow connection may lag behind before it is told "everything".
const BACKLOG: usize = 256;

/// Something that clients may have listed or read is different now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change {
    /// The list of tools.
    Tools,
    /// The list of prompts.
    Prompts,
    /// The list of resources.
    Resources,
    /// One resource, by its URI.
    Resource(String),
    /// Any resource whose URI begins like this.
    ResourcesBelow(&'static str),
    /// Something that a person should know.
    Notice(Notice),
}

/// A message for the log of a client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Notice {
    /// Whether something is wrong.
    pub warning: bool,
    /// What happened.
    pub text: String,
}

/// The bus.
#[derive(Debug, Clone)]
pub struct Changes {
    sender: broadcast::Sender<Change>,
}

impl Default for Changes {
    fn default() -> Self {
        Self { sender: broadcast::Sender::new(BACKLOG) }
    }
}

impl Changes {
    /// Tells every connection. That there is none is fine.
    pub fn announce(&self, change: Change) {
        let _ = self.sender.send(change);
    }

    /// Hears everything that is announced from now on.
    pub fn subscribe(&self) -> Listener {
        Listener { receiver: self.sender.subscribe() }
    }
}

/// One connection's ear.
#[derive(Debug)]
pub struct Listener {
    receiver: broadcast::Receiver<Change>,
}

impl Listener {
    /// The next changes; `None` when there will be none any more.
    ///
    /// One that lagged behind gets all lists at once: it cannot know what it missed, and
    /// listing again is always right.
    pub async fn next(&mut self) -> Option<Vec<Change>> {
        match self.receiver.recv().await {
            Ok(change) => Some(vec![change]),
            Err(broadcast::error::RecvError::Lagged(_)) => {
                Some(vec![Change::Tools, Change::Prompts, Change::Resources])
            }
            Err(broadcast::error::RecvError::Closed) => None,
        }
    }
}
