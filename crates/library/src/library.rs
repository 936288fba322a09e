//! The current catalogue, and how it follows the files.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use arc_swap::ArcSwapOption;
use rutter_base::root::Root;
use rutter_base::watch::{Mode, Watch};

use crate::cache::Cache;
use crate::catalog::Catalog;
use crate::search::{Answer, Boosts, Coverage, FindError, Finder, Found, Hit, Indexing, Query};
use crate::source::Source;

/// Sources, and the latest snapshot of what is in them.
#[derive(Debug)]
pub struct Library {
    sources: Vec<Source>,
    current: ArcSwapOption<Catalog>,
    /// Held while loading, so that two changes at once load one after the other.
    loading: Mutex<()>,
    finder: Arc<Finder>,
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
    /// Other things are wrong with the files than before.
    pub problems: bool,
}

impl Library {
    /// A library over `sources`. Nothing is read until it is asked for.
    pub fn new(sources: Vec<Source>) -> Self {
        Self {
            sources,
            current: ArcSwapOption::empty(),
            loading: Mutex::new(()),
            finder: Arc::default(),
        }
    }

    /// Keeps what was indexed of many documents below `folder`, so that the next start need not
    /// index them again. A folder that cannot be written is done without.
    #[must_use]
    pub fn keeping_index(mut self, folder: PathBuf) -> Self {
        self.finder = Arc::new(Finder::keeping(Cache::new(folder, &self.sources)));
        self
    }

    /// Calls `observer` now and then while much is indexed, and when it is done.
    pub fn on_indexing(&self, observer: impl Fn(Indexing) + Send + Sync + 'static) {
        self.finder.observe(Box::new(observer));
    }

    /// How far it is, while many documents are being indexed.
    pub fn indexing(&self) -> Option<Indexing> {
        self.finder.indexing()
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
        let catalog = Arc::new(Catalog::load(&self.sources, &self.finder.restore()));
        self.current.store(Some(Arc::clone(&catalog)));
        catalog
    }

    /// The documents that answer a query, best first. Words are enough: nothing is an error but a
    /// source that is not there.
    pub fn search(
        &self,
        text: &str,
        source: Option<&str>,
        limit: usize,
        boosts: Boosts,
    ) -> Result<Answer, FindError> {
        let catalog = self.catalog();
        if let Some(name) = source
            && !catalog.documents().any(|entry| entry.source == name)
            && !self.sources.iter().any(|known| known.name.as_str() == name)
        {
            return Err(FindError::UnknownSource {
                source_name: rutter_base::text::cap(rutter_base::text::one_line(name), 100),
                known: self.sources.iter().map(|known| known.name.to_string()).collect(),
            });
        }
        let coverage = self.finder.follow(&catalog)?;
        let query = Query { text, source, limit, boosts };
        let hits = match self.finder.index()?.search(&query) {
            Ok(hits) => hits,
            Err(error) => {
                // Whatever is wrong with it, the documents are all right: the next search has another.
                self.finder.discard();
                return Err(error.into());
            }
        };
        let hits = hits.into_iter().filter_map(|hit| {
            let entry = catalog.document(&hit.uri)?;
            let Hit { uri, anchor, snippet, score } = hit;
            Some(Found {
                uri,
                anchor,
                name: entry.name.clone(),
                source: entry.source.clone(),
                snippet,
                score,
            })
        });
        Ok(Answer { hits: hits.collect(), partial: coverage == Coverage::Partial })
    }

    /// Waits until every document can be found.
    pub fn index_everything(&self) -> Result<(), FindError> {
        Ok(self.finder.complete(&self.catalog())?)
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
            problems: catalog.problems() != before.problems(),
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
        let folders = self.sources.iter().filter_map(|source| Some((source, source.root.path()?)));
        let watches = folders.map(|(source, path)| {
            let library = Arc::clone(self);
            let on_change = on_change.clone();
            let reload = move || {
                let difference = library.reload();
                if difference != Difference::default() {
                    on_change(difference);
                }
            };
            match source.only() {
                Some(file) => Watch::file(path, file, mode, reload),
                None => Watch::start(path, &["md", "json"], mode, reload),
            }
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
