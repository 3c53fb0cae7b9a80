//! The program, with what holds for every call of it.

use std::{collections::BTreeMap, time::Duration};

use harness_plugin_sdk::{Call, Program, Result as Outcome};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use crate::error::{Error, Result};

/// The most of a result, in bytes.
const OUTPUT_MAX: usize = 1024 * 1024;

/// What can be set.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// The flake that is searched when none is named.
    pub nixpkgs: String,
    /// Options of nix.conf(5) for every call, as in { sandbox = "true" }.
    pub options: BTreeMap<String, String>,
    /// How long an evaluation may take, in seconds.
    #[schemars(range(min = 1, max = 3600))]
    pub eval_timeout_sec: u64,
    /// How long a build may take, in seconds.
    #[schemars(range(min = 1, max = 86400))]
    pub build_timeout_sec: u64,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            nixpkgs: "nixpkgs".to_owned(),
            options: BTreeMap::new(),
            eval_timeout_sec: 300,
            build_timeout_sec: 3600,
        }
    }
}

/// How Nix is called.
#[derive(Debug)]
pub struct Nix {
    settings: Settings,
}

impl Nix {
    /// With these settings.
    #[must_use]
    pub fn new(settings: Settings) -> Self {
        Self { settings }
    }

    /// A command that evaluates: it writes no lock file, and asks nothing.
    pub(crate) fn command(&self, words: &[&str]) -> Program {
        let mut program = Program::new("nix")
            .args(["--extra-experimental-features", "nix-command flakes"])
            .args(words)
            .args([
                "--no-write-lock-file",
                "--option",
                "accept-flake-config",
                "false",
            ])
            .env("NO_COLOR", "1")
            .time_limit(Duration::from_secs(self.settings.eval_timeout_sec))
            .output_max(OUTPUT_MAX);
        for (name, value) in &self.settings.options {
            program = program.args(["--option", name, value]);
        }
        program
    }

    pub(crate) fn nixpkgs(&self) -> &str {
        &self.settings.nixpkgs
    }

    pub(crate) fn build_timeout(&self) -> Duration {
        Duration::from_secs(self.settings.build_timeout_sec)
    }
}

/// Whether an evaluation may build what it needs to go on (import from derivation).
pub(crate) fn building(program: Program, allowed: bool) -> Program {
    let allowed = if allowed { "true" } else { "false" };
    program.args(["--option", "allow-import-from-derivation", allowed])
}

/// Runs it, and reads the JSON that it prints.
pub(crate) fn json(program: Program, call: &Call<Nix>) -> Outcome<(Value, String)> {
    let finished = program.succeed(call)?;
    if finished.truncated {
        return Err(Error::TooLarge { limit: OUTPUT_MAX }.into());
    }
    let value = serde_json::from_slice(&finished.stdout).map_err(Error::Output)?;
    Ok((value, finished.stderr))
}

/// A reference to a flake or an attribute of one, and no option.
pub(crate) fn reference<'a>(value: &'a str, what: &'static str) -> Result<&'a str> {
    if value.is_empty() || value.starts_with('-') || value.chars().any(char::is_control) {
        let value = value.to_owned();
        return Err(Error::Value { what, value });
    }
    Ok(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_option_is_no_reference() {
        assert_eq!(
            reference("nixpkgs#hello", "flake").unwrap(),
            "nixpkgs#hello"
        );
        for value in ["", "--impure", "a\nb", "a\0"] {
            assert!(reference(value, "flake").is_err(), "{value:?}");
        }
    }
}
