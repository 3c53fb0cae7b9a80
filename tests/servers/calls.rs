//! Calls on their way through, and what servers say between them.

use harness_tests::{event, harness::PATIENCE, mcp::text, trials};
use libtest_mimic::Trial;
use serde_json::json;

use super::{Fixture, QUICK, error, missing};

pub(crate) fn trials() -> Vec<Trial> {
    trials![if missing();
        pain_24_a_change_of_tools_is_honoured_and_passed_on,
        pain_24_pages_are_followed,
        pain_25_a_cancelled_call_is_cancelled_at_the_server,
        pain_25_noise_on_stdout_is_skipped_and_logged_without_secrets,
        progress_reaches_the_client_that_asked_for_it,
        a_call_that_hangs_holds_up_no_other,
        a_result_that_is_too_long_fails_its_call_alone,
        an_input_that_does_not_fit_is_refused_before_it_is_sent,
        the_gate_judges_calls_of_servers,
        a_script_calls_the_tools_of_servers_and_starts_one_that_waits,
    ]
}

fn pain_24_a_change_of_tools_is_honoured_and_passed_on() {
    let fixture = Fixture::start(&[("fix", "good", QUICK)]);
    let mut narrow = fixture.session("fix");
    let mut wide = fixture.harness.mcp(None);
    wide.request("tools/list", &json!({}));
    wide.notifications.clear();
    narrow.call("more", &json!({"name": "extra"}));
    for (session, name) in [(&mut narrow, "extra"), (&mut wide, "fix__extra")] {
        session.notification("notifications/tools/list_changed");
        let listed = session.request("tools/list", &json!({}))["result"]["tools"].clone();
        let tools = listed.as_array().unwrap();
        assert!(tools.iter().any(|tool| tool["name"] == name), "{listed}");
    }
}

fn pain_24_pages_are_followed() {
    let fixture = Fixture::start(&[("fix", "many 500", QUICK)]);
    let mut session = fixture.session("fix");
    let mut names = Vec::new();
    let mut cursor = json!({});
    loop {
        let page = session.request("tools/list", &cursor)["result"].clone();
        names.extend(
            page["tools"]
                .as_array()
                .unwrap()
                .iter()
                .map(|tool| tool["name"].to_string()),
        );
        match page.get("nextCursor") {
            Some(next) => cursor = json!({"cursor": next}),
            None => break,
        }
    }
    assert!(names.len() > 500, "{}", names.len());
    names.sort();
    names.dedup();
    assert!(names.len() > 500, "each once");
    assert_eq!(fixture.status("fix")["tools"], names.len());
}

fn pain_25_a_cancelled_call_is_cancelled_at_the_server() {
    let fixture = Fixture::start(&[("fix", "good", QUICK)]);
    let mut session = fixture.session("fix");
    let id = session.begin("tools/call", &json!({"name": "hang", "arguments": {}}));
    fixture.logged("fix", "hanging");
    let parameters = json!({"requestId": id});
    session.send(
        &json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": parameters}),
    );
    fixture.logged("fix", "cancelled");
    // A client that goes away takes its calls with it.
    session.begin("tools/call", &json!({"name": "hang", "arguments": {}}));
    event::file(&fixture.log_file("fix"), PATIENCE, |log| {
        log.matches("hanging").count() == 2
    });
    drop(session);
    event::file(&fixture.log_file("fix"), PATIENCE, |log| {
        log.matches("cancelled").count() == 2
    });
}

fn pain_25_noise_on_stdout_is_skipped_and_logged_without_secrets() {
    let mut fixture =
        Fixture::prepared(&[("fix", "good", "credentials = { SECRET = \"fix-secret\" }")]);
    let secret = super::config::start_with_credential(&mut fixture);
    let mut session = fixture.session("fix");
    assert_eq!(text(&session.call("noise", &json!({}))), "made noise");
    let log = event::file(&fixture.harness.path("daemon.log"), PATIENCE, |log| {
        log.contains("not a message, and it says")
    });
    assert!(!log.contains(&secret), "{log}");
}

fn progress_reaches_the_client_that_asked_for_it() {
    let fixture = Fixture::start(&[("fix", "good", QUICK)]);
    let mut session = fixture.session("fix");
    let call = json!({"name": "progress", "arguments": {}, "_meta": {"progressToken": "mine"}});
    let done = session.request("tools/call", &call);
    assert_eq!(text(&done["result"]), "done");
    for step in 1..=3 {
        let told = session.notification("notifications/progress")["params"].clone();
        let expected = json!({"progressToken": "mine", "progress": f64::from(step), "total": 3.0, "message": format!("step {step}")});
        assert_eq!(told, expected);
    }
}

fn a_call_that_hangs_holds_up_no_other() {
    let fixture = Fixture::start(&[("fix", "good", QUICK)]);
    let mut session = fixture.session("fix");
    session.begin("tools/call", &json!({"name": "hang", "arguments": {}}));
    fixture.logged("fix", "hanging");
    assert_eq!(
        text(&session.call("echo", &json!({"text": "still here"}))),
        "still here"
    );
    assert_eq!(
        text(
            &fixture
                .session("fix")
                .call("echo", &json!({"text": "here, too"}))
        ),
        "here, too"
    );
}

fn a_result_that_is_too_long_fails_its_call_alone() {
    let fixture = Fixture::start(&[("fix", "good", QUICK)]);
    let mut session = fixture.session("fix");
    let before = text(&session.call("pid", &json!({}))).to_owned();
    let big = session.call("huge", &json!({"bytes": 4_000_000}));
    assert_eq!(text(&big).len(), 4_000_000);
    let huge = error(&session.call("huge", &json!({"bytes": 17_000_000})));
    assert_eq!(huge["code"], "tool_error", "{huge}");
    assert_eq!(text(&session.call("pid", &json!({}))), before);
}

fn an_input_that_does_not_fit_is_refused_before_it_is_sent() {
    let fixture = Fixture::start(&[("fix", "good", QUICK)]);
    let refused = fixture.session("fix").call("echo", &json!({"text": 5}));
    assert_eq!(refused["isError"], true, "{refused}");
    assert!(text(&refused).contains("echo(text: string)"), "{refused}");
    assert_eq!(fixture.count("fix", "call echo"), 0);
}

fn the_gate_judges_calls_of_servers() {
    let fixture = Fixture::prepared(&[("fix", "good", QUICK)]);
    let rules = "[tool.fix__pid]\nmode = \"off\"\n[tool.fix__plain]\nmode = \"ask\"\n[approval]\nhold_sec = 0\n";
    let mut fixture = fixture;
    fixture
        .harness
        .write_config(&format!("{rules}{}", fixture.table("fix", "good", QUICK)));
    fixture.harness.start_daemon();
    let mut session = fixture.session("fix");
    assert_eq!(error(&session.call("pid", &json!({})))["code"], "denied");
    assert_eq!(
        error(&session.call("plain", &json!({})))["code"],
        "needs_approval"
    );
    assert_eq!(
        text(&session.call("echo", &json!({"text": "read only"}))),
        "read only"
    );
    assert_eq!(fixture.count("fix", "call p"), 0);
}

fn a_script_calls_the_tools_of_servers_and_starts_one_that_waits() {
    let servers = [
        ("fix", "good", QUICK),
        ("on-demand", "good", "load = \"demand\""),
    ];
    let fixture = Fixture::start(&servers);
    fixture.until("fix", "active");
    let run = |script: &str| {
        let input = json!({"cmd": script, "wait_seconds": 30});
        let task = fixture.harness.post("/v1/tasks", &input);
        assert_eq!(task["exit_code"], 0, "{task}");
        task["stdout"]["tail"].as_str().unwrap().to_owned()
    };
    assert_eq!(run("tools fix plain"), "plain\n");
    assert_eq!(fixture.count("on-demand", "start"), 0);
    assert_eq!(run("tools on_demand plain"), "plain\n");
    assert_eq!(fixture.count("on-demand", "start"), 1);
    let help = run("tools --help");
    assert!(help.contains("fix (17 tools)"), "{help}");
}
