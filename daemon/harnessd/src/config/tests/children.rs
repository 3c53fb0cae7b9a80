//! The environment of children.

use std::{collections::BTreeMap, ffi::OsString, os::unix::ffi::OsStringExt as _};

use crate::config::{
    ChildEnvironment, ChildUser, VariableMap, of_process,
    schema::{Environment, Inherit},
};

fn map(pairs: &[(&str, &str)]) -> VariableMap {
    pairs
        .iter()
        .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
        .collect()
}

fn make(daemon: &[(&str, &str)], config: &Environment, call: &[(&str, &str)]) -> VariableMap {
    let environment = ChildEnvironment::new(&map(daemon), config, None);
    environment.with(&map(call)).into_iter().collect()
}

#[test]
fn what_loads_code_or_belongs_to_the_daemon_reaches_no_child_by_any_way() {
    let names = [
        "LD_PRELOAD",
        "LD_LIBRARY_PATH",
        "LD_AUDIT",
        "DYLD_INSERT_LIBRARIES",
        "NODE_OPTIONS",
        "BASH_ENV",
        "ENV",
        "PYTHONSTARTUP",
        "NOTIFY_SOCKET",
        "LISTEN_FDS",
        "LISTEN_PID",
        "LISTEN_FDNAMES",
        "WATCHDOG_USEC",
        "WATCHDOG_PID",
        "CREDENTIALS_DIRECTORY",
        "INVOCATION_ID",
        "JOURNAL_STREAM",
        "STATE_DIRECTORY",
        "RUNTIME_DIRECTORY",
    ];
    let pairs: Vec<(&str, &str)> = names.iter().map(|name| (*name, "x")).collect();
    let config = Environment {
        set: map(&pairs),
        ..Environment::default()
    };
    let child = make(&pairs, &config, &pairs);
    for name in names {
        assert!(!child.contains_key(name), "{name}");
    }
}

#[test]
fn secrets_are_excluded_in_any_case_unless_set_on_purpose() {
    let daemon = [
        ("AWS_SECRET_ACCESS_KEY", "x"),
        ("npm_token", "x"),
        ("Db_Password", "x"),
        ("PATH", "/bin"),
        ("CARGO_HOME", "/c"),
        ("HARNESS_TOOLS_SOCKET", "/outer"),
    ];
    let config = Environment {
        set: map(&[("MY_TOKEN", "on purpose")]),
        ..Environment::default()
    };
    let child = make(&daemon, &config, &[]);
    for name in [
        "AWS_SECRET_ACCESS_KEY",
        "npm_token",
        "Db_Password",
        "HARNESS_TOOLS_SOCKET",
    ] {
        assert!(!child.contains_key(name), "{name}");
    }
    assert_eq!(child["MY_TOKEN"], "on purpose");
    assert_eq!(child["CARGO_HOME"], "/c");
    assert_eq!(child["PATH"], "/bin");
}

#[test]
fn core_and_none_inherit_what_they_say() {
    let daemon = [
        ("PATH", "/bin"),
        ("LC_TIME", "C"),
        ("HOME", "/h"),
        ("OTHER", "x"),
        ("TERM", "xterm"),
    ];
    let with = |inherit| {
        let config = Environment {
            inherit,
            ..Environment::default()
        };
        make(&daemon, &config, &[])
    };
    let core = with(Inherit::Core);
    assert!(
        core.contains_key("LC_TIME") && core.contains_key("HOME") && !core.contains_key("OTHER")
    );
    assert_eq!(core["TERM"], "xterm");
    let none = with(Inherit::None);
    assert!(!none.contains_key("HOME"));
    assert_eq!(none["TERM"], "dumb");
    assert!(none["PATH"].contains("/usr/bin"), "programs must be found");
}

#[test]
fn nothing_waits_for_a_key_and_the_later_layer_wins() {
    let daemon = [("PAGER", "less"), ("EDITOR", "vi"), ("A", "daemon")];
    let config = Environment {
        set: map(&[("GIT_PAGER", "delta"), ("A", "config"), ("B", "config")]),
        ..Environment::default()
    };
    let child = make(&daemon, &config, &[("B", "call"), ("EDITOR", "ed")]);
    for (name, value) in [
        ("PAGER", "cat"),
        ("GIT_PAGER", "delta"),
        ("EDITOR", "ed"),
        ("VISUAL", "false"),
        ("GIT_TERMINAL_PROMPT", "0"),
        ("DEBIAN_FRONTEND", "noninteractive"),
        ("A", "config"),
        ("B", "call"),
    ] {
        assert_eq!(child[name], value, "{name}");
    }
}

#[test]
fn a_name_or_value_that_no_process_can_have_is_left_out() {
    let child = make(
        &[],
        &Environment::default(),
        &[("", "x"), ("A=B", "x"), ("C", "a\0b"), ("D", "x")],
    );
    assert!(!child.contains_key("") && !child.contains_key("A=B") && !child.contains_key("C"));
    assert!(child.contains_key("D"));
}

#[test]
fn a_child_of_another_user_has_that_users_home() {
    let user = ChildUser {
        name: "coder".to_owned(),
        home: "/home/coder".to_owned(),
        shell: "/bin/sh".to_owned(),
    };
    let daemon = map(&[
        ("HOME", "/var/empty"),
        ("USER", "harnessd"),
        ("XDG_RUNTIME_DIR", "/run/user/1"),
    ]);
    let environment = ChildEnvironment::new(&daemon, &Environment::default(), Some(&user));
    let child: BTreeMap<_, _> = environment.with(&VariableMap::new()).into_iter().collect();
    assert_eq!(
        (child["HOME"].as_str(), child["USER"].as_str()),
        ("/home/coder", "coder")
    );
    assert!(!child.contains_key("XDG_RUNTIME_DIR"));
}

#[test]
fn the_user_of_a_uid_is_looked_up() {
    let root = ChildUser::of_uid(0).unwrap();
    assert_eq!(
        (root.name.as_str(), root.home.starts_with('/')),
        ("root", true)
    );
    assert_eq!(ChildUser::of_uid(u32::MAX - 7), None);
}

#[test]
fn a_variable_that_is_not_utf_8_is_left_out_and_named() {
    let wrong = OsString::from_vec(vec![b'a', 0xff]);
    let (text, skipped) = of_process([
        (OsString::from("A"), OsString::from("1")),
        (OsString::from("B"), wrong.clone()),
        (wrong, OsString::from("1")),
    ]);
    assert_eq!(text, map(&[("A", "1")]));
    assert_eq!(skipped, ["B", "a\u{fffd}"]);
}
