//! An index that follows a catalogue: what changed is indexed again, the rest stays.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, TryLockError, Weak};

use arc_swap::ArcSwapOption;
use rutter_base::root::Stamp;

use super::index::{Index, Page, SearchError};
use crate::cache::{Cache, Generation, Kept};
use crate::catalog::{Catalog, DocumentEntry};

/// How much is indexed while a caller waits; more is indexed in the background. It is also how much
/// there must be, or must have changed, before it is kept for the next start.
const AT_ONCE: u64 = 4 * 1024 * 1024;
/// How much is indexed before it can be found.
const BATCH: u64 = 16 * 1024 * 1024;

/// How far the indexing of many documents is, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Indexing {
    /// What is indexed.
    pub done: u64,
    /// What is to be indexed.
    pub total: u64,
}

type Observer = dyn Fn(Indexing) + Send + Sync;

/// An index, and which state of which documents is in it.
#[derive(Default)]
pub(crate) struct Finder {
    cache: Option<Cache>,
    index: ArcSwapOption<Index>,
    state: Mutex<State>,
    /// Whether a thread of its own is indexing.
    busy: AtomicBool,
    done: AtomicU64,
    total: AtomicU64,
    observer: OnceLock<Box<Observer>>,
}

#[derive(Debug, Default)]
struct State {
    indexed: BTreeMap<String, Known>,
    /// The catalogue that is in the index as a whole: the same need not be compared again.
    followed: Weak<Catalog>,
    /// How many bytes were indexed and not kept for the next start.
    unsaved: u64,
}

/// What is in the index of a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Known {
    /// The state of its file.
    stamp: Stamp,
    /// What was in it: a file that was only touched or copied needs no indexing.
    content: u64,
}

impl std::fmt::Debug for Finder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Finder").field("cache", &self.cache).finish_non_exhaustive()
    }
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
    /// A finder that keeps large indexes for the next start.
    pub(crate) fn keeping(cache: Cache) -> Self {
        Self { cache: Some(cache), ..Self::default() }
    }

    /// Tells of progress while much is indexed.
    pub(crate) fn observe(&self, observer: Box<Observer>) {
        // The first one stays: there is one owner.
        let _ = self.observer.set(observer);
    }

    /// How far it is, while much is being indexed.
    pub(crate) fn indexing(&self) -> Option<Indexing> {
        let total = self.total.load(Ordering::Acquire);
        (total > 0).then(|| Indexing { done: self.done.load(Ordering::Acquire).min(total), total })
    }

    /// Takes up what was kept, and says which documents that is.
    pub(crate) fn restore(&self) -> Catalog {
        let Some(Generation { folder, documents }) = self.cache.as_ref().and_then(Cache::load)
        else {
            return Catalog::default();
        };
        // An index that cannot be opened is made again.
        let Ok(index) = Index::saved(&folder) else { return Catalog::default() };
        let catalog = Catalog::kept(&documents);
        let mut state = self.state();
        self.index.store(Some(Arc::new(index)));
        let known = |kept: Kept| (kept.uri, Known { stamp: kept.stamp, content: kept.content });
        state.indexed = documents.into_iter().map(known).collect();
        catalog
    }

    /// Forgets the index, which turned out to be damaged.
    pub(crate) fn discard(&self) {
        let mut state = self.state();
        self.index.store(None);
        *state = State::default();
    }

    /// The index.
    pub(crate) fn index(&self) -> Result<Arc<Index>, SearchError> {
        if let Some(index) = self.index.load_full() {
            return Ok(index);
        }
        let index = Arc::new(Index::in_memory()?);
        let before = self.index.compare_and_swap(&None::<Arc<Index>>, Some(Arc::clone(&index)));
        Ok((*before).clone().unwrap_or(index))
    }

    /// An index that much can be put into: while there is nothing in it, it is made where it will be
    /// kept, so that it need not fit into memory.
    fn spacious_index(&self) -> Result<Arc<Index>, SearchError> {
        let index = self.index()?;
        let folder = self.cache.as_ref().filter(|_| index.is_empty()).map(Cache::begin);
        // A folder that cannot be written is done without.
        let Some(Ok(made)) = folder.map(|folder| Index::in_folder(&folder?)) else {
            return Ok(index);
        };
        let made = Arc::new(made);
        self.index.store(Some(Arc::clone(&made)));
        Ok(made)
    }

    /// Brings the index up to the catalogue: at once when little changed, else in the background.
    pub(crate) fn follow(
        self: &Arc<Self>,
        catalog: &Arc<Catalog>,
    ) -> Result<Coverage, SearchError> {
        let mut state = match self.state.try_lock() {
            Ok(state) => state,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(TryLockError::WouldBlock) if self.busy.load(Ordering::Acquire) => {
                return Ok(Coverage::Partial);
            }
            // Another caller indexes the same little change: wait for it.
            Err(TryLockError::WouldBlock) => self.state(),
        };
        if state.followed.as_ptr() == Arc::as_ptr(catalog) {
            return Ok(Coverage::Whole);
        }
        let changes = Changes::between(&state.indexed, catalog);
        if changes.size <= AT_ONCE {
            self.apply(&mut state, catalog, changes)?;
            state.followed = Arc::downgrade(catalog);
            return Ok(Coverage::Whole);
        }
        drop(state);
        if !self.busy.swap(true, Ordering::AcqRel) {
            let (finder, catalog) = (Arc::clone(self), Arc::clone(catalog));
            std::thread::Builder::new().name("index".into()).spawn(move || {
                // What fails here is tried again by the next search.
                let _ = finder.complete(&catalog);
                finder.busy.store(false, Ordering::Release);
            })?;
        }
        Ok(Coverage::Partial)
    }

    /// Brings the index up to the catalogue, however long it takes.
    pub(crate) fn complete(&self, catalog: &Catalog) -> Result<(), SearchError> {
        let mut state = self.state();
        let changes = Changes::between(&state.indexed, catalog);
        self.apply(&mut state, catalog, changes)
    }

    fn apply(
        &self,
        state: &mut State,
        catalog: &Catalog,
        changes: Changes<'_>,
    ) -> Result<(), SearchError> {
        if changes.is_empty() {
            return Ok(());
        }
        let large = changes.size > AT_ONCE;
        if large {
            self.done.store(0, Ordering::Release);
            self.total.store(changes.size, Ordering::Release);
        }
        let applied = self.index_batches(state, changes);
        if applied.is_ok() && state.unsaved > AT_ONCE {
            // What cannot be kept is indexed again by the next start; it can be found all the same.
            let _ = self.keep(state, catalog);
        }
        self.total.store(0, Ordering::Release);
        applied
    }

    fn index_batches(&self, state: &mut State, changes: Changes<'_>) -> Result<(), SearchError> {
        let Changes { mut gone, new, size: total } = changes;
        let index = if total > AT_ONCE { self.spacious_index()? } else { self.index()? };
        let mut rest = new.as_slice();
        let mut done = 0;
        loop {
            let mut size = 0;
            let end = rest.iter().position(|entry| {
                size += entry.size;
                size >= BATCH
            });
            let (batch, others) = rest.split_at(end.map_or(rest.len(), |end| end + 1));
            rest = others;
            let indexed = Mutex::new(Vec::with_capacity(batch.len()));
            index.update(gone.iter().map(String::as_str), batch, |entry| {
                // A file that cannot be read any more will be gone from the next catalogue.
                let body = entry.written().unwrap_or_default();
                let uri = entry.uri.to_string();
                let known = Known { stamp: entry.stamp, content: content(entry, &body) };
                let same = state.indexed.get(&uri).is_some_and(|it| it.content == known.content);
                indexed.lock().unwrap_or_else(PoisonError::into_inner).push((uri.clone(), known));
                self.done.fetch_add(entry.size, Ordering::AcqRel);
                (!same).then(|| Page {
                    uri: Cow::Owned(uri),
                    source: &entry.source,
                    name: &entry.name,
                    description: &entry.description,
                    keywords: &entry.keywords,
                    body: Cow::Owned(body),
                })
            })?;
            for uri in gone.drain(..) {
                state.indexed.remove(&uri);
            }
            state.indexed.extend(indexed.into_inner().unwrap_or_else(PoisonError::into_inner));
            state.unsaved += size;
            done += size;
            if total > AT_ONCE
                && let Some(observer) = self.observer.get()
            {
                observer(Indexing { done: done.min(total), total });
            }
            if rest.is_empty() {
                return Ok(());
            }
        }
    }

    /// Keeps the index for the next start, and goes on with what was kept.
    fn keep(&self, state: &mut State, catalog: &Catalog) -> Result<(), SearchError> {
        let Some(cache) = &self.cache else { return Ok(()) };
        let index = self.index()?;
        let folder = if let Some(folder) = &index.folder {
            folder.clone()
        } else {
            let folder = cache.begin()?;
            index.save(&folder)?;
            folder
        };
        let documents = state.indexed.iter().filter_map(|(uri, known)| {
            let entry = catalog.document(uri).filter(|entry| entry.stamp == known.stamp)?;
            Some(Kept {
                uri: uri.clone(),
                source: entry.source.clone(),
                path: entry.file.path.as_str().to_owned(),
                name: entry.name.clone(),
                description: entry.description.clone(),
                keywords: entry.keywords.clone(),
                size: entry.size,
                stamp: known.stamp,
                content: known.content,
            })
        });
        cache.finish(&folder, &documents.collect::<Vec<_>>())?;
        // The memory of the index is given back: its files are on disk now.
        self.index.store(Some(Arc::new(Index::saved(&folder)?)));
        state.unsaved = 0;
        Ok(())
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Tells what an index holds of a document from what it would hold. The standard hasher may change
/// with the compiler; then documents are indexed once more.
fn content(entry: &DocumentEntry, body: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    (&entry.source, &entry.name, &entry.description, &entry.keywords, body).hash(&mut hasher);
    hasher.finish()
}

/// What an index lacks of a catalogue.
struct Changes<'a> {
    gone: Vec<String>,
    new: Vec<&'a DocumentEntry>,
    size: u64,
}

impl<'a> Changes<'a> {
    fn between(indexed: &BTreeMap<String, Known>, catalog: &'a Catalog) -> Self {
        let mut gone: BTreeMap<&str, &Known> =
            indexed.iter().map(|(uri, known)| (uri.as_str(), known)).collect();
        let mut new = Vec::new();
        let mut size = 0;
        for entry in catalog.documents() {
            let known = gone.remove(entry.uri.to_string().as_str());
            if known.is_none_or(|known| known.stamp != entry.stamp) {
                size += entry.size;
                new.push(entry);
            }
        }
        Self { gone: gone.into_keys().map(str::to_owned).collect(), new, size }
    }

    fn is_empty(&self) -> bool {
        self.gone.is_empty() && self.new.is_empty()
    }
}
