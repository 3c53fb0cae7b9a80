//! Carrying out what the daemon asks for.

use std::os::fd::OwnedFd;

use harness_keeper::protocol::{
    Event, FEATURES, Failure, FrameError, Hello, PROTOCOL_MAX, PROTOCOL_MIN, Reply, Request,
    RequestFrame, Welcome, negotiate,
};
use harness_model::{InvocationId, Signal};
use rustix::{
    io::Errno,
    net::{Shutdown, SocketFlags, accept_with, shutdown},
};
use serde::Deserialize;

use crate::{connection::Connection, keeper::Keeper, log, signal, unit::Stage};

/// Connections that are open at once; a daemon needs one.
const CONNECTIONS_MAX: usize = 16;

/// What every request has, however new.
#[derive(Deserialize)]
struct Head {
    id: u64,
    #[serde(default)]
    fds: u32,
    #[serde(default)]
    request: Name,
}

/// A request's name, whatever is in it.
#[derive(Default, Deserialize)]
#[serde(untagged)]
enum Name {
    With(serde_json::Map<String, serde_json::Value>),
    Alone(String),
    #[default]
    Missing,
}

impl Keeper {
    /// Lets the next peers in.
    pub(crate) fn accept(&mut self) {
        loop {
            let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
            let socket = match accept_with(&self.listener.socket, flags) {
                Ok(socket) => socket,
                Err(Errno::INTR | Errno::CONNABORTED) => continue,
                Err(Errno::AGAIN) => return,
                Err(Errno::MFILE | Errno::NFILE) => {
                    self.turn_away();
                    return;
                }
                Err(error) => {
                    log(&format!("a connection cannot be accepted: {error}"));
                    return;
                }
            };
            match self.admit(&socket) {
                Ok(_) if self.connections.len() >= CONNECTIONS_MAX => log("too many connections"),
                Ok(pid) => {
                    let number = self.number();
                    if self.listen_to_connection(&socket, number, false).is_ok() {
                        self.connections
                            .insert(number, Connection::new(socket, pid));
                    }
                }
                Err(reason) => {
                    self.refusals += 1;
                    // A task that tries again and again is not to fill the log.
                    if self.refusals.is_power_of_two() {
                        log(&format!(
                            "a connection is refused: {reason} ({} so far)",
                            self.refusals
                        ));
                    }
                }
            }
        }
    }

    /// Takes the next peer off the queue with the descriptor that is spared for it, or the loop would spin.
    fn turn_away(&mut self) {
        log("a connection cannot be accepted: no free descriptor, raise the limit of open files");
        self.spare = None;
        drop(accept_with(&self.listener.socket, SocketFlags::CLOEXEC));
        self.spare = self.null.try_clone().ok();
    }

    /// Reads and carries out everything that is there.
    pub(crate) fn serve(&mut self, number: u32) {
        self.read_all(number);
        if self
            .connections
            .get(&number)
            .is_some_and(|connection| connection.broken)
        {
            self.close(number);
        }
    }

    fn read_all(&mut self, number: u32) {
        loop {
            let Some(connection) = self.connections.get_mut(&number) else {
                return;
            };
            match connection.decoder.receive(&connection.socket) {
                Ok(0) => connection.broken = true,
                Ok(_) | Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => return,
                Err(_) => connection.broken = true,
            }
            self.handle_frames(number);
            if self
                .connections
                .get(&number)
                .is_none_or(|connection| connection.broken)
            {
                return;
            }
        }
    }

    fn handle_frames(&mut self, number: u32) {
        while let Some(connection) = self.connections.get_mut(&number) {
            let parsed = connection.decoder.next(|bytes| {
                serde_json::from_slice::<RequestFrame>(bytes).map_err(|error| {
                    (
                        error.to_string(),
                        serde_json::from_slice::<Head>(bytes).ok(),
                    )
                })
            });
            match parsed {
                Ok(None) => return,
                Ok(Some(Ok(frame))) => {
                    let fds = connection.decoder.take_fds(frame.fds as usize);
                    self.handle(number, frame, fds);
                }
                Ok(Some(Err((error, Some(head))))) => {
                    drop(connection.decoder.take_fds(head.fds as usize));
                    connection.fail(head.id, not_understood(&head.request, error));
                }
                Ok(Some(Err((error, None)))) => {
                    log(&format!("a frame is not a request: {error}"));
                    connection.broken = true;
                    return;
                }
                Err(error) => {
                    log(&error.to_string());
                    connection.broken = true;
                    return;
                }
            }
        }
    }

    fn handle(&mut self, number: u32, frame: RequestFrame, fds: Result<Vec<OwnedFd>, FrameError>) {
        let id = frame.id;
        let welcome = self
            .connections
            .get(&number)
            .is_some_and(|connection| connection.features.is_some());
        let result = match frame.request {
            Request::Hello(hello) => self
                .hello(number, &hello)
                .map(|welcome| (Reply::Welcome(welcome), Vec::new())),
            _ if !welcome => Err(Failure::Invalid {
                message: "the first request has to be hello".to_owned(),
            }),
            Request::Spawn(request) => match fds {
                Ok(fds) => self.spawn(*request, fds),
                Err(error) => Err(Failure::System {
                    step: "take the descriptors of the request".to_owned(),
                    error: error.to_string(),
                    retryable: true,
                }),
            },
            Request::Signal {
                invocation,
                signal,
                whole_tree,
            } => self.signal(&invocation, signal, whole_tree).map(done),
            Request::Stop {
                invocation,
                sequence,
            } => {
                let result = self.stop(&invocation, sequence).map_err(cannot_signal);
                self.settle(&invocation);
                result.map(done)
            }
            Request::Acknowledge { invocation } => {
                self.acknowledged(&invocation);
                Ok(done(()))
            }
            Request::List {} => Ok((Reply::Units(self.list()), Vec::new())),
            Request::Pipes { invocation } => self.kept_pipes(&invocation),
            Request::Locate { pid } => Ok((Reply::Located(self.locate(pid)), Vec::new())),
            Request::ClosePipes { invocation } => {
                if let Some(unit) = self.units.get_mut(&invocation) {
                    unit.pipes = [const { None }; 3];
                }
                Ok(done(()))
            }
        };
        if let Some(connection) = self.connections.get_mut(&number) {
            match result {
                Ok((reply, fds)) => connection.reply(id, reply, fds),
                Err(failure) => connection.fail(id, failure),
            }
        }
    }

    fn acknowledged(&mut self, invocation: &InvocationId) {
        let ended = self
            .units
            .get_mut(invocation)
            .filter(|unit| unit.has_ended());
        if let Some(unit) = ended {
            unit.stage = Stage::Acknowledged;
            unit.pipes = [const { None }; 3];
            self.forget_if_done(invocation);
        }
    }

    fn hello(&mut self, number: u32, hello: &Hello) -> Result<Welcome, Failure> {
        let protocol = negotiate((PROTOCOL_MIN, PROTOCOL_MAX), (hello.min, hello.max)).ok_or(
            Failure::Version {
                min: PROTOCOL_MIN,
                max: PROTOCOL_MAX,
            },
        )?;
        self.take_over(number);
        if let Some(connection) = self.connections.get_mut(&number) {
            connection.features = Some(hello.features.clone());
        }
        Ok(Welcome {
            protocol,
            min: PROTOCOL_MIN,
            max: PROTOCOL_MAX,
            features: FEATURES.iter().map(|&feature| feature.to_owned()).collect(),
            pid: std::process::id(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            instance: self.instance.clone(),
            enforcement: self.enforcement.clone(),
        })
    }

    /// Makes this connection the daemon's, once everything the one before has sent is carried out.
    fn take_over(&mut self, number: u32) {
        let Some(before) = self
            .daemon
            .replace(number)
            .filter(|before| *before != number)
        else {
            return;
        };
        let pid = self
            .connections
            .get(&number)
            .map_or(0, |connection| connection.pid);
        if let Some(connection) = self.connections.get(&before) {
            // It can send nothing more, so what is there has an end.
            shutdown(&connection.socket, Shutdown::Read).ok();
            self.read_all(before);
        }
        if let Some(connection) = self.connections.get_mut(&before) {
            connection.event(&Event::Replaced { pid });
            connection.flush();
        }
        self.close(before);
    }

    fn close(&mut self, number: u32) {
        self.connections.remove(&number);
        if self.daemon == Some(number) {
            self.daemon = None;
        }
    }

    /// Writes out what was queued.
    pub(crate) fn flush_all(&mut self) {
        let mut changed = Vec::new();
        for (number, connection) in &mut self.connections {
            let waits = connection.flush();
            if connection.broken || waits != connection.waits_to_write {
                connection.waits_to_write = waits;
                changed.push(*number);
            }
        }
        for number in changed {
            let Some(connection) = self.connections.get(&number) else {
                continue;
            };
            let (broken, waits) = (connection.broken, connection.waits_to_write);
            if broken
                || self
                    .listen_to_connection(&connection.socket, number, waits)
                    .is_err()
            {
                self.close(number);
            }
        }
    }

    fn signal(
        &mut self,
        invocation: &InvocationId,
        what: Signal,
        whole_tree: bool,
    ) -> Result<(), Failure> {
        let Some(unit) = self.units.get(invocation) else {
            return Ok(());
        };
        let result = if whole_tree {
            self.signal_tree(unit, what)
        } else if unit.has_main() {
            signal::send_to_child(unit.pid, what)
        } else {
            Ok(())
        };
        match result {
            Ok(()) | Err(Errno::SRCH) => Ok(()),
            Err(error) => Err(cannot_signal(error)),
        }
    }

    fn list(&self) -> Vec<harness_keeper::protocol::ListedUnit> {
        self.units
            .iter()
            .filter(|(_, unit)| unit.stage != Stage::Acknowledged)
            .map(|(invocation, unit)| unit.listed(invocation))
            .collect()
    }

    fn kept_pipes(&self, invocation: &InvocationId) -> Result<(Reply, Vec<OwnedFd>), Failure> {
        let pipes = self.units.get(invocation).map(|unit| &unit.pipes);
        let Some([stdin, stdout, stderr]) = pipes.filter(|pipes| pipes.iter().any(Option::is_some))
        else {
            return Err(Failure::NotFound {
                what: "pipes".to_owned(),
                invocation: invocation.clone(),
            });
        };
        let reply = Reply::Pipes {
            stdin: stdin.is_some(),
            stdout: stdout.is_some(),
            stderr: stderr.is_some(),
        };
        let copies = [stdin, stdout, stderr]
            .into_iter()
            .flatten()
            .map(OwnedFd::try_clone);
        let copies = copies
            .collect::<Result<Vec<_>, _>>()
            .map_err(|error| Failure::System {
                step: "copy the pipes".to_owned(),
                error: error.to_string(),
                retryable: true,
            })?;
        Ok((reply, copies))
    }
}

fn done((): ()) -> (Reply, Vec<OwnedFd>) {
    (Reply::Done {}, Vec::new())
}

fn cannot_signal(error: Errno) -> Failure {
    Failure::System {
        step: "send the signal".to_owned(),
        error: std::io::Error::from(error).to_string(),
        retryable: false,
    }
}

fn not_understood(name: &Name, error: String) -> Failure {
    const KNOWN: [&str; 9] = [
        "hello",
        "spawn",
        "signal",
        "stop",
        "acknowledge",
        "list",
        "locate",
        "pipes",
        "close_pipes",
    ];
    let name = match name {
        Name::With(map) => map.keys().next().cloned(),
        Name::Alone(name) => Some(name.clone()),
        Name::Missing => None,
    };
    match name {
        Some(name) if !KNOWN.contains(&name.as_str()) => Failure::Unsupported { request: name },
        _ => Failure::Invalid { message: error },
    }
}
