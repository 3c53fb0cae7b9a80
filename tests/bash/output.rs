//! The output files: whole, bounded, readable.

use harness_tests::{harness::Harness, trials};
use libtest_mimic::Trial;
use serde_json::json;

pub(crate) fn trials() -> Vec<Trial> {
    trials![
        the_unterminated_last_line_is_kept,
        bytes_that_are_no_utf8_come_back_as_valid_text,
        escape_sequences_are_not_in_the_tail,
        a_long_output_shows_its_end_and_names_its_file,
        output_is_read_piece_by_piece_to_the_byte,
        output_beyond_its_budget_keeps_both_ends_and_does_not_stop_the_task,
        yes_for_five_gib_ends_with_its_own_exit_code_within_its_budget,
    ]
}

fn the_unterminated_last_line_is_kept() {
    let harness = Harness::start();
    let mut session = harness.mcp(Some("bash"));
    let status = session.ok("run", &json!({"cmd": "printf 'a\\nno newline'"}));
    assert_eq!(status["stdout"]["tail"], "a\nno newline");
}

fn bytes_that_are_no_utf8_come_back_as_valid_text() {
    let harness = Harness::start();
    let mut session = harness.mcp(Some("bash"));
    let status = session.ok("run", &json!({"cmd": "printf 'a\\377b\\303'"}));
    assert_eq!(status["stdout"]["tail"], "a\u{fffd}b\u{fffd}");
    assert_eq!(status["stdout"]["bytes"], 4);
}

fn escape_sequences_are_not_in_the_tail() {
    let harness = Harness::start();
    let mut session = harness.mcp(Some("bash"));
    let status = session.ok(
        "run",
        &json!({"cmd": "printf '\\033[31mred\\033[0m \\033]8;;x\\033\\\\link\\033]8;;\\033\\\\'"}),
    );
    assert_eq!(status["stdout"]["tail"], "red link");
}

fn a_long_output_shows_its_end_and_names_its_file() {
    let harness = Harness::start();
    let mut session = harness.mcp(Some("bash"));
    let status = session.ok("run", &json!({"cmd": "seq 1 100000"}));
    let tail = status["stdout"]["tail"].as_str().unwrap();
    assert!(
        tail.len() <= 4096 && tail.ends_with("99999\n100000\n"),
        "{tail}"
    );
    let path = status["stdout"]["path"].as_str().unwrap();
    let whole = std::fs::read_to_string(path).unwrap();
    assert_eq!(
        whole.len() as u64,
        status["stdout"]["bytes"].as_u64().unwrap()
    );
    assert_eq!(whole.lines().count(), 100_000);
}

fn output_is_read_piece_by_piece_to_the_byte() {
    let harness = Harness::start();
    let mut session = harness.mcp(Some("bash"));
    let cmd = "for i in $(seq 1 2000); do printf 'gr\\303\\274n %s\\n' $i; done";
    let id = session.ok("run", &json!({"cmd": cmd, "wait_seconds": 30}))["id"].clone();
    let mut whole = String::new();
    let mut offset = 0;
    loop {
        let chunk = session.ok(
            "output",
            &json!({"id": id, "stream": "stdout", "offset": offset, "limit": 1001}),
        );
        whole.push_str(chunk["text"].as_str().unwrap());
        offset = chunk["next_offset"].as_u64().unwrap();
        if chunk["eof"] == true {
            break;
        }
    }
    let expected: Vec<String> = (1..=2000).map(|i| format!("gr\u{fc}n {i}\n")).collect();
    let expected = expected.concat();
    assert_eq!(whole, expected);
}

fn output_beyond_its_budget_keeps_both_ends_and_does_not_stop_the_task() {
    use std::os::unix::fs::MetadataExt;
    let harness = Harness::with_config("[bash]\noutput_max = \"8M\"\n");
    let mut session = harness.mcp(Some("bash"));
    let cmd = "echo first; yes | head -c 300000000; echo; echo last; exit 5";
    let id = session.ok("run", &json!({"cmd": cmd, "wait_seconds": 0}))["id"].clone();
    let mut status = session.ok("status", &json!({"id": id, "wait_seconds": 30}));
    while status["status"] == "running" {
        status = session.ok("status", &json!({"id": id, "wait_seconds": 30}));
    }
    assert_eq!(status["exit_code"], 5, "{status}");
    assert!(
        status["stdout"]["tail"]
            .as_str()
            .unwrap()
            .ends_with("y\n\nlast\n"),
        "{status}"
    );
    let gap = &status["stdout"]["gap"];
    let path = status["stdout"]["path"].as_str().unwrap();
    assert!(gap["length"].as_u64().unwrap() > 250_000_000, "{status}");
    let disk = std::fs::metadata(path).unwrap().blocks() * 512;
    assert!(disk <= 9 << 20, "{disk} bytes on disk");
    let head = session.ok(
        "output",
        &json!({"id": id, "stream": "stdout", "offset": 0, "limit": 100}),
    );
    assert!(
        head["text"].as_str().unwrap().starts_with("first\ny\n"),
        "{head}"
    );
    let inside = gap["offset"].as_u64().unwrap() + 5;
    let after = session.ok(
        "output",
        &json!({"id": id, "stream": "stdout", "offset": inside, "limit": 100}),
    );
    let end = gap["offset"].as_u64().unwrap() + gap["length"].as_u64().unwrap();
    assert!(after["offset"].as_u64().unwrap() >= end, "{after}");
    assert!(
        after["text"].as_str().unwrap().contains("y\ny\n"),
        "{after}"
    );
}

/// As a person would try it; the smaller test above looks closer.
fn yes_for_five_gib_ends_with_its_own_exit_code_within_its_budget() {
    use std::os::unix::fs::MetadataExt;
    let harness = Harness::with_config("[bash]\noutput_max = \"64M\"\n");
    let mut session = harness.mcp(Some("bash"));
    let cmd = "yes | head -c 5368709120; exit 7";
    let id = session.ok("run", &json!({"cmd": cmd, "wait_seconds": 0}))["id"].clone();
    let mut status = session.ok("status", &json!({"id": id, "wait_seconds": 30}));
    while status["status"] == "running" {
        status = session.ok("status", &json!({"id": id, "wait_seconds": 30}));
    }
    assert_eq!(status["exit_code"], 7, "{status}");
    assert_eq!(status["stdout"]["bytes"], 5_368_709_120_u64);
    let disk = std::fs::metadata(status["stdout"]["path"].as_str().unwrap())
        .unwrap()
        .blocks()
        * 512;
    assert!(disk <= 64 << 20, "{disk} bytes on disk");
    let gap = status["stdout"]["gap"]["length"].as_u64().unwrap();
    assert!(gap >= 5_368_709_120 - (64 << 20), "{status}");
}
