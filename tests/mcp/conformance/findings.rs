//! What a run of the suite found.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write as _,
    path::Path,
};

use serde_json::Value;

use super::baseline::Baseline;

/// How the suite dates a directory of results: `-2026-07-28T12-00-00-000Z`.
const DATE: usize = 25;

/// The worst of all results of one check, since a check may be made several times.
struct Check {
    status: Status,
    message: String,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Status {
    /// Skipped, or only a note.
    Other,
    Passed,
    /// A warning is a recommendation that is not met; it needs a reason too.
    Failed,
}

/// All checks, by scenario and id.
#[derive(Default)]
pub(super) struct Findings(BTreeMap<String, BTreeMap<String, Check>>);

impl Findings {
    /// Reads what the suite wrote.
    pub(super) fn read(directory: &Path) -> Self {
        let mut findings = Self::default();
        for entry in std::fs::read_dir(directory).unwrap() {
            let entry = entry.unwrap();
            let name = entry.file_name().into_string().unwrap();
            let scenario = name
                .strip_prefix("server-")
                .and_then(|name| name.get(..name.len().checked_sub(DATE)?));
            let scenario = scenario.unwrap_or_else(|| panic!("not a result: {name}"));
            let checks = std::fs::read(entry.path().join("checks.json")).unwrap();
            let checks: Vec<Value> = serde_json::from_slice(&checks).unwrap();
            findings.0.entry(scenario.to_owned()).or_default();
            for check in checks {
                let word = |member: &str| check[member].as_str().unwrap_or_default();
                findings.add(scenario, word("id"), word("status"), word("errorMessage"));
            }
        }
        findings
    }

    pub(super) fn add(&mut self, scenario: &str, id: &str, status: &str, message: &str) {
        let status = match status {
            "FAILURE" | "WARNING" => Status::Failed,
            "SUCCESS" => Status::Passed,
            _ => Status::Other,
        };
        let checks = self.0.entry(scenario.to_owned()).or_default();
        let known = checks.entry(id.to_owned()).or_insert(Check {
            status: Status::Other,
            message: String::new(),
        });
        if status > known.status {
            let message = message.to_owned();
            *known = Check { status, message };
        }
    }

    /// Whether the scenario was run.
    pub(super) fn ran(&self, scenario: &str) -> bool {
        self.0.contains_key(scenario)
    }

    /// The checks that failed, as `scenario:check`.
    pub(super) fn failed(&self) -> impl Iterator<Item = String> {
        self.failures().map(|(name, _)| name)
    }

    /// The failures that the baseline does not name, with the suite's message.
    pub(super) fn unexpected(&self, baseline: &Baseline) -> Vec<String> {
        let failures = self.failures();
        let unexpected = failures.filter(|(name, _)| baseline.reason(name).is_none());
        unexpected
            .map(|(name, message)| format!("{name}: {message}"))
            .collect()
    }

    fn failures(&self) -> impl Iterator<Item = (String, &str)> {
        self.0.iter().flat_map(|(scenario, checks)| {
            let failed = checks
                .iter()
                .filter(|(_, check)| check.status == Status::Failed);
            failed.map(move |(id, check)| (format!("{scenario}:{id}"), check.message.as_str()))
        })
    }

    /// One line a scenario: how many checks passed and failed, and why those that failed may.
    pub(super) fn table(&self, baseline: &Baseline) -> String {
        let width = self.0.keys().map(String::len).max().unwrap_or(0);
        let mut table = format!("{:width$}  passed  failed  reason\n", "scenario");
        let mut whole = 0;
        for (scenario, checks) in &self.0 {
            let count = |status| {
                let alike = checks.values().filter(|check| check.status == status);
                alike.count()
            };
            let (passed, failed) = (count(Status::Passed), count(Status::Failed));
            whole += usize::from(failed == 0);
            let reasons: BTreeSet<&str> = checks
                .iter()
                .filter(|(_, check)| check.status == Status::Failed)
                .map(|(id, _)| baseline.reason(&format!("{scenario}:{id}")))
                .map(|reason| reason.unwrap_or("UNEXPECTED"))
                .collect();
            let reasons = reasons.into_iter().collect::<Vec<_>>().join(" | ");
            let _infallible = writeln!(
                table,
                "{scenario:width$}  {passed:6}  {failed:6}  {reasons}"
            );
        }
        let all = self.0.len();
        let _infallible = write!(table, "{whole} of {all} scenarios pass whole");
        table
    }
}
