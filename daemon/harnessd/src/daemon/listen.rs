//! The Unix sockets of the fronts, and who is served on them.

use std::{os::unix::net::UnixListener, path::PathBuf, sync::Arc, time::Duration};

use harness_mcp::{Peer, Server, UnknownPeer};
use tokio::{
    net::UnixStream,
    sync::{Semaphore, watch},
    task::JoinSet,
};
use tokio_util::sync::CancellationToken;

use super::Fatal;
use crate::{
    front::{
        authority::{ControlAuthority, PeerCredentials},
        http::ControlServer,
        lineage::KeeperTree,
        peer::SocketPeer,
        tools,
    },
    harness::Harness,
    keeper::KeeperState,
    systemd::{Activated, BoundSocket, bind, control_mode},
};

/// Connections of agents at once.
const SESSIONS: usize = 1024;

/// After accept(2) failed, most likely for want of file descriptors.
const ACCEPT_PAUSE: Duration = Duration::from_millis(200);

/// The listening sockets. Those the daemon bound itself are removed when this is dropped.
pub(super) struct Sockets {
    mcp: tokio::net::UnixListener,
    control: tokio::net::UnixListener,
    tools: tokio::net::UnixListener,
    bound: Vec<BoundSocket>,
}

impl Sockets {
    /// The sockets that systemd passed, and those of our own for the others.
    pub(super) fn bind(harness: &Harness, activated: Activated) -> Result<Self, Fatal> {
        let admins = !harness.in_force().loaded.admins.is_empty();
        let mut bound = Vec::new();
        let mut take = |passed: Option<UnixListener>, path: PathBuf, mode| -> Result<_, Fatal> {
            let listener = if let Some(listener) = passed {
                listener
            } else {
                let (listener, socket) = bind(&path, mode)?;
                bound.push(socket);
                listener
            };
            let register = |source| Fatal::System {
                what: "wait for connections",
                source,
            };
            listener.set_nonblocking(true).map_err(register)?;
            tokio::net::UnixListener::from_std(listener).map_err(register)
        };
        let mcp = take(activated.mcp, harness.places.mcp_socket(), 0o660)?;
        let control = take(
            activated.control,
            harness.places.control_socket(),
            control_mode(admins),
        )?;
        // Every user may connect: the keeper tells whether the caller is a run of this harness.
        let tools = take(activated.tools, harness.places.tools_socket(), 0o666)?;
        Ok(Self {
            mcp,
            control,
            tools,
            bound,
        })
    }

    /// Serves until `shutdown`.
    pub(super) fn serve(
        self,
        harness: &Arc<Harness>,
        mcp: Server,
        control: ControlServer,
        shutdown: CancellationToken,
    ) -> JoinSet<()> {
        let mut serving = JoinSet::new();
        serving.spawn(tools::serve(self.tools, harness.clone(), shutdown.clone()));
        let keeper = harness.keeper.state();
        let agents = serve_agents(self.mcp, mcp, keeper.clone(), shutdown, self.bound);
        serving.spawn(agents);
        let keepers = move || {
            let pid = keeper.borrow().owner;
            let tree = pid.map(|pid| KeeperTree { pid, cgroup: None });
            tree.into_iter().collect()
        };
        let configured = harness.clone();
        let admins = move || configured.in_force().loaded.admins.clone();
        let authority = Arc::new(ControlAuthority::new(admins, keepers));
        serving.spawn(async move { control.serve_unix(self.control, authority).await });
        serving
    }
}

async fn serve_agents(
    listener: tokio::net::UnixListener,
    server: Server,
    keeper: watch::Receiver<KeeperState>,
    shutdown: CancellationToken,
    _bound: Vec<BoundSocket>,
) {
    let slots = Arc::new(Semaphore::new(SESSIONS));
    let mut sessions = JoinSet::new();
    loop {
        let accepted = tokio::select! {
            () = shutdown.cancelled() => break,
            Some(_) = sessions.join_next() => continue,
            accepted = listener.accept() => accepted,
        };
        let stream = match accepted {
            Ok((stream, _)) => stream,
            Err(error) => {
                tracing::warn!(%error, "cannot accept a connection of the agent");
                tokio::time::sleep(ACCEPT_PAUSE).await;
                continue;
            }
        };
        let Ok(slot) = slots.clone().try_acquire_owned() else {
            tracing::warn!("{SESSIONS} connections are open: one more was closed");
            continue;
        };
        let peer = peer_of(&stream, &keeper);
        let server = server.clone();
        sessions.spawn(async move {
            server.serve_stream(stream, peer).await;
            drop(slot);
        });
    }
    sessions.shutdown().await;
}

/// One that is already gone is nobody.
fn peer_of(stream: &UnixStream, keeper: &watch::Receiver<KeeperState>) -> Arc<dyn Peer> {
    match PeerCredentials::of(stream) {
        Ok(credentials) => Arc::new(SocketPeer {
            credentials,
            keeper: keeper.clone(),
        }),
        Err(_) => Arc::new(UnknownPeer(None)),
    }
}
