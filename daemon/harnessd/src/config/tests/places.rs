//! Where files and sockets are, and who has them.

#![expect(
    clippy::disallowed_methods,
    reason = "a test starts itself again, and the keeper is no part of that"
)]

use std::{
    ffi::OsString,
    fs,
    io::{BufRead as _, BufReader, Write as _},
    os::unix::fs::MetadataExt as _,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use crate::config::{
    AgentName, LockError, Mode, Places, PlacesError, PlacesRequest, StateLock, Variables,
};

fn variables(pairs: &[(&str, &str)]) -> Variables {
    pairs
        .iter()
        .map(|(name, value)| (OsString::from(name), OsString::from(value)))
        .collect()
}

fn resolve(request: PlacesRequest, pairs: &[(&str, &str)]) -> Places {
    Places::resolve(request, &variables(pairs), 1000).unwrap()
}

#[test]
fn in_user_mode_the_xdg_directories_hold_them() {
    let places = resolve(
        PlacesRequest::default(),
        &[
            ("HOME", "/home/a"),
            ("XDG_CONFIG_HOME", "/c"),
            ("XDG_STATE_HOME", "relative"),
            ("XDG_RUNTIME_DIR", "/run/user/1000"),
        ],
    );
    assert_eq!(places.mode, Mode::User);
    assert_eq!(places.config, Path::new("/c/harnessd/default.toml"));
    assert_eq!(
        places.state,
        Path::new("/home/a/.local/state/harnessd/default")
    );
    assert_eq!(
        places.mcp_socket(),
        Path::new("/run/user/1000/harnessd/default/mcp.sock")
    );
    assert!(!places.config_required);
}

#[test]
fn in_system_mode_the_service_managers_directories_hold_them() {
    let agent: AgentName = "coder".parse().unwrap();
    let request = PlacesRequest {
        agent,
        ..PlacesRequest::default()
    };
    let given = [
        ("STATE_DIRECTORY", "/var/lib/harnessd/coder:/other"),
        ("RUNTIME_DIRECTORY", "/run/harnessd/coder"),
    ];
    let places = resolve(request.clone(), &given);
    assert_eq!(places.mode, Mode::System);
    assert_eq!(places.config, Path::new("/etc/harnessd/coder.toml"));
    assert_eq!(
        places.database(),
        Path::new("/var/lib/harnessd/coder/state.db")
    );
    let forced = PlacesRequest {
        mode: Some(Mode::System),
        ..request
    };
    let places = resolve(forced, &[]);
    assert_eq!(places.state, Path::new("/var/lib/harnessd/coder"));
    assert_eq!(
        places.keeper_socket(),
        Path::new("/run/harnessd/coder/keeper.sock")
    );
}

#[test]
fn the_command_line_wins() {
    let request = PlacesRequest {
        config: Some(PathBuf::from("/x.toml")),
        state: Some(PathBuf::from("/s")),
        runtime: Some(PathBuf::from("/r")),
        ..PlacesRequest::default()
    };
    let places = resolve(request, &[("STATE_DIRECTORY", "/y")]);
    assert_eq!(
        (places.state.as_path(), places.runtime.as_path()),
        (Path::new("/s"), Path::new("/r"))
    );
    assert!(places.config_required);
}

#[test]
fn an_agents_name_is_a_directory_a_unit_and_nothing_else() {
    for name in ["a", "0", "coder-2", &"a".repeat(32)] {
        name.parse::<AgentName>().unwrap();
    }
    for name in [
        "",
        "-a",
        "A",
        "a_b",
        "a/b",
        "..",
        "a.b",
        "ä",
        "a\0",
        &"a".repeat(33),
    ] {
        assert!(name.parse::<AgentName>().is_err(), "{name:?}");
    }
}

#[test]
fn a_socket_path_beyond_the_kernels_limit_is_refused_at_once() {
    let request = |length: usize| PlacesRequest {
        runtime: Some(PathBuf::from(format!(
            "/{}",
            "r".repeat(length - "//control.sock".len())
        ))),
        ..PlacesRequest::default()
    };
    let home = variables(&[("HOME", "/h")]);
    Places::resolve(request(107), &home, 0).unwrap();
    let error = Places::resolve(request(108), &home, 0).unwrap_err();
    assert!(
        matches!(error, PlacesError::SocketPathTooLong { length: 108, .. }),
        "{error}"
    );
    assert!(error.to_string().contains("--runtime-dir"));
}

#[test]
fn without_a_home_the_way_out_is_named() {
    let error = Places::resolve(PlacesRequest::default(), &Variables::new(), 7).unwrap_err();
    assert!(error.to_string().contains("--state-dir"), "{error}");
}

#[test]
fn without_a_runtime_directory_there_is_a_private_one_in_tmp() {
    let places = resolve(PlacesRequest::default(), &[("HOME", "/h")]);
    assert_eq!(places.runtime, Path::new("/tmp/harnessd-1000/default"));
}

/// Places in a directory of the test's own.
fn own(root: &Path) -> Places {
    let request = PlacesRequest {
        state: Some(root.join("deep/state")),
        runtime: Some(root.join("run")),
        config: Some(root.join("a.toml")),
        ..PlacesRequest::default()
    };
    resolve(request, &[])
}

#[test]
fn directories_are_made_private_and_left_as_they_are_the_second_time() {
    let root = tempfile::tempdir().unwrap();
    let places = own(root.path());
    places.create().unwrap();
    places.create().unwrap();
    for directory in [
        &places.state,
        &places.runtime,
        &places.bash_tasks(),
        &places.tool_output(),
    ] {
        assert_eq!(
            fs::metadata(directory).unwrap().mode() & 0o777,
            0o700,
            "{}",
            directory.display()
        );
    }
    fs::remove_dir(places.bash_tasks()).unwrap();
    fs::write(places.bash_tasks(), "").unwrap();
    let error = places.create().unwrap_err();
    assert!(error.to_string().contains("bash-tasks"), "{error}");
}

#[test]
fn a_second_daemon_is_refused_and_told_who_the_first_is_until_that_is_killed() {
    const ROOT: &str = "HARNESSD_TEST_LOCK_ROOT";
    if let Some(root) = std::env::var_os(ROOT) {
        let _lock = StateLock::acquire(&own(Path::new(&root))).unwrap();
        let mut out = std::io::stdout();
        writeln!(out, "locked").unwrap();
        out.flush().unwrap();
        // Until the other process kills this one, or is gone.
        let mut line = String::new();
        std::io::stdin().read_line(&mut line).unwrap();
        return;
    }
    let root = tempfile::tempdir().unwrap();
    let places = own(root.path());
    places.create().unwrap();
    let name = "config::tests::places::a_second_daemon_is_refused_and_told_who_the_first_is_until_that_is_killed";
    let mut first = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", name, "--nocapture"])
        .env(ROOT, root.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(first.stdout.take().unwrap()).lines();
    lines
        .map(Result::unwrap)
        .find(|line| line.ends_with("locked"))
        .unwrap();
    let error = StateLock::acquire(&places).unwrap_err();
    assert!(
        matches!(error, LockError::Held { pid: Some(pid), .. } if pid == first.id()),
        "{error}"
    );
    assert!(
        error.to_string().contains(&format!("(pid {})", first.id())),
        "{error}"
    );
    first.kill().unwrap();
    first.wait().unwrap();
    let _lock = StateLock::acquire(&places).unwrap();
    assert_eq!(
        fs::read_to_string(places.state_lock()).unwrap(),
        format!("{}\n", std::process::id())
    );
}
