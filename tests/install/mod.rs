//! `make install`, as a packager uses it.

use std::{
    collections::BTreeMap,
    fs,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
};

use harness_tests::{
    binaries,
    command::{self, Output},
    harness::PATIENCE,
    trials,
};
use libtest_mimic::Trial;

pub(crate) fn trials() -> Vec<Trial> {
    let mut trials = trials![
        if missing(&["make"]);
        an_install_puts_everything_below_its_prefix_and_nothing_elsewhere,
        an_install_of_what_was_not_built_says_so_and_installs_nothing,
    ];
    trials.extend(trials![
        if missing(&["make", "systemd-analyze"]);
        systemd_finds_nothing_to_complain_about_in_what_is_installed,
    ]);
    trials
}

/// Says which of the programs cannot be run here.
fn missing(programs: &[&str]) -> Option<String> {
    let missing = programs.iter().find(|program| {
        let mut command = command::command(program);
        command.arg("--version");
        !command.output().is_ok_and(|output| output.status.success())
    });
    missing.map(|program| format!("it needs {program}"))
}

fn install(root: &Path, prefix: &str, built: &Path) -> Output {
    let mut make = command::command("make");
    make.arg("--silent")
        .arg("--directory")
        .arg(binaries::source())
        .arg("install")
        .arg(format!("DESTDIR={}", root.display()))
        .arg(format!("PREFIX={prefix}"))
        .arg(format!("BUILT={}", built.display()))
        // A jobserver of a make around the tests is none of its business.
        .env_remove("MAKEFLAGS");
    command::run(make, b"", PATIENCE)
}

/// Every file below `directory` by its path there, with its permission bits.
fn files(directory: &Path) -> BTreeMap<PathBuf, u32> {
    let mut found = BTreeMap::new();
    let mut directories = vec![directory.to_owned()];
    while let Some(next) = directories.pop() {
        for entry in fs::read_dir(next).unwrap() {
            let entry = entry.unwrap();
            if entry.file_type().unwrap().is_dir() {
                directories.push(entry.path());
            } else {
                let mode = entry.metadata().unwrap().permissions().mode() & 0o7777;
                let path = entry.path();
                found.insert(path.strip_prefix(directory).unwrap().to_owned(), mode);
            }
        }
    }
    found
}

fn an_install_puts_everything_below_its_prefix_and_nothing_elsewhere() {
    let root = tempfile::tempdir().unwrap();
    install(root.path(), "/opt/harness", &binaries::directory()).ok();
    let installed = files(root.path());
    for (path, mode) in &installed {
        let path = path.to_str().unwrap();
        assert!(path.starts_with("opt/harness/"), "{path}");
        let expected = if path.starts_with("opt/harness/bin/") {
            0o755
        } else {
            0o644
        };
        assert_eq!(*mode, expected, "{path}");
    }
    let top = root.path().join("opt/harness");
    for unit in files(&binaries::source().join("systemd")).keys() {
        let of_a_manager = unit.starts_with("system") || unit.starts_with("user");
        let lib = top.join(if of_a_manager { "lib/systemd" } else { "lib" });
        let text = fs::read_to_string(lib.join(unit)).unwrap();
        for line in text.lines() {
            if let Some(command) = line.strip_prefix("ExecStart=/") {
                let (program, _) = command.split_once(' ').unwrap();
                assert!(
                    installed.contains_key(Path::new(program)),
                    "{}: {line}",
                    unit.display()
                );
            }
        }
    }
    for other in [
        "include/harness_plugin.h",
        "share/doc/harnessd/README.md",
        "share/doc/harnessd/openapi.json",
        "share/licenses/harnessd/LICENSE-MIT",
        "share/licenses/harnessd/LICENSE-APACHE",
    ] {
        assert!(top.join(other).is_file(), "{other}");
    }
    for plugin in ["files", "nix", "systemd"] {
        let library = top.join(format!("lib/harnessd/plugins/libharness_{plugin}.so"));
        let mut describe = command::command(top.join("bin/harness-plugin-host"));
        describe.arg("--describe").arg(library);
        let description = command::run(describe, b"", PATIENCE).ok().json();
        assert_eq!(description["name"], plugin);
    }
    for program in [
        "harnessd",
        "harness-keeper",
        "harness-plugin-host",
        "harnessctl",
    ] {
        let mut version = command::command(top.join("bin").join(program));
        version.arg("--version");
        let output = command::run(version, b"", PATIENCE).ok();
        assert!(output.stdout.starts_with(program), "{output:?}");
    }
}

fn an_install_of_what_was_not_built_says_so_and_installs_nothing() {
    let root = tempfile::tempdir().unwrap();
    let output = install(root.path(), "/usr", &root.path().join("nothing"));
    assert_ne!(output.code, 0);
    assert!(output.stderr.contains("run make first"), "{output:?}");
    assert!(files(root.path()).is_empty());
}

fn systemd_finds_nothing_to_complain_about_in_what_is_installed() {
    let root = tempfile::tempdir().unwrap();
    install(root.path(), "/usr/local", &binaries::directory()).ok();
    // What the units name of the rest of a system.
    let write = |path: &str, text: &str, mode: u32| {
        let path = root.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
    };
    write("bin/kill", "#!/bin/sh\n", 0o755);
    for target in ["basic", "multi-user", "shutdown", "sockets", "sysinit"] {
        let path = format!("usr/lib/systemd/system/{target}.target");
        write(&path, "[Unit]\nDescription=A target\n", 0o644);
    }
    let verified = verify(root.path());
    assert_eq!((verified.code, verified.stderr.as_str()), (0, ""));
    fs::remove_file(root.path().join("usr/local/bin/harnessd")).unwrap();
    let verified = verify(root.path());
    assert_ne!(
        verified.code, 0,
        "a program that is not there goes unnoticed"
    );
}

/// What systemd says of the system's units; it cannot look at a user's in another root.
fn verify(root: &Path) -> Output {
    let mut analyze = command::command("systemd-analyze");
    analyze
        .args(["verify", "--man=no", "harnessd.slice"])
        .arg(format!("--root={}", root.display()))
        .args([
            "harnessd@a.service",
            "harness-keeper@a.service",
            "harness-keeper@a.socket",
        ])
        .args(["mcp", "tools", "control"].map(|socket| format!("harnessd-{socket}@a.socket")));
    command::run(analyze, b"", PATIENCE)
}
