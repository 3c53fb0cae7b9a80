//! Signals, reloads and the watchdog, until the end.

use std::{sync::Arc, time::Duration};

use harness_mcp::{Notice, Server};
use harness_model::Wake;
use tokio::{
    signal::unix::{Signal, SignalKind, signal},
    sync::broadcast::error::{RecvError, TryRecvError},
    task::JoinSet,
};
use tokio_util::sync::CancellationToken;

use super::{Fatal, ports::Ports, start::Started};
use crate::{
    front::{agent::Agent, http::ControlServer, person::Person},
    harness::Harness,
    systemd::{Notifier, Watchdog, control_mode, set_mode},
    turn,
};

/// How many wakes one notification carries at most.
const NOTICE_WAKES: usize = 100;

/// How long the fronts may take to end.
const DRAIN: Duration = Duration::from_secs(8);

struct Signals {
    terminate: Signal,
    interrupt: Signal,
    hangup: Signal,
}

impl Signals {
    fn new() -> Result<Self, Fatal> {
        let catch = |kind| {
            signal(kind).map_err(|source| Fatal::System {
                what: "catch a signal",
                source,
            })
        };
        Ok(Self {
            terminate: catch(SignalKind::terminate())?,
            interrupt: catch(SignalKind::interrupt())?,
            hangup: catch(SignalKind::hangup())?,
        })
    }
}

pub(super) async fn run(started: Started, notifier: Notifier) -> Result<(), Fatal> {
    let Started {
        harness,
        sockets,
        turn,
        trace,
        lock,
    } = started;
    let mut signals = Signals::new()?;
    let shutdown = CancellationToken::new();
    let mcp = Server::new(Arc::new(Agent::new(harness.clone())));
    let control = ControlServer::new(Arc::new(Person::new(harness.clone())), shutdown.clone());
    let mut ports = Ports::new(
        mcp.clone(),
        control.clone(),
        harness.keeper.state(),
        shutdown.clone(),
    );
    ports.apply(&harness.in_force().loaded).await?;
    let serving = sockets.serve(&harness, mcp, control, shutdown.clone());
    let mut background = JoinSet::new();
    background.spawn(turn::run(harness.clone(), turn));
    background.spawn(tell_sessions(harness.clone()));
    background.spawn(harness.approvals().clone().expire());
    notifier.ready(&harness.status_line());
    tracing::info!(agent = %harness.places.agent, runtime = %harness.places.runtime.display(), "ready");

    let everything = wait(&harness, &mut signals, &mut ports, notifier).await;

    notifier.stopping("ending");
    harness.servers().farewell().await;
    if everything {
        harness.engine().stop_all().await;
    }
    background.shutdown().await;
    shutdown.cancel();
    drain(serving).await;
    trace.finish().await;
    if let Err(error) = harness.record().flush().await {
        tracing::error!(%error, "the last lines of the record were not written");
    }
    if everything {
        harness.keeper.terminate().await;
    }
    drop(lock);
    tracing::info!("ended");
    Ok(())
}

/// Waits for the signal to end; true when it is meant for the tasks and the keeper too.
async fn wait(
    harness: &Arc<Harness>,
    signals: &mut Signals,
    ports: &mut Ports,
    notifier: Notifier,
) -> bool {
    let mut watchdog = Watchdog::from_environment(notifier);
    let mut keeper = harness.keeper.state();
    let mut reconfigured = harness.reconfigured();
    loop {
        tokio::select! {
            _ = signals.terminate.recv() => return false,
            _ = signals.interrupt.recv() => return true,
            _ = signals.hangup.recv() => {
                notifier.reloading();
                // What is wrong is in the log and in the status; the old configuration stays in force.
                let _refused = harness.reload();
                notifier.ready(&harness.status_line());
            }
            Ok(()) = reconfigured.changed() => {
                let in_force = harness.in_force();
                let applied = ports.apply(&in_force.loaded).await;
                let mode = control_mode(!in_force.loaded.admins.is_empty());
                if let Err(error) = applied.and(set_mode(&harness.places.control_socket(), mode).map_err(Fatal::from)) {
                    tracing::error!("{error}");
                    harness.set_reload_error(Some(error.to_string()));
                }
                notifier.status(&harness.status_line());
            }
            Ok(()) = keeper.changed() => notifier.status(&harness.status_line()),
            () = watchdog.due() => {
                watchdog.answer(harness.record().flush()).await;
                notifier.status(&harness.status_line());
            }
        }
    }
}

/// Passes wakes on to connected sessions, those that come together as one notice.
async fn tell_sessions(harness: Arc<Harness>) {
    let mut arrivals = harness.wakes().subscribe();
    loop {
        let mut wakes: Vec<Wake> = match arrivals.recv().await {
            Ok(wake) => vec![wake],
            // They stay due, and wakes_recv has them.
            Err(RecvError::Lagged(_)) => continue,
            Err(RecvError::Closed) => return,
        };
        while wakes.len() < NOTICE_WAKES {
            match arrivals.try_recv() {
                Ok(wake) => wakes.push(wake),
                Err(TryRecvError::Empty | TryRecvError::Lagged(_) | TryRecvError::Closed) => break,
            }
        }
        // No session may be connected.
        let _receivers = harness.notices().send(Notice::Wakes(wakes));
    }
}

async fn drain(mut serving: JoinSet<()>) {
    let all = async { while serving.join_next().await.is_some() {} };
    if tokio::time::timeout(DRAIN, all).await.is_err() {
        tracing::warn!("connections were still open after {DRAIN:?}: they are cut");
        serving.shutdown().await;
    }
}
