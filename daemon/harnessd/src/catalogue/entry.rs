//! One tool, who carries it out, and what it takes.

use std::sync::Arc;

use harness_execute::ToolGroup;
use harness_mcp::Exposed;
use harness_model::{ErrorCode, Refusal, Tool};
use jsonschema::{PatternOptions, Validator};
use serde_json::{Map, Value};

use super::name;

/// One tool with the group that carries it out.
pub(crate) struct Entry {
    pub(crate) tool: Arc<Tool>,
    pub(crate) group: Arc<dyn ToolGroup>,
    /// Its name in the whole catalogue.
    pub(super) full_name: String,
    original: Option<Arc<Map<String, Value>>>,
    /// `None`: the schema is none that can be checked against, and the tool's server checks for itself.
    validator: Option<Arc<Validator>>,
}

/// A tool's own input schema is no JSON Schema.
#[derive(Debug, thiserror::Error)]
#[error("the input schema of {group}/{tool} is not valid: {message}")]
pub struct SchemaError {
    group: String,
    tool: String,
    message: String,
}

impl Entry {
    /// A tool of the harness's own.
    pub(super) fn own(tool: Tool, group: &Arc<dyn ToolGroup>) -> Result<Arc<Self>, SchemaError> {
        let validator = compile(&tool)?;
        Ok(Self::new(tool, group, Some(Arc::new(validator))))
    }

    /// A tool of an MCP server. `same`: the entry of the same tool as it was before, whose work need not be done again.
    pub(super) fn foreign(
        tool: Tool,
        group: &Arc<dyn ToolGroup>,
        same: Option<&Arc<Self>>,
    ) -> Arc<Self> {
        let validator = match same {
            Some(same) => same.validator.clone(),
            None => match compile(&tool) {
                Ok(validator) => Some(Arc::new(validator)),
                Err(error) => {
                    tracing::warn!("{error}; its inputs are passed on unchecked");
                    None
                }
            },
        };
        Self::new(tool, group, validator)
    }

    fn new(tool: Tool, group: &Arc<dyn ToolGroup>, validator: Option<Arc<Validator>>) -> Arc<Self> {
        Arc::new(Self {
            full_name: name::full(&tool.group, &tool.name),
            original: group.original(&tool.name),
            tool: Arc::new(tool),
            group: group.clone(),
            validator,
        })
    }

    /// As a view shows it.
    pub(super) fn exposed(&self, name: &str) -> Exposed {
        Exposed {
            name: name.to_owned(),
            tool: self.tool.clone(),
            original: self.original.clone(),
        }
    }

    /// The input as it will be carried out, when it fits the tool.
    pub(crate) fn fit(&self, input: Map<String, Value>) -> Result<Map<String, Value>, Refusal> {
        let input = self.validate(input)?;
        self.group.prepare(&self.tool.name, input)
    }

    /// The input, when it fits the tool's schema; else a refusal with every fault and the signature.
    pub(crate) fn validate(
        &self,
        input: Map<String, Value>,
    ) -> Result<Map<String, Value>, Refusal> {
        let Some(validator) = &self.validator else {
            return Ok(input);
        };
        let input = Value::Object(input);
        if validator.is_valid(&input) {
            return match input {
                Value::Object(input) => Ok(input),
                Value::Null
                | Value::Bool(_)
                | Value::Number(_)
                | Value::String(_)
                | Value::Array(_) => Ok(Map::new()),
            };
        }
        let faults: Vec<String> = validator
            .iter_errors(&input)
            .take(5)
            .map(|error| describe(&error))
            .collect();
        let message = format!(
            "{}; the signature is {}",
            faults.join("; "),
            self.tool.signature()
        );
        Err(Refusal::new(ErrorCode::InvalidInput, message))
    }
}

/// Patterns run in linear time: a server's schema cannot stop the harness.
fn compile(tool: &Tool) -> Result<Validator, SchemaError> {
    jsonschema::options()
        .with_pattern_options(PatternOptions::regex())
        .build(&tool.input_schema)
        .map_err(|error| SchemaError {
            group: tool.group.clone(),
            tool: tool.name.clone(),
            message: error.to_string(),
        })
}

/// The place and the fault, cut so that a huge value does not come back whole.
fn describe(error: &jsonschema::ValidationError<'_>) -> String {
    let place = error.instance_path().to_string();
    let place = place.trim_start_matches('/').replace('/', ".");
    let fault: String = error.to_string().chars().take(300).collect();
    if place.is_empty() {
        fault
    } else {
        format!("{place}: {fault}")
    }
}
