//! What tries to get away.

use std::{
    fs::File,
    io::{BufRead as _, BufReader},
    time::Duration,
};

use harness_keeper::protocol::{Limits, Reply, Request, Stdio};
use harness_model::{ExitStatus, Signal};

use crate::support::{Keeper, NOBODY, NONE, marked, sequence, shell, started};

#[test]
fn a_fork_bomb_is_ended() {
    for flags in [&[][..], &["--no-cgroup"]] {
        let keeper = Keeper::start(flags);
        let mut client = keeper.connect();
        let mark = format!("bomb{}", keeper.pid());
        // Bounded, so that a failure of this test does not take the machine along.
        let mut request = shell(&format!(
            "ulimit -u 400 2>/dev/null; f() {{ [ $1 -gt 7 ] && exec -a {mark} sleep 1000; f $(($1 + 1)) & f $(($1 + 1)) & wait; }}; f 0"
        ));
        request.on_exit = sequence(Duration::from_millis(100));
        client.spawn(&request);
        client.call(Request::Stop {
            invocation: request.invocation.clone(),
            sequence: harness_keeper::protocol::StopSequence {
                kill_signal: Signal::KILL,
                ..sequence(Duration::from_millis(1))
            },
        });
        let exit = client.end(&request.invocation);
        assert!(exit.survivors.is_empty(), "{exit:?}");
        assert_eq!(marked(&mark), NONE, "{flags:?}");
    }
}

#[test]
fn tasks_max_holds_where_the_controller_is_there() {
    let keeper = Keeper::start(&[]);
    let mut client = keeper.connect();
    let enforcement = client.hello().enforcement;
    let pids = enforcement
        .iter()
        .find(|one| one.name == "tasks_max")
        .unwrap();
    if !pids.enforced {
        eprintln!("skipped: {}", pids.detail);
        return;
    }
    let mut request = shell("for i in $(seq 50); do sleep 1000 & done 2>/dev/null; exit 0");
    request.limits = Limits {
        tasks_max: Some(10),
        ..Limits::default()
    };
    client.spawn(&request);
    assert!(client.end(&request.invocation).left_over < 10);
}

#[test]
fn what_moves_out_of_its_cgroup_is_ended_too() {
    let keeper = Keeper::start(&[]);
    let mut client = keeper.connect();
    let mark = format!("mover{}", keeper.pid());
    let root = std::fs::read_to_string("/proc/self/mountinfo").unwrap();
    let root = root
        .lines()
        .find(|line| line.contains(" - cgroup2 "))
        .unwrap()
        .split(' ')
        .nth(4)
        .unwrap()
        .to_owned();
    let script = format!(
        "(echo 0 >{root}/cgroup.procs; exec -a {mark} setsid -f sleep 1000) & wait; exit 0"
    );
    let request = shell(&script);
    client.spawn(&request);
    let exit = client.end(&request.invocation);
    assert_eq!(exit.status, ExitStatus::Exited(0));
    assert_eq!(
        marked("sleep 1000")
            .iter()
            .filter(|pid| is_child(**pid, keeper.pid()))
            .count(),
        0
    );
}

fn is_child(pid: i32, of: i32) -> bool {
    std::fs::read_to_string(format!("/proc/{pid}/stat")).is_ok_and(|stat| {
        stat.rsplit_once(") ").unwrap().1.split(' ').nth(1) == Some(&of.to_string())
    })
}

#[test]
fn orphans_are_reaped_while_the_main_process_lives() {
    let keeper = Keeper::start(&[]);
    let mut client = keeper.connect();
    // `exec` leaves a main process that reaps nothing; the keeper does it.
    let request = shell("for i in 1 2 3 4 5; do (true &) ; done | cat; echo; exec sleep 1000");
    let (request, main) = started(&mut client, request);
    let children = format!("/proc/{0}/task/{0}/children", keeper.pid());
    // The last of them may have closed the pipe without having quite ended.
    let reaped = (0..100).any(|_| {
        client.run("exit 0");
        std::fs::read_to_string(&children).unwrap().trim() == main.to_string()
    });
    assert!(reaped);
    client.stop(&request);
    assert_eq!(client.end(&request.invocation).left_over, 0);
}

#[test]
fn every_tree_ends_without_privilege_too() {
    let keeper = Keeper::start_as(Some(NOBODY), &[]);
    let mut client = keeper.connect();
    let enforcement = client.hello().enforcement;
    assert!(
        !enforcement
            .iter()
            .find(|one| one.name == "cgroup")
            .unwrap()
            .enforced
    );
    let mark = format!("plain{}", keeper.pid());
    let request = shell(&format!(
        "(setsid bash -c 'trap \"\" TERM; echo; while :; do sleep 1000; done' {mark} &) | read -r x; exit 2"
    ));
    client.spawn(&request);
    let exit = client.end(&request.invocation);
    assert_eq!(exit.status, ExitStatus::Exited(2));
    assert!(exit.left_over >= 1);
    assert_eq!(marked(&mark), NONE);
}

#[test]
fn a_process_is_located_wherever_it_has_moved_and_a_stranger_is_not() {
    for flags in [&[][..], &["--no-cgroup"]] {
        let keeper = Keeper::start(flags);
        let mut client = keeper.connect();
        // The parent of the inner one ends at once, so that it becomes an orphan in a session of its own.
        let mut request = shell("setsid -f bash -c 'echo $$; exec sleep 1000'; exec sleep 1000");
        request.stdout = Stdio::Pipe;
        let id = client.post(Request::Spawn(Box::new(request.clone())), &[]);
        let (reply, mut fds) = client.reply(id);
        let Reply::Spawned { pid, .. } = reply else {
            panic!("{reply:?}");
        };
        let mut line = String::new();
        BufReader::new(File::from(fds.remove(0)))
            .read_line(&mut line)
            .unwrap();
        let escaped: i32 = line.trim().parse().unwrap();
        let mut located = |pid| {
            let reply = client.call(Request::Locate { pid });
            let Reply::Located(location) = reply else {
                panic!("{reply:?}");
            };
            location.map(|location| location.invocation)
        };
        for inside in [pid, escaped] {
            assert_eq!(
                located(inside),
                Some(request.invocation.clone()),
                "{flags:?}"
            );
        }
        let test = i32::try_from(std::process::id()).unwrap();
        for stranger in [test, keeper.pid(), 1, 0, -1, i32::MAX] {
            assert_eq!(located(stranger), None, "{stranger}");
        }
    }
}
