//! Sockets that systemd listens on.

use std::sync::atomic::{AtomicBool, Ordering};

use harness_tests::{mcp::Session, systemd::Agent, trials};
use libtest_mimic::Trial;
use serde_json::json;

pub(crate) fn trials(missing: Option<String>) -> Vec<Trial> {
    trials![if missing;
        the_first_client_of_the_control_socket_starts_everything,
        the_first_client_of_the_mcp_socket_starts_everything,
        a_restart_behind_its_sockets_refuses_nobody,
    ]
}

fn listening(name: &'static str) -> Agent {
    let agent = Agent::new(name, "");
    let sockets = ["mcp", "control"].map(|socket| format!("harnessd-{socket}@{name}.socket"));
    agent
        .systemd
        .systemctl(&["start", &sockets[0], &sockets[1]]);
    for unit in [agent.daemon(), agent.keeper()] {
        assert_eq!(
            agent.systemd.property(&unit, "ActiveState"),
            "inactive",
            "{unit}"
        );
    }
    agent
}

fn the_first_client_of_the_control_socket_starts_everything() {
    let agent = listening("cold-control");
    assert!(
        agent
            .ctl(&["run", "--wait", "--", "echo warm"])
            .ok()
            .stdout
            .contains("warm\n")
    );
    assert_eq!(
        agent.systemd.property(&agent.daemon(), "ActiveState"),
        "active"
    );
}

fn the_first_client_of_the_mcp_socket_starts_everything() {
    let agent = listening("cold-mcp");
    let socket = agent.systemd.inner_path(&agent.runtime()).join("mcp.sock");
    let status = Session::open(&socket, Some("bash"))
        .ok("run", &json!({"cmd": "echo warm", "wait_seconds": 30}));
    assert_eq!(status["stdout"]["tail"], "warm\n", "{status}");
}

fn a_restart_behind_its_sockets_refuses_nobody() {
    let agent = listening("busy");
    agent.ctl(&["list"]).ok();
    let done = AtomicBool::new(false);
    let served = std::thread::scope(|scope| {
        let client = scope.spawn(|| {
            let mut served = 0;
            while !done.load(Ordering::Relaxed) {
                let output = agent.ctl(&["list"]);
                if output.code != 0 {
                    return Err(output);
                }
                served += 1;
            }
            Ok(served)
        });
        for _ in 0..3 {
            agent.systemd.systemctl(&["restart", &agent.daemon()]);
        }
        done.store(true, Ordering::Relaxed);
        client
            .join()
            .unwrap()
            .unwrap_or_else(|output| panic!("a client was refused: {output:?}"))
    });
    assert!(served >= 3, "only {served} calls in three restarts");
    assert_eq!(agent.systemd.property(&agent.daemon(), "NRestarts"), "0");
}
