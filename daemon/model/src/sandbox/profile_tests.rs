use super::*;

fn paths(paths: &[&str]) -> Vec<String> {
    paths.iter().map(|path| (*path).to_owned()).collect()
}

fn profile(level: Filesystem) -> SandboxProfile {
    let mut profile = SandboxProfile {
        filesystem: level,
        rules: SandboxRules {
            hidden: paths(&["/home/u", "/home/u/.ssh"]),
            visible: paths(&["/srv/w"]),
            no_network: true,
            ..SandboxRules::default()
        },
        workspace_write: paths(&["/srv/w", "/tmp", "/cache"]),
        listed: paths(&["/cache"]),
    };
    profile.rules.writable = profile.writable(level);
    profile
}

fn request(text: &str) -> SandboxRequest {
    serde_json::from_str(text).unwrap()
}

const OPEN: Filesystem = Filesystem::Open;
const WORKSPACE: Filesystem = Filesystem::WorkspaceWrite;
const READ_ONLY: Filesystem = Filesystem::ReadOnly;

#[test]
fn what_is_there_already_opens_nothing() {
    for (level, text) in [
        (OPEN, r#"{"filesystem": "open", "writable": ["/etc"]}"#),
        (OPEN, r#"{"filesystem": "read-only", "network": false}"#),
        (WORKSPACE, r#"{"filesystem": "workspace-write"}"#),
        (WORKSPACE, r#"{"filesystem": "read-only"}"#),
        (WORKSPACE, r#"{"writable": ["/srv/w/x", "/tmp"]}"#),
        (WORKSPACE, r#"{"visible": ["/etc", "/srv/w/x"]}"#),
        (READ_ONLY, r#"{"writable": ["/cache/x"]}"#),
        // Execution is limited by an allowlist alone.
        (READ_ONLY, r#"{"execute": true, "reason": "x"}"#),
    ] {
        let profile = profile(level);
        let opened = profile.opened(&profile.rules, &request(text));
        assert!(opened.is_empty(), "{level:?} {text}: {opened:?}");
    }
}

#[test]
fn what_is_more_is_opened_and_nothing_beside_it() {
    for (level, asked, expected) in [
        (
            WORKSPACE,
            r#"{"filesystem": "open", "writable": ["/etc"]}"#,
            r#"{"filesystem": "open"}"#,
        ),
        (
            READ_ONLY,
            r#"{"filesystem": "workspace-write", "writable": ["/tmp/x", "/etc"]}"#,
            r#"{"filesystem": "workspace-write", "writable": ["/etc"]}"#,
        ),
        (
            WORKSPACE,
            r#"{"writable": ["/srv/w", "/srv/www"]}"#,
            r#"{"writable": ["/srv/www"]}"#,
        ),
        (
            WORKSPACE,
            r#"{"visible": ["/home/u/.ssh", "/home", "/home/u/x"], "reason": "x"}"#,
            r#"{"visible": ["/home/u/.ssh", "/home/u/x"]}"#,
        ),
        (OPEN, r#"{"network": true}"#, r#"{"network": true}"#),
    ] {
        let profile = profile(level);
        assert_eq!(
            profile.opened(&profile.rules, &request(asked)),
            request(expected),
            "{asked}"
        );
    }
}

#[test]
fn beyond_what_an_allowlist_gives_is_more_even_where_the_sandbox_is_open() {
    let profile = profile(OPEN);
    let limits = profile.allowlisted("[tool.run]");
    assert_eq!(limits.writable, Some(paths(&["/srv/w", "/tmp", "/cache"])));
    for text in [
        r#"{"filesystem": "open"}"#,
        r#"{"writable": ["/etc"]}"#,
        r#"{"execute": true}"#,
    ] {
        assert_eq!(
            profile.opened(&limits, &request(text)),
            request(text),
            "{text}"
        );
    }
    let inside = request(r#"{"filesystem": "workspace-write", "writable": ["/tmp/x"]}"#);
    assert!(profile.opened(&limits, &inside).is_empty());
}

#[test]
fn the_limits_of_an_allowlist_stay_within_the_sandbox() {
    let read_only = profile(READ_ONLY).allowlisted("[tool.run]");
    assert_eq!(read_only.writable, Some(paths(&["/cache"])));
    assert!(read_only.no_network && read_only.hidden.len() == 2);
    // A request that opens nothing can only narrow.
    let profile = profile(OPEN);
    let limits = profile.allowlisted("[tool.run]");
    let narrow = profile.granted(&request(r#"{"filesystem": "read-only"}"#), Some(&limits));
    assert_eq!(narrow.writable, Some(paths(&["/cache"])));
    assert_eq!(narrow.allowlist, limits.allowlist);
    let wide = request(
        r#"{"filesystem": "open", "writable": ["/etc"], "visible": ["/home/u"], "network": true}"#,
    );
    assert_eq!(profile.granted(&wide, Some(&limits)), limits);
}

#[test]
fn what_was_granted_holds_and_the_rest_stays_as_configured() {
    let profile = profile(WORKSPACE);
    let granted = |text: &str| profile.granted(&request(text), None);
    assert_eq!(granted("{}"), profile.rules);
    assert_eq!(granted(r#"{"filesystem": "open"}"#).writable, None);
    assert!(granted(r#"{"filesystem": "open"}"#).no_network);
    assert!(!granted(r#"{"network": true}"#).no_network);
    assert_eq!(
        granted(r#"{"filesystem": "read-only", "writable": ["/etc"]}"#).writable,
        Some(paths(&["/cache", "/etc"]))
    );
    assert_eq!(
        granted(r#"{"writable": ["/etc", "/tmp/x"]}"#).writable,
        Some(paths(&["/srv/w", "/tmp", "/cache", "/etc"]))
    );
}

#[test]
fn only_the_hidden_path_that_was_named_becomes_visible() {
    let profile = profile(WORKSPACE);
    let rules = profile.granted(&request(r#"{"visible": ["/home/u"]}"#), None);
    assert!(!rules.hides("/home/u") && !rules.hides("/home/u/x"));
    assert!(rules.hides("/home/u/.ssh/id"));
    let rules = profile.granted(&request(r#"{"visible": ["/home/u/.ssh/id"]}"#), None);
    assert!(!rules.hides("/home/u/.ssh/id"));
    assert!(rules.hides("/home/u/.ssh/other") && rules.hides("/home/u/x"));
    let rules = profile.granted(&request(r#"{"filesystem": "open"}"#), None);
    assert_eq!(rules.hidden, profile.rules.hidden);
}

#[test]
fn a_network_that_is_there_can_be_given_up() {
    let mut profile = profile(OPEN);
    profile.rules.no_network = false;
    let request = request(r#"{"network": false}"#);
    assert!(profile.opened(&profile.rules, &request).is_empty());
    assert!(profile.granted(&request, None).no_network);
}
