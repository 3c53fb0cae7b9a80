//! What the configuration says, and what changes when it does.

use harness_tests::{event, harness::PATIENCE, mcp::text, trials};
use libtest_mimic::Trial;
use serde_json::json;

use super::{Fixture, QUICK, error, missing};

pub(crate) fn trials() -> Vec<Trial> {
    trials![if missing();
        pain_22_an_edit_stops_the_old_process_before_it_starts_the_new,
        servers_come_and_go_with_the_configuration,
        only_allowed_tools_are_offered,
        a_credential_reaches_its_server_and_nobody_else,
        a_missing_credential_is_said_at_each_call,
        mcp_config_has_an_entry_for_each_server,
    ]
}

/// Starts the daemon with a credential `fix-secret`; gives its text.
pub(super) fn start_with_credential(fixture: &mut Fixture) -> String {
    let secret = "correct-horse-battery-staple".to_owned();
    let directory = fixture.harness.path("credentials");
    std::fs::create_dir(&directory).unwrap();
    std::fs::write(directory.join("fix-secret"), format!("{secret}\n")).unwrap();
    let mut daemon = fixture.harness.daemon_command();
    daemon.env("CREDENTIALS_DIRECTORY", directory);
    fixture.harness.start_with(daemon);
    secret
}

fn pain_22_an_edit_stops_the_old_process_before_it_starts_the_new() {
    let slow = "unit = { timeout_stop_sec = 0.2 }";
    let servers = [("fix", "stubborn", slow), ("same", "good", QUICK)];
    let fixture = Fixture::start(&servers);
    let pid = |server: &str| text(&fixture.session(server).call("pid", &json!({}))).to_owned();
    let (old, same) = (pid("fix"), pid("same"));
    for round in 1..=5 {
        let more = format!("{slow}\nallowed_tools = [\"pid\", \"round{round}\"]");
        fixture.configure(&[("fix", "stubborn", &more), ("same", "good", QUICK)]);
        fixture.harness.ctl(&["reload"]).ok();
    }
    let mut new = pid("fix");
    while fixture.count("fix", "start") < 6 && new == old {
        new = pid("fix");
    }
    assert_ne!(new, old);
    assert!(!event::lives(old.parse().unwrap()));
    assert_eq!(
        fixture.count("fix", "two at once"),
        0,
        "{}",
        fixture.log("fix")
    );
    assert_eq!(pid("same"), same, "what did not change runs on");
    assert_eq!(fixture.count("same", "start"), 1);
}

fn servers_come_and_go_with_the_configuration() {
    let fixture = Fixture::start(&[("one", "good", QUICK)]);
    let pid: i32 = text(&fixture.session("one").call("pid", &json!({})))
        .parse()
        .unwrap();
    fixture.configure(&[("two", "good", QUICK)]);
    fixture.harness.ctl(&["reload"]).ok();
    event::ended(pid, PATIENCE);
    assert_eq!(
        text(&fixture.session("two").call("plain", &json!({}))),
        "plain"
    );
    let status = fixture.harness.get("/v1/status");
    assert_eq!(status["mcp_servers"], json!(["two"]));
    let gone = fixture.harness.http("GET", "/v1/plugins/one", None);
    assert_eq!(gone.status, 404, "{}", gone.body);
    // A file that is wrong changes nothing.
    fixture.configure(&[("two", "good", "nonsense = 1")]);
    assert_ne!(fixture.harness.ctl(&["reload"]).code, 0);
    assert_eq!(
        text(&fixture.session("two").call("plain", &json!({}))),
        "plain"
    );
    assert_eq!(fixture.count("two", "start"), 1);
}

fn only_allowed_tools_are_offered() {
    let fixture = Fixture::start(&[("fix", "good", "allowed_tools = [\"e*\", \"pi?\"]")]);
    let mut session = fixture.session("fix");
    let listed = session.request("tools/list", &json!({}))["result"]["tools"].clone();
    let names: Vec<&str> = listed
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|tool| tool["name"].as_str())
        .collect();
    assert_eq!(names, ["echo", "pid"]);
    let refused = session.request("tools/call", &json!({"name": "plain", "arguments": {}}));
    assert!(
        refused["error"]["message"]
            .as_str()
            .unwrap()
            .contains("no tool"),
        "{refused}"
    );
    assert_eq!(fixture.count("fix", "call plain"), 0);
}

fn a_credential_reaches_its_server_and_nobody_else() {
    let with = "credentials = { SECRET = \"fix-secret\" }";
    let mut fixture = Fixture::prepared(&[("fix", "good", with), ("other", "good", QUICK)]);
    let secret = start_with_credential(&mut fixture);
    let name = json!({"name": "SECRET"});
    assert_eq!(
        text(&fixture.session("fix").call("variable", &name)),
        secret
    );
    assert_eq!(
        text(&fixture.session("other").call("variable", &name)),
        "unset"
    );
    let task = fixture.harness.post(
        "/v1/tasks",
        &json!({"cmd": "echo \"[$SECRET]\"", "wait_seconds": 20}),
    );
    assert_eq!(task["stdout"]["tail"], "[]\n", "{task}");
    let unit = fixture.status("fix")["unit"].clone();
    let unit = fixture
        .harness
        .get(&format!("/v1/units/{}", unit.as_str().unwrap()));
    assert!(!unit.to_string().contains(&secret), "{unit}");
    let calls = fixture.harness.get("/v1/calls");
    assert!(!calls.to_string().contains(&secret), "{calls}");
    fixture.harness.stop_daemon();
    let database = std::fs::read(fixture.harness.state().join("state.db")).unwrap();
    assert!(
        !database
            .windows(secret.len())
            .any(|window| window == secret.as_bytes())
    );
    assert!(!fixture.harness.log().contains(&secret));
}

fn a_missing_credential_is_said_at_each_call() {
    let fixture = Fixture::start(&[(
        "fix",
        "good",
        "credentials = { SECRET = \"no-such-secret\" }",
    )]);
    let refused = error(&fixture.session("fix").call("pid", &json!({})));
    assert_eq!(refused["code"], "connection_required", "{refused}");
    assert!(
        refused["message"]
            .as_str()
            .unwrap()
            .contains("no-such-secret"),
        "{refused}"
    );
    assert_eq!(fixture.count("fix", "start"), 0);
}

fn mcp_config_has_an_entry_for_each_server() {
    let fixture = Fixture::start(&[("fix", "good", QUICK)]);
    let file = fixture
        .harness
        .ctl(&["mcp-config", "--client", "claude"])
        .ok()
        .json();
    let entry = &file["mcpServers"]["fix"];
    let args = entry["args"].as_array().unwrap();
    assert_eq!(
        args[args.len() - 3..],
        [json!("mcp"), json!("--server"), json!("fix")]
    );
}
