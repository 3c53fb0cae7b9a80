//! What the examples say is what happens.

use harness_tests::{binaries, command, harness::PATIENCE, trials};
use libtest_mimic::Trial;

pub(crate) fn trials() -> Vec<Trial> {
    trials![if without_pgrep(); the_demo_tells_its_story_to_the_end]
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
