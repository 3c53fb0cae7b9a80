//! The daemon as a user of its own, by the drop-ins that harnessd@.service names.

use harness_tests::{systemd::Agent, trials};
use libtest_mimic::Trial;

pub(crate) fn trials(missing: Option<String>) -> Vec<Trial> {
    trials![if missing; the_daemon_can_be_another_user_than_the_agent]
}

fn the_daemon_can_be_another_user_than_the_agent() {
    let agent = Agent::new("separate", "");
    let name = agent.name;
    let uid = agent.systemd.exec(&["id", "-u", "harnessd"]).ok().stdout;
    agent.drop_in(
        &agent.daemon(),
        &format!("[Service]\nUser=harnessd\nGroup={name}\nUMask=0027\n"),
    );
    agent.drop_in(
        &format!("harness-keeper@{name}.socket"),
        "[Socket]\nSocketUser=harnessd\n",
    );
    agent.drop_in(
        &agent.keeper(),
        &format!(
            "[Service]\nEnvironment=KEEPER_ARGUMENTS=--daemon-uid={}\n",
            uid.trim()
        ),
    );
    agent.systemd.systemctl(&["start", &agent.daemon()]);
    let owner = |unit: &str| {
        let pid = agent.main_pid(unit);
        agent
            .systemd
            .exec(&["ps", "-o", "user=", "-p", &pid])
            .ok()
            .stdout
            .trim()
            .to_owned()
    };
    assert_eq!(
        (owner(&agent.daemon()), owner(&agent.keeper())),
        ("harnessd".to_owned(), name.to_owned())
    );
    // The agent's client gets in, its task is the agent's, and the output can be read by the agent.
    let requests = r#"{"harness":{"group":"bash"}}
{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"0"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"run","arguments":{"cmd":"id -un","wait_seconds":30}}}"#;
    let runtime = agent.runtime();
    let client = [
        "runuser",
        "-u",
        name,
        "--",
        "harnessctl",
        "--runtime-dir",
        &runtime,
        "mcp",
    ];
    let answers = harness_tests::command::run(
        agent.systemd.command(&client),
        format!("{requests}\n").as_bytes(),
        harness_tests::harness::PATIENCE,
    );
    let result = answers
        .stdout
        .lines()
        .find(|line| line.contains("\"id\":2"));
    let result: serde_json::Value =
        serde_json::from_str(result.unwrap_or_else(|| panic!("{answers:?}"))).unwrap();
    let status = &result["result"]["structuredContent"];
    assert_eq!(status["stdout"]["tail"], format!("{name}\n"), "{result}");
    let path = status["stdout"]["path"].as_str().unwrap();
    assert_eq!(
        agent.as_user(&["cat", path]).ok().stdout,
        format!("{name}\n")
    );
    // What is the daemon's stays the daemon's.
    let state = format!("/var/lib/harnessd/{name}");
    assert_ne!(
        agent
            .as_user(&["sh", "-c", &format!("echo x >> {state}/state.db")])
            .code,
        0
    );
    assert_ne!(
        agent
            .as_user(&["sh", "-c", &format!("echo x >> {path}")])
            .code,
        0
    );
    let control = agent.as_user(&["harnessctl", "--runtime-dir", &runtime, "list"]);
    assert_ne!(control.code, 0, "{control:?}");
    agent.ctl(&["list"]).ok();
}
