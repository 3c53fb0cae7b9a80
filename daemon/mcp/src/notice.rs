//! Notices on their way to clients.
//!
//! Sessions (2024-11-05 to 2025-11-25) get `notifications/tools/list_changed`, and wakes twice: as a
//! log message (`notifications/message`, level `info`, logger `harness.wakes`), which clients show
//! or keep, and as `notifications/harness/wake`, which a loop can act upon without reading logs.
//! JSON-RPC has receivers ignore a notification they do not know. The 2026-07-28 protocol admits
//! only the list of tools, over `subscriptions/listen`; its clients ask for wakes with `wakes_recv`.

use std::sync::{
    Arc,
    atomic::{AtomicU8, Ordering},
};

use harness_model::Wake;
#[expect(
    deprecated,
    reason = "SEP-2577 deprecates logging, every session revision has it"
)]
use rmcp::model::{LoggingLevel, LoggingMessageNotification, LoggingMessageNotificationParam};
use rmcp::{
    Peer, RoleServer,
    model::{CustomNotification, ServerNotification},
    service::{ServiceError, SubscriptionContext},
};
use serde_json::json;
use tokio::sync::broadcast::{Receiver, error::RecvError};

use crate::backend::Notice;

/// The logger of wakes in `notifications/message`.
const WAKE_LOGGER: &str = "harness.wakes";

/// The notification that carries wakes to clients that know this harness.
const WAKE_METHOD: &str = "notifications/harness/wake";

/// The rank of [`LoggingLevel::Info`].
const INFO: u8 = 1;

/// Passes notices on until the client or the backend is gone. A slow client delays itself alone:
/// what it misses of changes is made up for by one more, and wakes stay due.
pub(crate) async fn relay(
    mut notices: Receiver<Notice>,
    peer: Peer<RoleServer>,
    level: Arc<AtomicU8>,
) {
    loop {
        let sent = match notices.recv().await {
            Ok(Notice::ToolsChanged) | Err(RecvError::Lagged(_)) => {
                peer.notify_tool_list_changed().await
            }
            Ok(Notice::Wakes(wakes)) => {
                send_wakes(&peer, &wakes, level.load(Ordering::Relaxed) <= INFO).await
            }
            Err(RecvError::Closed) => return,
        };
        if sent.is_err() {
            return;
        }
    }
}

/// Passes changes of the tools on to one `subscriptions/listen` request until it is cancelled.
pub(crate) async fn listen(mut notices: Receiver<Notice>, subscription: SubscriptionContext) {
    loop {
        let notice = tokio::select! {
            () = subscription.cancelled() => return,
            notice = notices.recv() => notice,
        };
        match notice {
            Ok(Notice::ToolsChanged) | Err(RecvError::Lagged(_)) => {
                let wanted = subscription.accepted().tools_list_changed == Some(true);
                if wanted
                    && subscription
                        .sink()
                        .notify_tool_list_changed()
                        .await
                        .is_err()
                {
                    return;
                }
            }
            Ok(Notice::Wakes(_)) => {}
            Err(RecvError::Closed) => return,
        }
    }
}

#[expect(
    deprecated,
    reason = "SEP-2577 deprecates logging, every session revision has it"
)]
async fn send_wakes(
    peer: &Peer<RoleServer>,
    wakes: &[Wake],
    log: bool,
) -> Result<(), ServiceError> {
    let data = json!({ "wakes": wakes });
    if log {
        let message = LoggingMessageNotificationParam::new(LoggingLevel::Info, data.clone())
            .with_logger(WAKE_LOGGER);
        peer.send_notification(ServerNotification::LoggingMessageNotification(
            LoggingMessageNotification::new(message),
        ))
        .await?;
    }
    peer.send_notification(ServerNotification::CustomNotification(
        CustomNotification::new(WAKE_METHOD, Some(data)),
    ))
    .await
}
