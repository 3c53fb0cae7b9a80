//! Which JSON value a word stands for: what the schema says of its key decides.

use serde_json::{Map, Value};

use super::is_same_name;

/// How deep a schema's references are followed.
const DEPTH: usize = 8;

/// One key of an input.
pub(super) struct Property {
    /// Its name in the schema, or as it was written where the schema has no such key.
    pub(super) name: String,
    types: Types,
    items: Option<Types>,
}

impl Property {
    pub(super) fn named(key: &str, schema: &Value) -> Self {
        let known = schema["properties"].as_object();
        let found = known.and_then(|known| find(key, known));
        let Some((name, property)) = found else {
            return Self {
                name: key.to_owned(),
                types: Types::default(),
                items: None,
            };
        };
        let types = Types::of(property, schema, DEPTH);
        let items = resolved(property, schema, DEPTH).get("items");
        Self {
            name: name.clone(),
            items: types.has(Types::ARRAY).then(|| {
                items.map_or_else(Types::default, |items| Types::of(items, schema, DEPTH))
            }),
            types,
        }
    }

    pub(super) fn is_boolean(&self) -> bool {
        self.types.0 == Types::BOOLEAN
    }

    /// Sets the key. A list takes one value after the other, or a whole one as JSON.
    pub(super) fn put(self, object: &mut Map<String, Value>, word: &str) {
        let value = match &self.items {
            Some(items) => match serde_json::from_str::<Value>(word) {
                Ok(whole @ Value::Array(_)) => whole,
                Ok(_) | Err(_) if self.types.has(Types::STRING) => self.types.value(word),
                Ok(_) | Err(_) => {
                    let item = items.value(word);
                    if let Some(Value::Array(list)) = object.get_mut(&self.name) {
                        list.push(item);
                        return;
                    }
                    Value::Array(vec![item])
                }
            },
            None => self.types.value(word),
        };
        object.insert(self.name, value);
    }
}

/// The key as it is, or the only one that differs in hyphens, underscores and capitals alone.
fn find<'a>(key: &str, known: &'a Map<String, Value>) -> Option<(&'a String, &'a Value)> {
    if let Some(exact) = known.get_key_value(key) {
        return Some(exact);
    }
    if let Some(same) = known.iter().find(|(name, _)| is_same_name(name, key)) {
        return Some(same);
    }
    let plain = |name: &str| name.replace(['-', '_'], "").to_lowercase();
    let mut near = known.iter().filter(|(name, _)| plain(name) == plain(key));
    near.next().filter(|_| near.next().is_none())
}

/// What a value may be: a set.
#[derive(Debug, Clone, Copy, Default)]
struct Types(u8);

impl Types {
    const STRING: u8 = 1;
    const BOOLEAN: u8 = 1 << 1;
    const ARRAY: u8 = 1 << 2;
    /// Anything else.
    const OTHER: u8 = 1 << 3;

    fn of(property: &Value, schema: &Value, depth: usize) -> Self {
        let property = resolved(property, schema, depth);
        let mut types = Self::default();
        match &property["type"] {
            Value::String(name) => types.add(name),
            Value::Array(names) => {
                let names = names.iter().filter_map(Value::as_str);
                names.for_each(|name| types.add(name));
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => {}
        }
        let listed = property["enum"].as_array().into_iter().flatten();
        for value in listed.chain(property.get("const")) {
            types.add(name_of(value));
        }
        if depth > 0 {
            for key in ["anyOf", "oneOf", "allOf"] {
                for branch in property[key].as_array().into_iter().flatten() {
                    types.0 |= Self::of(branch, schema, depth - 1).0;
                }
            }
        }
        types
    }

    fn add(&mut self, name: &str) {
        self.0 |= match name {
            "string" => Self::STRING,
            "boolean" => Self::BOOLEAN,
            "array" => Self::ARRAY,
            "null" => 0,
            _ => Self::OTHER,
        };
    }

    const fn has(self, what: u8) -> bool {
        self.0 & what != 0
    }

    /// Where a string is meant, the word is one; else it is JSON, and a word that is no JSON is a string.
    fn value(self, word: &str) -> Value {
        let text = || Value::String(word.to_owned());
        let parsed: Option<Value> = serde_json::from_str(word).ok();
        match parsed {
            None => text(),
            Some(value) if self.has(Self::STRING) => {
                let is_wanted = match &value {
                    Value::Bool(_) => self.has(Self::BOOLEAN),
                    Value::Array(_) => self.has(Self::ARRAY),
                    Value::Number(_) | Value::Object(_) => self.has(Self::OTHER),
                    Value::Null | Value::String(_) => false,
                };
                if is_wanted { value } else { text() }
            }
            Some(value) => value,
        }
    }
}

fn name_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

/// The schema that a `$ref` into the same document names.
fn resolved<'a>(property: &'a Value, schema: &'a Value, depth: usize) -> &'a Value {
    let mut property = property;
    for _ in 0..depth {
        let target = property["$ref"]
            .as_str()
            .and_then(|path| path.strip_prefix('#'));
        match target.and_then(|pointer| schema.pointer(pointer)) {
            Some(target) => property = target,
            None => break,
        }
    }
    property
}
