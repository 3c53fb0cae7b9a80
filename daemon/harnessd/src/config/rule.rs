//! Which `[tool.NAME]` holds for a tool.

use super::{
    environment::matcher,
    schema::{Config, ToolMode, ToolRule},
};

/// The time limit of a shell call that names none, in milliseconds.
const DEFAULT_TIMEOUT_MS: u64 = 30_000;

/// The longest time limit of a shell call, in milliseconds.
const MAX_TIMEOUT_MS: u64 = 600_000;

/// What `[tool.shell]` says beside whether a person is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ShellLimits {
    /// Its mode is not `off`.
    pub enabled: bool,
    /// The time limit of a call that names none, in milliseconds.
    pub default_timeout_ms: u64,
    /// The longest time limit, in milliseconds.
    pub max_timeout_ms: u64,
}

impl Config {
    /// The entry that names a tool most closely: `GROUP__TOOL` before `TOOL`, both before any glob, and of globs
    /// the one with more letters. Hyphens and underscores are the same.
    #[must_use]
    pub fn tool_rule(&self, group: &str, tool: &str) -> Option<&ToolRule> {
        let plain = |name: &str| name.replace('-', "_");
        let (name, full) = (plain(tool), plain(&format!("{group}__{tool}")));
        let closeness = |pattern: &str| {
            let pattern = plain(pattern);
            if pattern == full {
                return Some(usize::MAX);
            }
            if pattern == name {
                return Some(usize::MAX - 1);
            }
            let glob = matcher(&pattern).ok()?;
            let letters = pattern.chars().filter(|c| !"*?[]{}".contains(*c)).count();
            (glob.is_match(&full) || glob.is_match(&name)).then_some(letters)
        };
        let rules = self.tool.iter();
        rules
            .filter_map(|(pattern, rule)| Some((closeness(pattern)?, rule)))
            .max_by_key(|(closeness, _)| *closeness)
            .map(|(_, rule)| rule)
    }

    /// The limits of the tool `shell`.
    #[must_use]
    pub fn shell_limits(&self) -> ShellLimits {
        let rule = self.tool_rule("shell", "shell");
        ShellLimits {
            enabled: rule.is_none_or(|rule| rule.mode != Some(ToolMode::Off)),
            default_timeout_ms: rule
                .and_then(|rule| rule.default_timeout_ms)
                .unwrap_or(DEFAULT_TIMEOUT_MS),
            max_timeout_ms: rule
                .and_then(|rule| rule.max_timeout_ms)
                .unwrap_or(MAX_TIMEOUT_MS),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config(names: &[&str]) -> Config {
        let rule = |(place, name): (usize, &&str)| {
            let rule = ToolRule {
                max_timeout_ms: Some(place as u64 + 1),
                ..ToolRule::default()
            };
            ((*name).to_owned(), rule)
        };
        Config {
            tool: names.iter().enumerate().map(rule).collect(),
            ..Config::default()
        }
    }

    #[test]
    fn the_entry_that_names_the_tool_most_closely_wins() {
        for (names, expected) in [
            (&["*", "sh*", "shell", "shell__shell"][..], 4),
            (&["*", "sh*", "shell"], 3),
            (&["*", "sh*"], 2),
            (&["*", "wakes*"], 1),
            (&["shell__*", "shell"], 2),
        ] {
            assert_eq!(
                config(names).shell_limits().max_timeout_ms,
                expected,
                "{names:?}"
            );
        }
    }

    #[test]
    fn without_an_entry_the_defaults_hold() {
        let expected = ShellLimits {
            enabled: true,
            default_timeout_ms: 30_000,
            max_timeout_ms: 600_000,
        };
        assert_eq!(config(&["run"]).shell_limits(), expected);
    }

    #[test]
    fn the_mode_off_switches_it_off() {
        for (mode, enabled) in [
            (ToolMode::Off, false),
            (ToolMode::Ask, true),
            (ToolMode::Allowlist, true),
            (ToolMode::Allow, true),
        ] {
            let mut config = config(&["shell"]);
            if let Some(rule) = config.tool.get_mut("shell") {
                rule.mode = Some(mode);
            }
            assert_eq!(config.shell_limits().enabled, enabled, "{mode:?}");
        }
    }
}
