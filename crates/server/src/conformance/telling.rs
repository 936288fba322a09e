//! Tools that tell something besides their answer: messages, progress, changes.

use std::time::Duration;

use super::{bare, text};
use crate::changes::{Change, Notice};
use crate::tool::{Call, Entry};

/// How long the suite wants a tool to work between two signs of life.
const PAUSE: Duration = Duration::from_millis(50);

pub(super) fn tools() -> Vec<Entry> {
    vec![
        bare(
            "test_tool_with_logging",
            "Sends three messages while it works",
            |call, _| async move {
                notify(&call, "Tool execution started");
                tokio::time::sleep(PAUSE).await;
                notify(&call, "Tool processing data");
                tokio::time::sleep(PAUSE).await;
                notify(&call, "Tool execution completed");
                Ok(text("three messages were sent"))
            },
        ),
        bare(
            "test_logging_tool",
            "Sends a message to whoever asked for messages",
            |call, _| async move {
                notify(&call, "This message is only for clients that set a level");
                Ok(text("a message was sent to whoever asked for messages"))
            },
        ),
        bare(
            "test_tool_with_progress",
            "Tells how far it is while it works",
            |call, _| async move {
                call.progress(0.0, 100.0, "started").await;
                tokio::time::sleep(PAUSE).await;
                call.progress(50.0, 100.0, "half done").await;
                tokio::time::sleep(PAUSE).await;
                call.progress(100.0, 100.0, "done").await;
                Ok(text("progress went from 0 to 100"))
            },
        ),
        announcing("test_trigger_tool_change", "Says that the tools changed", Change::Tools),
        announcing("test_trigger_prompt_change", "Says that the prompts changed", Change::Prompts),
    ]
}

/// Sends a message the way the product sends its own: to the sessions that set a level.
fn notify(call: &Call, words: &str) {
    call.app.changes().announce(Change::Notice(Notice { warning: false, text: words.into() }));
}

/// Nothing has to change for it: a client that lists again sees what there is.
fn announcing(name: &'static str, description: &'static str, change: Change) -> Entry {
    bare(name, description, move |call, _| {
        call.app.changes().announce(change.clone());
        async { Ok(text("announced")) }
    })
}
