//! The current catalogue, and how it follows the files.

use std::sync::{Arc, Mutex, PoisonError};

use arc_swap::ArcSwapOption;
use rutter_base::root::Root;
use rutter_base::watch::{Mode, Watch};

use crate::catalog::Catalog;
use crate::source::Source;

/// Sources, and the latest snapshot of what is in them.
#[derive(Debug)]
pub struct Library {
    sources: Vec<Source>,
    current: ArcSwapOption<Catalog>,
    /// Held while loading, so that two changes at once load one after the other.
    loading: Mutex<()>,
}

/// What differs between a snapshot and the one before it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Difference {
    /// Documents were added, removed, renamed or changed in size or time.
    pub documents: bool,
    /// Prompts were added, removed or changed.
    pub prompts: bool,
    /// The URIs of documents that were changed, added or removed.
    pub updated: Vec<String>,
}

impl Library {
    /// A library over `sources`. Nothing is read until it is asked for.
    pub fn new(sources: Vec<Source>) -> Self {
        Self { sources, current: ArcSwapOption::empty(), loading: Mutex::new(()) }
    }

    /// Where everything comes from.
    pub fn sources(&self) -> &[Source] {
        &self.sources
    }

    /// Whether nothing can change while the process lives.
    pub fn is_immutable(&self) -> bool {
        self.sources.iter().all(|source| source.root.is_immutable())
    }

    /// The latest snapshot; the first call loads it, which may take as long as the files take.
    pub fn catalog(&self) -> Arc<Catalog> {
        if let Some(catalog) = self.current.load_full() {
            return catalog;
        }
        let _loading = self.loading.lock().unwrap_or_else(PoisonError::into_inner);
        // Whoever held the lock may have loaded it.
        if let Some(catalog) = self.current.load_full() {
            return catalog;
        }
        let catalog = Arc::new(Catalog::load(&self.sources, &Catalog::default()));
        self.current.store(Some(Arc::clone(&catalog)));
        catalog
    }

    /// Loads what changed and makes it the latest snapshot.
    ///
    /// A snapshot that nobody asked for yet is not loaded: there is nothing to compare, and the
    /// first caller will see the files as they are.
    pub fn reload(&self) -> Difference {
        let _loading = self.loading.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(before) = self.current.load_full() else { return Difference::default() };
        let sources: Vec<Source> = self.sources.iter().map(reopened).collect();
        let catalog = Catalog::load(&sources, &before);
        let difference = Difference {
            documents: catalog.lists_other_documents(&before),
            prompts: catalog.has_other_prompts(&before),
            updated: catalog.changed_since(&before),
        };
        self.current.store(Some(Arc::new(catalog)));
        difference
    }

    /// Watches every folder and calls `on_change` with what each reload brought.
    pub fn watch(
        self: &Arc<Self>,
        mode: Mode,
        on_change: impl Fn(Difference) + Clone + Send + 'static,
    ) -> std::io::Result<Vec<Watch>> {
        let paths = self.sources.iter().filter_map(|source| source.root.path());
        let watches = paths.map(|path| {
            let library = Arc::clone(self);
            let on_change = on_change.clone();
            Watch::start(path, &["md"], mode, move || {
                let difference = library.reload();
                if difference != Difference::default() {
                    on_change(difference);
                }
            })
        });
        watches.filter_map(Result::transpose).collect()
    }
}

/// The source over the folder that is at its path now: it may have been replaced.
fn reopened(source: &Source) -> Source {
    let mut source = source.clone();
    if let Some(path) = source.root.path()
        && let Ok(root) = Root::open(path)
    {
        source.root = root;
    }
    source
}

#[cfg(test)]
mod tests;
