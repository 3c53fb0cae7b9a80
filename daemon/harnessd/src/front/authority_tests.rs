use std::{
    io::{BufRead, BufReader},
    os::unix::net::UnixStream,
    process::{Command, Stdio},
};

use super::*;

fn own() -> u32 {
    rustix::process::geteuid().as_raw()
}

fn peer(pid: u32, uid: u32) -> PeerCredentials {
    PeerCredentials {
        pid,
        uid,
        pidfd: None,
    }
}

fn nobody_runs() -> Vec<KeeperTree> {
    Vec::new()
}

#[test]
fn root_the_own_user_and_admins_may_and_others_may_not() {
    let authority = ControlAuthority::new(|| vec![4711], nobody_runs);
    let pid = std::process::id();
    for uid in [0, own(), 4711] {
        authority.may(&peer(pid, uid)).unwrap();
    }
    let refusal = authority.may(&peer(pid, 4712)).unwrap_err();
    assert_eq!(refusal.code, ErrorCode::Denied);
    assert!(refusal.message.contains("4712"), "{refusal}");
}

#[test]
fn a_peer_from_outside_of_the_pid_namespace_may_where_the_keeper_is_inside() {
    let keeper = |pid| move || vec![KeeperTree { pid, cgroup: None }];
    ControlAuthority::new(Vec::new, keeper(4711))
        .may(&peer(0, own()))
        .unwrap();
    let of_nobody = ControlAuthority::new(Vec::new, keeper(4711)).may(&peer(0, 4712));
    assert!(of_nobody.is_err());
    // The keeper may be out there as well, or nobody knows where it is.
    let refusals = [
        ControlAuthority::new(Vec::new, keeper(0)).may(&peer(0, own())),
        ControlAuthority::new(Vec::new, nobody_runs).may(&peer(0, own())),
    ];
    for refusal in refusals {
        let refusal = refusal.unwrap_err();
        assert!(refusal.message.contains("not visible"), "{refusal}");
    }
}

#[test]
#[expect(
    clippy::disallowed_methods,
    reason = "the test needs a process under a keeper"
)]
fn a_process_under_the_keeper_may_not_even_as_root() {
    let this = std::process::id();
    let keepers = move || {
        vec![KeeperTree {
            pid: this,
            cgroup: None,
        }]
    };
    let authority = ControlAuthority::new(Vec::new, keepers);
    let mut child = Command::new("sh")
        .args(["-c", "echo ready; read line"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    BufReader::new(child.stdout.as_mut().unwrap())
        .read_line(&mut String::new())
        .unwrap();
    let refusal = authority.may(&peer(child.id(), 0)).unwrap_err();
    assert!(
        refusal.message.contains("belongs to the agent"),
        "{refusal}"
    );
    drop(child.stdin.take());
    child.wait().unwrap();
    let refusal = authority.may(&peer(child.id(), 0)).unwrap_err();
    assert!(refusal.message.contains("cannot tell"), "{refusal}");
}

#[test]
fn the_kernel_names_the_peer_of_a_socket() {
    let (here, _there) = UnixStream::pair().unwrap();
    let credentials = PeerCredentials::of(&here).unwrap();
    assert_eq!(
        (credentials.pid, credentials.uid),
        (std::process::id(), own())
    );
    assert!(!credentials.has_ended());
}

#[test]
#[expect(
    clippy::disallowed_methods,
    reason = "the test needs a process that ends"
)]
fn a_peer_that_ended_is_not_taken_for_whoever_has_its_pid_now() {
    let mut child = Command::new("true").spawn().unwrap();
    let pid = rustix::process::Pid::from_raw(child.id().try_into().unwrap()).unwrap();
    let pidfd = rustix::process::pidfd_open(pid, rustix::process::PidfdFlags::empty()).unwrap();
    child.wait().unwrap();
    let ended = PeerCredentials {
        pid: std::process::id(),
        uid: own(),
        pidfd: Some(pidfd),
    };
    let refusal = ControlAuthority::new(Vec::new, nobody_runs)
        .may(&ended)
        .unwrap_err();
    assert!(refusal.message.contains("ended"), "{refusal}");
}
