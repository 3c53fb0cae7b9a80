//! The MCP conformance suite, for both lifecycles: what fails is in a baseline with its reason, and nothing else is.
//!
//! Scenarios that call tools of the suite's reference server cannot pass on a real harness. They run a second time, on
//! the same front with a backend that has those tools.

mod baseline;
mod findings;

use std::{
    collections::BTreeSet,
    io::{BufRead as _, BufReader},
    path::{Path, PathBuf},
    process::{Child, Stdio},
    time::Duration,
};

use harness_tests::{binaries, clients, command, relay::TokenRelay, trials};
use libtest_mimic::Trial;

use self::{baseline::Baseline, findings::Findings};
use super::http;

/// The last revision with sessions, and the first without.
const REVISIONS: [&str; 2] = ["2025-11-25", "2026-07-28"];

/// Some fifty scenarios, each of which takes seconds at most.
const LIMIT: Duration = Duration::from_mins(5);

pub(crate) fn trials() -> Vec<Trial> {
    let missing = clients::node_missing("conformance");
    let mut all = trials![if missing.clone(); the_suite_passes_on_the_harness_but_for_the_baseline];
    let unbuilt = (!fixture().exists())
        .then(|| "build it: cargo build --package harness-mcp --example fixture".to_owned());
    all.extend(
        trials![if missing.or(unbuilt); the_suite_passes_on_its_own_tools_but_for_the_baseline],
    );
    all.extend(trials![
        an_unexpected_failure_and_an_entry_that_passes_are_both_told
    ]);
    all
}

fn the_suite_passes_on_the_harness_but_for_the_baseline() {
    let (harness, port) = http::start();
    // The suite cannot send a token.
    let relay = TokenRelay::start(port, http::TOKEN);
    let baseline = Baseline::read("conformance-baseline.yml");
    judge("the harness", relay.port(), &baseline, &harness.path(""));
}

fn the_suite_passes_on_its_own_tools_but_for_the_baseline() {
    let directory = tempfile::tempdir().unwrap();
    let fixture = Fixture::start();
    let baseline = Baseline::read("conformance-fixture-baseline.yml");
    judge("the fixture", fixture.port, &baseline, directory.path());
}

/// Runs the suite for each revision; prints and judges what it found.
#[expect(clippy::print_stderr, reason = "the table belongs into the log")]
fn judge(what: &str, port: u16, baseline: &Baseline, directory: &Path) {
    let mut failed = BTreeSet::new();
    for revision in REVISIONS {
        let results = directory.join(format!("results-{revision}"));
        let mut suite = suite(directory);
        suite
            .args(["server", "--requirements", revision])
            .args(["--url", &format!("http://127.0.0.1:{port}/mcp")])
            .arg("--expected-failures")
            .arg(&baseline.path)
            .arg("--output-dir")
            .arg(&results);
        let output = command::run(suite, b"", LIMIT);
        let findings = Findings::read(&results);
        let unseen: Vec<String> = required(directory, revision)
            .into_iter()
            .filter(|scenario| !findings.ran(scenario))
            .collect();
        assert!(unseen.is_empty(), "did not run: {unseen:?}\n{output:?}");
        eprintln!("--- {what}, MCP {revision}\n{}", findings.table(baseline));
        let unexpected = findings.unexpected(baseline);
        assert!(unexpected.is_empty(), "{revision}: {unexpected:#?}");
        // The suite's own verdict, which also knows entries that pass in this revision alone.
        assert_eq!(output.code, 0, "{revision}: {}", output.stdout);
        failed.extend(findings.failed());
    }
    let stale = baseline.stale(&failed);
    assert!(stale.is_empty(), "pass now, so remove them: {stale:#?}");
}

/// What a revision requires of a server, as the suite lists it.
fn required(directory: &Path, revision: &str) -> BTreeSet<String> {
    let mut list = suite(directory);
    list.args(["list", "--server", "--requirements", revision]);
    let list = command::run(list, b"", LIMIT).ok().stdout;
    let section = list
        .split("\n\n")
        .find(|section| section.starts_with("Server scenarios"));
    let names = section.unwrap_or_default().lines();
    let names: BTreeSet<String> = names
        .filter_map(|line| line.trim().strip_prefix("- ").map(str::to_owned))
        .collect();
    assert!(names.len() > 20, "{list}");
    names
}

fn suite(directory: &Path) -> std::process::Command {
    let mut suite = clients::node("conformance", directory.join("home"));
    suite.current_dir(directory);
    suite
}

fn fixture() -> PathBuf {
    binaries::directory().join("examples/fixture")
}

/// The front of the harness over a backend with the suite's tools; ended when it is dropped.
struct Fixture {
    process: Child,
    port: u16,
}

impl Fixture {
    fn start() -> Self {
        let mut process = command::command(fixture())
            .args(["http", "127.0.0.1:0", "--open"])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut address = String::new();
        BufReader::new(process.stdout.take().unwrap())
            .read_line(&mut address)
            .unwrap();
        let port = address
            .trim()
            .rsplit(':')
            .next()
            .and_then(|port| port.parse().ok());
        let mut fixture = Self { process, port: 0 };
        fixture.port = port.unwrap_or_else(|| panic!("no address: {address:?}"));
        fixture
    }
}

impl Drop for Fixture {
    fn drop(&mut self) {
        self.process.kill().unwrap_or_default();
        self.process.wait().map(drop).unwrap_or_default();
    }
}

fn an_unexpected_failure_and_an_entry_that_passes_are_both_told() {
    let text = "server:\n  # no such tool\n  - one:a\n  - one:b\n\n  # a feature\n  - two:c\n";
    let baseline = Baseline::parse(PathBuf::new(), text).unwrap();
    let mut findings = Findings::default();
    for (scenario, check, status) in [
        ("one", "a", "FAILURE"),
        ("one", "b", "SUCCESS"),
        ("one", "b", "WARNING"),
        ("two", "c", "SUCCESS"),
        ("two", "d", "WARNING"),
        ("two", "e", "SKIPPED"),
    ] {
        findings.add(scenario, check, status, "why");
    }
    assert_eq!(findings.unexpected(&baseline), ["two:d: why"]);
    assert_eq!(baseline.stale(&findings.failed().collect()), ["two:c"]);
    let table = findings.table(&baseline);
    assert!(table.contains("no such tool"), "{table}");
    assert!(table.contains("UNEXPECTED"), "{table}");
    for wrong in [
        "server:\n  - one:a\n",
        "server:\n  # whole scenarios hide too much\n  - one\n",
        "server:\n  # twice\n  - one:a\n  - one:a\n",
        "client:\n  # of another side\n  - one:a\n",
        "server:\n  # an ended reason\n\n  - one:a\n",
    ] {
        assert!(Baseline::parse(PathBuf::new(), wrong).is_err(), "{wrong}");
    }
}
