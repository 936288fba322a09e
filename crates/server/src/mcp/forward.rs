//! From the change bus to a client, in the words of its era.

use std::sync::Arc;

use rmcp::model::{
    LoggingLevel, LoggingMessageNotificationParam, ResourceUpdatedNotificationParam,
};
use rmcp::service::{Peer, RoleServer, SubscriptionContext};
use serde_json::json;

use super::Handler;
use crate::app::App;
use crate::caller::Caller;
use crate::changes::Change;

/// Tells a session of the older era, until it is closed.
pub(super) fn to_session(handler: &Handler, peer: Peer<RoleServer>) {
    let mut listener = handler.app.changes().subscribe();
    let connection = handler.connection.clone();
    let shutdown = handler.shutdown.clone();
    let (app, caller) = (Arc::clone(&handler.app), handler.caller.clone());
    tokio::spawn(async move {
        loop {
            let changes = tokio::select! {
                changes = listener.next() => changes,
                () = shutdown.cancelled() => None,
            };
            let Some(changes) = changes else { return };
            for change in told(&app, &caller, changes).await {
                let sent = match change {
                    Change::Tools => peer.notify_tool_list_changed().await,
                    Change::Prompts => peer.notify_prompt_list_changed().await,
                    Change::Resources => peer.notify_resource_list_changed().await,
                    Change::Resource(uri) if connection.is_subscribed(&uri) => {
                        peer.notify_resource_updated(ResourceUpdatedNotificationParam::new(uri))
                            .await
                    }
                    Change::Resource(_) => continue,
                    Change::ResourcesBelow(before) => {
                        let mut sent = Ok(());
                        for uri in connection.subscribed_below(before) {
                            let param = ResourceUpdatedNotificationParam::new(uri);
                            sent = sent.and(peer.notify_resource_updated(param).await);
                        }
                        sent
                    }
                    Change::Notice(notice) => {
                        let level =
                            if notice.warning { LoggingLevel::Warning } else { LoggingLevel::Info };
                        // A client that never set a level did not ask for messages.
                        if connection.level().is_none_or(|least| rank(level) < rank(least)) {
                            continue;
                        }
                        let message =
                            LoggingMessageNotificationParam::new(level, json!(notice.text));
                        peer.notify_logging_message(message.with_logger("rutter")).await
                    }
                };
                if sent.is_err() {
                    return;
                }
            }
        }
    });
}

/// Everything that changed for a caller.
async fn told(
    app: &App,
    caller: &Caller,
    changes: impl IntoIterator<Item = Change>,
) -> Vec<Change> {
    let mut told = Vec::new();
    for change in changes {
        let implied = app.implied(&change, caller).await;
        told.push(change);
        told.extend(implied.filter(|implied| !told.contains(implied)));
    }
    told
}

/// Tells a stream of the newer era, until it is cancelled.
pub(super) async fn to_stream(handler: &Handler, subscription: SubscriptionContext) {
    let mut listener = handler.app.changes().subscribe();
    let accepted = subscription.accepted().clone();
    loop {
        let changes = tokio::select! {
            changes = listener.next() => changes,
            () = subscription.cancelled() => None,
            () = handler.shutdown.cancelled() => None,
        };
        let Some(changes) = changes else { return };
        let sink = subscription.sink();
        for change in told(&handler.app, &handler.caller, changes).await {
            let sent = match change {
                Change::Tools if accepted.tools_list_changed == Some(true) => {
                    sink.notify_tool_list_changed().await
                }
                Change::Prompts if accepted.prompts_list_changed == Some(true) => {
                    sink.notify_prompt_list_changed().await
                }
                Change::Resources if accepted.resources_list_changed == Some(true) => {
                    sink.notify_resource_list_changed().await
                }
                Change::Resource(uri)
                    if accepted
                        .resource_subscriptions
                        .as_ref()
                        .is_some_and(|uris| uris.contains(&uri)) =>
                {
                    sink.notify_resource_updated(uri).await
                }
                Change::ResourcesBelow(before) => {
                    let mut sent = Ok(());
                    let uris = accepted.resource_subscriptions.iter().flatten();
                    for uri in uris.filter(|uri| uri.starts_with(before)) {
                        sent = sent.and(sink.notify_resource_updated(uri.clone()).await);
                    }
                    sent
                }
                _ => continue,
            };
            if sent.is_err() {
                return;
            }
        }
    }
}

/// How grave a level is.
fn rank(level: LoggingLevel) -> u8 {
    match level {
        LoggingLevel::Debug => 0,
        LoggingLevel::Info => 1,
        LoggingLevel::Notice => 2,
        LoggingLevel::Warning => 3,
        LoggingLevel::Error => 4,
        LoggingLevel::Critical => 5,
        LoggingLevel::Alert => 6,
        LoggingLevel::Emergency => 7,
    }
}
