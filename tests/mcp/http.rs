//! `[mcp_http]`: streamable HTTP with its token.

use std::{
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::{TcpListener, TcpStream},
    os::unix::fs::OpenOptionsExt as _,
};

use harness_tests::{harness::Harness, harness::PATIENCE, http::read_head, trials};
use libtest_mimic::Trial;
use serde_json::{Value, json};

/// A token that is long enough to be taken.
pub(crate) const TOKEN: &str = "0123456789abcdefghijABCDEFGHIJ";

pub(crate) fn trials() -> Vec<Trial> {
    trials![
        a_call_over_http_needs_the_token,
        a_foreign_origin_or_host_is_refused,
        a_session_over_http_does_a_task,
        a_reload_moves_the_listener,
    ]
}

/// A free port of the loopback address; free still when the daemon takes it, but for bad luck.
pub(crate) fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap()
        .port()
}

/// Lines of configuration for a listener, and the token in its file.
pub(crate) fn config(harness_path: &std::path::Path, port: u16) -> String {
    let token = harness_path.join("token");
    let mut file = std::fs::File::options()
        .create(true)
        .write(true)
        .truncate(true)
        .mode(0o600)
        .open(&token)
        .unwrap();
    file.write_all(TOKEN.as_bytes()).unwrap();
    format!(
        "tool_groups = [\"wakes\"]\n[mcp_http]\nlisten = \"127.0.0.1:{port}\"\ntoken_file = \"{}\"\n",
        token.display()
    )
}

pub(crate) fn start() -> (Harness, u16) {
    let port = free_port();
    let mut harness = Harness::prepared("");
    harness.write_config(&config(&harness.path(""), port));
    harness.start_daemon();
    (harness, port)
}

fn post(
    port: u16,
    path: &str,
    headers: &str,
    body: &Value,
) -> (u16, Vec<(String, String)>, String) {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    let body = body.to_string();
    let host = if headers.contains("Host:") {
        String::new()
    } else {
        format!("Host: 127.0.0.1:{port}\r\n")
    };
    write!(
        stream,
        "POST {path} HTTP/1.1\r\n{host}Connection: close\r\nContent-Type: application/json\r\n\
         Accept: application/json, text/event-stream\r\n{headers}Content-Length: {}\r\n\r\n{body}",
        body.len()
    )
    .unwrap();
    let mut reader = BufReader::new(stream);
    let (status, headers) = read_head(&mut reader);
    let mut text = String::new();
    if headers
        .iter()
        .any(|(_, value)| value.starts_with("text/event-stream"))
    {
        // The reply is the first event with data in it.
        loop {
            let mut line = String::new();
            assert!(
                reader.read_line(&mut line).unwrap() > 0,
                "the stream ended: {text}"
            );
            if let Some(data) = line
                .strip_prefix("data:")
                .map(str::trim)
                .filter(|data| data.starts_with('{'))
            {
                return (status, headers, data.to_owned());
            }
        }
    }
    reader.read_to_string(&mut text).unwrap();
    (status, headers, text)
}

fn initialize() -> Value {
    json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "0"}}})
}

fn bearer() -> String {
    format!("Authorization: Bearer {TOKEN}\r\n")
}

fn a_call_over_http_needs_the_token() {
    let (_harness, port) = start();
    assert_eq!(post(port, "/mcp", "", &initialize()).0, 401);
    assert_eq!(
        post(
            port,
            "/mcp",
            "Authorization: Bearer wrong\r\n",
            &initialize()
        )
        .0,
        401
    );
    assert_eq!(post(port, "/mcp", &bearer(), &initialize()).0, 200);
}

fn a_foreign_origin_or_host_is_refused() {
    let (_harness, port) = start();
    let origin = format!("{}Origin: http://evil.example\r\n", bearer());
    assert_eq!(post(port, "/mcp", &origin, &initialize()).0, 403);
    let host = format!("{}Host: evil.example\r\n", bearer());
    assert_eq!(post(port, "/mcp", &host, &initialize()).0, 403);
}

/// Opens a session at a path; gives the headers that its requests need.
pub(crate) fn session(port: u16, path: &str) -> String {
    let (_, headers, _) = post(port, path, &bearer(), &initialize());
    let session = headers
        .iter()
        .find(|(name, _)| name == "mcp-session-id")
        .map(|(_, value)| value.clone())
        .unwrap();
    let with_session = format!(
        "{}Mcp-Session-Id: {session}\r\nMcp-Protocol-Version: 2025-11-25\r\n",
        bearer()
    );
    let initialized = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
    assert_eq!(post(port, path, &with_session, &initialized).0, 202);
    with_session
}

/// Calls a tool within a session.
pub(crate) fn call(port: u16, path: &str, session: &str, tool: &str, input: &Value) -> Value {
    let call = json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call",
        "params": {"name": tool, "arguments": input}});
    let (status, _, reply) = post(port, path, session, &call);
    assert_eq!(status, 200);
    let reply: Value = serde_json::from_str(&reply).unwrap();
    reply["result"].clone()
}

fn a_session_over_http_does_a_task() {
    let (_harness, port) = start();
    let session = session(port, "/mcp/group/bash");
    let input = json!({"cmd": "echo over http"});
    let result = call(port, "/mcp/group/bash", &session, "run", &input);
    assert_eq!(
        result["structuredContent"]["stdout"]["tail"], "over http\n",
        "{result}"
    );
}

fn a_reload_moves_the_listener() {
    let (harness, old) = start();
    let new = free_port();
    harness.write_config(&config(&harness.path(""), new));
    harness.ctl(&["reload"]).ok();
    // The reload is put in force after its answer; each try is one connection.
    let deadline = std::time::Instant::now() + PATIENCE;
    while TcpStream::connect(("127.0.0.1", new)).is_err()
        || TcpStream::connect(("127.0.0.1", old)).is_ok()
    {
        assert!(
            std::time::Instant::now() < deadline,
            "the listener did not move"
        );
        harness.get("/v1/status");
    }
    assert_eq!(post(new, "/mcp", &bearer(), &initialize()).0, 200);
}
