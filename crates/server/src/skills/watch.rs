//! What changed when the files of skills did.

use std::collections::BTreeMap;
use std::sync::Arc;

use rmcp::model::Resource;
use rutter_base::root::Stamp;
use rutter_base::watch::{Mode, Watch};

use super::{Skills, uri_of};

/// What is different from before.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Difference {
    /// Whether the list of resources is.
    pub listed: bool,
    /// The files that are, by their URIs.
    pub updated: Vec<String>,
}

/// What is compared.
#[derive(Debug, PartialEq)]
struct State {
    listed: Vec<Resource>,
    stamps: BTreeMap<String, Stamp>,
}

impl State {
    fn of(skills: &Skills) -> Self {
        let (found, _) = skills.look();
        let files = found.iter().flat_map(|skill| &skill.files);
        let stamps = files.map(|file| (uri_of(&file.path), file.stamp)).collect();
        Self { listed: skills.resources(), stamps }
    }

    fn difference(&self, next: &Self) -> Difference {
        let changed = |(uri, stamp): (&String, &Stamp)| {
            self.stamps.get(uri).is_some_and(|before| before != stamp).then(|| uri.clone())
        };
        Difference {
            listed: self.listed != next.listed,
            updated: next.stamps.iter().filter_map(changed).collect(),
        }
    }
}

impl Skills {
    /// Calls `on_change` after each change of a skill, until the returned values are dropped.
    pub fn watch(
        self: &Arc<Self>,
        mode: Mode,
        on_change: impl Fn(Difference) + Clone + Send + 'static,
    ) -> std::io::Result<Vec<Watch>> {
        let folders = self.places.iter().filter_map(|place| place.path());
        let watches = folders.map(|path| {
            let skills = Arc::clone(self);
            let on_change = on_change.clone();
            let mut before = State::of(&skills);
            Watch::start(path, &[], mode, move || {
                let now = State::of(&skills);
                let difference = before.difference(&now);
                before = now;
                if difference != Difference::default() {
                    on_change(difference);
                }
            })
        });
        watches.filter_map(Result::transpose).collect()
    }
}
