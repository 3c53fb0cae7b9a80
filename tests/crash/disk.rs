//! A state directory that cannot be written.

use std::fs;

use harness_tests::{command, harness::Harness, harness::PATIENCE, trials};
use libtest_mimic::Trial;
use nix::mount::{MntFlags, MsFlags, mount, umount2};
use serde_json::json;

pub(crate) fn trials() -> Vec<Trial> {
    let missing = (!nix::unistd::geteuid().is_root())
        .then(|| "a file system of its own needs root".to_owned());
    trials![if missing; a_full_disk_is_said_so_and_loses_nothing, a_read_only_state_directory_is_refused_by_name]
}

/// A small file system over the state directory; gone when dropped.
struct Mounted(std::path::PathBuf);

impl Mounted {
    fn over(path: std::path::PathBuf, flags: MsFlags) -> Self {
        fs::create_dir_all(&path).unwrap();
        mount(
            Some("harness-test"),
            &path,
            Some("tmpfs"),
            flags,
            Some("size=4m,mode=700"),
        )
        .unwrap();
        Self(path)
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        umount2(&self.0, MntFlags::MNT_DETACH).unwrap_or_default();
    }
}

fn a_full_disk_is_said_so_and_loses_nothing() {
    let mut harness = Harness::prepared("");
    let _mounted = Mounted::over(harness.state(), MsFlags::empty());
    harness.start_daemon();
    let mut session = harness.mcp(Some("bash"));
    let before = session.ok("run", &json!({"cmd": "echo kept"}))["id"].clone();
    let running = session.ok(
        "run",
        &json!({"cmd": "sleep 1000", "wait_seconds": 0, "unit": {"timeout_stop_sec": 1}}),
    )["id"]
        .clone();
    let filler = harness.state().join("filler");
    let mut block = vec![0_u8; 1 << 16];
    let mut file = fs::File::create(&filler).unwrap();
    while std::io::Write::write(&mut file, &block).is_ok_and(|length| length > 0) {
        block.truncate(block.len().max(1));
    }
    let mut result = session.call("run", &json!({"cmd": "true"}));
    for _ in 0..200 {
        if result["isError"] == true {
            break;
        }
        result = session.call("run", &json!({"cmd": "true"}));
    }
    assert_eq!(result["isError"], true, "{result}");
    assert!(result.to_string().contains("full"), "{result}");
    assert_eq!(result["structuredContent"]["error"]["retryable"], true);
    // What is running can be seen and ended all the same.
    assert_eq!(
        session.ok("status", &json!({"id": before}))["stdout"]["tail"],
        "kept\n"
    );
    assert_eq!(
        session.ok("status", &json!({"id": running}))["status"],
        "running"
    );
    drop(file);
    fs::remove_file(&filler).unwrap();
    assert_eq!(
        session.ok("run", &json!({"cmd": "echo again"}))["stdout"]["tail"],
        "again\n"
    );
    assert_eq!(
        session.ok("stop", &json!({"id": running}))["status"],
        "stopped"
    );
    assert_eq!(session.ok("status", &json!({"id": before}))["exit_code"], 0);
    drop(harness);
}

fn a_read_only_state_directory_is_refused_by_name() {
    let harness = Harness::prepared("");
    let _mounted = Mounted::over(harness.state(), MsFlags::MS_RDONLY);
    let mut command = harness.daemon_command();
    command.stderr(std::process::Stdio::piped());
    let output = command::run(command, b"", PATIENCE);
    assert_eq!(output.code, 1, "{output:?}");
    assert!(
        output
            .stderr
            .contains(&harness.state().display().to_string()),
        "{output:?}"
    );
    assert!(
        output.stderr.to_lowercase().contains("read-only"),
        "{output:?}"
    );
}
