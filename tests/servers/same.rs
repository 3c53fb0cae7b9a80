//! What goes through the harness is what the server said: the same JSON as without the harness.

use std::{
    io::{BufRead as _, BufReader, Write as _},
    path::Path,
    process::{Child, ChildStdin, ChildStdout, Stdio},
    time::Duration,
};

use harness_tests::{binaries::source, clients, command, harness::Harness, mcp::text, trials};
use libtest_mimic::Trial;
use serde_json::{Value, json};

use super::{Fixture, QUICK, missing};
use crate::mcp::http::free_port;

pub(crate) fn trials() -> Vec<Trial> {
    let mut all = trials![if missing();
        tools_results_and_errors_are_those_of_the_server,
    ];
    all.extend(trials![if clients::python_missing();
        a_server_of_the_python_sdk_is_the_same_through_pipes_in_a_session,
        a_server_of_the_python_sdk_is_the_same_through_pipes_without_a_session,
        a_server_of_the_python_sdk_is_the_same_over_http_in_a_session,
        a_server_of_the_python_sdk_is_the_same_over_http_without_a_session,
        a_server_at_an_address_that_comes_later_and_goes_is_reached_again,
    ]);
    let npm = clients::node_missing("mcp-server-everything").or(clients::python_missing());
    all.extend(trials![if npm;
        the_reference_server_everything_is_the_same,
        the_reference_servers_filesystem_and_memory_are_the_same,
    ]);
    all
}

/// The server without a harness.
struct Direct {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Direct {
    fn start() -> Self {
        let mut server = command::command("python3");
        server.arg(source().join("tests/fixtures/server.py"));
        let mut child = server
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        Self {
            input: child.stdin.take().unwrap(),
            output: BufReader::new(child.stdout.take().unwrap()),
            child,
        }
    }

    fn request(&mut self, method: &str, params: &Value) -> Value {
        writeln!(
            self.input,
            "{}",
            json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
        )
        .unwrap();
        let mut line = String::new();
        self.output.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap()
    }
}

impl Drop for Direct {
    fn drop(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

fn tools_results_and_errors_are_those_of_the_server() {
    let mut direct = Direct::start();
    let client = json!({"name": "test", "version": "0"});
    let hello = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client});
    let direct_hello = direct.request("initialize", &hello)["result"].clone();

    let fixture = Fixture::start(&[("fix", "good", QUICK)]);
    let socket = fixture.harness.runtime().join("mcp.sock");
    let mut through = harness_tests::mcp::Session::connect(&socket);
    through.send(&json!({"harness": {"server": "fix"}}));
    let hello = through.initialize();
    for member in ["serverInfo", "instructions", "protocolVersion"] {
        assert_eq!(hello[member], direct_hello[member], "{member}");
    }

    let mut listed = Vec::new();
    let mut cursor = json!({});
    loop {
        let page = direct.request("tools/list", &cursor)["result"].clone();
        listed.extend(page["tools"].as_array().unwrap().clone());
        match page.get("nextCursor") {
            Some(next) => cursor = json!({"cursor": next}),
            None => break,
        }
    }
    let tools = through.request("tools/list", &json!({}))["result"]["tools"].clone();
    assert_eq!(tools, json!(listed));

    for (name, arguments) in [
        ("echo", json!({"text": "h\u{e9} \u{1F600} \u{0} end"})),
        ("kinds", json!({})),
        ("plain", json!({"unknown": [1, {"deep": null}]})),
        ("fail", json!({})),
        ("refuse", json!({})),
    ] {
        let call = json!({"name": name, "arguments": arguments});
        let expected = direct.request("tools/call", &call);
        let found = through.request("tools/call", &call);
        assert_eq!(found["result"], expected["result"], "{name}");
        assert_eq!(found["error"], expected["error"], "{name}");
    }
}

/// A client of its own runtime takes its time to start, and here there are two with their servers.
const LIMIT: Duration = Duration::from_mins(2);

/// Compares what the Python SDK sees of a server with what it sees of it through the harness.
#[track_caller]
fn compare(harness: &Harness, direct: &Value, mode: &str, calls: &Value) {
    let file = harness
        .ctl(&["mcp-config", "--client", "generic"])
        .ok()
        .json();
    let through = &file["mcpServers"]["real"];
    let config = harness.path("compare.json");
    std::fs::write(
        &config,
        json!({"direct": direct, "through": through}).to_string(),
    )
    .unwrap();
    let mut client = clients::python("sdk_compare.py");
    client.arg(config).arg(mode).arg(calls.to_string());
    let report = command::run(client, b"", LIMIT).ok().json();
    for part in ["tools", "info", "instructions"] {
        assert_eq!(report["through"][part], report["direct"][part], "{part}");
    }
    for (place, call) in calls.as_array().unwrap().iter().enumerate() {
        let result = |side: &str| report[side]["results"][place].clone();
        assert_eq!(result("through"), result("direct"), "{call}");
    }
    let count = |part: &str| report["direct"][part].as_array().unwrap().len();
    assert_eq!(count("results"), calls.as_array().unwrap().len());
    assert!(count("tools") > 2, "{report}");
}

/// A harness with one server called `real`.
fn with_server(lines: &str) -> Harness {
    let harness = Harness::with_config(&format!(
        "[approval]\nmode = \"off\"\n[mcp.real]\n{lines}\n"
    ));
    let status = harness.get("/v1/plugins/real");
    assert_eq!(status["name"], "real");
    harness
}

fn sdk_calls() -> Value {
    json!([
        ["add", {"a": 2, "b": 40}],
        ["weather", {"city": "K\u{f6}ln"}],
        ["picture", {}],
        ["broken", {}],
        ["steps", {"count": 3}],
    ])
}

fn on_pipes(words: &[String]) -> Value {
    json!({"command": words[0], "args": words[1..]})
}

fn the_python_sdk_on_pipes(mode: &str) {
    let words = clients::python_words("sdk_server.py");
    let harness = with_server(&format!("command = {words:?}"));
    compare(&harness, &on_pipes(&words), mode, &sdk_calls());
}

fn a_server_of_the_python_sdk_is_the_same_through_pipes_in_a_session() {
    the_python_sdk_on_pipes("legacy");
}

fn a_server_of_the_python_sdk_is_the_same_through_pipes_without_a_session() {
    the_python_sdk_on_pipes("auto");
}

/// The SDK's server at an address.
struct Address {
    child: Child,
    port: u16,
}

impl Address {
    fn start(port: u16) -> Self {
        let mut server = clients::python("sdk_server.py");
        let mut child = server
            .arg(port.to_string())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut log = BufReader::new(child.stderr.take().unwrap());
        let mut line = String::new();
        while !line.contains("running on") {
            line.clear();
            assert!(log.read_line(&mut line).unwrap() > 0, "the server ended");
        }
        // What else it says is nobody's business, and must not hold it up.
        std::thread::spawn(move || std::io::copy(&mut log, &mut std::io::sink()));
        Self { child, port }
    }

    fn url(&self) -> String {
        format!("http://127.0.0.1:{}/mcp", self.port)
    }
}

impl Drop for Address {
    fn drop(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

fn the_python_sdk_at_an_address(mode: &str) {
    let server = Address::start(free_port());
    let harness = with_server(&format!("url = {:?}", server.url()));
    let direct = json!({"url": server.url(), "headers": {}});
    compare(&harness, &direct, mode, &sdk_calls());
    let status = harness.get("/v1/plugins/real");
    assert_eq!(status["kind"], "http", "{status}");
}

fn a_server_of_the_python_sdk_is_the_same_over_http_in_a_session() {
    the_python_sdk_at_an_address("legacy");
}

fn a_server_of_the_python_sdk_is_the_same_over_http_without_a_session() {
    the_python_sdk_at_an_address("auto");
}

fn a_server_at_an_address_that_comes_later_and_goes_is_reached_again() {
    let port = free_port();
    let quick = "unit = { restart_sec = 0.05, restart_steps = 1, restart_max_delay_sec = 0.1 }";
    let harness = with_server(&format!("url = \"http://127.0.0.1:{port}/mcp\"\n{quick}"));
    let socket = harness.runtime().join("mcp.sock");
    let mut events = harness.events();
    let call = || {
        let mut session = harness_tests::mcp::Session::of_server(&socket, "real");
        let result = session.request(
            "tools/call",
            &json!({"name": "add", "arguments": {"a": 1, "b": 1}}),
        );
        result["result"].clone()
    };
    for _ in 0..2 {
        let refused = call();
        assert!(
            text(&refused).contains("cannot be reached") || refused.is_null(),
            "{refused}"
        );
        let server = Address::start(port);
        events
            .find(|event| event["event"] == "plugin_changed" && event["active_state"] == "active");
        assert_eq!(text(&call()), "2");
        drop(server);
        // The next call finds out, and nobody else would.
        call();
    }
}

/// Compares a reference server from npm on pipes, in a session.
fn reference(program: &str, words: &[&str], calls: &Value) {
    let mut command = clients::node_words(program);
    command.extend(words.iter().map(|word| (*word).to_owned()));
    let harness = with_server(&format!("command = {command:?}"));
    compare(&harness, &on_pipes(&command), "legacy", calls);
}

fn the_reference_server_everything_is_the_same() {
    let calls = json!([
        ["echo", {"message": "h\u{e9}llo"}],
        ["get-sum", {"a": 2, "b": 3}],
        ["get-tiny-image", {}],
        ["get-annotated-message", {"messageType": "error", "includeImage": true}],
        ["get-structured-content", {"location": "Chicago"}],
        ["get-resource-links", {"count": 2}],
        ["trigger-long-running-operation", {"duration": 0.4, "steps": 2}],
    ]);
    reference("mcp-server-everything", &[], &calls);
}

fn the_reference_servers_filesystem_and_memory_are_the_same() {
    let directory = tempfile::tempdir().unwrap();
    let place = Path::canonicalize(directory.path()).unwrap();
    std::fs::write(place.join("a.txt"), "one\ntwo\n").unwrap();
    let file = place.join("a.txt");
    let calls = json!([
        ["read_text_file", {"path": file}],
        ["list_directory", {"path": place}],
        ["read_text_file", {"path": "/etc/passwd"}],
    ]);
    reference("mcp-server-filesystem", &[place.to_str().unwrap()], &calls);
    let calls = json!([["read_graph", {}], ["search_nodes", {"query": "nobody"}]]);
    reference("mcp-server-memory", &[], &calls);
}
