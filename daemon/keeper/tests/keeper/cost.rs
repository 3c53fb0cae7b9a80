//! What the keeper costs.

use std::time::{Duration, Instant};

use harness_keeper::protocol::Request;

use crate::support::{Client, Keeper, request};

fn status(pid: i32, key: &str) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix(key))
        .unwrap();
    line.trim_matches(|c: char| !c.is_ascii_digit())
        .parse()
        .unwrap()
}

#[test]
fn idle_it_does_not_wake_up() {
    let keeper = Keeper::start(&[]);
    let mut client = keeper.connect();
    let running = request(&["sleep", "1000"]);
    client.spawn(&running);
    client.list();
    let before = status(keeper.pid(), "voluntary_ctxt_switches:");
    let mut timer = crate::support::command("sleep").arg("0.3").spawn().unwrap();
    timer.wait().unwrap();
    let after = status(keeper.pid(), "voluntary_ctxt_switches:");
    // Going to sleep after the answer may be counted after the first look.
    assert!(after - before <= 1, "{before} {after}");
    client.stop(&running);
}

#[test]
fn it_is_small() {
    let keeper = Keeper::start(&[]);
    let mut client = keeper.connect();
    let mut long = request(&["true"]);
    long.environment
        .extend((0..10).map(|number| (format!("V{number}"), "x".repeat(100 << 10))));
    for _ in 0..20 {
        long.invocation = harness_model::InvocationId::generate();
        client.spawn(&long);
        client.end(&long.invocation);
        client.call(Request::Acknowledge {
            invocation: long.invocation.clone(),
        });
    }
    let rollup = std::fs::read_to_string(format!("/proc/{}/smaps_rollup", keeper.pid())).unwrap();
    let size = |key: &str| -> u64 {
        let line = rollup
            .lines()
            .find_map(|line| line.strip_prefix(key))
            .unwrap();
        line.trim().trim_end_matches(" kB").parse().unwrap()
    };
    eprintln!(
        "PSS {} kB, anonymous {} kB",
        size("Pss:"),
        size("Pss_Anon:")
    );
    // A debug build maps more code than the 2 MiB in all that a release build has.
    assert!(size("Pss_Anon:") < 1024, "{rollup}");
}

/// The shortest time of a spawn until its answer, which a busy machine hardly changes.
fn spawn_time(client: &mut Client) -> Duration {
    (0..101)
        .map(|_| {
            let request = request(&["/bin/true"]);
            let start = Instant::now();
            client.spawn(&request);
            let time = start.elapsed();
            client.end(&request.invocation);
            client.call(Request::Acknowledge {
                invocation: request.invocation.clone(),
            });
            time
        })
        .min()
        .unwrap()
}

#[test]
fn a_spawn_does_not_cost_more_when_the_daemon_is_large() {
    let keeper = Keeper::start(&[]);
    let mut client = keeper.connect();
    let small = spawn_time(&mut client);
    let ballast = std::hint::black_box(vec![1_u8; 300 << 20]);
    let large = spawn_time(&mut client);
    eprintln!("small {small:?}, large {large:?}");
    // A fork of so much takes 9 ms.
    assert!(
        large < small * 3 + Duration::from_millis(1),
        "{small:?} {large:?}"
    );
    drop(ballast);
}
