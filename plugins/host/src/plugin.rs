//! A plugin with what it says of itself, read and checked.

use std::collections::HashMap;

use harness_plugin_abi::{DIRECT_META, Description, ToolDescription};
use jsonschema::Validator;
use serde_json::{Map, Value, json};

use crate::{
    error::{Error, Result},
    library::{Library, State},
    schema,
};

/// The longest name of a tool, in characters (MCP's own advice).
const NAME_MAX: usize = 64;

/// A plugin that has begun.
pub(crate) struct Plugin {
    pub(crate) description: Description,
    pub(crate) tools: Tools,
    pub(crate) state: State,
}

/// Its tools, ready to be listed and called.
pub(crate) struct Tools {
    /// As MCP lists them, in order.
    pub(crate) listed: Vec<Value>,
    inputs: HashMap<String, Validator>,
}

impl Tools {
    /// What an input of a tool has to be; `None` when there is no such tool.
    pub(crate) fn input(&self, tool: &str) -> Option<&Validator> {
        self.inputs.get(tool)
    }
}

/// Asks a library what it is.
pub(crate) fn describe(library: &Library) -> Result<(Description, Tools)> {
    let description: Description =
        serde_json::from_slice(&library.describe()?).map_err(|error| Error::Description {
            fault: error.to_string(),
        })?;
    if description.name.is_empty() {
        let fault = "it has no name".to_owned();
        return Err(Error::Description { fault });
    }
    let mut inputs = HashMap::new();
    for tool in &description.tools {
        let validator = check(tool)?;
        if inputs.insert(tool.name.clone(), validator).is_some() {
            let fault = format!("there are two tools {:?}", tool.name);
            return Err(Error::Description { fault });
        }
    }
    let listed = description.tools.iter().map(listed).collect();
    Ok((description, Tools { listed, inputs }))
}

fn check(tool: &ToolDescription) -> Result<Validator> {
    let name = &tool.name;
    let letter = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
    if name.is_empty() || name.len() > NAME_MAX || !name.chars().all(letter) {
        let fault = format!(
            "the name {name:?} of a tool has to be 1 to {NAME_MAX} characters of a-z, A-Z, 0-9, _, - and ."
        );
        return Err(Error::Description { fault });
    }
    if let Some(output) = &tool.output_schema {
        schema::compile(output, &format!("{name}'s output"))?;
    }
    schema::compile(&tool.input_schema, &format!("{name}'s input"))
}

/// A tool as `tools/list` shows it.
fn listed(tool: &ToolDescription) -> Value {
    let mut listed = json!({
        "name": tool.name,
        "description": tool.description,
        "inputSchema": object(&tool.input_schema),
        "annotations": tool.annotations,
    });
    if let Some(title) = &tool.title {
        listed["title"] = json!(title);
    }
    if let Some(output) = &tool.output_schema {
        listed["outputSchema"] = object(output);
    }
    if tool.direct {
        listed["_meta"] = json!({DIRECT_META: true});
    }
    listed
}

/// MCP wants schemas whose `type` says that they are of an object.
fn object(schema: &Value) -> Value {
    let mut schema: Map<String, Value> = schema.as_object().cloned().unwrap_or_default();
    schema.entry("type").or_insert_with(|| json!("object"));
    Value::Object(schema)
}
