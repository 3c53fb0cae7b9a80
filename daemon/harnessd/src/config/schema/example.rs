//! An example of a rule.

use std::fmt;

use schemars::JsonSchema;
use serde::{
    Deserialize, Deserializer, Serialize,
    de::{MapAccess, Visitor},
};
use serde_json::{Map, Value};

/// A call that a rule is tried on when the configuration is read.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum Example {
    /// A command, for every tool that runs commands and is judged by this entry.
    Command(String),
    /// An input as it would be called with, where the entry names one tool.
    Input(Map<String, Value>),
}

impl<'de> Deserialize<'de> for Example {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ExampleVisitor)
    }
}

struct ExampleVisitor;

impl<'de> Visitor<'de> for ExampleVisitor {
    type Value = Example;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a command, or a tool's input as a table")
    }

    fn visit_str<E>(self, text: &str) -> Result<Example, E> {
        Ok(Example::Command(text.to_owned()))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Example, A::Error> {
        let mut input = Map::new();
        while let Some((name, value)) = map.next_entry()? {
            input.insert(name, value);
        }
        Ok(Example::Input(input))
    }
}
