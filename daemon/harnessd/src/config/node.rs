//! A TOML document whose every key and value remembers its file and place.

use std::{collections::BTreeMap, sync::Arc};

use toml::{
    Spanned,
    de::{DeTable, DeValue},
};

use super::{
    diagnostic::{Diagnostic, Diagnostics, Source, Span},
    path::Step,
};

/// One value.
#[derive(Debug, Clone)]
pub(super) struct Node {
    pub(super) span: Span,
    pub(super) value: Value,
}

/// What a value is.
#[derive(Debug, Clone)]
pub(super) enum Value {
    String(String),
    Integer(i64),
    Float(f64),
    Boolean(bool),
    /// No key takes one; kept as text for the message.
    Datetime(String),
    Array(Vec<Node>),
    Table(Table),
}

/// The entries of a table by key.
pub(super) type Table = BTreeMap<String, Entry>;

/// A key and its value.
#[derive(Debug, Clone)]
pub(super) struct Entry {
    /// Where the key stands.
    pub(super) key: Span,
    pub(super) node: Node,
}

/// More syntax errors of one file than this are not shown: the first is the cause of the rest.
const SYNTAX_ERRORS_MAX: usize = 5;

/// Parses one file.
pub(super) fn parse(source: &Arc<Source>) -> Result<Node, Diagnostics> {
    let (document, errors) = DeTable::parse_recoverable(&source.text);
    let mut problems = Diagnostics::new();
    for error in errors.iter().take(SYNTAX_ERRORS_MAX) {
        let end = source.text.len();
        let range = error.span().unwrap_or(end..end);
        let span = Span {
            source: Arc::clone(source),
            range,
        };
        problems.push(Diagnostic::error(error.message(), Some(span)));
    }
    let range = document.span();
    let table = Reader {
        source,
        problems: &mut problems,
    }
    .table(document.get_ref());
    if problems.is_empty() {
        Ok(Node {
            span: Span {
                source: Arc::clone(source),
                range,
            },
            value: Value::Table(table),
        })
    } else {
        Err(problems)
    }
}

struct Reader<'a> {
    source: &'a Arc<Source>,
    problems: &'a mut Diagnostics,
}

impl Reader<'_> {
    fn span(&self, range: std::ops::Range<usize>) -> Span {
        Span {
            source: Arc::clone(self.source),
            range,
        }
    }

    fn table(&mut self, table: &DeTable<'_>) -> Table {
        table
            .iter()
            .map(|(key, value)| {
                let entry = Entry {
                    key: self.span(key.span()),
                    node: self.node(value),
                };
                (key.get_ref().to_string(), entry)
            })
            .collect()
    }

    fn node(&mut self, value: &Spanned<DeValue<'_>>) -> Node {
        let span = self.span(value.span());
        let value = match value.get_ref() {
            DeValue::String(text) => Value::String(text.to_string()),
            DeValue::Integer(number) => {
                match i64::from_str_radix(number.as_str(), number.radix()) {
                    Ok(number) => Value::Integer(number),
                    Err(_) => self.refuse(&span, "the number is too large"),
                }
            }
            DeValue::Float(number) => match number.as_str().parse() {
                Ok(number) => Value::Float(number),
                Err(_) => self.refuse(&span, "the number cannot be read"),
            },
            DeValue::Boolean(value) => Value::Boolean(*value),
            DeValue::Datetime(time) => Value::Datetime(time.to_string()),
            DeValue::Array(items) => {
                Value::Array(items.iter().map(|item| self.node(item)).collect())
            }
            DeValue::Table(table) => Value::Table(self.table(table)),
        };
        Node { span, value }
    }

    fn refuse(&mut self, span: &Span, message: &str) -> Value {
        self.problems
            .push(Diagnostic::error(message, Some(span.clone())));
        Value::Integer(0)
    }
}

impl Node {
    /// The value at a path.
    pub(super) fn get(&self, path: &[Step]) -> Option<&Self> {
        let Some((step, rest)) = path.split_first() else {
            return Some(self);
        };
        match (step, &self.value) {
            (Step::Key(key), Value::Table(table)) => table.get(key)?.node.get(rest),
            (Step::Index(index), Value::Array(items)) => items.get(*index)?.get(rest),
            _ => None,
        }
    }

    /// Where the value at a path stands, if a file sets it.
    pub(super) fn span(&self, path: &[Step]) -> Option<Span> {
        self.get(path).map(|node| node.span.clone())
    }

    /// Where the key of a path stands.
    pub(super) fn key_span(&self, path: &[Step]) -> Option<Span> {
        let (last, parent) = path.split_last()?;
        match (last, &self.get(parent)?.value) {
            (Step::Key(key), Value::Table(table)) => Some(table.get(key)?.key.clone()),
            _ => self.span(path),
        }
    }

    /// Takes the value at a path out; the path must not be empty.
    pub(super) fn remove(&mut self, path: &[Step]) -> bool {
        match (path.split_first(), &mut self.value) {
            (Some((Step::Key(key), [])), Value::Table(table)) => table.remove(key).is_some(),
            (Some((Step::Index(index), [])), Value::Array(items)) if *index < items.len() => {
                items.remove(*index);
                true
            }
            (Some((Step::Key(key), rest)), Value::Table(table)) => table
                .get_mut(key)
                .is_some_and(|entry| entry.node.remove(rest)),
            (Some((Step::Index(index), rest)), Value::Array(items)) => {
                items.get_mut(*index).is_some_and(|item| item.remove(rest))
            }
            _ => false,
        }
    }
}
