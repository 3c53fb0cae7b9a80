//! Reads typed tables out of a located document, and goes on after an error to find the next.

use std::cell::RefCell;

use serde::de::{
    self, DeserializeOwned, DeserializeSeed, Deserializer, EnumAccess, IntoDeserializer, MapAccess,
    SeqAccess, Visitor, value::StringDeserializer,
};

use super::{
    diagnostic::{Diagnostic, Diagnostics, Span},
    nearest::hint,
    node::{Node, Table, Value},
    path::{Step, dotted},
    read_error::{ReadError, found},
};

/// What could be read of a document.
pub(super) struct Reading<T> {
    /// With defaults for what could not be read.
    pub(super) value: T,
    /// The document without that.
    pub(super) tree: Node,
    /// The paths that were taken out of it.
    pub(super) removed: Vec<Vec<Step>>,
    pub(super) problems: Diagnostics,
}

/// Reads the whole document. Unknown keys and wrong values are reported and left out, so that one
/// pass finds them all.
///
/// `T` must accept an empty table.
pub(super) fn read<T: DeserializeOwned + Default>(mut tree: Node) -> Reading<T> {
    let unknown = RefCell::new(Diagnostics::new());
    let mut problems = Diagnostics::new();
    let mut removed = Vec::new();
    let value = loop {
        let reader = Reader {
            node: &tree,
            path: Vec::new(),
            unknown: &unknown,
        };
        let error = match T::deserialize(reader) {
            Ok(value) => break value,
            Err(error) => error,
        };
        let path = error.path.clone();
        // A key that is missing because it was just taken out has been reported.
        let field = error
            .missing
            .map(|field| [&path, &[Step::from(field)][..]].concat());
        if !field.is_some_and(|field| removed.contains(&field)) {
            problems.push(error.into_diagnostic());
        }
        if !tree.remove(&path) {
            break T::default();
        }
        if let Some(Step::Index(_)) = path.last() {
            // The next item has this path now.
            removed.retain(|old: &Vec<Step>| !old.starts_with(&path));
        } else {
            removed.push(path);
        }
    };
    problems.append(unknown.into_inner());
    Reading {
        value,
        tree,
        removed,
        problems,
    }
}

#[derive(Clone)]
struct Reader<'a> {
    node: &'a Node,
    path: Vec<Step>,
    unknown: &'a RefCell<Diagnostics>,
}

impl<'a> Reader<'a> {
    fn child(&self, step: Step, node: &'a Node) -> Self {
        let mut path = self.path.clone();
        path.push(step);
        Self {
            node,
            path,
            unknown: self.unknown,
        }
    }

    /// Gives an error this place, unless it has a more exact one.
    fn locate(&self, error: ReadError) -> ReadError {
        error.or_at(self.path.clone(), self.node)
    }

    fn wrong(&self, expected: &str) -> ReadError {
        let message = format!("expected {expected}, found {}", found(self.node));
        self.locate(ReadError::new(message))
    }

    fn any<'de, V: Visitor<'de>>(&self, visitor: V) -> Result<V::Value, ReadError> {
        let result = match &self.node.value {
            Value::String(text) => visitor.visit_str(text),
            Value::Integer(number) => match u64::try_from(*number) {
                Ok(number) => visitor.visit_u64(number),
                Err(_) => visitor.visit_i64(*number),
            },
            Value::Float(number) => visitor.visit_f64(*number),
            Value::Boolean(value) => visitor.visit_bool(*value),
            Value::Datetime(_) => Err(ReadError::new(
                "no key takes a date: write text in quotes".to_owned(),
            )),
            Value::Array(items) => visitor.visit_seq(Items {
                reader: self,
                items: items.iter().enumerate(),
            }),
            Value::Table(table) => visitor.visit_map(Fields::new(self, table, None)),
        };
        result.map_err(|error| self.locate(error))
    }
}

/// Whole numbers: the message names the range instead of a type of this language.
macro_rules! whole_number {
    ($($method:ident $visit:ident $type:ty;)+) => {$(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ReadError> {
            match &self.node.value {
                Value::Integer(number) if let Ok(number) = <$type>::try_from(*number) => {
                    visitor.$visit(number).map_err(|error| self.locate(error))
                }
                _ => {
                    let least = <$type>::MIN;
                    // TOML's own numbers end here.
                    let most = i64::try_from(<$type>::MAX).unwrap_or(i64::MAX);
                    Err(self.wrong(&format!("a whole number from {least} to {most}")))
                }
            }
        }
    )+};
}

impl<'de> Deserializer<'de> for Reader<'_> {
    type Error = ReadError;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ReadError> {
        self.any(visitor)
    }

    whole_number! {
        deserialize_u8 visit_u8 u8;
        deserialize_u16 visit_u16 u16;
        deserialize_u32 visit_u32 u32;
        deserialize_u64 visit_u64 u64;
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ReadError> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        visitor: V,
    ) -> Result<V::Value, ReadError> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, ReadError> {
        let Value::Table(table) = &self.node.value else {
            return Err(self.wrong("a table"));
        };
        visitor
            .visit_map(Fields::new(&self, table, Some(fields)))
            .map_err(|error| self.locate(error))
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, ReadError> {
        let words = || {
            let words: Vec<String> = variants.iter().map(|word| format!("{word:?}")).collect();
            words.join(", ")
        };
        let Value::String(text) = &self.node.value else {
            return Err(self.wrong(&format!("one of {}", words())));
        };
        if !variants.contains(&text.as_str()) {
            let hint = hint(text, variants.iter().copied());
            return Err(self.locate(ReadError::new(format!("there is no {text:?} here{hint}"))));
        }
        let word: StringDeserializer<ReadError> = text.clone().into_deserializer();
        visitor
            .visit_enum(Word(word))
            .map_err(|error| self.locate(error))
    }

    serde::forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u128 f32 f64 char str string bytes byte_buf unit unit_struct
        seq tuple tuple_struct map identifier ignored_any
    }
}

struct Items<'r, 'a> {
    reader: &'r Reader<'a>,
    items: std::iter::Enumerate<std::slice::Iter<'a, Node>>,
}

impl<'de> SeqAccess<'de> for Items<'_, '_> {
    type Error = ReadError;

    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, ReadError> {
        let Some((index, node)) = self.items.next() else {
            return Ok(None);
        };
        let reader = self.reader.child(Step::Index(index), node);
        let at = reader.clone();
        seed.deserialize(reader)
            .map(Some)
            .map_err(|error| at.locate(error))
    }
}

struct Fields<'r, 'a> {
    reader: &'r Reader<'a>,
    entries: Vec<(&'a String, &'a Node)>,
    value: Option<(&'a String, &'a Node)>,
}

impl<'r, 'a> Fields<'r, 'a> {
    /// With `fields`, other keys are reported and left out.
    fn new(reader: &'r Reader<'a>, table: &'a Table, fields: Option<&[&str]>) -> Self {
        let known = |key: &str, span: &Span| {
            let Some(fields) = fields.filter(|fields| !fields.contains(&key)) else {
                return true;
            };
            let place = match dotted(&reader.path) {
                place if place.is_empty() => "at the top level".to_owned(),
                place => format!("in [{place}]"),
            };
            let hint = hint(key, fields.iter().copied());
            let message = format!("there is no key {key:?} {place}{hint}");
            let diagnostic = Diagnostic::error(message, Some(span.clone()));
            reader.unknown.borrow_mut().push(diagnostic);
            false
        };
        let mut entries: Vec<_> = table
            .iter()
            .filter(|(key, entry)| known(key, &entry.key))
            .map(|(key, entry)| (key, &entry.node))
            .collect();
        entries.reverse();
        Self {
            reader,
            entries,
            value: None,
        }
    }
}

impl<'de> MapAccess<'de> for Fields<'_, '_> {
    type Error = ReadError;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, ReadError> {
        self.value = self.entries.pop();
        let Some((key, node)) = self.value else {
            return Ok(None);
        };
        let reader = self.reader.child(Step::from(key), node);
        let name: StringDeserializer<ReadError> = key.clone().into_deserializer();
        seed.deserialize(name)
            .map(Some)
            .map_err(|error| reader.locate(error))
    }

    fn next_value_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<T::Value, ReadError> {
        let Some((key, node)) = self.value.take() else {
            return Err(de::Error::custom("a value was asked for before its key"));
        };
        let reader = self.reader.child(Step::from(key), node);
        let at = reader.clone();
        seed.deserialize(reader).map_err(|error| at.locate(error))
    }
}

/// A string as the variant of an enum.
struct Word(StringDeserializer<ReadError>);

impl<'de> EnumAccess<'de> for Word {
    type Error = ReadError;
    type Variant = <StringDeserializer<ReadError> as EnumAccess<'de>>::Variant;

    fn variant_seed<V: DeserializeSeed<'de>>(
        self,
        seed: V,
    ) -> Result<(V::Value, Self::Variant), ReadError> {
        self.0.variant_seed(seed)
    }
}
