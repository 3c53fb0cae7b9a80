//! The daemon as a user of its own, by the drop-ins that harnessd@.service names.

use harness_tests::{command, harness::PATIENCE, systemd::Agent, trials};
use libtest_mimic::Trial;
use serde_json::{Value, json};

pub(crate) fn trials(missing: Option<String>) -> Vec<Trial> {
    trials![if missing;
        the_daemon_can_be_another_user_than_the_agent,
        the_agents_user_can_have_another_name,
        a_task_cannot_speak_on_the_control_socket_of_its_own_user,
        a_person_on_the_host_controls_the_harness_in_a_container,
    ]
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
    let status = run_as_agent(&agent, "id -un");
    assert_eq!(status["stdout"]["tail"], format!("{name}\n"), "{status}");
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
    let runtime = agent.runtime();
    let control = agent.as_user(&["harnessctl", "--runtime-dir", &runtime, "list"]);
    assert_ne!(control.code, 0, "{control:?}");
    agent.ctl(&["list"]).ok();
}

fn the_agents_user_can_have_another_name() {
    let agent = Agent::new("renamed", "");
    agent.systemd.add_user("somebody");
    for unit in [agent.daemon(), agent.keeper()] {
        agent.drop_in(&unit, "[Service]\nUser=somebody\n");
    }
    agent.drop_in(
        "harness-keeper@renamed.socket",
        "[Socket]\nSocketUser=somebody\n",
    );
    agent.systemd.systemctl(&["start", &agent.daemon()]);
    let id = agent.run(&["--", "id -un"]);
    assert_eq!(agent.ctl(&["wait", &id]).code, 0);
    assert_eq!(agent.ctl(&["output", &id]).ok().stdout, "somebody\n");
}

/// The sandbox of the unit must leave the daemon what it needs to see who its peers descend from.
fn a_task_cannot_speak_on_the_control_socket_of_its_own_user() {
    let agent = Agent::started("curious", "");
    let runtime = agent.runtime();
    // The user itself may, from outside.
    agent
        .as_user(&["harnessctl", "--runtime-dir", &runtime, "list"])
        .ok();
    let list = format!("harnessctl --runtime-dir {runtime} list");
    let orphan = format!(
        "mkfifo gate; (setsid sh -c '{list} 2>said; echo >gate' &); read x <gate; cat said >&2; exit 1"
    );
    for cmd in [list.clone(), format!("setsid --wait {list}"), orphan] {
        let status = run_as_agent(&agent, &cmd);
        assert_eq!(status["exit_code"], 1, "{status}");
        let said = status["stderr"]["tail"].as_str().unwrap();
        assert!(said.contains("belongs to the agent"), "{status}");
    }
}

/// `run` by an MCP client of the agent's own; the task's status.
fn run_as_agent(agent: &Agent, cmd: &str) -> Value {
    let client = json!({"name": "test", "version": "0"});
    let hello = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client});
    let call = json!({"name": "run", "arguments": {"cmd": cmd, "wait_seconds": 30}});
    let lines = [
        json!({"harness": {"group": "bash"}}),
        json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello}),
        json!({"jsonrpc": "2.0", "method": "notifications/initialized"}),
        json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": call}),
    ];
    let input = lines.map(|line| format!("{line}\n")).concat();
    let runtime = agent.runtime();
    let bridge = [
        "runuser",
        "-u",
        agent.name,
        "--",
        "harnessctl",
        "--runtime-dir",
        &runtime,
        "mcp",
    ];
    let answers = command::run(agent.systemd.command(&bridge), input.as_bytes(), PATIENCE);
    let mut values = answers
        .stdout
        .lines()
        .filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let answer = values.find(|value| value["id"] == 2);
    answer.unwrap_or_else(|| panic!("{answers:?}"))["result"]["structuredContent"].clone()
}

/// The box has a pid namespace of its own, as a container has: this test's processes are not visible in it.
fn a_person_on_the_host_controls_the_harness_in_a_container() {
    let agent = Agent::started("contained", "");
    let runtime = agent.systemd.inner_path(&agent.runtime());
    let mut ctl = command::command(harness_tests::binaries::program("harnessctl"));
    ctl.arg("--runtime-dir")
        .arg(&runtime)
        .args(["run", "--wait", "--", "id -un"]);
    let output = command::run(ctl, b"", PATIENCE).ok();
    assert!(output.stdout.contains("contained"), "{output:?}");
    // A task stays inside, also in a namespace of its own below the daemon's.
    let list = format!("harnessctl --runtime-dir {} list", agent.runtime());
    let below = format!("unshare --user --map-root-user --pid --fork {list}");
    for cmd in [list, below] {
        let status = run_as_agent(&agent, &cmd);
        let said = status["stderr"]["tail"].as_str().unwrap();
        assert!(said.contains("belongs to the agent"), "{status}");
    }
}
