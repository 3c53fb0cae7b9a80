//! The daemon dies; its tasks do not.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::mpsc,
    time::Duration,
};

use harness_tests::{harness::Harness, trials};
use libtest_mimic::Trial;
use serde_json::{Value, json};

pub(crate) fn trials() -> Vec<Trial> {
    trials![
        a_task_runs_through_a_restart_of_the_daemon,
        a_task_that_ended_while_the_daemon_was_away_has_its_true_exit_code,
        restarts_and_time_limits_go_on_after_a_crash,
        twenty_crashes_under_fifty_tasks_lose_nothing_and_run_nothing_twice,
        a_call_that_was_open_is_outcome_unknown,
    ]
}

fn a_task_runs_through_a_restart_of_the_daemon() {
    let mut harness = Harness::start();
    let gate = harness.workspace().join("gate");
    nix::unistd::mkfifo(&gate, nix::sys::stat::Mode::S_IRWXU).unwrap();
    let input = json!({"cmd": "echo before; read x < gate; echo after; exit 9", "wait_seconds": 0});
    let id = harness.mcp(Some("bash")).ok("run", &input)["id"].clone();
    let keeper = harness.keeper_pid();
    assert_eq!(harness.stop_daemon(), 0);
    harness.start_daemon();
    assert_eq!(harness.keeper_pid(), keeper);
    let mut session = harness.mcp(Some("bash"));
    assert_eq!(
        session.ok("status", &json!({"id": id}))["status"],
        "running"
    );
    std::fs::write(&gate, "go\n").unwrap();
    let status = session.ok("status", &json!({"id": id, "wait_seconds": 30}));
    assert_eq!(status["exit_code"], 9, "{status}");
    assert_eq!(status["stdout"]["tail"], "before\nafter\n");
}

fn a_task_that_ended_while_the_daemon_was_away_has_its_true_exit_code() {
    let mut harness = Harness::start();
    let gate = harness.workspace().join("gate");
    nix::unistd::mkfifo(&gate, nix::sys::stat::Mode::S_IRWXU).unwrap();
    let input = json!({"cmd": "echo $$ > pid; read x < gate; exit 42", "wait_seconds": 0});
    let id = harness.mcp(Some("bash")).ok("run", &input)["id"].clone();
    let pid = harness_tests::event::file(
        &harness.workspace().join("pid"),
        harness_tests::harness::PATIENCE,
        |text| text.ends_with('\n'),
    );
    harness.kill_daemon();
    std::fs::write(&gate, "go\n").unwrap();
    harness_tests::event::ended(
        pid.trim().parse().unwrap(),
        harness_tests::harness::PATIENCE,
    );
    harness.start_daemon();
    let status = harness
        .mcp(Some("bash"))
        .ok("status", &json!({"id": id, "wait_seconds": 30}));
    assert_eq!(status["exit_code"], 42, "{status}");
    assert_eq!(status["status"], "done");
}

fn restarts_and_time_limits_go_on_after_a_crash() {
    let mut harness = Harness::start();
    let mut session = harness.mcp(Some("bash"));
    let unit = json!({"restart": "on-failure", "restart_sec": 1, "start_limit_burst": 3});
    let cmd = "echo x >> starts; [ $(wc -l < starts) -ge 3 ]";
    let restarted =
        session.ok("run", &json!({"cmd": cmd, "wait_seconds": 0, "unit": unit}))["id"].clone();
    let limited = session.ok(
        "run",
        &json!({"cmd": "sleep 1000", "wait_seconds": 0, "timeout_secs": 2}),
    )["id"]
        .clone();
    harness_tests::event::file(
        &harness.workspace().join("starts"),
        harness_tests::harness::PATIENCE,
        |text| text == "x\n",
    );
    harness.kill_daemon();
    harness.start_daemon();
    let mut session = harness.mcp(Some("bash"));
    let status = session.ok("status", &json!({"id": restarted, "wait_seconds": 30}));
    assert_eq!(
        (&status["status"], &status["restarts"]),
        (&json!("done"), &json!(2)),
        "{status}"
    );
    let status = session.ok("status", &json!({"id": limited, "wait_seconds": 30}));
    assert_eq!(status["status"], "timed_out", "{status}");
}

/// Each task appends a line to a file of its own, prints a known text, and exits with a code of its own.
fn twenty_crashes_under_fifty_tasks_lose_nothing_and_run_nothing_twice() {
    let mut harness = Harness::with_config("tool_groups = [\"wakes\"]\n");
    let mut expected: BTreeMap<String, (usize, u64)> = BTreeMap::new();
    let mut acknowledged: BTreeSet<i64> = BTreeSet::new();
    let mut woken: BTreeMap<String, usize> = BTreeMap::new();
    // A fixed sequence of moments, in microseconds after the last answer.
    let mut seed: u64 = 20_261_130;
    for round in 0..20 {
        let mut session = harness.mcp(Some("bash"));
        for _ in 0..if round == 0 { 50 } else { 5 } {
            let number = expected.len();
            let code = u64::try_from(number % 200).unwrap();
            seed = seed
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            let nap = (seed >> 33) % 3000;
            let cmd = format!(
                "echo x >> ran-{number}; seq 1 500; sleep {}.{:03}; seq 501 1000; exit {code}",
                nap / 1000,
                nap % 1000
            );
            let status = session.ok("run", &json!({"cmd": cmd, "wait_seconds": 0}));
            expected.insert(status["id"].as_str().unwrap().to_owned(), (number, code));
        }
        collect(&harness, &mut woken, &mut acknowledged);
        seed = seed
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        pause(Duration::from_micros((seed >> 33) % 200_000));
        harness.kill_daemon();
        harness.start_daemon();
    }
    let mut session = harness.mcp(Some("bash"));
    let whole: Vec<String> = (1..=1000).map(|line| format!("{line}\n")).collect();
    let whole = whole.concat();
    for (id, (number, code)) in &expected {
        let mut status = session.ok("status", &json!({"id": id, "wait_seconds": 30}));
        while status["status"] == "running" {
            status = session.ok("status", &json!({"id": id, "wait_seconds": 30}));
        }
        assert_eq!(status["status"], "done", "{status}");
        assert_eq!(status["exit_code"], *code, "{status}");
        let output = std::fs::read_to_string(status["stdout"]["path"].as_str().unwrap()).unwrap();
        assert_eq!(output, whole, "the output of {id}");
        let runs =
            std::fs::read_to_string(harness.workspace().join(format!("ran-{number}"))).unwrap();
        assert_eq!(runs, "x\n", "{id} ran more than once");
    }
    collect(&harness, &mut woken, &mut acknowledged);
    // Tasks whose end was awaited just now have no wake; all others have been told.
    let told: BTreeSet<&String> = woken.keys().collect();
    assert!(told.len() >= 50, "only {} wakes", told.len());
    harness.kill_daemon();
    harness.start_daemon();
    let again = harness.post("/v1/wakes/recv", &json!({}));
    assert_eq!(
        again,
        json!([]),
        "a wake came back after it was acknowledged"
    );
}

/// Takes and acknowledges what is due; a wake must not come again after its acknowledgement.
fn collect(
    harness: &Harness,
    woken: &mut BTreeMap<String, usize>,
    acknowledged: &mut BTreeSet<i64>,
) {
    let mut session = harness.mcp(Some("wakes"));
    loop {
        let wakes = session.ok("wakes_recv", &json!({}))["wakes"].clone();
        let wakes: Vec<Value> = wakes.as_array().unwrap().clone();
        if wakes.is_empty() {
            return;
        }
        for wake in &wakes {
            let id = wake["id"].as_i64().unwrap();
            assert!(
                !acknowledged.contains(&id),
                "{wake} was acknowledged before"
            );
            *woken
                .entry(wake["unit"].as_str().unwrap().to_owned())
                .or_default() += 1;
        }
        let ids: Vec<i64> = wakes
            .iter()
            .map(|wake| wake["id"].as_i64().unwrap())
            .collect();
        session.ok("wakes_ack", &json!({"ids": ids}));
        acknowledged.extend(ids);
    }
}

/// A moment to be killed at, which is the point of the test, not a wait for something.
fn pause(span: Duration) {
    let (sender, receiver) = mpsc::channel::<()>();
    receiver.recv_timeout(span).unwrap_err();
    drop(sender);
}

fn a_call_that_was_open_is_outcome_unknown() {
    let mut harness = Harness::start();
    let mut session = harness.mcp(Some("bash"));
    let input = json!({"cmd": "echo ready > ready; sleep 1000", "wait_seconds": 30});
    session.begin("tools/call", &json!({"name": "run", "arguments": input}));
    harness_tests::event::file(
        &harness.workspace().join("ready"),
        harness_tests::harness::PATIENCE,
        |text| text == "ready\n",
    );
    harness.kill_daemon();
    harness.start_daemon();
    let calls = harness.get("/v1/calls");
    assert_eq!(calls["items"][0]["tool"], "run", "{calls}");
    assert_eq!(calls["items"][0]["state"], "outcome_unknown", "{calls}");
}
