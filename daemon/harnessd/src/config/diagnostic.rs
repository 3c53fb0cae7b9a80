//! What is wrong with a configuration, and where it stands.

use std::{
    fmt::{self, Write as _},
    ops::Range,
    path::PathBuf,
    sync::Arc,
};

/// The text of one configuration file.
#[derive(Debug, PartialEq, Eq)]
pub struct Source {
    /// Where it was read from.
    pub path: PathBuf,
    /// What stands in it.
    pub text: String,
}

/// A piece of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Span {
    /// The file.
    pub source: Arc<Source>,
    /// Byte offsets into its text.
    pub range: Range<usize>,
}

impl Span {
    /// Line and column, both counted from 1; a column is a character.
    #[must_use]
    pub fn position(&self) -> (usize, usize) {
        let before = &self.source.text[..self.start()];
        let line_start = before.rfind('\n').map_or(0, |at| at + 1);
        let line = before.matches('\n').count() + 1;
        (line, before[line_start..].chars().count() + 1)
    }

    /// The offset of its first byte, moved to the border of a character.
    fn start(&self) -> usize {
        self.source.text.floor_char_boundary(self.range.start)
    }
}

/// How bad it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// The configuration is not used.
    Error,
    /// The configuration is used.
    Warning,
}

/// One thing that is wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostic {
    /// How bad it is.
    pub severity: Severity,
    /// What is wrong and what would be right, in one line.
    pub message: String,
    /// Where; none when it is about no file at all, or a file that cannot be read.
    pub span: Option<Span>,
}

impl Diagnostic {
    /// An error at a place, or about the configuration as a whole.
    pub fn error(message: impl Into<String>, span: Option<Span>) -> Self {
        Self {
            severity: Severity::Error,
            message: message.into(),
            span,
        }
    }

    /// A warning.
    pub fn warning(message: impl Into<String>, span: Option<Span>) -> Self {
        Self {
            severity: Severity::Warning,
            message: message.into(),
            span,
        }
    }

    /// `FILE:LINE:COL: message`, then the line with a caret under the place.
    ///
    /// Control and bidirectional characters are replaced, so that the text cannot fake another one.
    #[must_use]
    pub fn render(&self, colour: bool) -> String {
        let paint = |code: &str, text: &str| {
            if colour {
                format!("\x1b[{code}m{text}\x1b[0m")
            } else {
                text.to_owned()
            }
        };
        let (code, label) = match self.severity {
            Severity::Error => ("1;31", ""),
            Severity::Warning => ("1;33", "warning: "),
        };
        let message = paint(code, &format!("{label}{}", printable(&self.message)));
        let Some(span) = &self.span else {
            return format!("{message}\n");
        };
        let (line, column) = span.position();
        let path = printable(&span.source.path.to_string_lossy());
        let head = paint("1", &format!("{path}:{line}:{column}:"));
        let mut text = format!("{head} {message}\n");
        let excerpt = Excerpt::new(span, column);
        let gutter = " ".repeat(line.to_string().len());
        let caret = format!(
            "{}{}",
            " ".repeat(excerpt.indent),
            paint(code, &"^".repeat(excerpt.width))
        );
        // Writing to a String cannot fail.
        _ = writeln!(text, " {line} | {}\n {gutter} | {caret}", excerpt.line);
        text
    }
}

/// The part of a line that is shown, at most this many characters.
const LINE_MAX: usize = 120;

struct Excerpt {
    line: String,
    indent: usize,
    width: usize,
}

impl Excerpt {
    fn new(span: &Span, column: usize) -> Self {
        let text = &span.source.text;
        let start = span.start();
        let line_start = text[..start].rfind('\n').map_or(0, |at| at + 1);
        let line = text[line_start..].lines().next().unwrap_or_default();
        let end = text.floor_char_boundary(span.range.end).max(start);
        let marked = text[start..end].lines().next().unwrap_or_default();
        let first = (column - 1).saturating_sub(LINE_MAX * 2 / 3);
        let shown: String = line.chars().skip(first).take(LINE_MAX).collect();
        let indent = column - 1 - first;
        let room = shown.chars().count().saturating_sub(indent);
        Self {
            line: printable(&shown),
            indent,
            width: marked.chars().count().min(room).max(1),
        }
    }
}

/// Each control or bidirectional character becomes one replacement character: columns stay right.
fn printable(text: &str) -> String {
    let hidden = |c: char| {
        c.is_control()
            || matches!(c, '\u{061c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
    };
    text.chars()
        .map(|c| match c {
            '\t' => ' ',
            c if hidden(c) => char::REPLACEMENT_CHARACTER,
            c => c,
        })
        .collect()
}

/// All that is wrong, in the order of files and lines.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Diagnostics(Vec<Diagnostic>);

impl Diagnostics {
    /// None.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds one, unless it is there already.
    pub fn push(&mut self, diagnostic: Diagnostic) {
        if !self.0.contains(&diagnostic) {
            self.0.push(diagnostic);
        }
    }

    /// Adds those of `other`.
    pub fn append(&mut self, other: Self) {
        other.0.into_iter().for_each(|one| self.push(one));
    }

    /// One by one.
    pub fn iter(&self) -> std::slice::Iter<'_, Diagnostic> {
        self.0.iter()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether one of them is an error.
    #[must_use]
    pub fn has_errors(&self) -> bool {
        self.0.iter().any(|one| one.severity == Severity::Error)
    }

    /// Every one by [`Diagnostic::render`]; with colour only for a terminal.
    #[must_use]
    pub fn render(&self, colour: bool) -> String {
        self.0.iter().map(|one| one.render(colour)).collect()
    }

    /// Orders them by file (as it was read), then place.
    pub(super) fn sort_by_place(&mut self, files: &[Arc<Source>]) {
        self.0.sort_by_key(|one| {
            one.span.as_ref().map(|span| {
                let file = files
                    .iter()
                    .position(|file| Arc::ptr_eq(file, &span.source));
                (file, span.range.start, one.severity)
            })
        });
    }
}

impl<'a> IntoIterator for &'a Diagnostics {
    type Item = &'a Diagnostic;
    type IntoIter = std::slice::Iter<'a, Diagnostic>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl From<Diagnostic> for Diagnostics {
    fn from(diagnostic: Diagnostic) -> Self {
        Self(vec![diagnostic])
    }
}

impl fmt::Display for Diagnostics {
    /// Without colour and without the line end after the last.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.render(false).trim_end())
    }
}

impl std::error::Error for Diagnostics {}
