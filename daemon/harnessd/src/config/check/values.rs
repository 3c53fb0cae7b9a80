//! Numbers, spans, globs and variables within their ranges.

use std::time::Duration;

use harness_model::{ByteSize, TimeSpan};

use super::Checker;
use crate::config::{
    environment,
    path::{Step, steps},
    schema::ToolRule,
};

/// Below this a stream's first and newest part are no use.
const OUTPUT_LEAST: ByteSize = ByteSize(64 << 10);

/// The longest time limit of a call of the tool `shell`, in milliseconds.
const TIMEOUT_MOST_MS: u64 = 600_000;

const HOUR: Duration = Duration::from_hours(1);
const DAY: Duration = Duration::from_hours(24);

impl Checker<'_> {
    pub(super) fn values(&mut self) {
        let config = self.config;
        self.span(
            &steps!["bash", "max_wait_sec"],
            config.bash.max_wait_sec,
            HOUR,
        );
        self.span(
            &steps!["approval", "timeout_sec"],
            config.approval.timeout_sec,
            30 * DAY,
        );
        self.span_or_zero(
            &steps!["approval", "hold_sec"],
            config.approval.hold_sec,
            HOUR,
        );
        for (index, hook) in config.hook.iter().enumerate() {
            self.span(
                &steps!["hook", index, "timeout_sec"],
                hook.timeout_sec,
                HOUR,
            );
        }
        for (name, schedule) in &config.script_schedule {
            let key = steps!["script_schedule", name, "every_sec"];
            self.span(&key, schedule.every_sec, 366 * DAY);
        }
        if config.bash.max_tasks == 0 {
            self.error(
                &steps!["bash", "max_tasks"],
                "no task could run: the least is 1",
            );
        }
        if config.bash.output_max < OUTPUT_LEAST {
            let text = format!(
                "{} is too little: the least is {OUTPUT_LEAST}",
                config.bash.output_max
            );
            self.error(&steps!["bash", "output_max"], &text);
        }
        for (name, rule) in &config.tool {
            self.tool_rule(name, rule);
        }
        self.variables();
    }

    pub(super) fn span(&mut self, path: &[Step], span: TimeSpan, most: Duration) {
        if span.finite().is_some_and(|span| span.is_zero()) {
            self.error(path, "expected more than no time at all");
        }
        self.span_or_zero(path, span, most);
    }

    pub(super) fn span_or_zero(&mut self, path: &[Step], span: TimeSpan, most: Duration) {
        if span.finite().is_none_or(|span| span > most) {
            let text = format!("{span} is too long: the most is {}", TimeSpan::from(most));
            self.error(path, &text);
        }
    }

    fn tool_rule(&mut self, name: &String, rule: &ToolRule) {
        let limits = [
            ("default_timeout_ms", rule.default_timeout_ms),
            ("max_timeout_ms", rule.max_timeout_ms),
        ];
        for (key, limit) in limits {
            if limit.is_some_and(|limit| !(1..=TIMEOUT_MOST_MS).contains(&limit)) {
                let text = format!("expected 1 to {TIMEOUT_MOST_MS} milliseconds");
                self.error(&steps!["tool", name, key], &text);
            }
        }
        if let (Some(default), Some(most)) = (rule.default_timeout_ms, rule.max_timeout_ms)
            && default > most
        {
            let text = format!("it is longer than max_timeout_ms ({most}): make it at most that");
            self.error(&steps!["tool", name, "default_timeout_ms"], &text);
        }
        for (index, pattern) in rule.allowlist.iter().enumerate() {
            if pattern.trim().is_empty() {
                let key = steps!["tool", name, "allowlist", index];
                self.error(&key, "an empty pattern matches nothing: name a command");
            }
        }
    }

    fn variables(&mut self) {
        let config = self.config;
        for (index, glob) in config.environment.exclude.iter().enumerate() {
            if environment::matcher(glob).is_err() || glob.is_empty() {
                let key = steps!["environment", "exclude", index];
                self.error(&key, &format!("{glob:?} is not a glob over variable names"));
            }
        }
        for (name, value) in &config.environment.set {
            self.variable(&steps!["environment", "set", name], name, value);
        }
        self.servers();
    }

    pub(super) fn variable(&mut self, path: &[Step], name: &str, value: &str) {
        if !environment::is_valid(name, value) {
            self.key_error(
                path,
                "a variable has a name without \"=\", and neither name nor value contains NUL",
            );
        } else if environment::is_withheld(name) {
            self.key_error(path, "children never get this variable: remove it");
        }
    }
}
