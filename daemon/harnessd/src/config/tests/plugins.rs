//! Plugins, with a host that says what the test wants.

use super::Desk;

/// A configuration with a library, and a host that prints a description.
fn desk(host: &str) -> Desk {
    let mut desk = Desk::new();
    desk.write("plugins/libx.so", "");
    desk.write_mode("bin/host", format!("#!/bin/sh\n{host}\n"), 0o755);
    desk.host.plugin_host = Some(desk.path("bin/host"));
    desk
}

/// A host that describes a plugin with these settings and the tool `go`.
fn described(schema: &str) -> Desk {
    desk(&format!(
        r#"printf '%s' '{{"name": "x", "version": "1", "tools": [{{"name": "go"}}]{schema}}}'"#
    ))
}

fn plugin(desk: &Desk, rest: &str) -> String {
    let library = desk.path("plugins/libx.so");
    format!("[plugin.x]\nlibrary = \"{}\"\n{rest}", library.display())
}

const SCHEMA: &str = r#", "settingsSchema": {"type": "object", "additionalProperties": false, "required": ["depth"],
    "properties": {"depth": {"type": "integer"}, "units": {"type": "array", "items": {"type": "string"}},
      "log": {"type": "object", "additionalProperties": false, "properties": {"level": {"enum": ["info"]}}}}}"#;

#[test]
fn a_setting_that_the_schema_refuses_is_an_error_at_its_place() {
    let desk = described(SCHEMA);
    for (rest, complaint) in [
        (
            "settings = { depth = \"two\" }",
            "a.toml:3:22: plugin.x.settings.depth: \"two\" is not of type \"integer\"",
        ),
        (
            "[plugin.x.settings]\ndepth = 1\nunits = [\"a\",\n  5]",
            "a.toml:6:3: plugin.x.settings.units[1]: 5 is not of type \"string\"",
        ),
        (
            "[plugin.x.settings]\ndepth = 1\nunit = []",
            "a.toml:5:1: plugin.x.settings.unit: the plugin has no such setting; did you mean `units`?",
        ),
        (
            "[plugin.x.settings]\ndepth = 1\nlog.colour = true",
            "a.toml:5:5: plugin.x.settings.log.colour: the plugin has no such setting",
        ),
        (
            "",
            "a.toml:1:9: plugin.x.settings: \"depth\" is a required property",
        ),
    ] {
        let complaints = desk.complaints(&plugin(&desk, rest));
        assert!(
            complaints.contains(&complaint.to_owned()),
            "{complaints:#?}"
        );
    }
    let loaded = desk
        .load(&plugin(&desk, "settings = { depth = 1 }"))
        .unwrap();
    assert_eq!(loaded.libraries["x"], desk.path("plugins/libx.so"));
}

#[test]
fn a_plugin_without_settings_takes_none() {
    let desk = described("");
    desk.load(&plugin(&desk, "")).unwrap();
    let complaints = desk.complaints(&plugin(&desk, "settings.a = 1"));
    let complaint = "a.toml:3:10: plugin.x.settings.a: the plugin takes no settings: remove it";
    assert!(
        complaints.contains(&complaint.to_owned()),
        "{complaints:#?}"
    );
}

#[test]
fn a_plugin_that_cannot_be_asked_is_an_error_with_the_reason() {
    for (host, part) in [
        (
            "echo 'harness-plugin-host: it was built for version 2' >&2; exit 1",
            "it was built for version 2",
        ),
        ("kill -SEGV $$", "its host was killed by signal 11"),
        (
            "exit 7",
            "its host ended with exit status: 7, and no reason",
        ),
        ("echo '{'", "its description cannot be read"),
        // What it leaves behind holds its output open, and is ended.
        ("sleep 1000 & exit 3", "and no reason"),
    ] {
        let desk = desk(host);
        let complaints = desk.complaints(&plugin(&desk, ""));
        let start = "a.toml:2:11: plugin.x.library: the plugin cannot be used: ";
        assert!(
            complaints
                .iter()
                .any(|one| one.starts_with(start) && one.contains(part)),
            "{host}: {complaints:#?}"
        );
    }
}

#[test]
fn a_flood_of_words_is_neither_kept_nor_waited_for() {
    let flood = "head -c 50000000 /dev/zero";
    let desk = desk(&format!(
        "{flood}; {flood} >&2; echo >&2; echo why >&2; exit 1"
    ));
    let complaints = desk.complaints(&plugin(&desk, ""));
    let told = complaints
        .iter()
        .any(|one| one.ends_with("cannot be used: why"));
    assert!(told, "{complaints:#?}");
}

#[test]
fn a_tool_of_a_plugin_that_was_asked_has_to_be_there() {
    let desk = described("");
    desk.load(&plugin(&desk, "[tool.x__go]\nmode = \"ask\""))
        .unwrap();
    let complaints = desk.complaints(&plugin(&desk, "[tool.x__og]\nmode = \"ask\""));
    let complaint = "a.toml:3:7: tool.x__og: there is no tool \"x__og\"; did you mean `x__go`?";
    assert!(
        complaints.contains(&complaint.to_owned()),
        "{complaints:#?}"
    );
}

#[test]
fn a_daemon_asks_no_plugin() {
    let mut desk = desk("exit 1");
    desk.host.plugin_host = None;
    desk.load(&plugin(&desk, "settings = { a = 1 }")).unwrap();
}

#[test]
fn a_plugin_is_served_by_its_host_with_its_settings_out_of_sight() {
    let desk = described(SCHEMA);
    let loaded = desk
        .load(&plugin(&desk, "settings = { depth = 1 }"))
        .unwrap();
    let server = loaded.config.plugin["x"].server("/bin/host".as_ref(), &loaded.libraries["x"]);
    let library = desk.path("plugins/libx.so").display().to_string();
    assert_eq!(server.command, ["/bin/host".to_owned(), library]);
    assert_eq!(
        server.environment["HARNESS_PLUGIN_SETTINGS"],
        r#"{"depth":1}"#
    );
}
