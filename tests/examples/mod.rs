//! What the examples say is what happens.

use harness_tests::{binaries, command, harness::PATIENCE, systemd::SystemdBox, trials};
use libtest_mimic::Trial;

pub(crate) fn trials() -> Vec<Trial> {
    let mut trials = trials![if without_pgrep(); the_demo_tells_its_story_to_the_end];
    trials.extend(trials![
        if SystemdBox::missing().or_else(without_make);
        five_commands_take_a_plain_debian_to_a_running_harness,
    ]);
    trials
}

fn without_make() -> Option<String> {
    let make = command::run(command::command("sh"), b"command -v make useradd", PATIENCE);
    (make.code != 0).then(|| "it needs make and useradd".to_owned())
}

fn without_pgrep() -> Option<String> {
    let pgrep = command::run(command::command("sh"), b"command -v pgrep", PATIENCE);
    (pgrep.code != 0).then(|| "it needs pgrep".to_owned())
}

fn the_demo_tells_its_story_to_the_end() {
    let script = binaries::source().join("examples/demo.sh");
    let programs = binaries::directory();
    let directory = tempfile::Builder::new().prefix("hd").tempdir().unwrap();
    let mut demo = command::command(script);
    demo.env("PROGRAMS", programs)
        .env("TMPDIR", directory.path());
    let output = command::run(demo, b"", PATIENCE).ok();
    let mut rest = output.stdout.as_str();
    for line in [
        "demo: running",
        "done, exit 3",
        "(exit code 3)",
        "running  -",
        "done, exit 0",
        "compiling",
        "done",
        "1 processes, ended with it",
        "(nothing is left)",
        "restarts: 3",
        "(exit code 1)",
        "\"mcpServers\"",
        "(the daemon, the keeper and every task are gone)",
    ] {
        let (_, after) = rest
            .split_once(line)
            .unwrap_or_else(|| panic!("no {line:?} in its place: {output:#?}"));
        rest = after;
    }
    let left: Vec<_> = directory.path().read_dir().unwrap().collect();
    assert!(left.is_empty(), "{left:?}");
}

/// What stands for the rest of a machine: root needs no sudo, and what is installed was built before.
const SURROUNDINGS: &str = r#"
sudo() { "$@"; }
make() { [ $# = 0 ] || command make --silent --directory "$SOURCE" BUILT="$BUILT" "$@"; }
unset MAKEFLAGS
"#;

fn five_commands_take_a_plain_debian_to_a_running_harness() {
    let page = binaries::source().join("examples/debian.md");
    let page = std::fs::read_to_string(page).unwrap();
    let commands = page
        .split("```sh\n")
        .nth(1)
        .and_then(|rest| rest.split("```").next())
        .unwrap();
    assert_eq!(commands.lines().count(), 5, "{commands}");
    // One of its own: in the shared one harnessd is installed already.
    let systemd = SystemdBox::boot(None);
    let places = format!(
        "SOURCE={}\nBUILT={}\n",
        binaries::source().display(),
        binaries::directory().display()
    );
    let output = systemd
        .shell(&[&places, SURROUNDINGS, commands].concat())
        .ok();
    assert!(output.stdout.contains("hello from coder"), "{output:?}");
    for (verb, answer) in [("is-active", "active"), ("is-enabled", "enabled")] {
        let said = systemd.exec(&["systemctl", verb, "harnessd@coder"]).stdout;
        assert_eq!(said.trim(), answer, "{verb}");
    }
    let check = ["harnessd", "--system", "--agent", "coder", "--check"];
    systemd.exec(&check).ok();
}
