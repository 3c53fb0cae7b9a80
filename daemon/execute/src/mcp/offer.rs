//! The tools of a server as the harness lists them.

use std::{collections::HashSet, sync::Arc};

use harness_model::{Annotations, Tool};
use serde_json::{Map, Value, json};

/// The longest name of a tool, in bytes; MCP has 128 characters.
const NAME_MAX: usize = 256;

/// One tool, and how its server lists it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Offered {
    pub(super) tool: Tool,
    pub(super) original: Arc<Map<String, Value>>,
}

/// The tools that are allowed, each name once. `complain` is told of what is left out for other reasons.
pub(super) fn of(
    server: &str,
    listed: Vec<Value>,
    allowed: &(dyn Fn(&str) -> bool + Send + Sync),
    complain: impl Fn(&str),
) -> Vec<Offered> {
    let mut names = HashSet::new();
    let mut offered = Vec::new();
    for value in listed {
        let Value::Object(members) = value else {
            complain("it lists a tool that is no object");
            continue;
        };
        let name = members.get("name").and_then(Value::as_str);
        let Some(name) = name.filter(|name| is_usable(name)).map(str::to_owned) else {
            complain("it lists a tool without a usable name");
            continue;
        };
        if !allowed(&name) {
            continue;
        }
        if !names.insert(name.clone()) {
            complain(&format!(
                "it lists the tool {name:?} twice: the first one counts"
            ));
            continue;
        }
        offered.push(Offered {
            tool: tool(server, name, &members),
            original: Arc::new(members),
        });
    }
    offered
}

fn is_usable(name: &str) -> bool {
    !name.is_empty() && name.len() <= NAME_MAX && !name.chars().any(char::is_control)
}

fn tool(server: &str, name: String, members: &Map<String, Value>) -> Tool {
    let text = |member: &str| {
        members
            .get(member)
            .and_then(Value::as_str)
            .map(str::to_owned)
    };
    let annotations = members.get("annotations").cloned().unwrap_or_default();
    let title = text("title").or_else(|| annotations["title"].as_str().map(str::to_owned));
    let object = json!({"type": "object"});
    Tool {
        group: server.to_owned(),
        name,
        title,
        description: text("description").unwrap_or_default(),
        input_schema: members
            .get("inputSchema")
            .filter(|schema| schema.is_object())
            .cloned()
            .unwrap_or(object),
        output_schema: members
            .get("outputSchema")
            .filter(|schema| schema.is_object())
            .cloned(),
        annotations: hints(&annotations),
        direct: false,
    }
}

/// Each by itself: one that is malformed takes no other with it.
fn hints(annotations: &Value) -> Annotations {
    Annotations {
        read_only_hint: annotations["readOnlyHint"].as_bool(),
        destructive_hint: annotations["destructiveHint"].as_bool(),
        idempotent_hint: annotations["idempotentHint"].as_bool(),
        open_world_hint: annotations["openWorldHint"].as_bool(),
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use super::*;

    #[test]
    fn tools_are_filtered_named_once_and_kept_as_they_came() {
        let complaints = RefCell::new(Vec::new());
        let icons = json!([{"src": "data:,"}]);
        let offered = of(
            "s",
            vec![
                json!({"name": "a", "inputSchema": {"type": "object"}, "icons": icons, "_meta": {"k": 1},
                    "annotations": {"title": "A", "readOnlyHint": true, "destructiveHint": "no"}}),
                json!({"name": "hidden"}),
                json!({"name": "a", "description": "another"}),
                json!({"name": ""}),
                json!({"name": "x\u{0}"}),
                json!(5),
                json!({"name": "b", "inputSchema": 7, "outputSchema": []}),
            ],
            &|name| name != "hidden",
            |text| complaints.borrow_mut().push(text.to_owned()),
        );
        let names: Vec<&str> = offered.iter().map(|one| one.tool.name.as_str()).collect();
        assert_eq!(names, ["a", "b"]);
        assert_eq!(offered[0].original["icons"], icons);
        assert_eq!(offered[0].tool.title.as_deref(), Some("A"));
        assert_eq!(offered[0].tool.annotations.read_only_hint, Some(true));
        assert_eq!(offered[0].tool.annotations.destructive_hint, None);
        assert_eq!(offered[1].tool.input_schema, json!({"type": "object"}));
        assert_eq!(offered[1].tool.output_schema, None);
        assert_eq!(complaints.borrow().len(), 4);
    }
}
