//! The keeper's own life.

use std::{
    os::fd::{AsRawFd, OwnedFd},
    time::Duration,
};

use harness_keeper::protocol::{Event, Reply, Request};
use harness_model::{ExitStatus, Signal};

use crate::support::{
    Client, Keeper, NOBODY, NONE, command, lives, marked, program, sequence, shell, started,
    started_lines,
};

#[test]
fn a_killed_keeper_leaves_nothing_alive_after_the_next_start() {
    for user in [None, Some(NOBODY)] {
        for flags in [&[][..], &["--no-cgroup"]] {
            let mut keeper = Keeper::start_as(user, flags);
            let mut client = keeper.connect();
            let mark = format!("orphan{}", keeper.pid());
            let deaf = format!("trap \"\" TERM HUP; echo; while :; do sleep 1000; done; : {mark}");
            let request = shell(&format!(
                "setsid bash -c '{deaf}' & (setsid bash -c '{deaf}' &); bash -c '{deaf}'"
            ));
            let (_, main) = started_lines(&mut client, request, 3);
            assert!(marked(&mark).len() >= 3);
            keeper.kill();
            keeper.restart();
            assert_eq!(marked(&mark), NONE, "{user:?} {flags:?}");
            assert!(!lives(main));
            assert!(keeper.connect().list().is_empty());
        }
    }
}

#[test]
fn told_to_end_it_ends_every_run_by_its_own_way_first() {
    let mut keeper = Keeper::start(&[]);
    let mut client = keeper.connect();
    let mark = format!("ending{}", keeper.pid());
    let mut request = shell(&format!(
        "trap 'exit 5' TERM; echo; sleep 1000 & wait; : {mark}"
    ));
    request.on_exit = sequence(Duration::from_mins(1));
    let (request, _) = started(&mut client, request);
    assert!(keeper.terminate().success());
    assert_eq!(
        client.end(&request.invocation).status,
        ExitStatus::Exited(5)
    );
    assert_eq!(marked(&mark), NONE);
    assert!(!keeper.directory.join("keeper.sock").exists());
    keeper.restart();
}

#[test]
fn no_cgroup_stays_behind() {
    let label = |directory: &std::path::Path| {
        let hash = directory
            .to_str()
            .unwrap()
            .bytes()
            .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
                (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3)
            });
        format!("harness-test-{hash:016x}")
    };
    let mut keeper = Keeper::start(&[]);
    let mut client = keeper.connect();
    let detail = client.hello().enforcement.remove(0).detail;
    let units = detail.split(" in ").nth(1).unwrap().to_owned();
    assert!(units.contains(&label(&keeper.directory)), "{units}");
    let request = shell("mkdir -p $(dirname $0) 2>/dev/null; sleep 1000 & exit 0");
    client.spawn(&request);
    client.end(&request.invocation);
    client.run("exit 0");
    let left: Vec<_> = std::fs::read_dir(&units)
        .unwrap()
        .filter(|entry| entry.as_ref().unwrap().path().is_dir())
        .collect();
    assert!(left.is_empty(), "{left:?}");
    keeper.terminate();
    assert!(!std::path::Path::new(&units).parent().unwrap().exists());
    keeper.restart();
}

#[test]
fn it_ends_by_itself_when_nobody_needs_it() {
    let mut keeper = Keeper::start(&["--exit-when-idle", "1"]);
    assert!(keeper.process.wait().unwrap().success());
    keeper.restart();
    keeper.process.wait().unwrap();
}

#[test]
fn a_run_or_a_report_keeps_it_from_ending() {
    let mut keeper = Keeper::start(&["--exit-when-idle", "1"]);
    let mut client = keeper.connect();
    let request = shell("exit 0");
    client.spawn(&request);
    client.end(&request.invocation);
    drop(client);
    let mut timer = command("sleep").arg("1.5").spawn().unwrap();
    timer.wait().unwrap();
    assert!(keeper.process.try_wait().unwrap().is_none());
    let mut client = keeper.connect();
    assert_eq!(client.list().len(), 1);
    client.call(Request::Acknowledge {
        invocation: request.invocation,
    });
    drop(client);
    assert!(keeper.process.wait().unwrap().success());
    keeper.restart();
}

#[test]
fn detached_it_accepts_connections_when_its_starter_returns() {
    let mut keeper = Keeper::start(&[]);
    keeper.terminate();
    let output = command(program(&keeper.directory, None))
        .args(["--detach", "--runtime-dir"])
        .arg(&keeper.directory)
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    let mut client = Client::connect(&keeper.directory);
    let welcome = client.hello();
    assert_ne!(welcome.pid, keeper.process.id());
    let again = command(program(&keeper.directory, None))
        .args(["--detach", "--runtime-dir"])
        .arg(&keeper.directory)
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&again.stderr);
    assert!(
        !again.status.success() && text.contains(&format!("pid {}", welcome.pid)),
        "{text}"
    );
    let pid = rustix::process::Pid::from_raw(i32::try_from(welcome.pid).unwrap()).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
    assert!(!client.read());
    keeper.restart();
}

#[test]
fn a_socket_that_the_service_manager_passes_is_used() {
    let mut keeper = Keeper::start(&[]);
    keeper.terminate();
    let path = keeper.directory.join("passed.sock");
    let listener: OwnedFd = std::os::unix::net::UnixListener::bind(&path)
        .unwrap()
        .into();
    rustix::io::fcntl_setfd(&listener, rustix::io::FdFlags::empty()).unwrap();
    let script = format!(
        "exec 3<&{0}; LISTEN_PID=$$ LISTEN_FDS=1 exec {1} --runtime-dir {2}",
        listener.as_raw_fd(),
        program(&keeper.directory, None).display(),
        keeper.directory.display()
    );
    keeper.process = command("bash").args(["-c", &script]).spawn().unwrap();
    drop(listener);
    std::os::unix::fs::symlink(&path, keeper.directory.join("keeper.sock")).unwrap();
    let mut client = keeper.connect();
    assert_eq!(client.run("exit 3").1.status, ExitStatus::Exited(3));
}

#[test]
fn without_free_descriptors_a_spawn_fails_retryably_and_loses_nothing() {
    let keeper = Keeper::start(&[]);
    let mut client = keeper.connect();
    let pid = rustix::process::Pid::from_raw(keeper.pid());
    let limit = |number| rustix::process::Rlimit {
        current: Some(number),
        maximum: Some(20000),
    };
    let set = |number| {
        rustix::process::prlimit(pid, rustix::process::Resource::Nofile, limit(number)).unwrap()
    };
    let null = || -> OwnedFd { std::fs::File::open("/dev/null").unwrap().into() };
    let mut request = shell("exit 0");
    request.stdout = harness_keeper::protocol::Stdio::Fd;
    let open = std::fs::read_dir(format!("/proc/{}/fd", keeper.pid()))
        .unwrap()
        .count();
    for room in 0..4 {
        let before = set(u64::try_from(open + room).unwrap());
        if let Err(failure) = client.spawn_with(&request, &[null()]) {
            assert!(
                matches!(
                    failure,
                    harness_keeper::protocol::Failure::System {
                        retryable: true,
                        ..
                    }
                ),
                "{room}: {failure:?}"
            );
        } else {
            client.end(&request.invocation);
            request.invocation = harness_model::InvocationId::generate();
        }
        set(before.current.unwrap());
    }
    client.spawn_with(&request, &[null()]).unwrap();
    assert_eq!(
        client.end(&request.invocation).status,
        ExitStatus::Exited(0)
    );
}

#[test]
fn an_event_of_a_run_that_is_killed_from_outside_names_the_signal() {
    let keeper = Keeper::start(&[]);
    let mut client = keeper.connect();
    let request = shell("exec sleep 1000");
    let pid = rustix::process::Pid::from_raw(client.spawn(&request)).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::KILL).unwrap();
    let Event::MainExited { exit, .. } = client.event() else {
        panic!("another event");
    };
    assert_eq!(
        exit.status,
        ExitStatus::Signaled {
            signal: Signal::KILL,
            core_dump: false
        }
    );
    assert!(matches!(client.call(Request::List {}), Reply::Units(_)));
}
