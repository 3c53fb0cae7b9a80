use std::{
    fs,
    os::unix::fs::{PermissionsExt as _, symlink},
};

use super::*;

/// A small machine: `bin` and `usr/bin` are in `PATH`, before them a directory of the workspace.
struct Machine(tempfile::TempDir);

impl Machine {
    fn new() -> Self {
        let machine = Self(tempfile::tempdir().unwrap());
        for directory in ["bin", "usr/bin", "usr/libexec/vcs-core", "work/bin", "tmp"] {
            fs::create_dir_all(machine.path(directory)).unwrap();
        }
        for program in [
            "bin/bash",
            "bin/env",
            "usr/bin/ls",
            "usr/bin/rm",
            "usr/bin/vcs",
            "usr/bin/make",
            "usr/bin/python3.12",
            "usr/bin/gzip",
            "usr/bin/tar",
        ] {
            machine.program(program, "\u{7f}not read");
        }
        machine
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().canonicalize().unwrap().join(name)
    }

    fn text(&self, name: &str) -> String {
        self.path(name).display().to_string()
    }

    fn program(&self, name: &str, text: &str) {
        fs::write(self.path(name), text).unwrap();
        let mode = fs::Permissions::from_mode(0o755);
        fs::set_permissions(self.path(name), mode).unwrap();
    }

    /// What may be executed beside the shells, below the machine's root; `None`: anything.
    fn executable(
        &self,
        programs: &[&str],
        execute: &[String],
        moves: bool,
    ) -> Option<Vec<String>> {
        let allowance = Allowance {
            rule: "[tool.run]".to_owned(),
            programs: programs.iter().map(|&word| word.to_owned()).collect(),
            execute: execute.to_vec(),
            moves,
        };
        let search_path = format!(
            "{}:{}:{}",
            self.text("work/bin"),
            self.text("bin"),
            self.text("usr/bin")
        );
        let (interpreter, work) = (self.path("bin/bash"), self.path("work"));
        let site = Site {
            interpreter: &interpreter,
            search_path: &search_path,
            cwd: &work,
            workspace: &work,
        };
        let writable = [self.text("work"), self.text("tmp")];
        let paths = Executable::of(&allowance, &site, Some(&writable)).into_paths()?;
        let root = self.text("");
        let below = |path: &String| path.strip_prefix(&root).map(str::to_owned);
        let mut paths: Vec<String> = paths.iter().filter_map(below).collect();
        assert_eq!(paths.remove(0), "bin/bash");
        Some(paths)
    }

    fn of(&self, programs: &[&str]) -> Option<Vec<String>> {
        self.executable(programs, &[], false)
    }
}

#[expect(
    clippy::unnecessary_wraps,
    reason = "what it is compared with is none where there is no limit"
)]
fn some(paths: &[&str]) -> Option<Vec<String>> {
    Some(paths.iter().map(|&path| path.to_owned()).collect())
}

#[test]
fn each_word_is_the_file_that_the_path_leads_to_and_a_builtin_is_none() {
    let machine = Machine::new();
    assert_eq!(
        machine.of(&["ls", "cd", ":", "nowhere"]),
        some(&["usr/bin/ls"])
    );
    assert_eq!(machine.of(&[]), some(&[]));
    let absolute = machine.text("usr/bin/ls");
    assert_eq!(machine.of(&[&absolute]), some(&["usr/bin/ls"]));
    symlink("ls", machine.path("usr/bin/dir")).unwrap();
    assert_eq!(machine.of(&["dir"]), some(&["usr/bin/ls"]));
}

#[test]
fn the_shell_and_its_loader_are_always_among_them() {
    let allowance = Allowance::default();
    let site = Site {
        interpreter: Path::new("/bin/bash"),
        search_path: "/bin",
        cwd: Path::new("/"),
        workspace: Path::new("/"),
    };
    let paths = Executable::of(&allowance, &site, None)
        .into_paths()
        .unwrap();
    for path in ["/bin/bash", "/bin/sh"] {
        let real = fs::canonicalize(path).unwrap().display().to_string();
        assert!(paths.contains(&real), "{real}: {paths:?}");
    }
    if let Format::Elf(loader) = Format::of(Path::new("/bin/bash")) {
        let real = fs::canonicalize(loader).unwrap().display().to_string();
        assert!(paths.contains(&real), "{real}: {paths:?}");
    }
}

#[test]
fn the_own_directories_of_a_program_are_among_them() {
    let machine = Machine::new();
    assert_eq!(
        machine.of(&["vcs"]),
        some(&["usr/bin/vcs", "usr/libexec/vcs-core"])
    );
    assert_eq!(machine.of(&["tar"]), some(&["usr/bin/gzip", "usr/bin/tar"]));
}

#[test]
fn what_runs_other_programs_is_not_limited() {
    let machine = Machine::new();
    assert_eq!(machine.of(&["ls", "make"]), None);
    assert_eq!(machine.of(&["python3.12"]), None);
    symlink("python3.12", machine.path("usr/bin/snake")).unwrap();
    assert_eq!(machine.of(&["snake"]), None);
    machine.program("usr/bin/wrapper", "#!/bin/sh\nls\n");
    assert_eq!(machine.of(&["wrapper"]), None);
}

#[test]
fn a_program_that_the_script_could_have_put_into_the_path_is_not_executed() {
    let machine = Machine::new();
    machine.program("work/bin/ls", "#!/bin/sh\nrm x\n");
    machine.program("work/bin/make", "#!/bin/sh\nrm x\n");
    // The shell finds these, and may not execute them; nor do they lift the limit.
    assert_eq!(machine.of(&["ls", "make"]), some(&[]));
    symlink(machine.path("work/bin/ls"), machine.path("bin/outside")).unwrap();
    assert_eq!(machine.of(&["outside"]), some(&[]));
    // Unless a person has named it.
    let named = [machine.text("work/bin")];
    assert_eq!(machine.executable(&["ls"], &named, false), None);
}

#[test]
fn a_path_into_the_workspace_that_the_list_names_is_executed() {
    let machine = Machine::new();
    machine.program("work/tool", "\u{7f}not read");
    assert_eq!(machine.of(&["./tool"]), some(&["work/tool"]));
    machine.program("work/check.sh", "#!/bin/sh\n");
    assert_eq!(machine.of(&["./check.sh"]), None);
    // What is not there yet, or lies where the script goes to, can be anywhere in it.
    assert_eq!(machine.of(&["./later"]), some(&["work"]));
    assert_eq!(
        machine.executable(&["cd", "./tool"], &[], true),
        some(&["work"])
    );
    assert_eq!(machine.of(&["/nowhere/later"]), some(&[]));
}

#[test]
fn the_configuration_names_more_by_name_file_and_directory_or_lifts_the_limit() {
    let machine = Machine::new();
    let execute = |entry: &str| machine.executable(&["ls"], &[entry.to_owned()], false);
    assert_eq!(execute("rm"), some(&["usr/bin/ls", "usr/bin/rm"]));
    assert_eq!(
        execute(&machine.text("usr/bin/rm")),
        some(&["usr/bin/ls", "usr/bin/rm"])
    );
    assert_eq!(
        execute(&machine.text("usr/libexec")),
        some(&["usr/bin/ls", "usr/libexec"])
    );
    assert_eq!(execute("nowhere"), some(&["usr/bin/ls"]));
    assert_eq!(execute("*"), None);
    // A script that is named is executed, and lifts nothing.
    machine.program("usr/bin/hook", "#!/usr/bin/env vcs\n");
    assert_eq!(
        execute("hook"),
        some(&["usr/bin/hook", "usr/bin/ls", "usr/bin/vcs"])
    );
}

#[test]
fn interpreters_that_name_each_other_come_to_an_end() {
    let machine = Machine::new();
    let text = format!("#!{}\n", machine.text("usr/bin/b"));
    machine.program("usr/bin/a", &text);
    machine.program("usr/bin/b", &format!("#!{}\n", machine.text("usr/bin/a")));
    assert_eq!(
        machine.executable(&[], &["a".to_owned()], false),
        some(&["usr/bin/a", "usr/bin/b"])
    );
}
