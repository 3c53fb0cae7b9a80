//! Ending trees.

use std::{
    io::Read,
    time::{Duration, Instant},
};

use harness_keeper::protocol::{Event, Reply, Request, Stdio, StopSequence};
use harness_model::{ExitStatus, KillMode, Signal};

use crate::support::{Keeper, NONE, lives, marked, read, sequence, shell, started};

#[test]
fn a_tree_that_obeys_the_first_signal_gets_no_other() {
    for flags in [&[][..], &["--no-cgroup"]] {
        let keeper = Keeper::start(flags);
        let mut client = keeper.connect();
        let mut request = shell("sleep 1000 & sleep 1000 & echo; wait");
        request.on_exit = sequence(Duration::from_mins(1));
        let (request, pid) = started(&mut client, request);
        assert_eq!(client.stop(&request), Reply::Done {});
        assert!(matches!(client.event(), Event::MainExited { .. }));
        let Event::Ended { exit, .. } = client.event() else {
            panic!("another event");
        };
        assert!(matches!(
            exit.status,
            ExitStatus::Signaled {
                signal: Signal::TERM,
                ..
            }
        ));
        assert!(!lives(pid) && exit.survivors.is_empty());
    }
}

#[test]
fn what_ignores_the_first_signal_gets_the_last_one_after_the_timeout() {
    for flags in [&[][..], &["--no-cgroup"]] {
        let keeper = Keeper::start(flags);
        let mut client = keeper.connect();
        let mark = format!("immune{}", keeper.pid());
        let immune = format!(
            "(trap '' TERM; setsid bash -c 'trap \"\" TERM; echo; while :; do sleep 1000; done' {mark}) & wait"
        );
        let mut request = shell(&immune);
        let timeout = Duration::from_millis(100);
        request.on_exit = sequence(timeout);
        let (request, _) = started(&mut client, request);
        let start = Instant::now();
        client.stop(&request);
        let Event::MainExited { exit, .. } = client.event() else {
            panic!("another event");
        };
        assert!(exit.left_over >= 1, "{exit:?}");
        assert!(matches!(client.event(), Event::FinalKill { .. }));
        assert!(start.elapsed() >= timeout);
        client.end(&request.invocation);
        assert_eq!(marked(&mark), NONE);
    }
}

#[test]
fn a_tree_that_is_older_than_it_may_be_is_ended_with_no_daemon_there() {
    for flags in [&[][..], &["--no-cgroup"]] {
        let keeper = Keeper::start(flags);
        let mut client = keeper.connect();
        let mark = format!("aged{}", keeper.pid());
        let mut request = shell(&format!(
            "(exec -a {mark} setsid sleep 1000) & trap '' TERM; echo; while :; do sleep 1000; done"
        ));
        request.on_exit = StopSequence {
            kill_signal: Signal::KILL,
            ..sequence(Duration::ZERO)
        };
        request.limits.runtime_max_usec = Some(300_000);
        request.stdout = Stdio::Pipe;
        let id = client.post(Request::Spawn(Box::new(request.clone())), &[]);
        let (_, mut fds) = client.reply(id);
        drop(client);
        // All of the tree has it open.
        read(fds.remove(0));
        let mut client = keeper.connect();
        let listed = client.list().remove(0).ended;
        let exit = listed.unwrap_or_else(|| client.end(&request.invocation));
        assert!(exit.runtime_usec >= 300_000, "{exit:?}");
        assert!(exit.survivors.is_empty(), "{exit:?}");
        assert_eq!(marked(&mark), NONE, "{flags:?}");
    }
}

#[test]
fn the_rest_of_a_tree_is_ended_after_its_main_process() {
    for flags in [&[][..], &["--no-cgroup"]] {
        let keeper = Keeper::start(flags);
        let mut client = keeper.connect();
        for (script, left) in [
            ("sleep 1000 & sleep 1000 & exit 4", 2),
            ("setsid sleep 1000 & exit 4", 1),
            (
                "(setsid bash -c 'sleep 1000 & echo' &) | read -r x; exit 4",
                1,
            ),
            ("nohup sleep 1000 >/dev/null 2>&1 & disown; exit 4", 1),
            ("env -i PATH=$PATH setsid setsid sleep 1000 & exit 4", 1),
        ] {
            let mark = format!("mark{}x{left}", keeper.pid());
            let request = shell(&format!("{script} # {mark}"));
            client.spawn(&request);
            let exit = client.end(&request.invocation);
            assert_eq!(exit.status, ExitStatus::Exited(4), "{script}");
            assert!(exit.left_over >= left, "{flags:?} {script}: {exit:?}");
            assert!(exit.survivors.is_empty(), "{exit:?}");
        }
        assert_eq!(children(keeper.pid()), "");
    }
}

fn children(pid: i32) -> String {
    std::fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).unwrap()
}

#[test]
fn a_descendant_that_is_orphaned_while_the_tree_is_ended_is_found() {
    for flags in [&[][..], &["--no-cgroup"]] {
        let keeper = Keeper::start(flags);
        let mut client = keeper.connect();
        let mark = format!("deep{}", keeper.pid());
        // Four generations, each in a session of its own, all deaf to SIGTERM.
        let mut script = format!("trap '' TERM; echo; exec -a {mark} sleep 1000");
        for _ in 0..3 {
            script = format!("trap '' TERM; setsid bash -c {} & wait", quote(&script));
        }
        let mut request = shell(&format!(
            "(setsid bash -c {} &) | read -r x; exit 0",
            quote(&script)
        ));
        request.on_exit = sequence(Duration::from_millis(50));
        client.spawn(&request);
        let exit = client.end(&request.invocation);
        assert!(exit.left_over >= 2, "{exit:?}");
        assert_eq!(marked(&mark), NONE, "{flags:?}");
        assert_eq!(children(keeper.pid()), "");
    }
}

fn quote(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

#[test]
fn mixed_asks_the_main_process_and_kills_the_rest() {
    for flags in [&[][..], &["--no-cgroup"]] {
        let keeper = Keeper::start(flags);
        let mut client = keeper.connect();
        let mut request = shell(
            "(trap 'echo told; exit' TERM; while :; do sleep 1000 & wait; done) & trap 'exit 6' TERM; echo; wait",
        );
        request.on_exit = sequence(Duration::from_mins(1));
        request.on_exit.kill_mode = KillMode::Mixed;
        let (request, _) = started(&mut client, request);
        client.stop(&request);
        let Event::MainExited { exit, .. } = client.event() else {
            panic!("another event");
        };
        assert_eq!(exit.status, ExitStatus::Exited(6));
        assert!(exit.left_over >= 1, "{exit:?}");
        assert!(matches!(client.event(), Event::FinalKill { .. }));
        client.end(&request.invocation);
    }
}

#[test]
fn process_leaves_the_rest_which_does_not_outlive_the_keeper() {
    for flags in [&[][..], &["--no-cgroup"]] {
        let mut keeper = Keeper::start(flags);
        let mut client = keeper.connect();
        let mark = format!("left{}", keeper.pid());
        let mut request = shell(&format!("(exec -a {mark} sleep 1000) & exit 0"));
        request.on_exit.kill_mode = KillMode::Process;
        client.spawn(&request);
        let exit = client.end(&request.invocation);
        assert_eq!(exit.left_over, 1);
        let left = marked(&mark);
        // The subshell may not have become the program yet.
        assert!(
            left.len() == 1 || !children(keeper.pid()).is_empty(),
            "{left:?}"
        );
        client.call(Request::Acknowledge {
            invocation: request.invocation.clone(),
        });
        assert!(client.list().is_empty());
        // A second run of the unit beside what the first has left.
        let mut again = shell("exit 0");
        again.unit = request.unit.clone();
        client.spawn(&again);
        assert_eq!(client.end(&again.invocation).status, ExitStatus::Exited(0));
        assert!(keeper.terminate().success());
        assert_eq!(marked(&mark), NONE);
    }
}

#[test]
fn a_final_signal_that_is_ignored_is_followed_by_one_that_cannot_be() {
    let keeper = Keeper::start(&[]);
    let mut client = keeper.connect();
    let mut request = shell("trap '' TERM QUIT; echo; while :; do sleep 1000 & wait; done");
    request.on_exit = sequence(Duration::from_millis(10));
    request.on_exit.final_kill_signal = "SIGQUIT".parse().unwrap();
    let (request, _) = started(&mut client, request);
    client.stop(&request);
    let exit = client.end(&request.invocation);
    assert!(
        matches!(
            exit.status,
            ExitStatus::Signaled {
                signal: Signal::KILL,
                ..
            }
        ),
        "{exit:?}"
    );
}

#[test]
fn signals_reach_the_main_process_or_the_whole_tree() {
    for flags in [&[][..], &["--no-cgroup"]] {
        let keeper = Keeper::start(flags);
        let mut client = keeper.connect();
        let script = "trap 'echo main' USR1; (trap 'echo child; exit' USR1; echo; while :; do sleep 1000 & wait; done) & while ! wait; do :; done";
        for (whole_tree, expected) in [(false, false), (true, true)] {
            let mut request = shell(script);
            request.stdout = Stdio::Pipe;
            let id = client.post(Request::Spawn(Box::new(request.clone())), &[]);
            let mut out = client.reply(id).1.remove(0);
            let mut byte = [0];
            rustix::io::read(&mut out, &mut byte).unwrap();
            client.call(Request::Signal {
                invocation: request.invocation.clone(),
                signal: "USR1".parse().unwrap(),
                whole_tree,
            });
            let mut heard = vec![0; if whole_tree { 11 } else { 5 }];
            std::fs::File::from(out.try_clone().unwrap())
                .read_exact(&mut heard)
                .unwrap();
            client.stop(&request);
            client.end(&request.invocation);
            let text = format!("{}{}", String::from_utf8_lossy(&heard), read(out));
            assert!(text.contains("main"), "{text:?}");
            assert_eq!(text.contains("child"), expected, "{flags:?} {text:?}");
        }
    }
}

#[test]
fn a_stopped_process_is_woken_to_be_ended() {
    let keeper = Keeper::start(&[]);
    let mut client = keeper.connect();
    let mut request = shell("echo; kill -STOP $$; exit 0");
    request.on_exit = sequence(Duration::from_mins(1));
    let (request, _) = started(&mut client, request);
    client.stop(&request);
    client.end(&request.invocation);
}

#[test]
fn a_second_stop_makes_it_faster() {
    let keeper = Keeper::start(&[]);
    let mut client = keeper.connect();
    let mut request = shell("trap '' TERM; echo; while :; do sleep 1000 & wait; done");
    request.on_exit = sequence(Duration::from_secs(1000));
    let (request, _) = started(&mut client, request);
    client.stop(&request);
    client.call(Request::Stop {
        invocation: request.invocation.clone(),
        sequence: sequence(Duration::ZERO),
    });
    let exit = client.end(&request.invocation);
    assert!(matches!(
        exit.status,
        ExitStatus::Signaled {
            signal: Signal::KILL,
            ..
        }
    ));
    assert_eq!(client.stop(&request), Reply::Done {});
}
