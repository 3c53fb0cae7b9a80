//! `LoadCredential=` for a token, and the drop-in for TCP.

use std::{fs, net::TcpListener, os::unix::fs::PermissionsExt as _};

use harness_tests::{systemd::Agent, trials};
use libtest_mimic::Trial;

pub(crate) fn trials(missing: Option<String>) -> Vec<Trial> {
    trials![if missing;
        a_token_from_a_credential_opens_the_tcp_listener,
        a_listener_without_the_drop_in_is_refused_with_its_name,
    ]
}

const TOKEN: &str = "credential-0123456789abcdefghij";

fn with_listener(name: &'static str) -> (Agent, u16) {
    let port = TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap()
        .port();
    let config = format!("[mcp_http]\nlisten = \"127.0.0.1:{port}\"\ntoken_file = \"mcp-token\"\n");
    let agent = Agent::new(name, &config);
    // Only root can read it where it lies.
    let path = agent.systemd.path(&format!("/etc/harnessd/{name}.token"));
    fs::write(&path, format!("{TOKEN}\n")).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
    (agent, port)
}

fn a_token_from_a_credential_opens_the_tcp_listener() {
    let (agent, port) = with_listener("credentialed");
    let tcp =
        "PrivateNetwork=no\nIPAddressAllow=localhost\nRestrictAddressFamilies=AF_INET AF_INET6\n";
    let drop_in = format!(
        "[Service]\nLoadCredential=mcp-token:/etc/harnessd/{}.token\n{tcp}",
        agent.name
    );
    agent.drop_in(&agent.daemon(), &drop_in);
    agent.systemd.systemctl(&["start", &agent.daemon()]);
    let request = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"0"}}}"#;
    let url = format!("http://127.0.0.1:{port}/mcp");
    let ask = |token: &str| {
        let authorization = format!("Authorization: Bearer {token}");
        let accept = "Accept: application/json, text/event-stream";
        let content = "Content-Type: application/json";
        let words = [
            "curl",
            "-sS",
            "-m",
            "30",
            "-o",
            "/dev/null",
            "-w",
            "%{http_code}",
            "-H",
            &authorization,
            "-H",
            accept,
            "-H",
            content,
            "-d",
            request,
            &url,
        ];
        agent.systemd.exec(&words).ok().stdout
    };
    assert_eq!(ask(TOKEN), "200");
    assert_eq!(ask("another-0123456789abcdefghij"), "401");
    // The token is the daemon's alone.
    let seen = agent
        .ctl(&[
            "run",
            "--wait",
            "--",
            "env; cat /run/credentials/*/* /etc/harnessd/*.token; true",
        ])
        .ok();
    assert!(
        !seen.stdout.contains(TOKEN) && !seen.stdout.contains("CREDENTIALS_DIRECTORY"),
        "{seen:?}"
    );
}

fn a_listener_without_the_drop_in_is_refused_with_its_name() {
    let (agent, _) = with_listener("walled");
    let drop_in = format!(
        "[Service]\nRestart=no\nLoadCredential=mcp-token:/etc/harnessd/{}.token\n",
        agent.name
    );
    agent.drop_in(&agent.daemon(), &drop_in);
    let start = agent.systemd.exec(&["systemctl", "start", &agent.daemon()]);
    assert_eq!(start.code, 1, "{start:?}");
    let lines = agent.systemd.journal_until(
        &agent.daemon(),
        "RestrictAddressFamilies=AF_INET AF_INET6",
        1,
    );
    assert!(
        lines.iter().any(|line| line.contains("127.0.0.1")),
        "{lines:?}"
    );
}
