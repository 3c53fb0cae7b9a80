//! Loading, describing, settings.

use serde_json::{Value, json};

use crate::{
    client::{Client, host, on},
    plugins,
};

#[test]
fn describe_prints_what_a_plugin_is_and_does_not_begin_it() {
    let mut command = host("saboteur.so", "init-segfault");
    command.arg("--describe");
    let output = command.output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let description: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(description["name"], "saboteur");
    assert_eq!(description["tools"][1]["name"], "wait");
    assert_eq!(
        description["settingsSchema"]["properties"]["greeting"]["type"],
        "string"
    );
}

#[test]
fn settings_come_from_the_command_line_or_the_environment() {
    let settings = |command| {
        let mut client = Client::open(command);
        client.call("echo", &json!({}))["structuredContent"]["settings"].clone()
    };
    assert_eq!(settings(host("saboteur.so", "")), json!({}));
    let mut command = host("saboteur.so", "");
    command.env("HARNESS_PLUGIN_SETTINGS", r#"{"greeting":"hello"}"#);
    assert_eq!(settings(command), json!({"greeting": "hello"}));
    let mut command = host("saboteur.so", "");
    command
        .args(["--settings", r#"{"greeting":"hi"}"#])
        .env("HARNESS_PLUGIN_SETTINGS", r#"{"greeting":"hello"}"#);
    assert_eq!(settings(command), json!({"greeting": "hi"}));
}

#[test]
fn settings_that_the_schema_does_not_allow_are_refused_with_their_places() {
    let mut command = host("saboteur.so", "init-segfault");
    command.args(["--settings", r#"{"units": ["a", 5], "gretting": "x"}"#]);
    let end = Client::start(command).ended();
    assert_eq!(end.code, 1, "{end:?}");
    assert!(end.log.contains("units.1: 5 is not of type"), "{end:?}");
    assert!(end.log.contains("gretting"), "{end:?}");
}

#[test]
fn what_is_no_plugin_is_refused_with_the_reason() {
    let directory = tempfile::tempdir().unwrap();
    let text = directory.path().join("text.so");
    std::fs::write(&text, "not an object file").unwrap();
    let absent = directory.path().join("absent.so");
    for (path, reason) in [
        (absent, "cannot find"),
        (text, "cannot load"),
        (
            plugins::path("plain.so"),
            "does not export harness_plugin_abi_version",
        ),
        (
            plugins::path("version.so"),
            "built for version 2 of the interface",
        ),
    ] {
        let end = Client::start(on(&path, "")).ended();
        assert_eq!(end.code, 1, "{end:?}");
        assert!(end.log.contains(reason), "{end:?}");
    }
}

#[test]
fn a_command_line_that_is_not_right_is_told_so() {
    for words in [
        &[][..],
        &["--nonsense", "a.so"],
        &["--settings", "5", "a.so"],
    ] {
        let mut command = plugins::command(env!("CARGO_BIN_EXE_harness-plugin-host"));
        let output = command.args(words).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{output:?}");
    }
}
