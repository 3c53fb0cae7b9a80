//! What a call gives back.

use std::{fmt::Write as _, io, path::Path};

use harness_model::{Signal, ToolOutput, ToolsReport};
use harness_supervise::output;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::json;

/// The most characters of each stream that a result holds.
pub(super) const CUT: usize = 262_144;

/// The result of a command.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct ShellResult {
    pub(super) stdout: String,
    pub(super) stderr: String,
    /// None when a signal ended it.
    pub(super) exit_code: Option<u8>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) signal: Option<Signal>,
    pub(super) duration_ms: u64,
    pub(super) identity: String,
    /// Where all of it is, when it was cut.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) stdout_file: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) stderr_file: Option<String>,
    /// Processes that it left behind and that were ended with it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) left_over: Option<u32>,
    /// The sandbox rules it ran under, when it failed or was refused an access.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) containment: Option<String>,
    /// What it did by the command `tools`, when it was stopped or failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) tools: Option<ToolsReport>,
}

/// One stream of a result.
pub(super) struct Captured {
    /// Its text, with a last line that says so when it was cut.
    pub(super) text: String,
    /// The file that holds all of it, when it was cut.
    pub(super) file: Option<String>,
}

impl Captured {
    /// What a command that has ended wrote to `path`.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub(super) fn read(path: &Path) -> io::Result<Self> {
        // A character has at most four bytes; the last few tell whether there is more.
        let piece = output::read_ended(path, 0, 4 * CUT + 4)?;
        let end = piece.text.char_indices().nth(CUT).map(|(place, _)| place);
        let mut text = piece.text;
        if end.is_none() && piece.next_offset >= piece.bytes {
            return Ok(Self { text, file: None });
        }
        text.truncate(end.unwrap_or(text.len()));
        let _infallible = write!(text, "\n...[truncated at {CUT} chars]");
        Ok(Self {
            text,
            file: Some(path.display().to_string()),
        })
    }
}

impl ShellResult {
    /// As text for the model, the outcome first.
    pub(super) fn render(self, is_first: bool) -> ToolOutput {
        let mut text = if is_first {
            format!("{}\n", self.identity)
        } else {
            String::new()
        };
        let how = match (self.exit_code, self.signal) {
            (Some(code), _) => format!("exit code {code}"),
            (None, Some(signal)) => format!("ended by {signal}"),
            (None, None) => "ended".to_owned(),
        };
        let _infallible = write!(text, "{how}, {} ms", self.duration_ms);
        if let Some(count) = self.left_over {
            let _infallible = write!(
                text,
                "\nleft {count} processes behind, which were ended with it"
            );
        }
        if let Some(tools) = &self.tools {
            let _infallible = write!(text, "\ntools: {}", tools.headline());
        }
        if let Some(rules) = &self.containment {
            let _infallible = write!(text, "\nthe sandbox of this command: {rules}");
        }
        section(
            &mut text,
            "stdout",
            &self.stdout,
            self.stdout_file.as_deref(),
        );
        section(
            &mut text,
            "stderr",
            &self.stderr,
            self.stderr_file.as_deref(),
        );
        ToolOutput::new(text, json!(self))
    }
}

fn section(text: &mut String, name: &str, stream: &str, file: Option<&str>) {
    if stream.is_empty() {
        return;
    }
    let whole = file
        .map(|file| format!(" (all of it is in {file})"))
        .unwrap_or_default();
    let _infallible = write!(text, "\n{name}{whole}:\n{stream}");
}

#[cfg(test)]
mod tests {
    use super::*;

    fn captured(bytes: &[u8]) -> Captured {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a.out");
        std::fs::write(&path, bytes).unwrap();
        Captured::read(&path).unwrap()
    }

    #[test]
    fn what_fits_is_whole_to_the_last_character() {
        for letter in ["x", "ä", "語", "🦀"] {
            let text = letter.repeat(CUT);
            let captured = captured(text.as_bytes());
            assert!(captured.text == text && captured.file.is_none(), "{letter}");
        }
        assert_eq!(captured(b"").text, "");
        assert_eq!(captured(b"no end").text, "no end");
    }

    #[test]
    fn one_character_more_is_cut_and_said_in_the_last_line() {
        for letter in ["x", "ä", "語", "🦀"] {
            let captured = captured(letter.repeat(CUT + 1).as_bytes());
            let (kept, last) = captured.text.rsplit_once('\n').unwrap();
            assert_eq!(last, "...[truncated at 262144 chars]");
            assert_eq!(kept.chars().count(), CUT, "{letter}");
            assert!(kept.chars().all(|c| letter.starts_with(c)), "{letter}");
            assert!(captured.file.unwrap().ends_with("a.out"));
        }
    }

    #[test]
    fn what_is_not_text_is_shown_as_replacement_characters() {
        assert_eq!(
            captured(b"a\xff\xfeb\xe2\x82").text,
            "a\u{fffd}\u{fffd}b\u{fffd}"
        );
        let captured = captured(&vec![0xff; CUT + 1]);
        assert_eq!(
            captured.text.chars().filter(|c| *c == '\u{fffd}').count(),
            CUT
        );
    }
}
