//! Which variables can hold nothing but integers.
//!
//! bash evaluates the value of a variable in arithmetic as an expression of its own, and a
//! subscript in it is expanded: with `x='a[$(rm)]'`, `$((x))` runs `rm`. So arithmetic on a variable
//! is understood only if everything the script ever gives it is an integer.

use std::collections::{HashMap, HashSet};

use crate::context::Place;
use crate::lexer::{Lexeme, Piece};
use crate::opaque::{Opaque, Reason};
use crate::scan::{Command, Function};
use crate::variable::{is_identifier_byte, is_identifier_start};
use crate::word::Span;

/// Variables that bash itself keeps, that are integers, and whose value in the inherited environment
/// it ignores (bash(1) "Shell Variables").
const KEPT_BY_BASH: &[&str] = &[
    "RANDOM",
    "SRANDOM",
    "SECONDS",
    "LINENO",
    "PPID",
    "BASHPID",
    "EPOCHSECONDS",
    "OPTIND",
    "SHLVL",
    "BASH_SUBSHELL",
];

/// Variables to which bash itself assigns text that a script can choose, whatever the script assigns.
const SET_BY_BASH: &[&str] = &[
    "_",
    "REPLY",
    "OPTARG",
    "PWD",
    "OLDPWD",
    "FUNCNAME",
    "DIRSTACK",
    "MAPFILE",
    "COPROC",
    "HOSTNAME",
    "COMP_LINE",
    "COMP_WORDS",
    "COMPREPLY",
    "READLINE_LINE",
    "LINES",
    "COLUMNS",
    "GROUPS",
    "PIPESTATUS",
    "EPOCHREALTIME",
];

/// Whose value is evaluated when it is assigned.
const INTEGER_ATTRIBUTE: &[&str] = &[
    "RANDOM", "SRANDOM", "OPTIND", "SECONDS", "LINENO", "UID", "EUID", "HISTCMD",
];

/// What a value may be.
#[derive(Debug, Clone)]
enum Value {
    /// An integer, or empty, if these variables are.
    Depends(Vec<String>),
    /// Anything.
    Unknown,
}

/// A value that has to be an integer.
struct Use {
    value: Value,
    span: Span,
    /// The command that takes it as a word; none if it is evaluated as an expression.
    by: Option<&'static str>,
}

struct Subscript {
    name: String,
    value: Value,
    function: Option<String>,
    span: Span,
}

/// All assignments and all arithmetic of a script.
#[derive(Default)]
pub(crate) struct Integers {
    assigned: HashMap<String, Vec<(Value, Span)>>,
    uses: Vec<Use>,
    subscripts: Vec<Subscript>,
    /// Variables with the integer attribute.
    attribute: HashSet<String>,
    /// Associative arrays, with the index of the command that declares them.
    associative: HashMap<String, Vec<usize>>,
    /// Declared as something else, or unset, somewhere.
    not_associative: HashSet<String>,
    /// Arrays of either kind.
    arrays: HashSet<String>,
    /// Whose value would be read as code if they were arrays.
    not_arrays: Vec<(String, Span)>,
    /// Unset by a command that removes a function if there is no such variable.
    unset: Vec<(String, Span)>,
}

impl Integers {
    /// A variable is given the value of a word.
    pub(crate) fn assign(&mut self, name: &str, value: &Lexeme, span: Span) {
        self.assign_value(name, number(value), span);
    }

    /// A variable is given a value that is not known.
    pub(crate) fn assign_unknown(&mut self, name: &str, span: Span) {
        self.assign_value(name, Value::Unknown, span);
    }

    /// A variable is given an integer.
    pub(crate) fn assign_integer(&mut self, name: &str, span: Span) {
        self.assign_value(name, Value::Depends(Vec::new()), span);
    }

    fn assign_value(&mut self, name: &str, value: Value, span: Span) {
        self.assigned
            .entry(name.to_owned())
            .or_default()
            .push((value, span));
    }

    /// `declare -i`
    pub(crate) fn integer_attribute(&mut self, name: &str) {
        self.attribute.insert(name.to_owned());
    }

    /// `declare -A`, by the command of this index.
    pub(crate) fn associative(&mut self, name: &str, command: usize) {
        self.associative
            .entry(name.to_owned())
            .or_default()
            .push(command);
    }

    /// Declared without `-A`, or unset: subscripts may be arithmetic again.
    pub(crate) fn not_associative(&mut self, name: &str) {
        self.not_associative.insert(name.to_owned());
    }

    /// The variable is an array.
    pub(crate) fn is_array(&mut self, name: &str) {
        self.arrays.insert(name.to_owned());
    }

    /// The command is understood only if the variable is no array.
    pub(crate) fn not_array(&mut self, name: &str, span: Span) {
        self.not_arrays.push((name.to_owned(), span));
    }

    /// `unset NAME`
    pub(crate) fn unset(&mut self, name: &str, span: Span) {
        self.not_associative(name);
        self.unset.push((name.to_owned(), span));
    }

    /// Declarations that read a value as code, and functions that are removed.
    fn changed_meanings(&self, functions: &[Function]) -> Vec<Opaque> {
        let functions: HashSet<&str> = functions
            .iter()
            .map(|function| function.name.as_str())
            .collect();
        let lists = self
            .not_arrays
            .iter()
            .filter(|(name, _)| self.arrays.contains(name))
            .map(|(name, span)| Opaque {
                reason: Reason::Code(name.clone()),
                span: *span,
            });
        let removed = self
            .unset
            .iter()
            .filter(|(name, _)| functions.contains(name.as_str()))
            .map(|(_, span)| Opaque {
                reason: Reason::ShellState("unset".to_owned()),
                span: *span,
            });
        lists.chain(removed).collect()
    }

    /// The words that this becomes are data to the command only if they are integers.
    pub(crate) fn require_integer(&mut self, text: &Lexeme, by: &'static str, span: Span) {
        self.uses.push(Use {
            value: number(text),
            span,
            by: Some(by),
        });
    }

    /// The text is evaluated.
    pub(crate) fn evaluate(&mut self, text: &Lexeme, span: Span) {
        let value = expression(text);
        if let Value::Depends(names) = &value {
            for name in assigned_names(text) {
                if names.contains(&name) {
                    self.assign_integer(&name, span);
                }
            }
        }
        self.uses.push(Use {
            value,
            span,
            by: None,
        });
    }

    /// The text is evaluated if it is a subscript of an indexed array.
    pub(crate) fn subscript(
        &mut self,
        name: &str,
        text: &Lexeme,
        function: Option<&str>,
        span: Span,
    ) {
        let value = expression(text);
        let function = function.map(str::to_owned);
        self.subscripts.push(Subscript {
            name: name.to_owned(),
            value,
            function,
            span,
        });
    }

    /// The result of `${name:-operand}`.
    pub(crate) fn either(name: &str, operand: &Lexeme) -> Piece {
        match number(operand) {
            Value::Depends(names) if names.is_empty() => Piece::Variable(name.to_owned()),
            Value::Depends(_) | Value::Unknown => Piece::Unknown,
        }
    }

    /// Arithmetic whose operands may be more than integers, with the name of one.
    pub(crate) fn unsafe_uses(&self, commands: &[Command], functions: &[Function]) -> Vec<Opaque> {
        let unknown = self.unknown_variables();
        let culprit = |value: &Value| match value {
            Value::Unknown => Some("an expansion".to_owned()),
            Value::Depends(names) => names
                .iter()
                .find(|name| unknown.contains(name.as_str()) || self.is_foreign(name))
                .cloned(),
        };
        let arithmetic = |name: String, span: Span| Opaque {
            reason: Reason::Arithmetic(name),
            span,
        };
        let mut found = self.changed_meanings(functions);
        for each in &self.uses {
            found.extend(culprit(&each.value).map(|name| match each.by {
                None => arithmetic(name, each.span),
                Some(by) => Opaque {
                    reason: Reason::DynamicVariable(by.to_owned()),
                    span: each.span,
                },
            }));
        }
        for each in &self.subscripts {
            if !self.is_associative(each, commands) {
                found.extend(culprit(&each.value).map(|name| arithmetic(name, each.span)));
            }
        }
        for (name, values) in &self.assigned {
            if self.attribute.contains(name) || INTEGER_ATTRIBUTE.contains(&name.as_str()) {
                let evaluated = values.iter().filter(|(value, _)| culprit(value).is_some());
                found.extend(evaluated.map(|(_, span)| arithmetic(name.clone(), *span)));
            }
        }
        found.sort_by_key(|opaque| opaque.span);
        found
    }

    /// Never assigned, or by the shell too: it comes from outside, if it is set at all.
    fn is_foreign(&self, name: &str) -> bool {
        if SET_BY_BASH.contains(&name) {
            return true;
        }
        !self.assigned.contains_key(name) && !KEPT_BY_BASH.contains(&name)
    }

    /// Declared before, for certain, in the same function or at script level.
    fn is_associative(&self, subscript: &Subscript, commands: &[Command]) -> bool {
        !self.not_associative.contains(&subscript.name)
            && self
                .associative
                .get(&subscript.name)
                .is_some_and(|declared| {
                    declared.iter().any(|command| {
                        commands.get(*command).is_some_and(|command| {
                            let context = &command.context;
                            let here = context.is_only_in(Place::Function)
                                && context.function() == subscript.function.as_deref();
                            (context.is_script_level() || here)
                                && command.span.start <= subscript.span.start
                        })
                    })
                })
    }

    /// Variables that are given something else than an integer, directly or from another variable.
    fn unknown_variables(&self) -> HashSet<&str> {
        let mut unknown: HashSet<&str> = HashSet::new();
        let mut feeds: HashMap<&str, Vec<&str>> = HashMap::new();
        let mut queue: Vec<&str> = Vec::new();
        for (name, values) in &self.assigned {
            for (value, _) in values {
                match value {
                    Value::Unknown => queue.push(name),
                    Value::Depends(sources) => {
                        for source in sources {
                            if self.is_foreign(source) {
                                queue.push(name);
                            }
                            feeds.entry(source).or_default().push(name);
                        }
                    }
                }
            }
        }
        while let Some(name) = queue.pop() {
            if unknown.insert(name) {
                queue.extend(feeds.get(name).into_iter().flatten());
            }
        }
        unknown
    }
}

/// A word as the value of a variable: decimal digits with a sign, and variables.
fn number(word: &Lexeme) -> Value {
    let mut names = Vec::new();
    for piece in &word.pieces {
        match piece {
            Piece::Text(text) if is_range(text) => {}
            Piece::Text(text) => {
                let digits = text
                    .strip_prefix(b"-")
                    .or_else(|| text.strip_prefix(b"+"))
                    .unwrap_or(text);
                if !digits.iter().all(u8::is_ascii_digit) {
                    return Value::Unknown;
                }
            }
            Piece::Variable(name) => names.push(name.clone()),
            Piece::Integer => {}
            Piece::Unknown => return Value::Unknown,
        }
    }
    Value::Depends(names)
}

/// `{1..10}`, which becomes integers.
fn is_range(text: &[u8]) -> bool {
    text.starts_with(b"{")
        && text.ends_with(b"}")
        && text
            .iter()
            .all(|b| b.is_ascii_digit() || matches!(b, b'{' | b'}' | b'.' | b',' | b'-'))
}

/// A marker for an expansion within the text of an expression.
const EXPANSION: u8 = 1;

fn flattened(word: &Lexeme) -> Option<(Vec<u8>, Vec<String>)> {
    let mut text = Vec::new();
    let mut names = Vec::new();
    for piece in &word.pieces {
        match piece {
            Piece::Text(part) if part.iter().any(|b| matches!(b, b'$' | b'`')) => return None,
            Piece::Text(part) => text.extend_from_slice(part),
            Piece::Variable(name) => {
                names.push(name.clone());
                text.push(EXPANSION);
            }
            Piece::Integer => text.push(EXPANSION),
            Piece::Unknown => return None,
        }
    }
    Some((text, names))
}

/// The variables that an expression reads, whether by `$x` or by `x`.
fn expression(word: &Lexeme) -> Value {
    let Some((text, mut names)) = flattened(word) else {
        return Value::Unknown;
    };
    for (name, start) in identifiers(&text) {
        let before = start.checked_sub(1).and_then(|at| text.get(at));
        let after = text.get(start + name.len());
        // A name that is put together from an expansion and text.
        if before == Some(&EXPANSION) || after == Some(&EXPANSION) {
            return Value::Unknown;
        }
        names.push(name);
    }
    Value::Depends(names)
}

/// Names in the text, with their offsets; not the letters of `0x1f` and `16#ff`.
fn identifiers(text: &[u8]) -> Vec<(String, usize)> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(byte) = text.get(at) {
        let start = at;
        let is_part = |b: &u8| is_identifier_byte(*b) || matches!(b, b'#' | b'@');
        if is_identifier_start(*byte) {
            at += text
                .get(at..)
                .unwrap_or_default()
                .iter()
                .take_while(|b| is_identifier_byte(**b))
                .count();
            let name =
                String::from_utf8_lossy(text.get(start..at).unwrap_or_default()).into_owned();
            found.push((name, start));
        } else if byte.is_ascii_digit() {
            at += text
                .get(at..)
                .unwrap_or_default()
                .iter()
                .take_while(|b| is_part(b))
                .count();
        } else {
            at += 1;
        }
    }
    found
}

/// Names that an expression assigns to: `x = …`, `x += …`, `x++`, `--x`, and `x[…] = …`.
fn assigned_names(word: &Lexeme) -> Vec<String> {
    let Some((text, _)) = flattened(word) else {
        return Vec::new();
    };
    let mut found = Vec::new();
    for (name, start) in identifiers(&text) {
        let before = text.get(..start).unwrap_or_default().trim_ascii_end();
        let after = text
            .get(start + name.len()..)
            .unwrap_or_default()
            .trim_ascii_start();
        let stepped = before.ends_with(b"++")
            || before.ends_with(b"--")
            || after.starts_with(b"++")
            || after.starts_with(b"--");
        let operator = after
            .iter()
            .take_while(|b| b"+-*/%<>&^|=".contains(b))
            .count();
        let operator = after.get(..operator).unwrap_or_default();
        let assigns = operator.ends_with(b"=") && !matches!(operator, b"==" | b"<=" | b">=")
            || operator.starts_with(b"=") && operator.get(1) != Some(&b'=');
        if stepped || assigns {
            found.push(name);
        }
    }
    found
}
