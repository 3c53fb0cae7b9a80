//! Why a value of a document could not be read.

use std::fmt;

use serde::de;

use super::{
    diagnostic::{Diagnostic, Span},
    node::{Node, Value},
    path::{Step, dotted},
};

/// A message, and from the innermost value that it concerns its path and place.
#[derive(Debug)]
pub(super) struct ReadError {
    message: String,
    span: Option<Span>,
    pub(super) path: Vec<Step>,
    /// The key that a table must have and has not.
    pub(super) missing: Option<&'static str>,
}

impl ReadError {
    pub(super) fn new(message: String) -> Self {
        Self {
            message,
            span: None,
            path: Vec::new(),
            missing: None,
        }
    }

    /// Gives it a place, unless it has one.
    pub(super) fn or_at(mut self, path: Vec<Step>, node: &Node) -> Self {
        if self.span.is_none() {
            self.span = Some(narrow(node, &self.message).span.clone());
            self.path = path;
        }
        self
    }

    pub(super) fn into_diagnostic(self) -> Diagnostic {
        let message = match dotted(&self.path) {
            path if path.is_empty() => self.message,
            path => format!("{path}: {}", self.message),
        };
        Diagnostic::error(message, self.span)
    }
}

/// A list that is read as one value (exit statuses): the element that the message quotes.
fn narrow<'a>(node: &'a Node, message: &str) -> &'a Node {
    let Value::Array(items) = &node.value else {
        return node;
    };
    let quoted = |item: &&Node| match &item.value {
        Value::String(text) => message.contains(&format!("{text:?}")),
        Value::Integer(number) => message.contains(&format!("\"{number}\"")),
        Value::Float(_)
        | Value::Boolean(_)
        | Value::Datetime(_)
        | Value::Array(_)
        | Value::Table(_) => false,
    };
    items.iter().find(quoted).unwrap_or(node)
}

/// A value in words, cut where it is long.
pub(super) fn found(node: &Node) -> String {
    match &node.value {
        Value::String(text) => {
            let start: String = text.chars().take(60).collect();
            format!("the text {start:?}")
        }
        Value::Integer(number) => format!("the number {number}"),
        Value::Float(number) => format!("the number {number}"),
        Value::Boolean(value) => format!("{value}"),
        Value::Datetime(time) => format!("the date {time}"),
        Value::Array(_) => "an array".to_owned(),
        Value::Table(_) => "a table".to_owned(),
    }
}

fn unexpected(value: de::Unexpected<'_>) -> String {
    match value {
        de::Unexpected::Seq => "an array".to_owned(),
        de::Unexpected::Map => "a table".to_owned(),
        de::Unexpected::Str(text) => {
            let start: String = text.chars().take(60).collect();
            format!("the text {start:?}")
        }
        de::Unexpected::Unsigned(number) => format!("the number {number}"),
        de::Unexpected::Signed(number) => format!("the number {number}"),
        de::Unexpected::Float(number) => format!("the number {number}"),
        de::Unexpected::Bool(value) => format!("{value}"),
        de::Unexpected::Other(name) => name.to_owned(),
        de::Unexpected::Char(_)
        | de::Unexpected::Bytes(_)
        | de::Unexpected::Unit
        | de::Unexpected::Option
        | de::Unexpected::NewtypeStruct
        | de::Unexpected::Enum
        | de::Unexpected::UnitVariant
        | de::Unexpected::NewtypeVariant
        | de::Unexpected::TupleVariant
        | de::Unexpected::StructVariant => value.to_string(),
    }
}

impl fmt::Display for ReadError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.message)
    }
}

impl std::error::Error for ReadError {}

impl de::Error for ReadError {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self::new(message.to_string())
    }

    fn invalid_type(value: de::Unexpected<'_>, expected: &dyn de::Expected) -> Self {
        Self::new(format!("expected {expected}, found {}", unexpected(value)))
    }

    fn missing_field(field: &'static str) -> Self {
        Self {
            missing: Some(field),
            ..Self::new(format!("the key `{field}` is missing"))
        }
    }
}
