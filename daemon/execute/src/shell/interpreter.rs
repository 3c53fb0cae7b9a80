//! Which interpreter a command runs with.

use std::path::{Path, PathBuf};

use harness_model::Refusal;
use rustix::fs::{Access, access};

use super::refusal::{invalid, shown};

/// Shells that count as such wherever `PATH` has them; further ones are those of shells(5).
const KNOWN: [&str; 6] = ["bash", "sh", "dash", "zsh", "fish", "ksh"];

/// The installed interpreter that `shell` names, as an absolute path.
///
/// # Errors
/// `EINVAL`: it is neither a name nor an absolute path, or nothing of that kind is installed.
pub(super) fn find(shell: &str, search_path: &str) -> Result<PathBuf, Refusal> {
    find_among(shell, search_path, &listed())
}

fn find_among(shell: &str, search_path: &str, listed: &[PathBuf]) -> Result<PathBuf, Refusal> {
    let is_plain = |c: char| !c.is_whitespace() && !c.is_control();
    if shell.is_empty() || !shell.chars().all(is_plain) {
        let message = format!(
            "shell {} is neither the name nor the absolute path of an interpreter: arguments cannot be given",
            shown(shell)
        );
        return Err(invalid(&message));
    }
    let installed = installed(search_path, listed);
    let found = if shell.contains('/') {
        let wanted = located(Path::new(shell)).filter(|_| shell.starts_with('/'));
        wanted.and_then(|wanted| {
            installed
                .iter()
                .find(|path| located(path).as_ref() == Some(&wanted))
        })
    } else {
        let named = |path: &&PathBuf| path.file_name().is_some_and(|name| name == shell);
        installed.iter().find(named)
    };
    found.cloned().ok_or_else(|| {
        let mut names: Vec<_> = installed
            .iter()
            .filter_map(|path| path.file_name()?.to_str())
            .collect();
        names.sort_unstable();
        names.dedup();
        let message = format!(
            "shell {} is no installed interpreter: there are {}",
            shown(shell),
            names.join(", ")
        );
        invalid(&message)
    })
}

/// Every interpreter of this machine, those of `PATH` first.
fn installed(search_path: &str, listed: &[PathBuf]) -> Vec<PathBuf> {
    let directories: Vec<&Path> = search_path
        .split(':')
        .map(Path::new)
        .filter(|directory| directory.is_absolute())
        .collect();
    let further = listed.iter().filter_map(|path| path.file_name()?.to_str());
    let names = KNOWN.into_iter().chain(further);
    let in_path = names.flat_map(|name| {
        directories
            .iter()
            .map(move |directory| directory.join(name))
    });
    in_path
        .chain(listed.iter().cloned())
        .filter(|path| is_program(path))
        .collect()
}

/// The paths in `/etc/shells` (shells(5)).
fn listed() -> Vec<PathBuf> {
    let text = std::fs::read_to_string("/etc/shells").unwrap_or_default();
    text.lines()
        .map(|line| line.split('#').next().unwrap_or_default().trim())
        .filter(|line| line.starts_with('/'))
        .map(PathBuf::from)
        .collect()
}

fn is_program(path: &Path) -> bool {
    path.metadata().is_ok_and(|metadata| metadata.is_file())
        && access(path, Access::EXEC_OK).is_ok()
}

/// The path with the links of its directory resolved, its own name left: `/bin/sh` is `/usr/bin/sh` where `/bin` is a
/// link, and not `/usr/bin/dash`.
fn located(path: &Path) -> Option<PathBuf> {
    Some(path.parent()?.canonicalize().ok()?.join(path.file_name()?))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    use super::*;

    struct Machine(tempfile::TempDir);

    impl Machine {
        fn new() -> Self {
            let machine = Self(tempfile::tempdir().unwrap());
            for directory in ["usr", "opt"] {
                std::fs::create_dir(machine.path(directory)).unwrap();
            }
            symlink("usr", machine.path("bin")).unwrap();
            for program in ["usr/bash", "usr/python3", "usr/nu", "opt/bash", "opt/rc"] {
                std::fs::write(machine.path(program), "").unwrap();
                let mode = std::fs::Permissions::from_mode(0o755);
                std::fs::set_permissions(machine.path(program), mode).unwrap();
            }
            std::fs::write(machine.path("usr/zsh"), "").unwrap();
            machine
        }

        fn path(&self, name: &str) -> PathBuf {
            self.0.path().join(name)
        }

        fn find(&self, shell: &str) -> Result<PathBuf, Refusal> {
            let search = format!("relative:{}", self.path("usr").display());
            find_among(
                shell,
                &search,
                &[
                    self.path("usr/nu"),
                    self.path("opt/rc"),
                    self.path("opt/gone"),
                ],
            )
        }
    }

    #[test]
    fn a_name_or_an_absolute_path_of_an_installed_interpreter_is_found() {
        let machine = Machine::new();
        let path = |name: &str| machine.path(name).display().to_string();
        for (shell, expected) in [
            ("bash".to_owned(), "usr/bash"),
            ("nu".to_owned(), "usr/nu"),
            ("rc".to_owned(), "opt/rc"),
            (path("usr/bash"), "usr/bash"),
            (path("bin/bash"), "usr/bash"),
            (path("opt/rc"), "opt/rc"),
        ] {
            assert_eq!(
                machine.find(&shell).unwrap(),
                machine.path(expected),
                "{shell}"
            );
        }
    }

    #[test]
    fn anything_else_is_invalid_and_the_installed_ones_are_named() {
        let machine = Machine::new();
        let path = |name: &str| machine.path(name).display().to_string();
        for shell in [
            "",
            " ",
            "bash -x",
            "bash\t-x",
            "ba\0sh",
            "python3",
            "zsh",
            "gone",
            "./bash",
            "usr/bash",
            "../usr/bash",
            "-c",
        ] {
            let refusal = machine.find(shell).unwrap_err();
            assert_eq!(refusal.details.unwrap()["code"], "EINVAL", "{shell:?}");
        }
        for shell in [
            path("usr/python3"),
            path("opt/bash"),
            path("usr/zsh"),
            path("usr/../usr"),
            path(""),
        ] {
            let refusal = machine.find(&shell).unwrap_err();
            assert!(
                refusal.message.ends_with("there are bash, nu, rc"),
                "{shell}: {refusal}"
            );
        }
    }
}
