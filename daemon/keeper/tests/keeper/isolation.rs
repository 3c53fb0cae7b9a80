//! What a task cannot do to others.

use harness_keeper::protocol::{Request, Stdio};
use harness_model::ExitStatus;

use crate::support::{Keeper, NOBODY, lives, read, shell};

/// Tries, from inside a task, everything that a task must not do to the process `$1`.
const ATTEMPTS: &str = r#"
    for signal in KILL TERM STOP 0; do kill -$signal $1 2>/dev/null && echo "signal $signal"; done
    cat /proc/$1/environ >/dev/null 2>&1 && echo environ
    head -c 1 /proc/$1/mem >/dev/null 2>&1 && echo mem
    cat /proc/$1/maps 2>/dev/null | grep -q . && echo maps
    readlink /proc/$1/fd/0 >/dev/null 2>&1 && echo fd
    (: 2>/dev/null </proc/$1/fd/0) 2>/dev/null && echo opened
    (cd /proc/$1/cwd) 2>/dev/null && echo cwd
    perl -e 'print "ptrace\n" if syscall($ARGV[0] + 0, 16, $ARGV[1] + 0, 0, 0) == 0' PTRACE $1
    true
"#;

fn attempts(pid: i32) -> String {
    let script = ATTEMPTS.replace("PTRACE", &libc::SYS_ptrace.to_string());
    format!("set -- {pid}\n{script}")
}

#[test]
fn a_task_cannot_touch_the_keeper_the_daemon_or_another_task() {
    for user in [None, Some(NOBODY)] {
        for flags in [&[][..], &["--no-cgroup"]] {
            let keeper = Keeper::start_as(user, flags);
            let mut client = keeper.connect();
            let other = shell("exec sleep 1000");
            let victim = client.spawn(&other);
            for pid in [victim, keeper.pid()] {
                let (text, _) = client.run(&attempts(pid));
                assert_eq!(text, "", "{user:?} {flags:?}");
                assert!(lives(pid));
            }
            client.stop(&other);
        }
    }
}

#[test]
fn a_task_of_the_daemons_user_cannot_touch_the_daemon() {
    // This process stands for the daemon: the same user as the keeper.
    let keeper = Keeper::start(&[]);
    let mut client = keeper.connect();
    let own = i32::try_from(std::process::id()).unwrap();
    let (text, _) = client.run(&attempts(own));
    assert_eq!(text, "");
}

#[test]
fn outside_a_domain_every_attempt_succeeds() {
    let keeper = Keeper::start(&[]);
    let mut client = keeper.connect();
    let mut other = shell("exec sleep 1000");
    other.sandbox = None;
    let victim = client.spawn(&other);
    let script = attempts(victim).replace("KILL TERM STOP 0", "0");
    let mut free = shell(&script);
    (free.sandbox, free.stdout) = (None, Stdio::Pipe);
    let id = client.post(Request::Spawn(Box::new(free)), &[]);
    let text = read(client.reply(id).1.remove(0));
    assert_eq!(text, "signal 0\nenviron\nmaps\nfd\nopened\ncwd\nptrace\n");
}

#[test]
fn a_task_can_still_signal_and_trace_its_own_tree() {
    for user in [None, Some(NOBODY)] {
        let keeper = Keeper::start_as(user, &[]);
        let mut client = keeper.connect();
        let (text, exit) = client.run("sleep 1000 & cat /proc/$!/environ >/dev/null && kill $! && echo killed; wait; kill -TERM $$");
        assert_eq!(text, "killed\n");
        assert!(
            matches!(exit.status, ExitStatus::Signaled { .. }),
            "{exit:?}"
        );
    }
}

#[test]
fn killing_every_process_hits_the_task_alone() {
    for user in [Some(NOBODY), None] {
        let keeper = Keeper::start_as(user, &[]);
        let mut client = keeper.connect();
        let other = shell("exec sleep 1000");
        let victim = client.spawn(&other);
        let (_, exit) = client.run("sleep 1000 & kill -9 -1; wait; exit 0");
        assert_eq!(exit.status, ExitStatus::Exited(0));
        assert!(lives(victim) && lives(keeper.pid()));
        client.stop(&other);
    }
}

#[test]
fn killing_the_parent_hits_nothing_of_the_harness() {
    for flags in [&[][..], &["--no-cgroup"]] {
        let keeper = Keeper::start(flags);
        let mut client = keeper.connect();
        let (text, exit) = client.run("kill -9 $PPID 2>/dev/null || echo refused; kill -9 -- -$(cut -d' ' -f5 /proc/$PPID/stat) 2>/dev/null || echo refused");
        assert_eq!(text, "refused\nrefused\n");
        assert_eq!(exit.status, ExitStatus::Exited(0));
        assert!(lives(keeper.pid()));
    }
}

#[test]
fn root_in_a_task_does_not_have_the_capabilities_that_get_around_it() {
    let keeper = Keeper::start(&[]);
    let mut client = keeper.connect();
    let (text, _) = client.run("grep -E '^Cap(Prm|Bnd|Inh|Amb)' /proc/self/status");
    for line in text.lines() {
        let set = u64::from_str_radix(line.split_whitespace().nth(1).unwrap(), 16).unwrap();
        // CAP_SYS_MODULE, _RAWIO, _PTRACE, _ADMIN, _BOOT, _PERFMON, _BPF, _CHECKPOINT_RESTORE.
        for capability in [16, 17, 19, 21, 22, 38, 39, 40] {
            assert_eq!(set >> capability & 1, 0, "{capability} in {line}");
        }
    }
    assert_eq!(text.lines().count(), 4);
    // What a plain root task needs is still there: CAP_CHOWN, CAP_DAC_OVERRIDE, CAP_SETUID.
    let (text, _) = client.run("d=$(mktemp) && chown 1:1 $d && setpriv --reuid=1 --clear-groups rm $d; rm -f $d; echo done");
    assert_eq!(text, "done\n");
}

#[test]
fn without_a_sandbox_a_process_is_not_confined() {
    let keeper = Keeper::start_as(Some(NOBODY), &[]);
    let mut client = keeper.connect();
    let mut other = shell("exec sleep 1000");
    other.sandbox = None;
    let victim = client.spawn(&other);
    let mut hook = shell(&format!(
        "kill {victim}; grep -q 'NoNewPrivs:.0' /proc/self/status"
    ));
    hook.sandbox = None;
    client.spawn(&hook);
    client.end(&other.invocation);
}
