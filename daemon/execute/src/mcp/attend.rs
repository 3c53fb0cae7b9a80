//! Looking after a server that is ready.

use std::{sync::Arc, time::Duration};

use futures_util::{FutureExt as _, StreamExt as _, future::BoxFuture};
use tokio::time::{Instant, sleep_until};

use super::{
    connection::{CallFailure, Listing, ServerConnection, ServerNotice},
    greet::Greeted,
    server::Shared,
    supervisor::{Command, Supervisor},
};

/// Ready for this long, a server counts as stable: its next restart is the first one again.
const STABLE: Duration = Duration::from_mins(1);

/// Why a ready server is attended to no more.
pub(super) enum Left {
    /// The connection ended, for this reason.
    Ended(String),
    /// It does not answer.
    Unresponsive(String),
    /// Nobody has called it for long enough.
    Idle,
    /// Somebody wants something of it; `None`: the harness is going.
    Asked(Option<Command>),
}

/// What the server was asked, without anybody waiting for it.
#[derive(Default)]
struct Asked<'a> {
    ping: Option<BoxFuture<'a, Result<(), CallFailure>>>,
    listing: Option<BoxFuture<'a, Result<Listing, CallFailure>>>,
    /// It said that its tools changed while they were being listed.
    list_again: bool,
}

impl Supervisor {
    /// Looks after it until something happens. `over`: its process is gone. `settled` is called once it is stable.
    pub(super) async fn attend(
        &mut self,
        greeted: &mut Greeted,
        over: impl Future<Output = ()> + Send,
        settled: impl Fn() + Send,
    ) -> Left {
        let shared = Arc::clone(&self.shared);
        let connection = Arc::clone(&greeted.connection);
        let stable = tokio::time::sleep(STABLE);
        tokio::pin!(over, stable);
        let mut is_stable = false;
        let mut calls = shared.activity.changes();
        let mut last_call = Instant::now();
        let mut last_sign = Instant::now();
        let mut asked = Asked::default();
        loop {
            let quiet = shared.activity.is_idle();
            let ping_due = shared.settings.watchdog.map(|span| last_sign + span);
            let stop_due = shared.settings.idle_stop.map(|span| last_call + span);
            tokio::select! {
                biased;
                command = self.commands.recv() => match command {
                    Some(Command::Wanted) => {}
                    command => return Left::Asked(command),
                },
                cause = connection.ended() => return Left::Ended(cause),
                () = &mut over => return Left::Ended("its process ended".to_owned()),
                listed = pending(&mut asked.listing) => {
                    shared.listed(listed);
                    if std::mem::take(&mut asked.list_again) {
                        asked.listing = Some(shared.list(&connection));
                    }
                }
                answered = pending(&mut asked.ping) => match answered {
                    Ok(()) => last_sign = Instant::now(),
                    // The connection says so itself.
                    Err(CallFailure::NotSent(_) | CallFailure::Lost(_)) => {}
                    Err(failure) => return Left::Unresponsive(failure.to_string()),
                },
                () = shared.activity.taken_back() => {
                    if quiet && asked.ping.is_none() {
                        asked.ping = shared.ping(&connection);
                    }
                }
                Ok(()) = calls.changed() => last_call = Instant::now(),
                () = &mut stable, if !is_stable => {
                    is_stable = true;
                    settled();
                }
                () = until(ping_due), if quiet && asked.ping.is_none() => {
                    asked.ping = shared.ping(&connection);
                }
                () = until(stop_due), if quiet => return Left::Idle,
                // Last, so that a server that says much does not keep the rest from being looked at.
                notice = greeted.notices.next() => shared.noticed(&connection, notice, &mut asked),
            }
        }
    }
}

impl Shared {
    fn noticed<'a>(
        &self,
        connection: &'a Arc<dyn ServerConnection>,
        notice: Option<ServerNotice>,
        asked: &mut Asked<'a>,
    ) {
        let name = &self.settings.name;
        match notice {
            Some(ServerNotice::ToolsChanged | ServerNotice::Missed) => {
                if asked.listing.is_some() {
                    asked.list_again = true;
                } else {
                    asked.listing = Some(self.list(connection));
                }
            }
            Some(ServerNotice::Told(method, params)) => self.watcher.told(name, &method, &params),
            Some(ServerNotice::Noise(text)) => {
                let text = self.clean(text);
                tracing::warn!(server = %name, "on its standard output, which is for messages alone: {text:?}");
            }
            // The connection says so itself.
            None => {}
        }
    }

    fn list<'a>(
        &self,
        connection: &'a Arc<dyn ServerConnection>,
    ) -> BoxFuture<'a, Result<Listing, CallFailure>> {
        let limit = self.settings.timeout_start;
        async move {
            let listed = tokio::time::timeout(limit, connection.tools()).await;
            listed.unwrap_or_else(|_| {
                Err(CallFailure::Unreadable(format!(
                    "it took longer than {limit:?}"
                )))
            })
        }
        .boxed()
    }

    fn listed(&self, listed: Result<Listing, CallFailure>) {
        match listed {
            Ok(listing) => self.offer(listing),
            Err(error) => {
                let name = &self.settings.name;
                tracing::warn!(server = %name, "its tools changed, and cannot be listed: {error}");
            }
        }
    }

    /// Asks whether it is there; fails in its own way when there is no answer in time.
    fn ping<'a>(
        &self,
        connection: &'a Arc<dyn ServerConnection>,
    ) -> Option<BoxFuture<'a, Result<(), CallFailure>>> {
        let limit = self.settings.watchdog?;
        let ping = async move {
            let answered = tokio::time::timeout(limit, connection.ping()).await;
            answered.unwrap_or_else(|_| {
                let why = format!("it did not answer a ping within {limit:?}");
                Err(CallFailure::Unreadable(why))
            })
        };
        Some(ping.boxed())
    }
}

/// The outcome of what was asked, once; never without a question.
async fn pending<T>(asked: &mut Option<BoxFuture<'_, T>>) -> T {
    let Some(question) = asked else {
        return std::future::pending().await;
    };
    let outcome = question.await;
    *asked = None;
    outcome
}

async fn until(due: Option<Instant>) {
    match due {
        Some(due) => sleep_until(due).await,
        None => std::future::pending().await,
    }
}
