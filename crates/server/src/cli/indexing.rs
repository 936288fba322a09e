//! A line that tells a person how far the indexing of many documents is.

use std::io::{IsTerminal, Write};
use std::sync::mpsc;
use std::time::Duration;

use rutter_base::failure::Report;
use rutter_library::Library;

/// How often the line is drawn again.
const EVERY: Duration = Duration::from_millis(100);

/// Waits until every document can be found, with a progress line where a person watches.
pub(super) fn index_everything(library: &Library) -> Result<(), Report> {
    if !std::io::stderr().is_terminal() {
        return Ok(library.index_everything()?);
    }
    let (done, waiting) = mpsc::channel::<()>();
    std::thread::scope(|scope| {
        scope.spawn(move || {
            let mut drawn = false;
            while waiting.recv_timeout(EVERY) == Err(mpsc::RecvTimeoutError::Timeout) {
                if let Some(progress) = library.indexing() {
                    let percent = progress.done * 100 / progress.total.max(1);
                    let total = progress.total / 1_000_000;
                    let _ = write!(std::io::stderr(), "\r\u{1b}[Kindexing {total} MB: {percent}%");
                    drawn = true;
                }
            }
            if drawn {
                let _ = write!(std::io::stderr(), "\r\u{1b}[K");
            }
        });
        let result = library.index_everything();
        drop(done);
        Ok(result?)
    })
}
