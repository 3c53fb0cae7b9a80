//! With real processes: this test's process plays the keeper.

use std::{
    io::{BufRead, BufReader, Write},
    process::{Child, Command, Stdio},
};

use super::*;

/// A shell that prints a pid on its first line and ends when its input does.
struct Shell {
    child: Child,
    pid: u32,
}

impl Shell {
    #[expect(
        clippy::disallowed_methods,
        reason = "the test needs processes of its own"
    )]
    fn start(script: &str) -> Self {
        let mut child = Command::new("sh")
            .args(["-c", script])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.as_mut().unwrap())
            .read_line(&mut line)
            .unwrap();
        Self {
            pid: line.trim().parse().unwrap(),
            child,
        }
    }

    fn end(mut self) -> u32 {
        self.child.stdin.take().unwrap().write_all(b"\n").unwrap();
        self.child.wait().unwrap();
        self.pid
    }
}

fn keeper(pid: u32) -> KeeperTree {
    KeeperTree { pid, cgroup: None }
}

#[test]
fn a_child_and_a_grandchild_live_under_the_keeper_and_the_keeper_not_under_them() {
    let this = std::process::id();
    let child = Shell::start("echo $$; read line");
    let grandchild = Shell::start("exec 3<&0; sh -c 'echo $$; read line <&3' & wait");
    assert!(lives_under(child.pid, &keeper(this)).unwrap());
    assert!(lives_under(grandchild.pid, &keeper(this)).unwrap());
    assert!(lives_under(this, &keeper(this)).unwrap());
    assert!(!lives_under(this, &keeper(child.pid)).unwrap());
    assert!(!lives_under(std::os::unix::process::parent_id(), &keeper(this)).unwrap());
    assert!(!lives_under(child.pid, &keeper(grandchild.pid)).unwrap());
    child.end();
    grandchild.end();
}

#[test]
fn an_orphan_of_the_keepers_tree_still_lives_under_it() {
    rustix::process::set_child_subreaper(Some(rustix::process::getpid())).unwrap();
    let script = "exec 3<&0; (setsid sh -c 'echo $$; read line <&3' &); exit 0";
    let mut orphan = Shell::start(script);
    orphan.child.stdin.as_ref().unwrap();
    let input = orphan.child.stdin.take();
    orphan.child.wait().unwrap();
    assert!(lives_under(orphan.pid, &keeper(std::process::id())).unwrap());
    drop(input);
    let pid = rustix::process::Pid::from_raw(orphan.pid.try_into().unwrap());
    rustix::process::waitpid(pid, rustix::process::WaitOptions::empty()).unwrap();
}

#[test]
fn a_process_that_is_gone_is_an_error_and_not_a_no() {
    let pid = Shell::start("echo $$; read line").end();
    let error = lives_under(pid, &keeper(std::process::id())).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::NotFound);
}

#[test]
fn a_process_in_the_keepers_cgroup_lives_under_it_whatever_its_parents() {
    let this = std::process::id();
    let cgroup = cgroup_of(this).unwrap();
    if cgroup.trim_end_matches('/').is_empty() {
        return;
    }
    let elsewhere = KeeperTree {
        pid: u32::MAX,
        cgroup: Some(cgroup),
    };
    assert!(lives_under(this, &elsewhere).unwrap());
}

#[test]
fn a_cgroup_with_a_longer_name_is_another_one() {
    assert!(is_within("/a/keeper", "/a/keeper"));
    assert!(is_within("/a/keeper/task-1", "/a/keeper/"));
    assert!(!is_within("/a/keeper2", "/a/keeper"));
    assert!(!is_within("/a", "/a/keeper"));
    assert!(!is_within("/a", "/"), "the root holds everybody");
}

#[test]
fn a_name_with_parentheses_and_spaces_does_not_shift_the_fields() {
    let stat = b"7 (a) 9 (b) c) S 42 7 7 0 -1 4194304 1 0 0 0 0 0 0 0 20 0 1 0 12345 0 0";
    let link = parse_stat(7, stat).unwrap();
    assert_eq!((link.parent, link.started), (42, 12345));
    assert_eq!(parse_stat(7, b"7 (cut"), None);
}
