//! A Nix evaluator with a store of its own, and the copy of nixpkgs' lib that it is given.

use std::{
    env,
    path::{Path, PathBuf},
    process::Command,
};

use harness_tests::{
    binaries,
    command::{self, Output},
    harness::PATIENCE,
};
use serde_json::Value;
use tempfile::TempDir;

/// Root without the build users of an installed Nix, no network, nothing beside the shell to build with.
const CONFIGURATION: &str =
    "build-users-group =\nsandbox = false\nsubstituters =\nbuild-hook =\nbuilders =\n";

/// One of Nix's programs: the tests' own, or the machine's.
fn program(name: &str) -> PathBuf {
    let own = binaries::tools().join("nix/bin").join(name);
    if own.exists() { own } else { name.into() }
}

/// Why nothing can be evaluated here, if so.
pub(super) fn no_nix() -> Option<String> {
    let mut version = command::command(program("nix-instantiate"));
    version.arg("--version");
    let found = version.output().is_ok_and(|output| output.status.success());
    (!found).then(|| "there is no nix (nix/tests/install.sh)".to_owned())
}

/// The directory of nixpkgs' `lib`, from `NIXPKGS_LIB`: that directory, or the one it is in.
pub(super) fn nixpkgs_lib() -> Result<PathBuf, String> {
    let given = env::var_os("NIXPKGS_LIB")
        .filter(|given| !given.is_empty())
        .ok_or("no nixpkgs lib (make test-nix NIXPKGS_LIB=DIR)")?;
    let given = binaries::source().join(given);
    [given.join("lib"), given.clone()]
        .into_iter()
        .find(|directory| directory.join("trivial.nix").exists())
        .ok_or_else(|| format!("no nixpkgs lib in NIXPKGS_LIB={}", given.display()))
}

/// What is evaluated: `nix/tests/eval`, with harnessd as `make install` puts it.
pub(super) struct Evaluation {
    directory: TempDir,
    lib: PathBuf,
}

impl Evaluation {
    pub(super) fn new() -> Self {
        let directory = tempfile::Builder::new().prefix("hn").tempdir().unwrap();
        let mut make = command::command("make");
        make.arg("--silent")
            .arg("--directory")
            .arg(binaries::source())
            .arg("install")
            .arg(format!("PREFIX={}", directory.path().join("out").display()))
            .arg(format!("BUILT={}", binaries::directory().display()))
            .env_remove("MAKEFLAGS");
        command::run(make, b"", PATIENCE).ok();
        Self {
            directory,
            lib: nixpkgs_lib().unwrap(),
        }
    }

    /// Evaluates an attribute of `nix/tests/eval`; what it says when that fails.
    pub(super) fn try_value(&self, attribute: &str) -> Result<Value, String> {
        let mut nix = self.instantiate(attribute);
        nix.args(["--eval", "--strict", "--json"]);
        let output = command::run(nix, b"", PATIENCE);
        if output.code == 0 {
            Ok(output.json())
        } else {
            Err(output.stderr)
        }
    }

    #[track_caller]
    pub(super) fn value(&self, attribute: &str) -> Value {
        self.try_value(attribute)
            .unwrap_or_else(|error| panic!("{attribute}: {error}"))
    }

    /// Builds the derivation at an attribute; its path, or what it says when that fails.
    pub(super) fn build(&self, attribute: &str) -> Result<PathBuf, String> {
        let derivation = command::run(self.instantiate(attribute), b"", PATIENCE).ok();
        let mut realise = self.nix("nix-store");
        realise.args(["--realise", derivation.stdout.trim()]);
        let Output {
            code,
            stdout,
            stderr,
        } = command::run(realise, b"", PATIENCE);
        if code == 0 {
            Ok(PathBuf::from(stdout.trim()))
        } else {
            Err(stderr)
        }
    }

    fn instantiate(&self, attribute: &str) -> Command {
        let mut nix = self.nix("nix-instantiate");
        nix.arg(binaries::source().join("nix/tests/eval"))
            .args(["--attr", attribute, "--argstr", "nixpkgsLib"])
            .arg(&self.lib)
            .args(["--argstr", "package"])
            .arg(self.directory.path().join("out"));
        nix
    }

    fn nix(&self, name: &str) -> Command {
        let mut nix = isolated(name, self.directory.path());
        // Builds are in TMPDIR, and a kept log is of no use.
        nix.env("TMPDIR", self.directory.path());
        nix
    }
}

impl Drop for Evaluation {
    /// Nothing in a store can be written to, or removed by another user than root.
    fn drop(&mut self) {
        let mut chmod = command::command("chmod");
        chmod.args(["-R", "u+w"]).arg(self.directory.path());
        chmod.output().unwrap();
    }
}

/// A program of Nix with its store and everything else below a directory.
pub(super) fn isolated(name: &str, directory: &Path) -> Command {
    let mut nix = command::command(program(name));
    nix.env("NIX_STORE_DIR", directory.join("store"))
        .env("NIX_STATE_DIR", directory.join("state"))
        .env("NIX_LOG_DIR", directory.join("log"))
        .env("NIX_CONF_DIR", directory.join("etc"))
        .env("NIX_CONFIG", CONFIGURATION)
        .env("HOME", directory)
        .env_remove("NIX_PATH")
        .env_remove("NIX_REMOTE");
    nix
}
