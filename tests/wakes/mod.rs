//! Wakes: a task's end reaches the agent once, whatever happens in between.

use harness_tests::{event, harness::Harness, harness::PATIENCE, mcp::Session, trials};
use libtest_mimic::Trial;
use serde_json::{Value, json};

pub(crate) fn trials() -> Vec<Trial> {
    trials![
        a_task_that_ends_outside_a_wait_fires_one_wake,
        a_task_that_ends_within_a_wait_fires_none,
        a_waiter_that_goes_away_leaves_the_wake,
        a_wake_is_handed_out_until_it_is_acknowledged,
        a_wait_for_wakes_ends_with_the_first,
        a_connected_session_is_told_of_a_wake,
        a_wake_survives_a_restart_of_the_daemon,
        a_turn_is_given_the_due_wakes_and_acknowledges_them_by_exit_code_zero,
        a_turn_that_fails_keeps_the_wakes_for_its_next_try,
        many_wakes_at_once_are_one_turn,
    ]
}

fn receive(session: &mut Session, wait: u64) -> Vec<Value> {
    session.ok("wakes_recv", &json!({"wait_seconds": wait}))["wakes"]
        .as_array()
        .unwrap()
        .clone()
}

/// Runs a task that goes on after the call, and gives its id.
fn task(session: &mut Session, cmd: &str) -> String {
    session.ok("run", &json!({"cmd": cmd, "wait_seconds": 0}))["id"]
        .as_str()
        .unwrap()
        .to_owned()
}

fn a_task_that_ends_outside_a_wait_fires_one_wake() {
    let harness = Harness::with_config("tool_groups = [\"wakes\"]\n");
    let (mut bash, mut wakes) = (harness.mcp(Some("bash")), harness.mcp(Some("wakes")));
    let id = task(&mut bash, "echo one; echo two; exit 4");
    let received = receive(&mut wakes, 60);
    assert_eq!(received.len(), 1, "{received:?}");
    let wake = &received[0];
    assert_eq!(wake["from"], format!("bash-task-{id}"));
    assert_eq!(wake["exit_code"], 4);
    assert_eq!(wake["status"], "done");
    assert_eq!(wake["body"], "one\ntwo");
    wakes.ok("wakes_ack", &json!({"ids": [wake["id"]]}));
    assert!(receive(&mut wakes, 0).is_empty());
}

fn a_task_that_ends_within_a_wait_fires_none() {
    let harness = Harness::with_config("tool_groups = [\"wakes\"]\n");
    let (mut bash, mut wakes) = (harness.mcp(Some("bash")), harness.mcp(Some("wakes")));
    for round in 0..20 {
        let input = json!({"cmd": format!("true {round}"), "wait_seconds": 30});
        assert_eq!(bash.ok("run", &input)["status"], "done");
    }
    let id = task(&mut bash, "sleep 0.2");
    assert_eq!(
        bash.ok("status", &json!({"id": id, "wait_seconds": 30}))["status"],
        "done"
    );
    assert!(receive(&mut wakes, 0).is_empty());
}

fn a_waiter_that_goes_away_leaves_the_wake() {
    let harness = Harness::with_config("tool_groups = [\"wakes\"]\n");
    let mut wakes = harness.mcp(Some("wakes"));
    let mut bash = harness.mcp(Some("bash"));
    let gate = harness.workspace().join("gate");
    nix::unistd::mkfifo(&gate, nix::sys::stat::Mode::S_IRWXU).unwrap();
    let input = json!({"cmd": "echo ready > ready; read x < gate", "wait_seconds": 30});
    bash.begin("tools/call", &json!({"name": "run", "arguments": input}));
    event::file(&harness.workspace().join("ready"), PATIENCE, |text| {
        text == "ready\n"
    });
    drop(bash);
    let told = wakes.begin(
        "tools/call",
        &json!({"name": "wakes_recv", "arguments": {"wait_seconds": 60}}),
    );
    std::fs::write(&gate, "go\n").unwrap();
    let received = wakes.reply(told)["result"]["structuredContent"]["wakes"].clone();
    assert_eq!(received.as_array().unwrap().len(), 1, "{received}");
}

fn a_wake_is_handed_out_until_it_is_acknowledged() {
    let harness = Harness::with_config("tool_groups = [\"wakes\"]\n");
    let (mut bash, mut wakes) = (harness.mcp(Some("bash")), harness.mcp(Some("wakes")));
    task(&mut bash, "true");
    let first = receive(&mut wakes, 60);
    let second = receive(&mut wakes, 60);
    assert_eq!(first[0]["id"], second[0]["id"]);
    assert_eq!(second[0]["deliveries"], 2);
    let acknowledged = wakes.ok("wakes_ack", &json!({"ids": [first[0]["id"], 999_999]}));
    assert_eq!(acknowledged["acknowledged"], json!([first[0]["id"]]));
    let again = wakes.ok("wakes_ack", &json!({"ids": [first[0]["id"]]}));
    assert_eq!(again["acknowledged"], json!([]));
}

fn a_wait_for_wakes_ends_with_the_first() {
    let harness = Harness::with_config("tool_groups = [\"wakes\"]\n");
    let (mut bash, mut wakes) = (harness.mcp(Some("bash")), harness.mcp(Some("wakes")));
    let told = wakes.begin(
        "tools/call",
        &json!({"name": "wakes_recv", "arguments": {"wait_seconds": 180}}),
    );
    task(&mut bash, "true");
    let received = wakes.reply(told)["result"]["structuredContent"]["wakes"].clone();
    assert_eq!(received.as_array().unwrap().len(), 1);
}

fn a_connected_session_is_told_of_a_wake() {
    let harness = Harness::start();
    let mut bash = harness.mcp(Some("bash"));
    let id = task(&mut bash, "true");
    let told = bash.notification("notifications/message");
    assert!(
        told.to_string().contains(&format!("bash-task-{id}")),
        "{told}"
    );
}

fn a_wake_survives_a_restart_of_the_daemon() {
    let mut harness = Harness::with_config("tool_groups = [\"wakes\"]\n");
    let mut bash = harness.mcp(Some("bash"));
    let id = task(&mut bash, "true");
    bash.notification("notifications/message");
    harness.kill_daemon();
    harness.start_daemon();
    let received = receive(&mut harness.mcp(Some("wakes")), 60);
    assert_eq!(received.len(), 1, "{received:?}");
    assert_eq!(received[0]["from"], format!("bash-task-{id}"));
}

fn a_turn_is_given_the_due_wakes_and_acknowledges_them_by_exit_code_zero() {
    let harness = Harness::with_config(
        "tool_groups = [\"wakes\"]\n[turn]\ncommand = [\"sh\", \"-c\", \"cat > turn.tmp; mv turn.tmp turn.json\"]\n",
    );
    let mut bash = harness.mcp(Some("bash"));
    let id = task(&mut bash, "echo hello");
    let text = event::file(&harness.workspace().join("turn.json"), PATIENCE, |text| {
        !text.is_empty()
    });
    let turn: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(turn["wakes"][0]["from"], format!("bash-task-{id}"));
    assert_eq!(turn["wakes"][0]["body"], "hello");
    until_no_wake_is_due(&harness);
}

fn a_turn_that_fails_keeps_the_wakes_for_its_next_try() {
    let script = "cat > last; echo x >> tries; [ $(wc -l < tries) -ge 3 ]";
    let config = format!(
        "tool_groups = [\"wakes\"]\n[turn]\ncommand = [\"sh\", \"-c\", {script:?}]\nunit = {{ restart = \"on-failure\", restart_sec = 0 }}\n"
    );
    let harness = Harness::with_config(&config);
    let mut bash = harness.mcp(Some("bash"));
    let id = task(&mut bash, "true");
    event::file(&harness.workspace().join("tries"), PATIENCE, |text| {
        text == "x\nx\nx\n"
    });
    until_no_wake_is_due(&harness);
    let last = std::fs::read_to_string(harness.workspace().join("last")).unwrap();
    assert!(last.contains(&id), "{last}");
}

fn many_wakes_at_once_are_one_turn() {
    let script = "cat > turn-$$.json; while ! [ -e go ]; do sleep 0.01; done";
    let config =
        format!("tool_groups = [\"wakes\"]\n[turn]\ncommand = [\"sh\", \"-c\", {script:?}]\n");
    let harness = Harness::with_config(&config);
    let mut bash = harness.mcp(Some("bash"));
    for round in 0..30 {
        task(&mut bash, &format!("true {round}"));
        bash.notification("notifications/message");
    }
    // The first turn holds the first wakes; the rest is for the second one.
    std::fs::write(harness.workspace().join("go"), "").unwrap();
    until_no_wake_is_due(&harness);
    let turns = std::fs::read_dir(harness.workspace())
        .unwrap()
        .filter(|entry| {
            entry
                .as_ref()
                .unwrap()
                .file_name()
                .to_string_lossy()
                .starts_with("turn-")
        });
    assert_eq!(turns.count(), 2);
}

/// Waits, by the events of units, until every wake is acknowledged.
pub(crate) fn until_no_wake_is_due(harness: &Harness) {
    let deadline = std::time::Instant::now() + PATIENCE;
    while harness.get("/v1/status")["wakes"] != 0 {
        assert!(std::time::Instant::now() < deadline, "wakes are still due");
        // A wait for a wake that does not come is a pause that ends early when one does.
        harness.post("/v1/wakes/recv", &json!({"wait_seconds": 0.05}));
    }
}
