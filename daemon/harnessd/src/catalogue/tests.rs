use std::sync::Mutex as StdMutex;

use futures_util::future::BoxFuture;
use harness_model::{Annotations, Call, CallContext, Outcome, Tool, ToolOutput};
use serde_json::{Map, Value, json};

use super::*;

struct Fake {
    name: &'static str,
    tools: StdMutex<Vec<Tool>>,
}

fn tool(group: &str, name: &str, schema: Value) -> Tool {
    Tool {
        group: group.to_owned(),
        name: name.to_owned(),
        title: None,
        description: String::new(),
        input_schema: schema,
        output_schema: None,
        annotations: Annotations::default(),
        direct: false,
    }
}

fn group(name: &'static str, tools: &[&str]) -> Arc<Fake> {
    let object = json!({"type": "object"});
    let tools = tools
        .iter()
        .map(|tool_name| tool(name, tool_name, object.clone()));
    Arc::new(Fake {
        name,
        tools: StdMutex::new(tools.collect()),
    })
}

impl ToolGroup for Fake {
    fn name(&self) -> &str {
        self.name
    }

    fn tools(&self) -> Vec<Tool> {
        self.tools.lock().unwrap().clone()
    }

    fn execute<'a>(&'a self, _: &'a Call, _: &'a CallContext) -> BoxFuture<'a, Outcome> {
        Box::pin(std::future::ready(Ok(ToolOutput::default())))
    }
}

fn catalogue() -> Catalogue {
    Catalogue::of(vec![group("bash", &["run", "list"])]).unwrap()
}

fn resolve(catalogue: &Catalogue, group: Option<&str>, name: &str) -> Result<String, String> {
    let request = CallRequest {
        group: group.map(str::to_owned),
        tool: name.to_owned(),
        input: Map::new(),
    };
    let resolved = catalogue.resolve(&request);
    resolved
        .map(|entry| format!("{}/{}", entry.tool.group, entry.tool.name))
        .map_err(|refusal| refusal.message)
}

fn names(catalogue: &Catalogue) -> Vec<String> {
    let policy = Policy::of_groups(["bash"]).with_servers(["github", "a", "a_"]);
    let exposed = catalogue.exposed(&View::All, &policy).unwrap();
    exposed.into_iter().map(|exposed| exposed.name).collect()
}

#[test]
fn servers_come_change_and_go() {
    let catalogue = catalogue();
    let github = group("github", &["search"]);
    catalogue.put_server(&(github.clone() as Arc<dyn ToolGroup>));
    assert_eq!(
        names(&catalogue),
        ["bash__run", "bash__list", "github__search"]
    );
    github.tools.lock().unwrap().clear();
    catalogue.put_server(&(github as Arc<dyn ToolGroup>));
    assert_eq!(names(&catalogue), ["bash__run", "bash__list"]);
    assert!(resolve(&catalogue, Some("github"), "search").is_err());
    catalogue.remove_server("github");
    catalogue.remove_server("bash");
    assert_eq!(names(&catalogue), ["bash__run", "bash__list"]);
    let absent = resolve(&catalogue, Some("github"), "search").unwrap_err();
    assert!(absent.contains("no tool group"), "{absent}");
}

/// Pain 27: name collisions and over-long names have a stable answer.
#[test]
fn every_name_means_one_tool_whoever_else_is_there() {
    let catalogue = catalogue();
    let long = "x".repeat(100);
    let long: &'static str = Box::leak(long.into_boxed_str());
    catalogue.put_server(&(group("a", &["_b", "run", "search", long]) as Arc<dyn ToolGroup>));
    let before = names(&catalogue);
    catalogue.put_server(&(group("a_", &["b", "search"]) as Arc<dyn ToolGroup>));
    let after = names(&catalogue);
    assert!(
        before.iter().all(|name| after.contains(name)),
        "{before:?} {after:?}"
    );
    let mut unique = after.clone();
    unique.sort();
    unique.dedup();
    assert_eq!(unique.len(), after.len(), "{after:?}");
    for name in &after {
        assert!(resolve(&catalogue, None, name).is_ok(), "{name}");
    }
    // The harness's own tools keep their short names; a name of two servers has to be said in full.
    assert_eq!(resolve(&catalogue, None, "run").unwrap(), "bash/run");
    let ambiguous = resolve(&catalogue, None, "search").unwrap_err();
    assert!(ambiguous.contains("a__search"), "{ambiguous}");
    assert_eq!(
        resolve(&catalogue, None, &format!("a__{long}")).unwrap(),
        format!("a/{long}")
    );
}

#[test]
fn a_schema_that_is_none_loses_its_checks_and_not_its_tool() {
    let catalogue = catalogue();
    let server = group("github", &[]);
    *server.tools.lock().unwrap() = vec![
        tool("github", "odd", json!({"type": 7})),
        tool(
            "github",
            "remote",
            json!({"$ref": "https://example.org/schema.json"}),
        ),
        tool(
            "github",
            "strict",
            json!({"type": "object", "required": ["a"]}),
        ),
    ];
    catalogue.put_server(&(server as Arc<dyn ToolGroup>));
    let validate = |name: &str| {
        let request = CallRequest {
            group: Some("github".to_owned()),
            tool: name.to_owned(),
            input: Map::new(),
        };
        catalogue
            .resolve(&request)
            .unwrap()
            .validate(Map::new())
            .is_ok()
    };
    assert!(validate("odd") && validate("remote"));
    assert!(!validate("strict"));
}
