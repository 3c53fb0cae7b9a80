//! `logs`

use harness_plugin_sdk::{Call, Json, Result};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    error::Error,
    manager::{Manager, Scope},
    timestamp::rfc3339,
    unit_name,
};

/// The longest message that is shown, in bytes.
const MESSAGE_MAX: usize = 4096;

/// The most that is read of the journal, in bytes.
const OUTPUT_MAX: usize = 16 * 1024 * 1024;

/// Which lines.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Logs {
    /// Only of this unit.
    unit: Option<String>,
    /// Only since then, as systemd.time(7) has it: -1h, today, 2026-12-01 10:00.
    since: Option<String>,
    /// Only until then.
    until: Option<String>,
    /// Only of this priority and worse: emerg, alert, crit, err, warning, notice, info or debug.
    priority: Option<Priority>,
    /// Only lines that match this regular expression (PCRE2).
    grep: Option<String>,
    /// Only of the kernel.
    kernel: bool,
    /// Only of this boot: 0 for this one, -1 for the one before.
    #[schemars(range(min = -1000, max = 0))]
    boot: Option<i32>,
    /// How many at most, the newest; 100 if it is not said.
    #[schemars(range(min = 1, max = 2000))]
    lines: Option<u32>,
}

/// Priorities of syslog(3).
#[derive(Debug, Clone, Copy, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Priority {
    Emerg,
    Alert,
    Crit,
    Err,
    Warning,
    Notice,
    Info,
    Debug,
}

/// One line.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Entry {
    /// When, in UTC.
    time: String,
    /// How bad, 0 for emerg to 7 for debug.
    #[serde(skip_serializing_if = "Option::is_none")]
    priority: Option<u8>,
    /// The unit.
    #[serde(skip_serializing_if = "Option::is_none")]
    unit: Option<String>,
    /// Who says it.
    #[serde(skip_serializing_if = "Option::is_none")]
    identifier: Option<String>,
    /// The process.
    #[serde(skip_serializing_if = "Option::is_none")]
    pid: Option<u32>,
    /// What was said.
    message: String,
}

/// All of them.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Entries {
    /// Oldest first.
    entries: Vec<Entry>,
}

pub(crate) fn logs(input: Logs, call: &Call<Manager>) -> Result<(String, Json<Entries>)> {
    let mut words = Vec::new();
    if let Some(unit) = &input.unit {
        words.extend(selection(call.state(), &unit_name::full(unit)?));
    }
    for (name, value) in [
        ("since", input.since),
        ("until", input.until),
        ("grep", input.grep),
    ] {
        if let Some(value) = value {
            words.push(format!("--{name}={value}"));
        }
    }
    if let Some(priority) = input.priority {
        words.push(format!("--priority={}", priority as u8));
    }
    if input.kernel {
        words.push("--dmesg".to_owned());
    }
    if let Some(boot) = input.boot {
        words.push(format!("--boot={boot}"));
    }
    let entries = read(call, &words, input.lines.unwrap_or(100))?;
    let text = if entries.is_empty() {
        "[no lines]".to_owned()
    } else {
        text(&entries)
    };
    Ok((text, Json(Entries { entries })))
}

/// The last lines of a unit.
pub(crate) fn of_unit(call: &Call<Manager>, unit: &str, lines: u32) -> Result<Vec<Entry>> {
    if lines == 0 {
        return Ok(Vec::new());
    }
    read(call, &selection(call.state(), unit), lines)
}

fn selection(manager: &Manager, unit: &str) -> Vec<String> {
    vec![match manager.scope() {
        Scope::System => format!("--unit={unit}"),
        Scope::User => format!("--user-unit={unit}"),
    }]
}

fn read(call: &Call<Manager>, words: &[String], lines: u32) -> Result<Vec<Entry>> {
    let program = call.state().journalctl().output_max(OUTPUT_MAX);
    let program = program.args(["--output=json", "--all", &format!("--lines={lines}")]);
    let finished = program.args(words).run(call)?;
    // "No match" is exit code 1 without a word.
    let said = finished.stderr.trim();
    if !finished.status.success() && !said.is_empty() {
        return Err(harness_plugin_sdk::Error::new(format!(
            "journalctl failed: {said}"
        )));
    }
    let mut entries = Vec::new();
    for line in finished.stdout.split(|byte| *byte == b'\n') {
        if line.is_empty() {
            continue;
        }
        match serde_json::from_slice::<Value>(line) {
            Ok(fields) => entries.push(entry(&fields)),
            // The last line may have been cut.
            Err(_) if finished.truncated => break,
            Err(source) => {
                let program = "journalctl";
                return Err(Error::Output { program, source }.into());
            }
        }
    }
    Ok(entries)
}

fn entry(fields: &Value) -> Entry {
    let text = |name: &str| field(&fields[name]);
    let time = text("__REALTIME_TIMESTAMP").and_then(|time| time.parse().ok());
    let unit = text("_SYSTEMD_USER_UNIT").or_else(|| text("_SYSTEMD_UNIT"));
    let mut message = text("MESSAGE").unwrap_or_default();
    message.truncate(message.floor_char_boundary(MESSAGE_MAX));
    Entry {
        time: rfc3339(time.unwrap_or_default()),
        priority: text("PRIORITY").and_then(|priority| priority.parse().ok()),
        // What PID 1 says of a unit is that unit's.
        unit: text("USER_UNIT").or_else(|| text("UNIT")).or(unit),
        identifier: text("SYSLOG_IDENTIFIER").or_else(|| text("_COMM")),
        pid: text("_PID").and_then(|pid| pid.parse().ok()),
        message,
    }
}

/// A field: text, bytes that are no UTF-8, or the first of several ("Journal JSON Format").
fn field(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Array(items) if items.first().is_some_and(Value::is_number) => {
            let bytes = items
                .iter()
                .filter_map(|byte| u8::try_from(byte.as_u64()?).ok());
            Some(String::from_utf8_lossy(&bytes.collect::<Vec<u8>>()).into_owned())
        }
        Value::Array(items) => items.first().and_then(field),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => None,
    }
}

/// As `journalctl` shows them, further lines of a message indented.
pub(crate) fn text(entries: &[Entry]) -> String {
    let lines: Vec<String> = entries
        .iter()
        .map(|entry| {
            let who = entry.identifier.as_deref().unwrap_or("unknown");
            let pid = entry.pid.map(|pid| format!("[{pid}]")).unwrap_or_default();
            let message = entry.message.replace('\n', "\n    ");
            format!("{} {who}{pid}: {message}", entry.time)
        })
        .collect();
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_entry_is_read_whatever_its_fields_are() {
        let read = entry(&json!({
            "__REALTIME_TIMESTAMP": "1796083200000000", "PRIORITY": "3", "_PID": "7",
            "SYSLOG_IDENTIFIER": ["a", "b"], "MESSAGE": [103, 114, 252, 223, 101, 10, 120], "_SYSTEMD_UNIT": "init.scope", "UNIT": "a.service",
        }));
        assert_eq!(read.unit.as_deref(), Some("a.service"));
        assert_eq!(
            text(&[read]),
            "2026-12-01T00:00:00.000000Z a[7]: gr\u{fffd}\u{fffd}e\n    x"
        );
        let empty = entry(&json!({"MESSAGE": null}));
        assert_eq!(text(&[empty]), "1970-01-01T00:00:00.000000Z unknown: ");
    }
}
