//! What is said of the rules.

use std::fs;

use harness_tests::{harness::Harness, mcp::text, trials};
use libtest_mimic::Trial;
use serde_json::{Value, json};

use super::{Ground, each, ok, run};

pub(crate) fn trials() -> Vec<Trial> {
    let mut trials = trials![
        a_refused_task_says_which_rules_it_met,
        a_clean_task_says_nothing_of_them,
        a_reload_holds_for_the_next_task_and_leaves_a_running_one_alone,
        required_refuses_to_run_what_cannot_be_enforced_and_says_what,
        the_status_lists_each_rule_and_whether_it_holds,
        what_cannot_be_hidden_is_refused_by_the_check,
    ];
    trials.extend(trials![if memory_missing();
        an_out_of_memory_kill_beside_the_main_process_is_told_at_once,
    ]);
    trials
}

fn a_refused_task_says_which_rules_it_met() {
    each(
        "filesystem = \"workspace-write\"\nhidden = [\"GROUND/secret\"]\nnetwork = false\n",
        |harness, ground| {
            let mut session = harness.mcp(Some("bash"));
            for (cmd, code) in [
                ("echo x > $GROUND/outside/x", 1),
                ("cat $GROUND/secret/key; true", 0),
                ("exit 3", 3),
            ] {
                let result = session.call("run", &json!({"cmd": cmd, "wait_seconds": 30}));
                let status = &result["structuredContent"];
                assert_eq!(status["exit_code"], code, "{status}");
                let rules = status["containment"]
                    .as_str()
                    .unwrap_or_else(|| panic!("{status}"));
                let workspace = harness.workspace();
                for part in [
                    format!("may write only below {}", workspace.display()),
                    ground.path("tmp").display().to_string(),
                    format!("hidden: {}", ground.path("secret").display()),
                    "no network".to_owned(),
                    "a call with the input `sandbox` asks a person for more".to_owned(),
                ] {
                    assert!(rules.contains(&part), "{part}: {rules}");
                }
                assert!(text(&result).contains(rules), "{result}");
                // It is there for later looks, too.
                let later = session.ok("status", &json!({"id": status["id"]}));
                assert_eq!(later["containment"], status["containment"]);
            }
        },
    );
}

fn a_clean_task_says_nothing_of_them() {
    each("filesystem = \"workspace-write\"\n", |harness, _| {
        let status = run(harness, "echo fine");
        assert_eq!(status.get("containment"), None, "{status}");
        assert_eq!(status.get("note"), None, "{status}");
    });
    let open = Harness::start();
    let status = run(&open, "echo 'Permission denied' >&2; exit 1");
    assert_eq!(status.get("containment"), None, "{status}");
}

fn a_reload_holds_for_the_next_task_and_leaves_a_running_one_alone() {
    let ground = Ground::new();
    let harness = Harness::with_config(&ground.config("filesystem = \"workspace-write\"\n"));
    let mut session = harness.mcp(Some("bash"));
    let gate = harness.workspace().join("gate");
    nix::unistd::mkfifo(&gate, nix::sys::stat::Mode::S_IRWXU).unwrap();
    let cmd = "read x < gate; echo x > $GROUND/outside/first";
    let running = session.ok("run", &json!({"cmd": cmd, "wait_seconds": 0}))["id"].clone();
    harness.write_config(&ground.config(""));
    harness.ctl(&["reload"]).ok();
    ok(&harness, "echo x > $GROUND/outside/second");
    fs::write(&gate, "go\n").unwrap();
    let status = session.ok("status", &json!({"id": running, "wait_seconds": 30}));
    assert_eq!(status["exit_code"], 1, "{status}");
    assert_eq!(ground.names("outside"), ["file", "second"]);
}

fn required_refuses_to_run_what_cannot_be_enforced_and_says_what() {
    // No rule can hide a file that another name leads to.
    let sandbox = "hidden = [\"GROUND/secret/key\"]\nrequired = ";
    for required in ["true", "false"] {
        let ground = Ground::new();
        fs::hard_link(ground.path("secret/key"), ground.path("outside/name")).unwrap();
        let harness = Harness::with_config(&ground.config(&format!("{sandbox}{required}\n")));
        let status = run(&harness, "echo ran");
        let note = status["note"]
            .as_str()
            .unwrap_or_else(|| panic!("{status}"));
        assert!(note.contains("2 names"), "{status}");
        if required == "true" {
            assert_eq!(status["result"], "resources", "{status}");
            assert_eq!(status["exit_code"], Value::Null, "{status}");
            assert_eq!(status["stdout"]["tail"], "", "{status}");
            assert!(note.contains("required = true"), "{status}");
        } else {
            assert_eq!(status["stdout"]["tail"], "ran\n", "{status}");
        }
    }
}

fn the_status_lists_each_rule_and_whether_it_holds() {
    let harness = Harness::start();
    let status = harness.get("/v1/status");
    for name in ["filesystem", "execute", "hidden", "network"] {
        let entries = status["enforcement"].as_array().unwrap();
        let entry = entries.iter().find(|entry| entry["name"] == name);
        let entry = entry.unwrap_or_else(|| panic!("{name}: {status}"));
        assert!(entry["enforced"].is_boolean() && !entry["detail"].as_str().unwrap().is_empty());
    }
}

fn what_cannot_be_hidden_is_refused_by_the_check() {
    let mut harness = Harness::prepared("");
    harness.write_config("[sandbox]\nhidden = [\"/proc/1\"]\n");
    let mut command = harness.daemon_command();
    let output = command.arg("--check").output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    harness.write_config("");
    harness.start_daemon();
}

/// Why the kernel's out-of-memory killer cannot be set on a task here, if so.
pub(crate) fn memory_missing() -> Option<String> {
    let controllers = fs::read_to_string("/sys/fs/cgroup/cgroup.controllers").unwrap_or_default();
    if !controllers.split_whitespace().any(|name| name == "memory") {
        return Some("the memory controller is not that of cgroup v2".to_owned());
    }
    (!nix::unistd::geteuid().is_root()).then(|| "making a cgroup needs root".to_owned())
}

fn an_out_of_memory_kill_beside_the_main_process_is_told_at_once() {
    let harness = Harness::start();
    let mut session = harness.mcp(Some("bash"));
    let unit = json!({"memory_max": "64M", "oom_policy": "stop"});
    let cmd = "perl -e '$x = \"x\" x 500_000_000' & sleep 1000";
    let status = session.ok(
        "run",
        &json!({"cmd": cmd, "unit": unit, "wait_seconds": 30}),
    );
    assert_eq!(status["result"], "oom-kill", "{status}");
}
