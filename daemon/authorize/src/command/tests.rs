use std::sync::Arc;

use harness_model::{Annotations, ErrorCode, Refusal, Tool};
use serde_json::{Value, json};

use super::*;

pub(crate) struct Known;

fn tool(group: &str, name: &str) -> Arc<Tool> {
    Arc::new(Tool {
        group: group.into(),
        name: name.into(),
        title: None,
        description: String::new(),
        input_schema: json!({
            "type": "object",
            "properties": {
                "repo": {"type": "string"},
                "number": {"type": "integer"},
                "draft": {"type": "boolean"},
                "labels": {"type": "array", "items": {"type": "string"}},
                "ids": {"type": ["array", "null"], "items": {"type": "integer"}},
                "state": {"anyOf": [{"$ref": "#/$defs/State"}, {"type": "null"}]},
                "either": {"type": ["string", "integer"]},
                "max_results": {"type": "integer"},
                "timeoutMs": {"type": "integer"},
                "any": {},
            },
            "required": ["repo"],
            "$defs": {"State": {"enum": ["open", "closed"]}},
        }),
        output_schema: None,
        annotations: Annotations::default(),
        direct: false,
    })
}

impl Tools for Known {
    fn group(&self, word: &str) -> Option<String> {
        ["github", "shell", "bash"]
            .into_iter()
            .find(|name| is_same_name(name, word))
            .map(str::to_owned)
    }

    fn tool(&self, group: &str, word: &str) -> Option<Arc<Tool>> {
        let names: &[&str] = match group {
            "github" => &["list_pulls", "shell"],
            "shell" => &["shell"],
            _ => &["run"],
        };
        names
            .iter()
            .find(|name| is_same_name(name, word))
            .map(|name| tool(group, name))
    }

    fn alone(&self, word: &str) -> Option<Arc<Tool>> {
        match word {
            "shell" => Some(tool("shell", "shell")),
            "run" => Some(tool("bash", "run")),
            _ => None,
        }
    }

    fn unknown(&self, group: Option<&str>, word: &str) -> Refusal {
        Refusal::new(ErrorCode::UnknownCommand, format!("{group:?} {word}"))
    }
}

fn words(line: &str) -> Vec<String> {
    line.split(' ')
        .filter(|word| !word.is_empty())
        .map(str::to_owned)
        .collect()
}

fn of(line: &str) -> Invocation {
    read(&words(line), &Known).unwrap()
}

fn call(line: &str) -> (String, InputSource, Value) {
    let Invocation::Call { tool, input } = of(line) else {
        panic!("{line} is a call");
    };
    (
        format!("{} {}", tool.group, tool.name),
        input.source,
        Value::Object(input.object),
    )
}

#[test]
fn a_command_is_help_a_search_a_plan_scripts_or_a_call() {
    for line in ["", "--help", "-h", "help"] {
        assert_eq!(of(line), Invocation::Help, "{line}");
    }
    for line in [
        "github",
        "github --help",
        "github -h",
        "help github",
        "shell --help",
    ] {
        assert!(matches!(of(line), Invocation::GroupHelp(_)), "{line}");
    }
    for line in [
        "github list-pulls --help",
        "github list_pulls repo=x -h",
        "help github list-pulls",
        "run --help",
    ] {
        assert!(matches!(of(line), Invocation::ToolHelp(_)), "{line}");
    }
    assert_eq!(
        of("search Pull requests"),
        Invocation::Search(vec!["pull".into(), "requests".into()])
    );
    assert_eq!(of("plan"), Invocation::Plan);
    assert_eq!(of("scripts save x"), Invocation::Scripts(words("save x")));
}

#[test]
fn a_group_and_a_tool_may_have_one_name() {
    assert_eq!(call("shell repo=x").0, "shell shell");
    assert_eq!(call("shell shell repo=x").0, "shell shell");
    assert_eq!(call("github shell").0, "github shell");
    assert_eq!(call("run repo=x").0, "bash run");
    assert_eq!(call("bash run repo=x").0, "bash run");
    for (line, message) in [
        ("nothing", "None nothing"),
        ("github nothing", "Some(\"github\") nothing"),
    ] {
        let refusal = read(&words(line), &Known).unwrap_err();
        assert_eq!(
            (refusal.code, refusal.message.as_str()),
            (ErrorCode::UnknownCommand, message)
        );
    }
}

#[test]
fn a_value_is_json_unless_the_schema_says_string() {
    for (line, expected) in [
        ("repo=42 number=7", json!({"repo": "42", "number": 7})),
        ("repo=true", json!({"repo": "true"})),
        ("repo=null", json!({"repo": "null"})),
        ("repo={\"a\":1}", json!({"repo": "{\"a\":1}"})),
        ("repo=", json!({"repo": ""})),
        ("repo=a=b", json!({"repo": "a=b"})),
        ("state=open", json!({"state": "open"})),
        ("state=42", json!({"state": "42"})),
        ("either=42", json!({"either": 42})),
        ("either=x", json!({"either": "x"})),
        ("any=42", json!({"any": 42})),
        ("any=word", json!({"any": "word"})),
        ("new=[1,2]", json!({"new": [1, 2]})),
        ("number=x", json!({"number": "x"})),
        ("draft=false", json!({"draft": false})),
    ] {
        assert_eq!(
            call(&format!("github list-pulls {line}")).2,
            expected,
            "{line}"
        );
    }
}

#[test]
fn options_take_a_value_and_flags_none() {
    for (line, expected) in [
        ("--repo a --number -5", json!({"repo": "a", "number": -5})),
        ("--draft --repo a", json!({"draft": true, "repo": "a"})),
        ("--draft repo=a", json!({"draft": true, "repo": "a"})),
        ("--draft false", json!({"draft": false})),
        ("--new", json!({"new": true})),
        ("--new --repo=a", json!({"new": true, "repo": "a"})),
        ("--max-results 3", json!({"max_results": 3})),
        ("--timeout-ms 3", json!({"timeoutMs": 3})),
        ("--repo -", json!({"repo": "-"})),
    ] {
        assert_eq!(
            call(&format!("github list-pulls {line}")).2,
            expected,
            "{line}"
        );
    }
}

#[test]
fn a_list_takes_values_one_by_one_or_whole() {
    for (line, expected) in [
        ("--labels a --labels 2", json!({"labels": ["a", "2"]})),
        ("labels=[\"a\",\"b\"]", json!({"labels": ["a", "b"]})),
        ("ids=1 ids=2", json!({"ids": [1, 2]})),
        ("ids=[1]", json!({"ids": [1]})),
    ] {
        assert_eq!(
            call(&format!("github list-pulls {line}")).2,
            expected,
            "{line}"
        );
    }
}

#[test]
fn pairs_are_merged_over_json_and_words_over_standard_input() {
    let line = "github list-pulls number=2 {\"number\":1,\"repo\":\"a\"}";
    assert_eq!(call(line).2, json!({"number": 2, "repo": "a"}));
    let Invocation::Call { input, .. } = of("github list-pulls - number=2") else {
        panic!("a call");
    };
    assert_eq!(input.source, InputSource::StandardInput);
    let whole = input.over(b" {\"number\": 1, \"repo\": \"a\"}\n").unwrap();
    assert_eq!(Value::Object(whole), json!({"number": 2, "repo": "a"}));
    assert_eq!(call("github list-pulls").1, InputSource::Either);
    assert_eq!(call("github list-pulls repo=a").1, InputSource::Words);
}

#[test]
fn what_is_no_input_is_refused_with_the_signature() {
    for line in ["word", "-x", "-x=1", "{\"a\":", "{\"a\" 1}", "=x", "--=x"] {
        let refusal = read(&words(&format!("github list-pulls {line}")), &Known).unwrap_err();
        assert_eq!(refusal.code, ErrorCode::InvalidInput, "{line}");
        assert!(
            refusal.message.contains("list_pulls(repo: string"),
            "{line}: {}",
            refusal.message
        );
    }
    for (standard_input, message) in [
        (&b"[1]"[..], "not a JSON object"),
        (b"{", "not JSON"),
        (b"\xff", "not UTF-8"),
        (b"  \n", "is empty"),
    ] {
        let Invocation::Call { input, .. } = of("github list-pulls -") else {
            panic!("a call");
        };
        let refusal = input.over(standard_input).unwrap_err();
        assert!(refusal.message.contains(message), "{}", refusal.message);
    }
    let Invocation::Call { input, .. } = of("github list-pulls") else {
        panic!("a call");
    };
    assert!(input.over(b"").unwrap().is_empty());
}

#[test]
fn deep_and_looping_references_end() {
    let mut looping = (*tool("github", "x")).clone();
    looping.input_schema = json!({"properties": {"a": {"$ref": "#/properties/a"}, "b": {"anyOf": [{"$ref": "#/properties/b"}]}}});
    let input = Input::read(&words("a=1 b=2"), &looping).unwrap();
    assert_eq!(Value::Object(input.object), json!({"a": 1, "b": 2}));
}
