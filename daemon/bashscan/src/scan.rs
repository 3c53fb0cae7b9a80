//! The scan and what it finds.

use crate::context::Context;
use crate::findings::Findings;
use crate::lexer::{Origin, Parser, Region};
use crate::opaque::{Opaque, Reason};
use crate::order::Order;
use crate::resolve::resolve;
use crate::word::{Span, Word};

/// Longest script that is read, in bytes.
pub const MAX_LENGTH: usize = 1 << 20;
/// Deepest nesting that is read.
pub const MAX_DEPTH: usize = 100;

/// Which shell will read the text.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Dialect {
    /// bash, not in posix mode.
    #[default]
    Bash,
    /// Some POSIX shell: what such shells and bash read differently is opaque.
    Posix,
}

/// A simple command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Command {
    /// Its words, the name first. Empty when it only assigns or redirects.
    pub words: Vec<Word>,
    /// Names of the variables that are assigned before the first word.
    pub assignments: Vec<String>,
    /// Its own redirections.
    pub redirections: Vec<Redirection>,
    /// Where it stands.
    pub context: Context,
    /// A pipe, here-document or redirection leads into its standard input.
    pub reads_stdin: bool,
    /// Where it is.
    pub span: Span,
    /// Line of its start, from 1.
    pub line: usize,
    /// For certain runs a function of the script, and no program: it is defined before, whatever
    /// fails.
    pub calls_function: bool,
}

impl Command {
    /// The name, if it is known.
    #[must_use]
    pub fn name(&self) -> Option<&str> {
        self.words.first().and_then(Word::literal)
    }

    /// All words as they are, if all are known.
    #[must_use]
    pub fn literal_words(&self) -> Option<Vec<&str>> {
        self.words.iter().map(Word::literal).collect()
    }
}

/// A redirection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Redirection {
    /// `<`, `>>`, `<<-`, `&>` …
    pub operator: &'static str,
    /// The descriptor written before it; none also when a variable gets a new one (`{fd}>x`).
    pub fd: Option<u32>,
    /// File, descriptor, here-string or the delimiter of a here-document.
    pub target: Word,
    /// Opens a file for writing.
    pub writes: bool,
    /// Where it is.
    pub span: Span,
}

/// A function definition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Function {
    /// The name; calls to it behind the definition are not the program of that name.
    pub name: String,
    /// Where the definition stands.
    pub context: Context,
    /// The whole definition.
    pub span: Span,
}

/// An assignment, by whatever means.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Assignment {
    /// The variable, without subscript.
    pub name: String,
    /// Where it stands.
    pub context: Context,
    /// Where it is.
    pub span: Span,
}

/// A file with a literal name that is read as part of the script (`source`, `.`). What is in it
/// is not known here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Source {
    /// The name as written.
    pub path: String,
    /// Where it is.
    pub span: Span,
}

/// All that was found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Scan {
    /// Every simple command, in the order in which their ends were read.
    pub commands: Vec<Command>,
    /// Every function definition.
    pub functions: Vec<Function>,
    /// Every assignment at script level.
    pub assignments: Vec<Assignment>,
    /// The redirections of compound commands.
    pub redirections: Vec<Redirection>,
    /// Files that are read as part of the script.
    pub sources: Vec<Source>,
    /// What is not understood. If this is not empty, the rest is not complete.
    pub opaque: Vec<Opaque>,
}

impl Scan {
    /// Whether a function of that name is defined anywhere in the script.
    #[must_use]
    pub fn defines(&self, name: &str) -> bool {
        self.functions.iter().any(|function| function.name == name)
    }
}

/// Reads a script as bash would.
#[must_use]
pub fn scan(text: &str) -> Scan {
    scan_as(text, Dialect::Bash)
}

/// Reads a script as the given shell would.
#[must_use]
pub fn scan_as(text: &str, dialect: Dialect) -> Scan {
    let whole = Span {
        start: 0,
        end: text.len(),
    };
    let mut found = Findings::default();
    if text.len() > MAX_LENGTH {
        found.opaque(Reason::TooLong, whole);
        return finished(text, found);
    }
    let is_control = |byte: u8| matches!(byte, b'\0' | b'\r' | 0x01 | 0x7f);
    if let Some(at) = text.bytes().position(is_control) {
        let byte = text.as_bytes().get(at).copied().unwrap_or_default();
        found.opaque(
            Reason::Character(char::from(byte)),
            Span {
                start: at,
                end: at + 1,
            },
        );
        return finished(text, found);
    }
    let mut parser = Parser::new(text.as_bytes(), Origin::Offset(0), &mut found, dialect);
    // A stop has left its reason among the findings.
    let stopped = parser.whole_region(Region::Code).is_err();
    let is_empty =
        found.commands.is_empty() && found.functions.is_empty() && found.expressions == 0;
    if !stopped && is_empty && !has_only_comments(text) {
        found.opaque(Reason::Nothing, whole);
    }
    finished(text, found)
}

fn has_only_comments(text: &str) -> bool {
    text.split('\n')
        .map(|line| line.trim_matches([' ', '\t']))
        .all(|line| line.is_empty() || line.starts_with('#'))
}

fn finished(text: &str, mut found: Findings) -> Scan {
    resolve(&mut found);
    found.places.sort();
    found.values.pass_arguments(&found.commands);
    if found.values.depends_on_order() {
        let order = Order::of(&found.places);
        let unsafe_uses = found.values.unsafe_uses(&order);
        for command in &mut found.commands {
            command.calls_function = found.values.calls_function(command, &order);
        }
        found.opaque.extend(unsafe_uses);
    }
    found.opaque.sort_by_key(|opaque| opaque.span);
    number_lines(text, &mut found.commands);
    found
        .assignments
        .retain(|assignment| assignment.context.is_script_level());
    Scan {
        commands: found.commands,
        functions: found.functions,
        assignments: found.assignments,
        redirections: found.redirections,
        sources: found.sources,
        opaque: found.opaque,
    }
}

fn number_lines(text: &str, commands: &mut [Command]) {
    // Most commands come in the order of the text.
    let (mut at, mut line) = (0, 1);
    let between = |from: usize, to: usize| {
        let part = text.as_bytes().get(from..to).unwrap_or_default();
        part.split(|byte| *byte == b'\n').count() - 1
    };
    for command in commands {
        let start = command.span.start;
        if start < at {
            line -= between(start, at);
        } else {
            line += between(at, start);
        }
        (at, command.line) = (start, line);
    }
}
