//! Noticing that the files of a root changed.
//!
//! One thread watches one folder. Events of the system wake it; where the system cannot watch
//! (network file systems, no watches left) it compares what a walk finds instead. Reading never
//! wakes it, so loading what changed cannot trigger itself.

use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::time::{Duration, Instant};

use notify::{Event, EventKind, RecommendedWatcher, RecursiveMode, Watcher};

use crate::root::{Root, Walk};

/// How the changes are noticed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Deserialize, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// By events of the system, and by polling where there are none.
    #[default]
    Auto,
    /// By polling alone: for network file systems whose changes come from other machines.
    Poll,
    /// Not at all.
    Off,
}

/// How often the folder is looked at without an event. A listing must follow a change within
/// two seconds, and loading takes a part of that.
const TICK: Duration = Duration::from_millis(800);
/// Events come in swarms (an editor saves in four steps): what follows within this time belongs
/// to the same change.
const QUIET: Duration = Duration::from_millis(60);
/// A swarm that does not end is reported all the same.
const PATIENCE: Duration = Duration::from_millis(600);

/// Watches until it is dropped.
#[derive(Debug)]
pub struct Watch {
    signals: Sender<Signal>,
}

#[derive(Debug)]
enum Signal {
    Changed,
    Stop,
}

impl Drop for Watch {
    fn drop(&mut self) {
        let _ = self.signals.send(Signal::Stop);
    }
}

impl Watch {
    /// Calls `on_change`, from a thread of its own, after each change below `path`.
    ///
    /// The folder may be missing, be replaced or come back: that is a change as well. Only files
    /// with one of the `extensions` are compared when polling. `None` when nothing is watched.
    pub fn start(
        path: &Path,
        extensions: &'static [&'static str],
        mode: Mode,
        on_change: impl FnMut() + Send + 'static,
    ) -> std::io::Result<Option<Self>> {
        Self::of(path, Files::Ending(extensions), mode, on_change)
    }

    /// Calls `on_change` after each change of one file in the folder at `path`.
    ///
    /// The file is looked at, whatever the mode: to be told of every event in a folder that holds
    /// a whole project would cost more.
    pub fn file(
        path: &Path,
        name: &'static str,
        mode: Mode,
        on_change: impl FnMut() + Send + 'static,
    ) -> std::io::Result<Option<Self>> {
        let mode = if mode == Mode::Auto { Mode::Poll } else { mode };
        Self::of(path, Files::One(name), mode, on_change)
    }

    fn of(
        path: &Path,
        files: Files,
        mode: Mode,
        on_change: impl FnMut() + Send + 'static,
    ) -> std::io::Result<Option<Self>> {
        if mode == Mode::Off {
            return Ok(None);
        }
        let (signals, received) = mpsc::channel();
        let mut watched = Watched {
            path: path.to_owned(),
            files,
            events: (mode == Mode::Auto).then(|| signals.clone()),
            system: None,
            state: State::Missing,
        };
        // Before the thread starts, so that no change after this call goes unnoticed.
        watched.state = watched.look();
        std::thread::Builder::new()
            .name("watch".into())
            .stack_size(512 * 1024)
            .spawn(move || watched.run(&received, on_change))?;
        Ok(Some(Self { signals }))
    }
}

/// Which files of the folder are compared when polling.
#[derive(Debug, Clone, Copy)]
enum Files {
    Ending(&'static [&'static str]),
    One(&'static str),
}

impl Files {
    fn look(self, root: &Root) -> Walk {
        match self {
            Self::Ending(extensions) => root.walk(extensions),
            Self::One(name) => Walk { files: root.found(name), problems: Vec::new() },
        }
    }
}

struct Watched {
    path: PathBuf,
    files: Files,
    /// Where events go; `None` when polling was asked for.
    events: Option<Sender<Signal>>,
    system: Option<RecommendedWatcher>,
    state: State,
}

/// What is compared from tick to tick.
#[derive(Debug, PartialEq)]
enum State {
    Missing,
    /// Events tell about the contents; only the folder itself is compared.
    Watched((u64, u64)),
    /// Nothing tells: everything is compared.
    Polled((u64, u64), Walk),
}

impl Watched {
    fn run(mut self, signals: &Receiver<Signal>, mut on_change: impl FnMut()) {
        loop {
            match signals.recv_timeout(TICK) {
                Ok(Signal::Changed) => {
                    if !settle(signals) {
                        return;
                    }
                    self.state = self.look();
                    on_change();
                }
                Err(RecvTimeoutError::Timeout) => {
                    let now = self.look();
                    if now != self.state {
                        self.state = now;
                        on_change();
                    }
                }
                Ok(Signal::Stop) | Err(RecvTimeoutError::Disconnected) => return,
            }
        }
    }

    /// The present state, with the system's watch set on the folder that is there now.
    fn look(&mut self) -> State {
        let Ok(root) = Root::open(&self.path) else {
            self.system = None;
            return State::Missing;
        };
        let Some(identity) = root.identity() else { return State::Missing };
        let same = matches!(self.state, State::Watched(known) if known == identity);
        if !same {
            self.system = self.events.as_ref().and_then(|events| subscribe(&self.path, events));
        }
        if self.system.is_some() {
            State::Watched(identity)
        } else {
            State::Polled(identity, self.files.look(&root))
        }
    }
}

/// Asks the system for events; `None` where it cannot.
fn subscribe(path: &Path, events: &Sender<Signal>) -> Option<RecommendedWatcher> {
    let events = events.clone();
    let handler = move |event: notify::Result<Event>| {
        // An error may mean that events were lost: look, to be sure.
        if event.as_ref().map_or(true, |event| is_change(event.kind)) {
            let _ = events.send(Signal::Changed);
        }
    };
    let config = notify::Config::default().with_follow_symlinks(false);
    let mut watcher = RecommendedWatcher::new(handler, config).ok()?;
    watcher.watch(path, RecursiveMode::Recursive).ok()?;
    Some(watcher)
}

/// Opening and reading are no changes: counting them would make every load trigger the next.
fn is_change(kind: EventKind) -> bool {
    !matches!(kind, EventKind::Access(_))
}

/// Waits until a swarm of events is over; `false` when the watch was stopped meanwhile.
fn settle(signals: &Receiver<Signal>) -> bool {
    let began = Instant::now();
    while began.elapsed() < PATIENCE {
        match signals.recv_timeout(QUIET) {
            Ok(Signal::Changed) => {}
            Err(RecvTimeoutError::Timeout) => return true,
            Ok(Signal::Stop) | Err(RecvTimeoutError::Disconnected) => return false,
        }
    }
    true
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "tests change the files that are watched")]
mod tests {
    use std::fs;

    use super::*;

    const LONG: Duration = Duration::from_secs(20);

    fn watch(path: &Path, mode: Mode) -> (Watch, Receiver<()>) {
        let (sender, changes) = mpsc::channel();
        let watch = Watch::start(path, &["md"], mode, move || sender.send(()).unwrap_or(()));
        (watch.unwrap().unwrap(), changes)
    }

    fn notices_every_kind_of_change(mode: Mode) {
        let folder = tempfile::tempdir().unwrap();
        let docs = folder.path().join("docs");
        fs::create_dir(&docs).unwrap();
        let (_watch, changes) = watch(&docs, mode);
        let steps: [(&str, &dyn Fn()); 7] = [
            ("create", &|| fs::write(docs.join("a.md"), "1").unwrap()),
            ("modify", &|| fs::write(docs.join("a.md"), "22").unwrap()),
            ("rename", &|| fs::rename(docs.join("a.md"), docs.join("b.md")).unwrap()),
            ("delete", &|| fs::remove_file(docs.join("b.md")).unwrap()),
            ("remove the folder", &|| fs::remove_dir_all(&docs).unwrap()),
            ("bring it back", &|| fs::create_dir(&docs).unwrap()),
            ("use it again", &|| fs::write(docs.join("c.md"), "3").unwrap()),
        ];
        for (step, change) in steps {
            change();
            changes.recv_timeout(LONG).unwrap_or_else(|_| panic!("{mode:?}: {step}"));
            // A step may be reported in two parts; the next one must not be taken for it.
            while changes.recv_timeout(TICK + TICK / 2).is_ok() {}
        }
    }

    #[test]
    fn events_tell_every_kind_of_change() {
        notices_every_kind_of_change(Mode::Auto);
    }

    #[test]
    fn polling_finds_every_kind_of_change() {
        notices_every_kind_of_change(Mode::Poll);
    }

    #[test]
    fn a_single_file_is_noticed_and_its_neighbours_are_not() {
        let folder = tempfile::tempdir().unwrap();
        let at = folder.path();
        let (sender, changes) = mpsc::channel();
        let noticed = move || sender.send(()).unwrap_or(());
        let _watch = Watch::file(at, "README.md", Mode::Auto, noticed).unwrap();
        fs::write(at.join("other.md"), "1").unwrap();
        assert!(changes.recv_timeout(TICK * 3).is_err());
        fs::write(at.join("README.md"), "1").unwrap();
        changes.recv_timeout(LONG).expect("create");
        fs::remove_file(at.join("README.md")).unwrap();
        changes.recv_timeout(LONG).expect("delete");
    }

    #[test]
    fn reading_triggers_nothing() {
        for mode in [Mode::Auto, Mode::Poll] {
            let folder = tempfile::tempdir().unwrap();
            fs::write(folder.path().join("a.md"), "1").unwrap();
            let (_watch, changes) = watch(folder.path(), mode);
            for _ in 0..50 {
                let root = Root::open(folder.path()).unwrap();
                for file in root.walk(&["md"]).files {
                    root.read(&file.path, 100).unwrap();
                }
            }
            assert!(changes.recv_timeout(TICK * 3).is_err(), "{mode:?}");
        }
    }
}
