//! Starting, dying, being started again, being given up.

use harness_tests::{event, harness::PATIENCE, mcp::text, trials};
use libtest_mimic::Trial;
use serde_json::json;

use super::{Fixture, LATER, QUICK, error, missing};
use crate::sandbox::outcome;

pub(crate) fn trials() -> Vec<Trial> {
    let mut all = trials![if missing();
        pain_20_a_crashed_server_is_started_again_and_nothing_is_sent_twice,
        pain_20_a_hopeless_server_is_parked_with_its_stderr,
        pain_20_a_server_of_an_unknown_version_is_parked_at_once,
        pain_21_a_call_to_a_dead_server_fails_at_once_and_retryably,
        pain_21_a_server_that_is_up_but_dead_is_noticed,
        pain_21_a_server_that_hangs_up_and_stays_is_killed,
        pain_23_concurrent_first_calls_start_one_copy,
        pain_26_bad_servers_neither_stop_nor_delay_the_others,
        a_server_that_ended_well_is_started_by_the_next_call,
        a_server_that_nobody_calls_is_stopped_and_comes_back,
        a_person_stops_starts_and_restarts_a_server_and_reads_its_log,
        after_a_kill_of_the_daemon_the_old_server_is_gone_before_the_new_one_starts,
        servers_end_with_the_daemon,
    ];
    all.extend(trials![if missing().or(outcome::memory_missing());
        a_server_that_eats_memory_is_killed_alone,
    ]);
    all
}

fn pain_20_a_crashed_server_is_started_again_and_nothing_is_sent_twice() {
    let fixture = Fixture::start(&[("fix", "good", QUICK)]);
    let mut session = fixture.session("fix");
    let first = text(&session.call("pid", &json!({}))).to_owned();
    let mut events = fixture.harness.events();
    let crashed = error(&session.call("crash", &json!({})));
    assert_eq!(crashed["code"], "outcome_unknown", "{crashed}");
    assert_eq!(crashed["retryable"], false);
    let message = crashed["message"].as_str().unwrap();
    assert!(message.contains("about to crash"), "{message}");
    events.find(|event| event["event"] == "plugin_changed" && event["active_state"] == "active");
    let second = session.call("pid", &json!({}));
    assert_ne!(text(&second), first);
    assert_eq!(fixture.count("fix", "call crash"), 1);
    assert_eq!(fixture.count("fix", "two at once"), 0);
    assert_eq!(fixture.status("fix")["restarts"], 1);
    let calls = fixture.harness.get("/v1/calls?tool=crash");
    assert_eq!(calls["items"][0]["state"], "outcome_unknown", "{calls}");
}

fn pain_20_a_hopeless_server_is_parked_with_its_stderr() {
    let fixture = Fixture::start(&[("bad", "exit 3", QUICK)]);
    let status = fixture.until("bad", "failed");
    let why = status["last_error"].as_str().unwrap();
    assert!(
        why.contains("exit code 3") && why.contains("no configuration"),
        "{why}"
    );
    assert_eq!(fixture.count("bad", "start"), 5, "the start limit");
    let refused = error(&fixture.session("bad").call("echo", &json!({"text": "x"})));
    assert_eq!(refused["code"], "unavailable", "{refused}");
    let message = refused["message"].as_str().unwrap();
    assert!(
        message.contains("no configuration") && message.contains("plugins start bad"),
        "{message}"
    );
    // A clean exit before the greeting is no success, either.
    let fixture = Fixture::start(&[("bad", "exit 0", QUICK)]);
    fixture.until("bad", "failed");
}

fn pain_20_a_server_of_an_unknown_version_is_parked_at_once() {
    let fixture = Fixture::start(&[("old", "version", QUICK)]);
    let status = fixture.until("old", "failed");
    let why = status["last_error"].as_str().unwrap();
    assert!(why.contains("1999-12-31"), "{why}");
    assert_eq!(fixture.count("old", "start"), 1);
}

fn pain_21_a_call_to_a_dead_server_fails_at_once_and_retryably() {
    let fixture = Fixture::start(&[("fix", "good", LATER)]);
    let mut session = fixture.session("fix");
    error(&session.call("crash", &json!({})));
    fixture.until("fix", "activating");
    let refused = error(&session.call("pid", &json!({})));
    assert_eq!(refused["code"], "unavailable", "{refused}");
    assert_eq!(refused["retryable"], true);
    let message = refused["message"].as_str().unwrap();
    assert!(message.contains("about to crash"), "{message}");
    // Its tools are still listed: they come back.
    let listed = session.request("tools/list", &json!({}));
    assert_eq!(listed["result"]["tools"][0]["name"], "echo");
    assert_eq!(fixture.count("fix", "call pid"), 0);
}

fn pain_21_a_server_that_is_up_but_dead_is_noticed() {
    let settings = format!("watchdog_sec = 0.2\n{QUICK}");
    let fixture = Fixture::start(&[("fix", "good", &settings)]);
    let mut session = fixture.session("fix");
    let mut events = fixture.harness.events();
    let id = session.begin("tools/call", &json!({"name": "block", "arguments": {}}));
    fixture.logged("fix", "blocking");
    // While somebody waits for it, it may take its time; then nobody does.
    let cancelled = json!({"requestId": id, "reason": "too slow"});
    session
        .send(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": cancelled}));
    let down = events
        .find(|event| event["event"] == "plugin_changed" && event["active_state"] == "activating");
    let why = down["last_error"].as_str().unwrap();
    assert!(why.contains("did not answer a ping"), "{why}");
    events.find(|event| event["event"] == "plugin_changed" && event["active_state"] == "active");
    text(&session.call("pid", &json!({})))
        .parse::<i32>()
        .unwrap();
    assert_eq!(fixture.count("fix", "two at once"), 0);
}

fn pain_21_a_server_that_hangs_up_and_stays_is_killed() {
    let fixture = Fixture::start(&[("fix", "good", QUICK)]);
    let mut session = fixture.session("fix");
    let pid: i32 = text(&session.call("pid", &json!({}))).parse().unwrap();
    let lost = error(&session.call("stay", &json!({})));
    assert_eq!(lost["code"], "outcome_unknown", "{lost}");
    event::ended(pid, PATIENCE);
    fixture.until("fix", "active");
    let again: i32 = text(&session.call("pid", &json!({}))).parse().unwrap();
    assert_ne!(again, pid);
}

fn pain_23_concurrent_first_calls_start_one_copy() {
    let fixture = Fixture::start(&[("fix", "good", "load = \"demand\"")]);
    assert_eq!(fixture.status("fix")["active_state"], "inactive");
    assert_eq!(fixture.count("fix", "start"), 0);
    let mut sessions: Vec<_> = (0..8).map(|_| fixture.harness.mcp(None)).collect();
    let call = json!({"name": "fix__pid", "arguments": {}});
    let ids: Vec<i64> = sessions
        .iter_mut()
        .map(|session| session.begin("tools/call", &call))
        .collect();
    let mut pids: Vec<String> = sessions
        .iter_mut()
        .zip(ids)
        .map(|(session, id)| text(&session.reply(id)["result"]).to_owned())
        .collect();
    pids.dedup();
    assert_eq!(pids.len(), 1, "{pids:?}");
    assert!(pids[0].parse::<i32>().is_ok(), "{pids:?}");
    assert_eq!(fixture.count("fix", "start"), 1);
}

fn pain_26_bad_servers_neither_stop_nor_delay_the_others() {
    let mut servers = vec![
        ("b1", "exit 3", QUICK),
        ("b2", "hang", "timeout_start_sec = 3000"),
        ("b3", "version", QUICK),
        ("b4", "segfault", QUICK),
        ("b5", "flood", "timeout_start_sec = 3000"),
    ];
    servers.extend(["g1", "g2", "g3", "g4", "g5"].map(|name| (name, "good", QUICK)));
    servers.push(("g6", "garbage", QUICK));
    servers.push(("g7", "circle", QUICK));
    let fixture = Fixture::start(&servers);
    for (name, _, _) in servers.iter().filter(|(name, ..)| name.starts_with('g')) {
        let mut session = fixture.session(name);
        let echoed = session.call("echo", &json!({"text": "here"}));
        assert_eq!(text(&echoed), "here", "{name}");
    }
    // One that hangs holds up the first listing for a moment, and not for ever.
    let mut session = fixture.harness.mcp(None);
    let listed = session.request("tools/list", &json!({}))["result"]["tools"].clone();
    let names: Vec<&str> = listed
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|tool| tool["name"].as_str())
        .collect();
    assert!(
        names.contains(&"g1__echo") && names.contains(&"bash__run"),
        "{names:?}"
    );
    // A circle of pages ends with what was on them.
    assert!(
        names.contains(&"g7__echo") && names.contains(&"g7__second"),
        "{names:?}"
    );
    for (name, _, _) in servers.iter().filter(|(name, ..)| name.starts_with('g')) {
        assert_eq!(fixture.status(name)["active_state"], "active", "{name}");
    }
    fixture.until("b1", "failed");
    fixture.until("b3", "failed");
    fixture.until("b4", "failed");
}

fn a_server_that_ended_well_is_started_by_the_next_call() {
    let fixture = Fixture::start(&[("fix", "good", QUICK)]);
    let mut session = fixture.session("fix");
    let mut events = fixture.harness.events();
    let left = error(&session.call("leave", &json!({"code": 0})));
    assert_eq!(left["code"], "outcome_unknown", "{left}");
    events.find(|event| event["event"] == "plugin_changed" && event["active_state"] == "inactive");
    text(&session.call("pid", &json!({})))
        .parse::<i32>()
        .unwrap();
    assert_eq!(fixture.count("fix", "start"), 2);
}

fn a_server_that_nobody_calls_is_stopped_and_comes_back() {
    let fixture = Fixture::start(&[("fix", "good", "load = \"demand\"\nidle_stop_sec = 0.1")]);
    let mut events = fixture.harness.events();
    let mut session = fixture.session("fix");
    let first: i32 = text(&session.call("pid", &json!({}))).parse().unwrap();
    events.find(|event| event["event"] == "plugin_changed" && event["active_state"] == "inactive");
    event::ended(first, PATIENCE);
    let second: i32 = text(&session.call("pid", &json!({}))).parse().unwrap();
    assert_ne!(first, second);
}

fn a_person_stops_starts_and_restarts_a_server_and_reads_its_log() {
    let fixture = Fixture::start(&[("fix", "good", QUICK), ("bad", "exit 3", QUICK)]);
    let harness = &fixture.harness;
    fixture.until("fix", "active");
    let pid = || {
        let status = fixture.status("fix");
        i32::try_from(status["pid"].as_i64().unwrap()).unwrap()
    };
    let first = pid();
    let stopped = harness
        .ctl(&["plugins", "stop", "fix", "--json"])
        .ok()
        .json();
    assert_eq!(stopped["active_state"], "inactive");
    event::ended(first, PATIENCE);
    let refused = error(&fixture.session("fix").call("pid", &json!({})));
    assert!(
        refused["message"]
            .as_str()
            .unwrap()
            .contains("stopped by a person"),
        "{refused}"
    );
    harness.ctl(&["plugins", "start", "fix"]).ok();
    let second = pid();
    harness.ctl(&["plugins", "restart", "fix"]).ok();
    assert_ne!(pid(), second);
    assert_eq!(fixture.count("fix", "two at once"), 0);
    fixture.until("bad", "failed");
    let failed = harness.ctl(&["plugins", "start", "bad"]);
    assert_ne!(failed.code, 0);
    assert!(failed.stderr.contains("no configuration"), "{failed:?}");
    let log = harness
        .ctl(&["plugins", "logs", "bad", "--lines", "1"])
        .ok();
    assert_eq!(log.stdout, "no configuration\n");
    fixture.until("bad", "failed");
    let list = harness.ctl(&["plugins"]).ok().stdout;
    assert!(
        list.contains("fixture 7") && list.contains("failed"),
        "{list}"
    );
    let absent = harness.ctl(&["plugins", "stop", "fxi"]);
    assert!(absent.stderr.contains("did you mean `fix`?"), "{absent:?}");
}

fn after_a_kill_of_the_daemon_the_old_server_is_gone_before_the_new_one_starts() {
    let mut fixture = Fixture::start(&[("fix", "stubborn", "unit = { timeout_stop_sec = 1 }")]);
    let first: i32 = text(&fixture.session("fix").call("pid", &json!({})))
        .parse()
        .unwrap();
    fixture.harness.kill_daemon();
    fixture.harness.start_daemon();
    let second: i32 = text(&fixture.session("fix").call("pid", &json!({})))
        .parse()
        .unwrap();
    assert_ne!(first, second);
    assert!(!event::lives(first));
    assert_eq!(fixture.count("fix", "two at once"), 0);
    assert_eq!(fixture.count("fix", "start"), 2);
}

fn servers_end_with_the_daemon() {
    let mut fixture = Fixture::start(&[("fix", "good", QUICK)]);
    let pid: i32 = text(&fixture.session("fix").call("pid", &json!({})))
        .parse()
        .unwrap();
    assert_eq!(fixture.harness.stop_daemon(), 0);
    assert!(!event::lives(pid));
}

fn a_server_that_eats_memory_is_killed_alone() {
    let settings = "unit = { memory_max = \"60M\", restart_sec = 0.01, restart_steps = 1, restart_max_delay_sec = 0.02 }";
    let fixture = Fixture::start(&[("fix", "good", settings), ("other", "good", QUICK)]);
    let mut other = fixture.session("other");
    let before = text(&other.call("pid", &json!({}))).to_owned();
    let lost = error(&fixture.session("fix").call("hog", &json!({})));
    assert_eq!(lost["code"], "outcome_unknown", "{lost}");
    assert_eq!(text(&other.call("pid", &json!({}))), before);
    fixture.until("fix", "active");
}
