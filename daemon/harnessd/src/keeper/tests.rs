//! The client against a real keeper.

use std::{
    fs::File,
    os::{fd::OwnedFd, unix::fs::PermissionsExt},
    path::{Path, PathBuf},
    process::Command,
    sync::OnceLock,
    time::Duration,
};

use harness_model::{ExitStatus, InvocationId, KillMode, Signal, UnitId, UnitKind};
use harness_supervise::{
    ProcessEvent, SpawnError, SpawnRequest, Spawned, Spawner, Stdio, StopSequence, TreeLimits,
};

use super::*;

/// A runtime directory, and the keepers that were started in it.
pub(crate) struct Place {
    pub(crate) directory: PathBuf,
    arguments: Vec<String>,
}

impl Place {
    pub(crate) fn new() -> Self {
        let name = format!(
            "harness-client-{}-{}",
            std::process::id(),
            UnitId::generate()
        );
        let directory = std::env::temp_dir().join(name);
        std::fs::create_dir(&directory).unwrap();
        std::fs::set_permissions(&directory, std::fs::Permissions::from_mode(0o700)).unwrap();
        Self {
            directory,
            arguments: Vec::new(),
        }
    }

    pub(crate) fn options(&self) -> KeeperOptions {
        KeeperOptions {
            runtime_directory: self.directory.clone(),
            start: KeeperStart::Detached {
                agent: "test".to_owned(),
                state_id: self.directory.display().to_string(),
                program: Some(program()),
                arguments: self.arguments.clone(),
            },
        }
    }

    fn signal(handle: &KeeperHandle, signal: rustix::process::Signal) {
        let pid = handle.state().borrow().status.pid.unwrap();
        let pid = rustix::process::Pid::from_raw(i32::try_from(pid).unwrap()).unwrap();
        rustix::process::kill_process(pid, signal).unwrap();
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let pid = std::fs::read_to_string(self.directory.join("keeper.lock")).unwrap_or_default();
        let pid = pid.parse().ok().and_then(rustix::process::Pid::from_raw);
        if let Some(Ok(keeper)) =
            pid.map(|pid| rustix::process::pidfd_open(pid, rustix::process::PidfdFlags::empty()))
        {
            rustix::process::pidfd_send_signal(&keeper, rustix::process::Signal::TERM).ok();
            let mut end = [rustix::event::PollFd::new(
                &keeper,
                rustix::event::PollFlags::IN,
            )];
            rustix::event::poll(&mut end, None).unwrap();
        }
        std::fs::remove_dir_all(&self.directory).unwrap();
    }
}

/// The keeper's program, built if it is not.
#[expect(
    clippy::disallowed_methods,
    reason = "a test needs the program of another crate"
)]
fn program() -> PathBuf {
    static PROGRAM: OnceLock<PathBuf> = OnceLock::new();
    PROGRAM
        .get_or_init(|| {
            let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
            let built = Command::new(cargo)
                .args([
                    "build",
                    "--quiet",
                    "--package",
                    "harness-keeper",
                    "--bin",
                    "harness-keeper",
                ])
                .current_dir(env!("CARGO_MANIFEST_DIR"))
                .status();
            assert!(built.unwrap().success());
            let own = std::env::current_exe().unwrap();
            own.ancestors().nth(2).unwrap().join("harness-keeper")
        })
        .clone()
}

fn request(script: &str) -> SpawnRequest {
    SpawnRequest {
        unit: UnitId::generate(),
        invocation: InvocationId::generate(),
        kind: UnitKind::Task,
        argv: ["sh", "-c", script].map(str::to_owned).into(),
        environment: vec![("PATH".to_owned(), std::env::var("PATH").unwrap())],
        cwd: "/".into(),
        stdin: Stdio::Null,
        stdout: Stdio::Null,
        stderr: Stdio::Null,
        limits: TreeLimits::default(),
        on_exit: stop(),
        sandbox: harness_model::SandboxRules::default(),
    }
}

fn stop() -> StopSequence {
    StopSequence {
        kill_mode: KillMode::ControlGroup,
        kill_signal: Signal::TERM,
        timeout: Some(Duration::from_secs(5)),
        final_kill_signal: Signal::KILL,
    }
}

async fn end(spawned: &mut Spawned) -> Option<ExitStatus> {
    loop {
        match spawned.events.recv().await {
            Some(ProcessEvent::Ended(exit)) => return Some(exit.status),
            Some(ProcessEvent::Lost) | None => return None,
            Some(
                ProcessEvent::MainExited(_) | ProcessEvent::FinalKill | ProcessEvent::OomKilled,
            ) => {}
        }
    }
}

fn output(directory: &Path) -> (PathBuf, OwnedFd) {
    let path = directory.join("output");
    let file = File::create(&path).unwrap();
    (path, file.into())
}

#[tokio::test]
async fn a_keeper_is_started_and_a_process_runs_to_its_end() {
    let place = Place::new();
    let (handle, adopted) = connect(place.options()).await.unwrap();
    assert!(adopted.is_empty());
    let (path, stdout) = output(&place.directory);
    let mut request = request("echo $HARNESS_UNIT; exit 3");
    request.stdout = Stdio::Fd(stdout);
    let (unit, invocation) = (request.unit.clone(), request.invocation.clone());
    let mut spawned = handle.spawn(request).await.unwrap();
    assert_eq!(end(&mut spawned).await, Some(ExitStatus::Exited(3)));
    assert_eq!(std::fs::read_to_string(path).unwrap(), format!("{unit}\n"));
    handle.acknowledge(&invocation);
    let state = handle.state().borrow().clone();
    assert!(
        state.status.connected
            && state
                .enforcement
                .iter()
                .any(|one| one.name == "signal_scope")
    );
}

#[tokio::test]
async fn many_spawns_in_flight_each_get_their_own_events() {
    let place = Place::new();
    let (handle, _) = connect(place.options()).await.unwrap();
    let runs = (0..60_u8).map(|code| {
        let handle = handle.clone();
        async move {
            let mut spawned = handle
                .spawn(request(&format!("exit {code}")))
                .await
                .unwrap();
            assert_eq!(end(&mut spawned).await, Some(ExitStatus::Exited(code)));
        }
    });
    futures_util::future::join_all(runs).await;
}

#[tokio::test]
async fn a_restarted_daemon_adopts_what_runs_and_what_has_ended() {
    let place = Place::new();
    let (first, _) = connect(place.options()).await.unwrap();
    let (running, ended) = (request("exec sleep 100"), request("exit 9"));
    let ids = (running.invocation.clone(), ended.invocation.clone());
    first.spawn(running).await.unwrap();
    let mut spawned = first.spawn(ended).await.unwrap();
    end(&mut spawned).await;
    drop(first);
    let (second, adopted) = connect(place.options()).await.unwrap();
    assert_eq!(adopted.len(), 2);
    for mut one in adopted {
        if one.invocation == ids.1 {
            assert_eq!(end(&mut one.spawned).await, Some(ExitStatus::Exited(9)));
            second.acknowledge(&one.invocation);
        } else {
            assert_eq!(one.invocation, ids.0);
            second.stop(&one.invocation, stop()).await.unwrap();
            let status = end(&mut one.spawned).await;
            assert!(
                matches!(
                    status,
                    Some(ExitStatus::Signaled {
                        signal: Signal::TERM,
                        ..
                    })
                ),
                "{status:?}"
            );
        }
    }
}

#[tokio::test]
async fn a_killed_keeper_loses_its_runs_and_another_is_started() {
    let place = Place::new();
    let (handle, _) = connect(place.options()).await.unwrap();
    let mut spawned = handle.spawn(request("sleep 100")).await.unwrap();
    let before = handle.state().borrow().status.pid;
    Place::signal(&handle, rustix::process::Signal::KILL);
    assert_eq!(end(&mut spawned).await, None);
    let mut state = handle.state();
    state
        .wait_for(|state| state.status.connected && state.status.pid != before)
        .await
        .unwrap();
    let mut spawned = handle.spawn(request("exit 4")).await.unwrap();
    assert_eq!(end(&mut spawned).await, Some(ExitStatus::Exited(4)));
}

#[tokio::test]
async fn a_keeper_that_does_not_answer_is_still_known_as_the_owner_of_its_children() {
    let place = Place::new();
    let (handle, _) = connect(place.options()).await.unwrap();
    let mut state = handle.state();
    let first = state.borrow().owner;
    assert!(first.is_some());
    Place::signal(&handle, rustix::process::Signal::KILL);
    let away = state.wait_for(|state| !state.status.connected).await;
    assert_eq!(away.unwrap().owner, first);
    let back = state.wait_for(|state| state.status.connected).await;
    let second = back.unwrap().owner;
    assert!(second.is_some() && second != first);
}

#[tokio::test]
async fn what_a_dropped_spawn_has_started_is_ended() {
    let place = Place::new();
    let (handle, _) = connect(place.options()).await.unwrap();
    let (read, write) = rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC).unwrap();
    let mut dropped = request("sleep 100");
    dropped.stdout = Stdio::Fd(write);
    let mut spawning = handle.spawn(dropped);
    assert!(futures_util::poll!(&mut spawning).is_pending());
    drop(spawning);
    // The pipe ends when the last process that holds it has.
    let text = tokio::task::spawn_blocking(|| std::io::read_to_string(File::from(read)));
    assert_eq!(text.await.unwrap().unwrap(), "");
    // Whether the first daemon still came to acknowledge it is a matter of time.
    let (_second, adopted) = connect(place.options()).await.unwrap();
    for mut one in adopted {
        let status = end(&mut one.spawned).await;
        assert!(
            matches!(
                status,
                Some(ExitStatus::Signaled {
                    signal: Signal::KILL,
                    ..
                })
            ),
            "{status:?}"
        );
    }
}

#[tokio::test]
async fn pipes_are_handed_out_and_kept_for_a_restarted_daemon() {
    use std::io::{BufRead, BufReader, Write};
    let place = Place::new();
    let (handle, _) = connect(place.options()).await.unwrap();
    let cat = SpawnRequest {
        kind: UnitKind::McpServer,
        ..request("exec cat")
    };
    let invocation = cat.invocation.clone();
    let (_, pipes) = handle.spawn_with_pipes(cat, true).await.unwrap();
    File::from(pipes.stdin.unwrap())
        .write_all(b"before\n")
        .unwrap();
    drop(handle);
    let (handle, mut adopted) = connect(place.options()).await.unwrap();
    let again = handle.pipes(&invocation).await.unwrap();
    let mut stdin = File::from(again.stdin.unwrap());
    stdin.write_all(b"after\n").unwrap();
    let mut lines = BufReader::new(File::from(again.stdout.unwrap())).lines();
    assert_eq!(lines.next().unwrap().unwrap(), "before");
    assert_eq!(lines.next().unwrap().unwrap(), "after");
    drop(stdin);
    handle.close_pipes(&invocation).await.unwrap();
    assert_eq!(
        end(&mut adopted.remove(0).spawned).await,
        Some(ExitStatus::Exited(0))
    );
    assert!(handle.pipes(&invocation).await.is_err());
}

#[tokio::test]
async fn failures_keep_their_kind() {
    let place = Place::new();
    let (handle, _) = connect(place.options()).await.unwrap();
    let mut absent = request("");
    absent.argv = vec!["no-such-program".to_owned()];
    let error = handle.spawn(absent).await.unwrap_err();
    assert_eq!(
        error,
        SpawnError::NoSuchProgram {
            program: "no-such-program".to_owned()
        }
    );
    let mut nowhere = request("");
    nowhere.cwd = "/no/such/directory".into();
    let error = handle.spawn(nowhere).await.unwrap_err();
    assert!(
        matches!(error, SpawnError::Directory { directory, .. } if directory == "/no/such/directory")
    );
    let unknown = InvocationId::generate();
    assert_eq!(handle.signal(&unknown, Signal::TERM, true).await, Ok(()));
    assert_eq!(handle.stop(&unknown, stop()).await, Ok(()));
}

#[tokio::test]
async fn a_second_daemon_takes_over_and_the_first_does_not_fight() {
    let place = Place::new();
    let (first, _) = connect(place.options()).await.unwrap();
    let mut spawned = first.spawn(request("sleep 100")).await.unwrap();
    let (second, adopted) = connect(place.options()).await.unwrap();
    assert_eq!(adopted.len(), 1);
    assert_eq!(end(&mut spawned).await, None);
    assert_eq!(
        first.spawn(request("exit 0")).await.unwrap_err(),
        SpawnError::Unavailable
    );
    let mut spawned = second.spawn(request("exit 5")).await.unwrap();
    assert_eq!(end(&mut spawned).await, Some(ExitStatus::Exited(5)));
}

#[tokio::test]
async fn in_system_mode_the_keeper_is_awaited() {
    let place = Place::new();
    let awaiting = KeeperOptions {
        runtime_directory: place.directory.clone(),
        start: KeeperStart::Await,
    };
    let mut waiting = Box::pin(connect(awaiting));
    assert!(futures_util::poll!(&mut waiting).is_pending());
    let (starter, _) = connect(place.options()).await.unwrap();
    drop(starter);
    let (handle, _) = waiting.await.unwrap();
    assert!(handle.state().borrow().status.connected);
}
