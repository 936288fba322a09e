//! An index that follows a catalogue: what changed is indexed again, the rest stays.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, TryLockError};

use rutter_base::root::Stamp;

use super::index::{Index, Page, SearchError};
use crate::catalog::Catalog;

/// How much is indexed while a caller waits; more is indexed in the background.
const AT_ONCE: u64 = 4 * 1024 * 1024;
/// How much is indexed before it can be found.
const BATCH: u64 = 8 * 1024 * 1024;

/// An index, and which state of which documents is in it.
#[derive(Debug, Default)]
pub(crate) struct Finder {
    index: OnceLock<Index>,
    indexed: Mutex<BTreeMap<String, Stamp>>,
    /// Whether a thread of its own is indexing.
    busy: AtomicBool,
}

/// Whether everything can be found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Coverage {
    /// Everything that is in the catalogue.
    Whole,
    /// Only what was indexed so far.
    Partial,
}

impl Finder {
    /// The index.
    pub(crate) fn index(&self) -> Result<&Index, SearchError> {
        if let Some(index) = self.index.get() {
            return Ok(index);
        }
        let index = Index::in_memory()?;
        Ok(self.index.get_or_init(|| index))
    }

    /// Brings the index up to the catalogue: at once when little changed, else in the background.
    pub(crate) fn follow(
        self: &Arc<Self>,
        catalog: &Arc<Catalog>,
    ) -> Result<Coverage, SearchError> {
        let mut indexed = match self.indexed.try_lock() {
            Ok(indexed) => indexed,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(TryLockError::WouldBlock) if self.busy.load(Ordering::Acquire) => {
                return Ok(Coverage::Partial);
            }
            // Another caller indexes the same little change: wait for it.
            Err(TryLockError::WouldBlock) => {
                self.indexed.lock().unwrap_or_else(PoisonError::into_inner)
            }
        };
        let changes = Changes::between(&indexed, catalog);
        if changes.is_empty() {
            return Ok(Coverage::Whole);
        }
        if changes.size <= AT_ONCE {
            self.apply(&mut indexed, catalog, changes)?;
            return Ok(Coverage::Whole);
        }
        drop(indexed);
        if !self.busy.swap(true, Ordering::AcqRel) {
            let (finder, catalog) = (Arc::clone(self), Arc::clone(catalog));
            std::thread::Builder::new().name("index".into()).spawn(move || {
                let mut indexed = finder.indexed.lock().unwrap_or_else(PoisonError::into_inner);
                let changes = Changes::between(&indexed, &catalog);
                // What fails here is tried again by the next search.
                let _ = finder.apply(&mut indexed, &catalog, changes);
                finder.busy.store(false, Ordering::Release);
            })?;
        }
        Ok(Coverage::Partial)
    }

    /// Brings the index up to the catalogue, however long it takes.
    pub(crate) fn complete(&self, catalog: &Catalog) -> Result<(), SearchError> {
        let mut indexed = self.indexed.lock().unwrap_or_else(PoisonError::into_inner);
        let changes = Changes::between(&indexed, catalog);
        if changes.is_empty() { Ok(()) } else { self.apply(&mut indexed, catalog, changes) }
    }

    fn apply(
        &self,
        indexed: &mut BTreeMap<String, Stamp>,
        catalog: &Catalog,
        changes: Changes,
    ) -> Result<(), SearchError> {
        let index = self.index()?;
        let mut gone = changes.gone;
        let mut pending = changes.new.into_iter().peekable();
        loop {
            let mut batch = Vec::new();
            let mut size = 0;
            while size < BATCH
                && let Some((uri, stamp)) = pending.next()
            {
                size += stamp.size;
                // A file that cannot be read any more will be gone from the next catalogue.
                let body = catalog.read(&uri).map(|body| body.text).unwrap_or_default();
                batch.push((uri, stamp, body));
            }
            let entries = batch.iter().filter_map(|(uri, _, body)| {
                let entry = catalog.document(uri)?;
                Some(Page {
                    uri,
                    source: &entry.source,
                    name: &entry.name,
                    description: &entry.description,
                    keywords: &entry.keywords,
                    body,
                })
            });
            index.update(gone.iter().map(String::as_str), entries)?;
            for uri in gone.drain(..) {
                indexed.remove(&uri);
            }
            indexed.extend(batch.into_iter().map(|(uri, stamp, _)| (uri, stamp)));
            if pending.peek().is_none() {
                return Ok(());
            }
        }
    }
}

/// What an index lacks of a catalogue.
struct Changes {
    gone: Vec<String>,
    new: Vec<(String, Stamp)>,
    size: u64,
}

impl Changes {
    fn between(indexed: &BTreeMap<String, Stamp>, catalog: &Catalog) -> Self {
        let mut gone: BTreeMap<&String, &Stamp> = indexed.iter().collect();
        let mut new = Vec::new();
        let mut size = 0;
        for entry in catalog.documents() {
            let uri = entry.uri.to_string();
            if gone.remove(&uri) != Some(&entry.stamp) {
                size += entry.size;
                new.push((uri, entry.stamp));
            }
        }
        let changed = |uri: &&String| !new.iter().any(|(known, _)| known == *uri);
        let gone = gone.into_keys().filter(changed).cloned().collect();
        Self { gone, new, size }
    }

    fn is_empty(&self) -> bool {
        self.gone.is_empty() && self.new.is_empty()
    }
}
