//! A plugin that misbehaves hurts itself only.

use std::time::{Duration, Instant};

use serde_json::json;

use crate::client::{Client, host, text};

const SIGSEGV: i32 = 128 + 11;
const SIGABRT: i32 = 128 + 6;

/// The host ends before it has said anything, with this code and these words.
fn does_not_load(sabotage: &str, code: i32, words: &str) {
    for describe in [true, false] {
        let mut command = host("saboteur.so", sabotage);
        if describe && !sabotage.starts_with("init-") {
            command.arg("--describe");
        }
        if sabotage.ends_with("-hang") {
            command.arg("--load-timeout=0.5");
        }
        let mut client = Client::start(command);
        assert_eq!(client.receive(), None, "{sabotage}: it says something");
        let end = client.ended();
        assert_eq!(end.code, code, "{sabotage}: {end:?}");
        assert!(end.log.contains(words), "{sabotage}: {end:?}");
    }
}

#[test]
fn one_that_ends_the_process_before_it_has_said_anything() {
    does_not_load("load-exit", 7, "");
}

#[test]
fn one_that_hangs_when_it_is_loaded_or_begins_is_given_up_in_time() {
    let before = Instant::now();
    does_not_load("load-hang", 1, "has not finished loading within 500ms");
    does_not_load("init-hang", 1, "has not finished init within 500ms");
    assert!(before.elapsed() < Duration::from_secs(30));
}

#[test]
fn one_that_crashes_when_it_is_loaded_or_begins() {
    does_not_load("load-segfault", SIGSEGV, "");
    does_not_load("init-segfault", SIGSEGV, "");
}

#[test]
fn one_whose_table_is_not_what_its_version_says() {
    does_not_load("table-null", 1, "there is none");
    does_not_load("table-short", 1, "it is too short");
    does_not_load("table-hole", 1, "call is null");
}

#[test]
fn one_that_does_not_say_what_it_is() {
    does_not_load("describe-garbage", 1, "description is not right");
    does_not_load(
        "describe-huge",
        1,
        "describe failed: its text has 67108864 bytes",
    );
    does_not_load(
        "describe-fail",
        1,
        "describe failed: it does not know itself",
    );
    does_not_load("init-fail", 1, "init failed: it will not begin");
}

#[test]
fn one_that_floods_standard_output_does_not_reach_the_protocol() {
    for (sabotage, floods) in [("load-flood", 1), ("call-flood", 3)] {
        let mut client = Client::open(host("saboteur.so", sabotage));
        for number in 0..3 {
            let result = client.call("echo", &json!({"n": number}));
            assert_eq!(
                result["structuredContent"]["input"]["n"], number,
                "{result}"
            );
        }
        assert_eq!(client.notifications, [] as [serde_json::Value; 0]);
        let end = client.end();
        assert_eq!(end.code, 0);
        assert_eq!(end.log.matches("raw\n").count(), floods, "{sabotage}");
    }
}

#[test]
fn one_that_reads_standard_input_finds_it_empty() {
    let mut client = Client::open(host("saboteur.so", "call-stdin"));
    let result = client.call("echo", &json!({}));
    assert_eq!(result["isError"], false, "{result}");
}

#[test]
fn one_that_hangs_in_a_call_holds_up_no_other_and_not_the_end() {
    let mut client = Client::open(host("saboteur.so", "call-hang"));
    let hanging = client.begin("tools/call", &json!({"name": "echo", "arguments": {}}));
    assert_eq!(client.request("ping", &json!({}))["result"], json!({}));
    client.send(&json!({
        "jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": hanging},
    }));
    assert_eq!(client.request("ping", &json!({}))["result"], json!({}));
    let end = client.end();
    assert_eq!(end.code, 0, "{end:?}");
    assert!(end.log.contains("calls still run"), "{end:?}");
    assert!(!end.log.contains("shut down"), "{end:?}");
}

#[test]
fn one_that_hangs_in_all_of_its_calls_has_the_next_one_refused() {
    let mut client = Client::open(host("saboteur.so", "call-hang"));
    let call = json!({"name": "echo", "arguments": {}});
    let ids: Vec<i64> = (0..65).map(|_| client.begin("tools/call", &call)).collect();
    let reply = client.reply(*ids.last().unwrap()).unwrap();
    assert!(
        text(&reply["result"]).contains("64 calls of this plugin run"),
        "{reply}"
    );
    assert_eq!(client.request("ping", &json!({}))["result"], json!({}));
}

#[test]
fn one_that_hangs_when_it_is_ended() {
    let mut client = Client::open(host("saboteur.so", "shutdown-hang"));
    assert_eq!(client.call("echo", &json!({}))["isError"], false);
    let end = client.end();
    assert_eq!(end.code, 0, "{end:?}");
    assert!(end.log.contains("shutdown takes too long"), "{end:?}");
}

#[test]
fn one_that_gives_garbage_too_much_or_nothing_fails_the_call_and_no_more() {
    for (sabotage, words) in [
        ("call-garbage", "no result of a tool"),
        ("call-huge", "its text has 67108864 bytes"),
        ("call-fail", "call failed: it does not feel like it"),
    ] {
        let mut client = Client::open(host("saboteur.so", sabotage));
        for _ in 0..2 {
            let result = client.call("echo", &json!({}));
            assert_eq!(result["isError"], true, "{sabotage}: {result}");
            assert!(text(&result).contains(words), "{sabotage}: {result}");
        }
        assert_eq!(client.end().code, 0);
    }
}

#[test]
fn one_that_crashes_in_a_call_takes_its_host_with_it_and_nothing_is_answered() {
    for (sabotage, code) in [("call-segfault", SIGSEGV), ("call-exit", 7)] {
        let mut client = Client::open(host("saboteur.so", sabotage));
        let id = client.begin("tools/call", &json!({"name": "echo", "arguments": {}}));
        assert_eq!(client.reply(id), None, "{sabotage}");
        assert_eq!(client.ended().code, code, "{sabotage}");
    }
}

#[test]
fn one_that_takes_all_memory_runs_into_the_limit_of_its_host() {
    let host = host("saboteur.so", "call-hog");
    let mut limited = crate::plugins::command("sh");
    // 512 MiB of addresses; a unit has memory_max besides.
    limited
        .args(["-c", "ulimit -v 524288; exec \"$0\" \"$@\""])
        .arg(host.get_program())
        .args(host.get_args())
        .env("SABOTAGE", "call-hog");
    let mut client = Client::open(limited);
    let id = client.begin("tools/call", &json!({"name": "echo", "arguments": {}}));
    assert_eq!(client.reply(id), None);
    assert_eq!(client.ended().code, SIGABRT);
}
