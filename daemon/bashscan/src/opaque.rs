//! Why a part of a script is not understood.

use std::fmt;

use crate::word::Span;

/// A part whose effect cannot be told from the text. Whatever its class, no list allows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Opaque {
    /// Why.
    pub reason: Reason,
    /// Which part.
    pub span: Span,
}

/// Why a part is opaque.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reason {
    /// Longer than [`MAX_LENGTH`](crate::MAX_LENGTH) bytes.
    TooLong,
    /// Nested deeper than [`MAX_DEPTH`](crate::MAX_DEPTH) constructs.
    TooDeep,
    /// Not the grammar of bash, or not a part of it that is read here.
    Syntax(&'static str),
    /// A control character, a look-alike of a space or an invisible character, outside quotes or in
    /// a command name.
    Character(char),
    /// The name of the command is known only at run time.
    DynamicCommand,
    /// Code that is known only at run time, or is kept elsewhere, is given to this command.
    Code(String),
    /// Changes how the shell reads or finds what follows.
    ShellState(String),
    /// Sets a variable that the shell or programs take code or paths from.
    Variable(String),
    /// The name of a variable is known only at run time; a subscript in it would be evaluated.
    DynamicVariable(String),
    /// A value that is known only at run time is evaluated as arithmetic, and a subscript in it
    /// may hold a command substitution.
    Arithmetic(String),
    /// A command that runs its arguments, used in a way that is not understood.
    Wrapper(String),
    /// A redirection to the network.
    Network,
    /// Two independent readings found different substitutions.
    Disagreement,
    /// There is text, but no command in it.
    Nothing,
}

/// How much is known about a part that nobody but a person can allow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Class {
    /// The reading failed, or rests on a grammar that the script may have changed, or ends at a
    /// program that runs others in a way that is not known here: anything may run.
    NotUnderstood,
    /// All of it was read, but a value that exists only at run time is evaluated, or names a
    /// variable: what it runs or sets depends on that value.
    Evaluates,
    /// All of it was read, and this is a command whose name, or code that a command is given, exists
    /// only at run time or in another file, a variable that decides what programs do, or the network.
    Asks,
}

impl Reason {
    /// What kind of reason it is.
    #[must_use]
    pub fn class(&self) -> Class {
        match self {
            Self::DynamicCommand | Self::Code(_) | Self::Variable(_) | Self::Network => Class::Asks,
            Self::DynamicVariable(_) | Self::Arithmetic(_) => Class::Evaluates,
            Self::TooLong
            | Self::TooDeep
            | Self::Syntax(_)
            | Self::Character(_)
            | Self::ShellState(_)
            | Self::Wrapper(_)
            | Self::Disagreement
            | Self::Nothing => Class::NotUnderstood,
        }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooLong => f.write_str("the script is too long to be read"),
            Self::TooDeep => f.write_str("nested too deep"),
            Self::Syntax(what) => write!(f, "not understood: {what}"),
            Self::Character(c) => write!(f, "character U+{:04X} outside quotes", u32::from(*c)),
            Self::DynamicCommand => f.write_str("the command's name is known only at run time"),
            Self::Code(name) => write!(f, "{name} runs code that is known only at run time"),
            Self::ShellState(name) => write!(f, "{name} changes how the shell works"),
            Self::Variable(name) => write!(f, "{name} decides what other commands do"),
            Self::DynamicVariable(name) => {
                write!(
                    f,
                    "{name} gets a variable's name that is not a plain literal"
                )
            }
            Self::Arithmetic(name) => {
                write!(f, "arithmetic on {name}, which may hold more than a number")
            }
            Self::Wrapper(name) => write!(f, "what {name} would run is not understood"),
            Self::Network => f.write_str("a redirection to the network"),
            Self::Disagreement => f.write_str("two readings of the script disagree"),
            Self::Nothing => f.write_str("no command found in the text"),
        }
    }
}
