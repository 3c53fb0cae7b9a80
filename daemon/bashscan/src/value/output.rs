//! Programs of which it is known what they can print.

use super::{Kind, Value};
use crate::builtin::Argument;

/// Operators of `expr` that make a number of numbers.
const EXPR_OPERATORS: &[&str] = &[
    "+", "-", "*", "/", "%", "=", "!=", "<", ">", "<=", ">=", "(", ")",
];
/// Formats of `stat` that are numbers.
const STAT_NUMBERS: &[&str] = &[
    "%a", "%g", "%h", "%i", "%s", "%u", "%W", "%X", "%Y", "%Z", "%b", "%B", "%o",
];

/// What a command prints on its standard output, if that is known for every input (expr(1), date(1)
/// and so on). A function of the same name prints something else.
pub(crate) fn output(arguments: &[Argument]) -> Option<Value> {
    let (first, operands) = arguments.split_first()?;
    let name = first.literal()?;
    let mut value = match name {
        "whoami" | "logname" | "nproc" | "arch" | "hostname" | "uname" | "tty" => {
            only_flags(operands).then(|| Value::of_kind(Kind::Plain))?
        }
        "id" => id(operands)?,
        "wc" => only_flags(operands).then(|| Value::of_kind(Kind::Integer))?,
        "expr" => expr(operands)?,
        "seq" => numbers(operands)?,
        "date" => date(operands)?,
        "stat" => stat(operands)?,
        "mktemp" => mktemp(operands)?,
        "basename" | "dirname" => parts(operands),
        "echo" => echo(operands)?,
        "which" => names(operands)?,
        "command" => match operands.split_first() {
            Some((option, rest)) if option.literal() == Some("-v") => names(rest)?,
            _ => return None,
        },
        "dpkg" => match operands {
            [option] if option.literal() == Some("--print-architecture") => {
                Value::of_kind(Kind::Plain)
            }
            _ => return None,
        },
        _ => return None,
    };
    value.names.push(function_site(name));
    Some(value)
}

/// The name under which it is kept that a function of this name is defined.
pub(crate) fn function_site(name: &str) -> String {
    format!("{FUNCTION}{name}")
}

/// Begins the name of a function among those of variables.
pub(super) const FUNCTION: &str = "()";

/// Nothing but single letters: no operand, and no `--help`.
fn only_flags(operands: &[Argument]) -> bool {
    operands.iter().all(|operand| {
        operand.literal().is_some_and(|text| {
            text.strip_prefix('-')
                .is_some_and(|letters| letters.bytes().all(|b| b.is_ascii_alphabetic()))
        })
    })
}

fn id(operands: &[Argument]) -> Option<Value> {
    let (flags, users) = operands.split_at(operands.len().min(1));
    let [flag] = flags else { return None };
    let kind = match flag.literal()? {
        "-u" | "-g" | "-ru" | "-rg" => Kind::Integer,
        "-un" | "-gn" | "-nu" | "-ng" => Kind::Plain,
        _ => return None,
    };
    only_flags(flags)
        .then(|| users.iter().all(|user| !user.word.may_be_option()))
        .filter(|fine| *fine)
        .map(|_| Value::of_kind(kind))
}

/// The operands joined, if the text of none says that it is more than a number.
fn numbers(operands: &[Argument]) -> Option<Value> {
    let mut all = Value::of_kind(Kind::Integer);
    for operand in operands {
        all.or(&Value::of(&operand.lexeme()));
    }
    (all.kind == Kind::Integer).then_some(all)
}

fn expr(operands: &[Argument]) -> Option<Value> {
    let is_operator = |operand: &&Argument| {
        operand
            .literal()
            .is_some_and(|text| EXPR_OPERATORS.contains(&text))
    };
    let values: Vec<Argument> = operands
        .iter()
        .filter(|operand| !is_operator(operand))
        .cloned()
        .collect();
    numbers(&values)
}

fn date(operands: &[Argument]) -> Option<Value> {
    let mut format = None;
    for operand in operands {
        match operand.literal() {
            Some(text) if text.starts_with('+') => format = Some(text),
            Some(text) if text.starts_with("--h") || text.starts_with("--v") => return None,
            Some(_) => {}
            None if operand.word.is_one_word() => {}
            None => return None,
        }
    }
    match format? {
        "+%s" => Some(Value::of_kind(Kind::Integer)),
        format if !format.contains(['[', '*', '?', '\\']) => Some(Value::of_kind(Kind::Plain)),
        _ => None,
    }
}

fn stat(operands: &[Argument]) -> Option<Value> {
    let (option, rest) = operands.split_first()?;
    let (format, files) = match option.literal()? {
        "-c" | "--format" => {
            let (format, files) = rest.split_first()?;
            (format.literal()?, files)
        }
        text => (
            text.strip_prefix("-c")
                .or_else(|| text.strip_prefix("--format="))?,
            rest,
        ),
    };
    // An option among the files could be another format.
    let fine = STAT_NUMBERS.contains(&format)
        && files
            .iter()
            .all(|file| file.word.is_one_word() && !file.word.may_be_option());
    fine.then(|| Value::of_kind(Kind::Integer))
}

fn mktemp(operands: &[Argument]) -> Option<Value> {
    let mut all = Value::of_kind(Kind::Plain);
    for operand in operands {
        let is_long = operand
            .literal()
            .is_some_and(|text| text.starts_with("--") && !text.starts_with("--tmpdir"));
        if is_long {
            return None;
        }
        all.or(&Value::of(&operand.lexeme()));
    }
    all.names.push("TMPDIR".to_owned());
    Some(all)
}

/// A part of one operand.
fn parts(operands: &[Argument]) -> Value {
    let mut all = Value::of_kind(Kind::Plain);
    for operand in operands {
        all.or(&Value::of(&operand.lexeme()));
    }
    (all.dash, all.inner_dash, all.leads) = (true, true, false);
    all
}

/// The operands, without options. An escape begins with a backslash, which is not plain.
fn echo(operands: &[Argument]) -> Option<Value> {
    let mut all = Value::of_kind(Kind::Integer);
    for operand in operands {
        if operand.literal() != Some("-n") {
            all.or(&Value::of(&operand.lexeme()));
        }
    }
    all.kind = all.kind.max(Kind::Plain);
    (all.dash, all.inner_dash, all.leads) = (true, true, false);
    (all.kind < Kind::Unknown).then_some(all)
}

/// Where programs of these names are.
fn names(operands: &[Argument]) -> Option<Value> {
    let is_name = |operand: &Argument| {
        operand
            .literal()
            .is_some_and(|text| !text.starts_with('-') && !text.contains(['[', '*', '?', '\\']))
    };
    operands
        .iter()
        .all(is_name)
        .then(|| Value::of_kind(Kind::Plain))
}
