//! Clients from package registries, as `tests/tools/install.sh` puts them into one directory.

use std::{path::PathBuf, process::Command};

use crate::{
    binaries::{source, tools},
    command::command,
};

/// Why a program of the npm set cannot be run here; none when it can.
pub fn node_missing(program: &str) -> Option<String> {
    let found = node_directory().join("node").exists() && script(program).exists();
    (!found).then(|| format!("{program} is not installed: run tests/tools/install.sh"))
}

/// A program of the npm set, run by the Node that came with it: the system's may be too old. What it keeps in its home
/// goes to `home`.
pub fn node(program: &str, home: PathBuf) -> Command {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let path = std::iter::once(node_directory()).chain(std::env::split_paths(&path));
    let mut command = command(node_directory().join("node"));
    command
        .arg(script(program))
        .env("PATH", std::env::join_paths(path).unwrap())
        .env("HOME", home)
        .env("NO_COLOR", "1");
    command
}

/// The words that start a program of the npm set.
pub fn node_words(program: &str) -> Vec<String> {
    [node_directory().join("node"), script(program)]
        .map(|path| path.display().to_string())
        .to_vec()
}

/// The words that start a script of `tests/fixtures` with the Python MCP SDK at hand.
pub fn python_words(name: &str) -> Vec<String> {
    [interpreter(), source().join("tests/fixtures").join(name)]
        .map(|path| path.display().to_string())
        .to_vec()
}

/// Why the Python MCP SDK cannot be run here; none when it can.
pub fn python_missing() -> Option<String> {
    (!interpreter().exists())
        .then(|| "the Python MCP SDK is not installed: run tests/tools/install.sh".to_owned())
}

/// A script of `tests/fixtures` with the Python MCP SDK at hand.
pub fn python(script: &str) -> Command {
    let mut command = command(interpreter());
    command
        .arg(source().join("tests/fixtures").join(script))
        .env("PYTHONDONTWRITEBYTECODE", "1");
    command
}

/// Where Node is: the package of this machine's kind. Older versions of npm make no link to it.
fn node_directory() -> PathBuf {
    let machine = match std::env::consts::ARCH {
        "x86_64" => "x64",
        "aarch64" => "arm64",
        other => other,
    };
    tools().join(format!("node_modules/node-linux-{machine}/bin"))
}

fn script(program: &str) -> PathBuf {
    tools().join("node_modules/.bin").join(program)
}

fn interpreter() -> PathBuf {
    tools().join("venv/bin/python")
}
