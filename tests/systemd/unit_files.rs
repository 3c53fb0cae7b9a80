//! What systemd's own checks say of the unit files.

use harness_tests::{binaries, command, harness::PATIENCE, trials};
use libtest_mimic::Trial;

pub(crate) fn trials(missing: Option<String>) -> Vec<Trial> {
    trials![if missing; systemd_has_nothing_to_say_against_the_unit_files_and_the_daemon_is_hardly_exposed]
}

fn systemd_has_nothing_to_say_against_the_unit_files_and_the_daemon_is_hardly_exposed() {
    let verify = command::command(binaries::source().join("tests/testbed/verify-units"));
    let output = command::run(verify, b"", PATIENCE);
    assert_eq!(output.code, 0, "{output:?}");
    assert!(
        output.stdout.contains("Overall exposure level"),
        "{output:?}"
    );
}
