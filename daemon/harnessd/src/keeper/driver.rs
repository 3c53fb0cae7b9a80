//! The task that reads the connection, and makes a new one when it breaks.

use std::{
    io,
    sync::{Arc, atomic::Ordering},
    time::Duration,
};

use harness_keeper::protocol::{
    Decoder, Event, FEATURES, Hello, ListedUnit, Message, PROTOCOL_MAX, PROTOCOL_MIN, Reply,
    Request, Welcome,
};

use super::{
    KeeperError, KeeperOptions,
    handle::Shared,
    link::{Incoming, Link},
};

/// Between attempts to start a keeper that does not start.
const RETRY: Duration = Duration::from_secs(1);
const RETRY_MAX: Duration = Duration::from_mins(1);

/// A connection after its first exchange.
pub(super) struct Connection {
    pub(super) link: Arc<Link>,
    decoder: Decoder,
    pub(super) welcome: Welcome,
    pub(super) listed: Vec<ListedUnit>,
}

/// How a connection ended.
enum Closed {
    /// It broke, or the keeper has gone.
    Broken(io::Error),
    /// Another daemon has taken the keeper over.
    Replaced(i32),
}

/// Connects, says hello, and asks what the keeper owns.
pub(super) async fn establish(options: &KeeperOptions) -> Result<Connection, KeeperError> {
    let mut attempts = 0;
    loop {
        let link = options.link().await?;
        match greet(link).await {
            Ok(connection) => return Ok(connection),
            // It was about to end for want of work: the next is started.
            Err(None) if attempts == 0 => attempts += 1,
            Err(None) => {
                return Err(KeeperError::Refused {
                    socket: options.socket(),
                });
            }
            Err(Some(error)) => return Err(error),
        }
    }
}

/// The error is `None` when the keeper closes the connection.
async fn greet(link: Link) -> Result<Connection, Option<KeeperError>> {
    let mut decoder = Decoder::default();
    let hello = Request::Hello(Hello {
        min: PROTOCOL_MIN,
        max: PROTOCOL_MAX,
        features: FEATURES.iter().map(|&feature| feature.to_owned()).collect(),
        pid: std::process::id(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
    });
    // Numbers of requests start at 1 later on; these two are answered before that.
    let reply = exchange(&link, &mut decoder, 0, hello).await?;
    let Reply::Welcome(welcome) = reply else {
        return Err(Some(refused(reply)));
    };
    let reply = exchange(&link, &mut decoder, 0, Request::List {}).await?;
    let Reply::Units(listed) = reply else {
        return Err(Some(refused(reply)));
    };
    Ok(Connection {
        link: Arc::new(link),
        decoder,
        welcome,
        listed,
    })
}

async fn exchange(
    link: &Link,
    decoder: &mut Decoder,
    id: u64,
    request: Request,
) -> Result<Reply, Option<KeeperError>> {
    link.send(id, request, Vec::new())
        .map_err(|_| Some(KeeperError::Protocol))?;
    loop {
        match link.read(decoder).await {
            Ok(Incoming::Message(Message::Reply(frame), _)) => return Ok(frame.reply),
            // What happened so far is in the list.
            Ok(Incoming::Message(Message::Event(_), _)) => {}
            Ok(Incoming::UnreadableReply(_) | Incoming::Unreadable(_)) => {
                return Err(Some(KeeperError::Protocol));
            }
            Err(_) => return Err(None),
        }
    }
}

fn refused(reply: Reply) -> KeeperError {
    match reply {
        Reply::Failed(failure) => KeeperError::Failed(failure),
        Reply::Welcome(_)
        | Reply::Spawned { .. }
        | Reply::Done {}
        | Reply::Units(_)
        | Reply::Located(_)
        | Reply::Pipes { .. } => KeeperError::Protocol,
    }
}

/// Lives as long as a handle does, or until another daemon takes the keeper over or this one ends it.
pub(super) async fn drive(shared: Arc<Shared>, mut connection: Connection) {
    loop {
        let instance = connection.welcome.instance.clone();
        let closed = read(&shared, &mut connection).await;
        drop(connection);
        shared.disconnected();
        match closed {
            Closed::Replaced(pid) => {
                tracing::error!(pid, "another daemon has taken the keeper over");
                shared.routes().lose();
                return;
            }
            Closed::Broken(_) if shared.ending.load(Ordering::Acquire) => {
                shared.routes().lose();
                return;
            }
            Closed::Broken(error) => tracing::warn!(%error, "the connection to the keeper is gone"),
        }
        connection = reconnect(&shared, &instance).await;
        let errands = shared.routes().resume(&connection.listed);
        shared.connected(&connection);
        for errand in errands {
            shared.run_errand(errand);
        }
    }
}

async fn read(shared: &Shared, connection: &mut Connection) -> Closed {
    let link = Arc::clone(&connection.link);
    let reading = async {
        loop {
            match link.read(&mut connection.decoder).await {
                Ok(Incoming::Message(Message::Event(Event::Replaced { pid }), _)) => {
                    return Closed::Replaced(pid);
                }
                Ok(Incoming::Message(message, fds)) => {
                    let errand = shared.routes().deliver(message, fds);
                    if let Some(errand) = errand {
                        shared.run_errand(errand);
                    }
                }
                Ok(Incoming::UnreadableReply(id)) => shared.routes().deliver_unreadable(id),
                Ok(Incoming::Unreadable(error)) => {
                    tracing::warn!(error, "the keeper says something this daemon cannot read");
                }
                Err(error) => return Closed::Broken(error),
            }
        }
    };
    tokio::select! {
        closed = reading => closed,
        never = link.write() => match never {},
    }
}

/// The same keeper again, with all its runs, or another one after they were told that they are lost.
async fn reconnect(shared: &Shared, instance: &str) -> Connection {
    if let Ok(link) = shared.options.try_link().await
        && let Ok(connection) = greet(link).await
    {
        if connection.welcome.instance != instance {
            shared.routes().lose();
        }
        return connection;
    }
    shared.routes().lose();
    let mut delay = RETRY;
    loop {
        match establish(&shared.options).await {
            Ok(connection) => return connection,
            Err(error) => {
                tracing::error!(%error, "there is no keeper");
                tokio::time::sleep(delay).await;
                delay = (delay * 2).min(RETRY_MAX);
            }
        }
    }
}
