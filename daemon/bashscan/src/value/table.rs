//! All assignments of a script, and all uses that depend on what was assigned.

use std::collections::{BTreeMap, BTreeSet};

use super::expression::{assigned_names, expression};
use super::{Kind, Value};
use crate::context::{Context, Place};
use crate::lexer::Lexeme;
use crate::opaque::Reason;
use crate::order::Site;
use crate::scan::Command;
use crate::word::{Span, Word};

/// What a value has to be for the script to mean what it seems to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Need {
    /// It is evaluated as an expression.
    Integer,
    /// A subscript in it would be evaluated.
    Plain,
    /// The script itself says what it is.
    Constant,
    /// It must not be taken for an option; and whether it may become several words.
    NoOption { splits: bool },
}

pub(super) struct Use {
    pub(super) value: Value,
    pub(super) need: Need,
    /// It does not matter if this is an integer.
    pub(super) unless: Option<Value>,
    /// Why it is opaque otherwise.
    pub(super) reason: Reason,
    /// In a text that is kept: other variables may be there when it runs.
    pub(super) in_code: bool,
    pub(super) span: Span,
}

pub(super) struct Subscript {
    pub(super) name: String,
    pub(super) value: Value,
    pub(super) in_code: bool,
    pub(super) in_substitution: bool,
    pub(super) span: Span,
}

pub(super) struct Assigned {
    pub(super) value: Value,
    pub(super) constant: Option<String>,
    pub(super) span: Span,
}

/// All assignments and uses of a script.
#[derive(Default)]
pub(crate) struct Values {
    pub(super) assigned: BTreeMap<String, Vec<Assigned>>,
    pub(super) uses: Vec<Use>,
    pub(super) subscripts: Vec<Subscript>,
    /// Variables with the integer attribute.
    pub(super) integer: BTreeSet<String>,
    /// Variables with an attribute that changes what they are given.
    pub(super) changed: BTreeSet<String>,
    /// Unset, or declared without a value, somewhere.
    pub(super) emptied: BTreeSet<String>,
    /// Nothing is known about positional parameters.
    pub(super) positional_unknown: bool,
    /// The script changes how words are split.
    pub(super) separator: bool,
    /// Made readonly as they were: no assignment changes them.
    kept: BTreeSet<String>,
    /// Associative arrays, with where they are declared.
    pub(super) associative: BTreeMap<String, Vec<Site>>,
    /// Where arrays are given elements: of one that is not declared by then, they make an indexed one.
    pub(super) elements: BTreeMap<String, Vec<Span>>,
    /// Declared as something else, or unset, somewhere.
    pub(super) not_associative: BTreeSet<String>,
    /// Arrays of either kind.
    pub(super) arrays: BTreeSet<String>,
    /// Whose value would be read as code if they were arrays.
    pub(super) not_arrays: Vec<(String, Span)>,
    /// Words of commands that are not literal, with the index of the command.
    calls: Vec<(usize, Lexeme)>,
    /// Functions that are defined anywhere.
    pub(super) functions: BTreeSet<String>,
    /// Unset by a command that removes a function if there is no such variable.
    pub(super) unset: BTreeMap<String, Vec<Span>>,
}

impl Values {
    /// A variable is given the value of a word.
    pub(crate) fn assign(&mut self, name: &str, value: &Lexeme, span: Span) {
        self.push(name, Value::of(value), value.literal(), span);
    }

    /// The value of a word is put behind what a variable holds.
    pub(crate) fn append(&mut self, name: &str, value: &Lexeme, span: Span) {
        self.push(name, Value::of(value), None, span);
    }

    /// The script changes how words are split.
    pub(crate) fn separator_changes(&mut self) {
        self.separator = true;
    }

    /// A variable is given something of which this is known.
    pub(crate) fn assign_value(&mut self, name: &str, value: Value, span: Span) {
        self.push(name, value, None, span);
    }

    /// A variable is given a value that is not known.
    pub(crate) fn assign_unknown(&mut self, name: &str, span: Span) {
        self.push(name, Value::of_kind(Kind::Unknown), None, span);
    }

    /// A variable is given an integer.
    pub(crate) fn assign_integer(&mut self, name: &str, span: Span) {
        self.push(name, Value::of_kind(Kind::Integer), None, span);
    }

    fn push(&mut self, name: &str, value: Value, constant: Option<String>, span: Span) {
        let assigned = Assigned {
            value,
            constant,
            span,
        };
        match self.assigned.get_mut(name) {
            Some(all) => all.push(assigned),
            None => {
                self.assigned.insert(name.to_owned(), vec![assigned]);
            }
        }
    }

    /// `declare -i`
    pub(crate) fn integer_attribute(&mut self, name: &str) {
        self.integer.insert(name.to_owned());
    }

    /// `declare -u` and its kin: a value is not what was assigned.
    pub(crate) fn changing_attribute(&mut self, name: &str) {
        self.changed.insert(name.to_owned());
    }

    /// Unset, or declared without a value.
    pub(crate) fn emptied(&mut self, name: &str) {
        self.emptied.insert(name.to_owned());
    }

    /// Readonly, whatever it holds.
    pub(crate) fn kept(&mut self, name: &str) {
        self.kept.insert(name.to_owned());
    }

    /// Whether an assignment that has run may be without effect: it has failed, or a variable of an
    /// outer function has come to light.
    pub(super) fn may_not_hold(&self, name: &str) -> bool {
        self.kept.contains(name) || self.unset.contains_key(name)
    }

    /// An array is given elements.
    pub(crate) fn has_elements(&mut self, name: &str, span: Span) {
        self.is_array(name);
        self.elements.entry(name.to_owned()).or_default().push(span);
    }

    /// `declare -A`
    pub(crate) fn associative(&mut self, name: &str, command: Site) {
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

    /// A function of this name is defined.
    pub(crate) fn function(&mut self, name: &str) {
        self.functions.insert(name.to_owned());
    }

    /// `unset NAME`
    pub(crate) fn unset(&mut self, name: &str, span: Span) {
        self.not_associative(name);
        self.emptied(name);
        self.unset.entry(name.to_owned()).or_default().push(span);
    }

    /// The word is data to a command only if its value is what is needed.
    pub(crate) fn require(&mut self, text: &Lexeme, need: Need, reason: Reason, span: Span) {
        self.uses.push(Use {
            value: Value::of(text),
            need,
            unless: None,
            reason,
            in_code: false,
            span,
        });
    }

    /// The same, but it does not matter if the other is an integer.
    pub(crate) fn require_unless_integer(
        &mut self,
        text: &Lexeme,
        need: Need,
        other: &Lexeme,
        reason: Reason,
        span: Span,
    ) {
        self.require(text, need, reason, span);
        if let Some(last) = self.uses.last_mut() {
            last.unless = Some(Value::of(other));
        }
    }

    /// The text is evaluated.
    pub(crate) fn evaluate(&mut self, text: &Lexeme, context: &Context, span: Span) {
        let value = expression(text);
        if value.kind == Kind::Integer {
            for name in assigned_names(text) {
                self.assign_integer(&name, span);
            }
        }
        self.uses.push(Use {
            value,
            need: Need::Integer,
            unless: None,
            reason: Reason::Arithmetic(String::new()),
            in_code: context.is_in(Place::Code),
            span,
        });
    }

    /// The text is evaluated if it is a subscript of an indexed array.
    pub(crate) fn subscript(&mut self, name: &str, text: &Lexeme, context: &Context, span: Span) {
        self.subscripts.push(Subscript {
            name: name.to_owned(),
            value: expression(text),
            in_code: context.is_in(Place::Code),
            in_substitution: context.is_in(Place::Substitution)
                || context.is_in(Place::ProcessSubstitution),
            span,
        });
    }

    /// A word of the command of this index, which may be a call to a function; not a literal one.
    pub(crate) fn call(&mut self, command: usize, word: Lexeme) {
        self.calls.push((command, word));
    }

    /// Gives functions the arguments of their calls: all are kept as one value.
    pub(crate) fn pass_arguments(&mut self, commands: &[Command]) {
        let calls = std::mem::take(&mut self.calls);
        if self.functions.is_empty() {
            return;
        }
        let function = |values: &Self, command: &Command| {
            let name = command.name();
            name.filter(|name| values.functions.contains(*name))
                .map(|name| positional(Some(name)))
        };
        for command in commands {
            let Some(name) = function(self, command) else {
                continue;
            };
            for text in command.words.iter().skip(1).filter_map(Word::literal) {
                self.positional(&name, &Value::of_text(text), command.span);
            }
        }
        for (index, word) in calls {
            if let Some(command) = commands.get(index)
                && let Some(name) = function(self, command)
            {
                self.positional(&name, &Value::of(&word), command.span);
            }
        }
    }

    /// Positional parameters are given values, it is not known whose.
    pub(crate) fn positional_unknown(&mut self) {
        self.positional_unknown = true;
    }

    /// The positional parameters of this name are given values.
    pub(crate) fn positional(&mut self, name: &str, value: &Value, span: Span) {
        match self.assigned.get_mut(name).and_then(|all| all.first_mut()) {
            Some(one) => one.value.or(value),
            None => self.push(name, value.clone(), None, span),
        }
    }
}

/// The name under which the positional parameters are kept; none if they are those of another shell,
/// or of whatever was interrupted.
pub(crate) fn positional_in(context: &Context) -> Option<String> {
    (!context.is_in(Place::Code)).then(|| positional(context.function()))
}

/// The same for a function, or for the script.
fn positional(function: Option<&str>) -> String {
    let mut name = String::from("@");
    name.push_str(function.unwrap_or(""));
    name
}
