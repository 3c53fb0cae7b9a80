//! Every tool there is, by name: which one a caller means, and whether the input fits it.

use std::{collections::BTreeMap, sync::Arc};

use harness_authorize::Policy;
use harness_execute::ToolGroup;
use harness_mcp::{Exposed, View};
use harness_model::{CallRequest, ErrorCode, Refusal, Tool};
use serde_json::{Map, Value};

use crate::config::hint;

/// What stands between a group's name and a tool's where both are shown as one name.
const SEPARATOR: &str = "__";

/// One tool with the group that carries it out.
pub(crate) struct Entry {
    pub(crate) tool: Arc<Tool>,
    pub(crate) group: Arc<dyn ToolGroup>,
    validator: jsonschema::Validator,
}

/// The tools of every group that this harness has.
pub(crate) struct Catalogue {
    groups: BTreeMap<String, Vec<Arc<Entry>>>,
}

/// A tool's own input schema is no JSON Schema.
#[derive(Debug, thiserror::Error)]
#[error("the input schema of {group}/{tool} is not valid: {message}")]
pub struct SchemaError {
    group: String,
    tool: String,
    message: String,
}

impl Catalogue {
    pub(crate) fn of(groups: Vec<Arc<dyn ToolGroup>>) -> Result<Self, SchemaError> {
        let mut catalogue = BTreeMap::new();
        for group in groups {
            let entries: Result<Vec<_>, _> = group
                .tools()
                .into_iter()
                .map(|tool| Entry::new(tool, &group))
                .collect();
            catalogue.insert(group.name().to_owned(), entries?);
        }
        Ok(Self { groups: catalogue })
    }

    /// The tool a request means: in its group, by `GROUP__TOOL`, or by a name that only one group has.
    pub(crate) fn resolve(&self, request: &CallRequest) -> Result<Arc<Entry>, Refusal> {
        let (group, name) = match (&request.group, request.tool.split_once(SEPARATOR)) {
            (Some(group), _) => (Some(group.as_str()), request.tool.as_str()),
            (None, Some((group, name))) if self.groups.contains_key(group) => (Some(group), name),
            (None, _) => (None, request.tool.as_str()),
        };
        if let Some(group) = group {
            let entries = self
                .groups
                .get(group)
                .ok_or_else(|| self.no_such_group(group))?;
            let found = entries
                .iter()
                .find(|entry| entry.tool.name == name)
                .cloned();
            return found.ok_or_else(|| {
                no_such_tool(name, entries.iter().map(|entry| entry.tool.name.as_str()))
            });
        }
        let all = || self.groups.values().flatten();
        let mut named = all().filter(|entry| entry.tool.name == name);
        match (named.next(), named.next()) {
            (Some(entry), None) => Ok(entry.clone()),
            (Some(first), Some(second)) => {
                let (first, second) = (&first.tool.group, &second.tool.group);
                let message = format!(
                    "{name} is a tool of {first} and of {second}: say which, as in {first}{SEPARATOR}{name}"
                );
                Err(Refusal::new(ErrorCode::UnknownCommand, message))
            }
            (None, _) => Err(no_such_tool(
                name,
                all().map(|entry| entry.tool.name.as_str()),
            )),
        }
    }

    /// The tools of a view, under the names that it shows them by.
    pub(crate) fn exposed(&self, view: &View, policy: &Policy) -> Result<Vec<Exposed>, Refusal> {
        let expose = |entry: &Arc<Entry>, name: String| Exposed {
            name,
            tool: entry.tool.clone(),
        };
        match view {
            View::All => {
                let groups = self
                    .groups
                    .iter()
                    .filter(|(group, _)| policy.has_group(group));
                let entries = groups.flat_map(|(_, entries)| entries);
                Ok(entries
                    .map(|entry| expose(entry, full_name(&entry.tool)))
                    .collect())
            }
            View::Group(group) | View::Server(group) => {
                let entries = self.groups.get(group).filter(|_| policy.has_group(group));
                let entries = entries.ok_or_else(|| self.no_such_group(group))?;
                Ok(entries
                    .iter()
                    .map(|entry| expose(entry, entry.tool.name.clone()))
                    .collect())
            }
        }
    }

    /// The tools of a group; none where there is no such group.
    pub(crate) fn tools(&self, group: &str) -> Vec<Arc<Tool>> {
        let entries = self.groups.get(group).into_iter().flatten();
        entries.map(|entry| entry.tool.clone()).collect()
    }

    /// The groups that are switched on, `bash` first.
    pub(crate) fn groups(&self, policy: &Policy) -> Vec<String> {
        let mut groups: Vec<String> = self
            .groups
            .keys()
            .filter(|group| policy.has_group(group))
            .cloned()
            .collect();
        groups.sort_by_key(|group| group != "bash");
        groups
    }

    fn no_such_group(&self, group: &str) -> Refusal {
        let known = self.groups.keys().map(String::as_str);
        let message = format!("there is no tool group {group:?}{}", hint(group, known));
        Refusal::new(ErrorCode::UnknownCommand, message)
    }
}

fn full_name(tool: &Tool) -> String {
    format!("{}{SEPARATOR}{}", tool.group, tool.name)
}

fn no_such_tool<'a>(name: &str, known: impl Iterator<Item = &'a str> + Clone) -> Refusal {
    Refusal::new(
        ErrorCode::UnknownCommand,
        format!("there is no tool {name:?}{}", hint(name, known)),
    )
}

impl Entry {
    fn new(tool: Tool, group: &Arc<dyn ToolGroup>) -> Result<Arc<Self>, SchemaError> {
        let validator =
            jsonschema::validator_for(&tool.input_schema).map_err(|error| SchemaError {
                group: tool.group.clone(),
                tool: tool.name.clone(),
                message: error.to_string(),
            })?;
        Ok(Arc::new(Self {
            tool: Arc::new(tool),
            group: group.clone(),
            validator,
        }))
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
        let input = Value::Object(input);
        if self.validator.is_valid(&input) {
            return match input {
                Value::Object(input) => Ok(input),
                Value::Null
                | Value::Bool(_)
                | Value::Number(_)
                | Value::String(_)
                | Value::Array(_) => Ok(Map::new()),
            };
        }
        let faults: Vec<String> = self
            .validator
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
