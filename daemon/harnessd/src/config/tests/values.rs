//! Values that types let through.

use super::{Desk, ONE};

#[test]
fn a_value_out_of_its_range_is_refused() {
    let desk = Desk::new();
    for (text, part) in [
        (
            "[bash]\nmax_wait_sec = 0",
            "bash.max_wait_sec: expected more than no time",
        ),
        (
            "[bash]\nmax_wait_sec = \"infinity\"",
            "bash.max_wait_sec: infinity is too long",
        ),
        ("[bash]\nmax_wait_sec = \"2h\"", "the most is 1h"),
        ("[bash]\noutput_max = \"4K\"", "the least is 64K"),
        (
            "[bash.unit]\nmemory_max = \"4K\"",
            "a.toml:2:14: bash.unit.memory_max: memory_max (4K)",
        ),
        (
            "[bash.unit]\nrestart_steps = 3",
            "a.toml:2:17: bash.unit.restart_steps: restart_steps needs",
        ),
        (
            "[environment]\nexclude = [\"[a\"]",
            "environment.exclude[0]: \"[a\" is not a glob",
        ),
        (
            "[environment]\nset = { LD_PRELOAD = \"x\" }",
            "a.toml:2:9: environment.set.LD_PRELOAD: children never",
        ),
        (
            "[environment.set]\n\"A=B\" = \"x\"",
            "a.toml:2:1: environment.set.\"A=B\": a variable has",
        ),
    ] {
        let complaint = desk.complaint(text);
        assert!(complaint.contains(part), "{text}: {complaint}");
    }
}

#[test]
fn a_tcp_front_is_on_the_loopback_interface_and_has_a_token_of_its_own() {
    let desk = Desk::new();
    desk.write_mode("private", ONE, 0o600);
    desk.write_mode("copy", format!("{ONE}\n"), 0o600);
    desk.write_mode("public", ONE, 0o644);
    desk.write_mode("short", &ONE[1..], 0o600);
    desk.write_mode("empty", "\n", 0o600);
    desk.write_mode("spaces", "one two", 0o600);
    let mcp = |listen: &str, file: &str| {
        format!("[mcp_http]\nlisten = \"{listen}\"\ntoken_file = \"{file}\"\n")
    };
    desk.load(&mcp("127.0.0.1:7718", "~/private")).unwrap();
    desk.load(&mcp("[::1]:7718", "~/private")).unwrap();
    for (text, part) in [
        (
            mcp("0.0.0.0:7718", "~/private"),
            "a.toml:2:10: mcp_http.listen: 0.0.0.0 is not",
        ),
        (mcp("192.168.1.1:80", "~/private"), "loopback"),
        (
            mcp("127.0.0.1:1", "~/public"),
            "a.toml:3:14: mcp_http.token_file: every user may read",
        ),
        (mcp("127.0.0.1:1", "~/empty"), "holds no token"),
        (mcp("127.0.0.1:1", "~/spaces"), "holds no token"),
        (mcp("127.0.0.1:1", "~/short"), "shorter than 20 characters"),
        (mcp("127.0.0.1:1", "~/nope"), "No such file"),
        (mcp("127.0.0.1:1", "nope"), "$CREDENTIALS_DIRECTORY"),
        (mcp("127.0.0.1:1", "a/b"), "absolute path"),
        (
            "[control]\nlisten = \"127.0.0.1:1\"".to_owned(),
            "it needs a token",
        ),
        (
            "[control]\ntoken_file = \"~/private\"".to_owned(),
            "no effect without listen",
        ),
        (
            format!(
                "{}[control]\nlisten = \"127.0.0.1:1\"\ntoken_file = \"~/copy\"",
                mcp("127.0.0.1:2", "~/private")
            ),
            "the agent could act as the person",
        ),
    ] {
        let complaint = desk.complaint(&text);
        assert!(complaint.contains(part), "{text}: {complaint}");
    }
}

#[test]
fn a_token_may_be_a_credential() {
    let mut desk = Desk::new();
    desk.write_mode("credentials/mcp", ONE, 0o400);
    let directory = desk.path("credentials").display().to_string();
    desk.host
        .variables
        .insert("CREDENTIALS_DIRECTORY".to_owned(), directory);
    let loaded = desk
        .load("[mcp_http]\nlisten = \"127.0.0.1:1\"\ntoken_file = \"mcp\"\n")
        .unwrap();
    assert_eq!(loaded.tokens.mcp_http.unwrap().reveal(), ONE);
}

#[test]
fn every_key_of_the_schema_has_a_description() {
    fn look(schema: &serde_json::Value, path: &str, missing: &mut Vec<String>) {
        let properties = schema["properties"].as_object();
        for (name, property) in properties.into_iter().flatten() {
            if property["description"].as_str().is_none_or(str::is_empty) {
                missing.push(format!("{path}.{name}"));
            }
        }
        for (name, definition) in schema["$defs"].as_object().into_iter().flatten() {
            look(definition, name, missing);
        }
    }
    let schema = serde_json::to_value(super::Config::schema()).unwrap();
    let mut missing = Vec::new();
    look(&schema, "", &mut missing);
    assert!(missing.is_empty(), "{missing:?}");
    assert_eq!(schema["additionalProperties"], false);
}
