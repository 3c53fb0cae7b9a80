//! What can be said of the files without evaluating them.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

use harness_tests::{binaries, command, harness::PATIENCE, trials};
use libtest_mimic::Trial;
use serde_json::Value;

use super::evaluation::{isolated, no_nix};

pub(crate) fn trials() -> Vec<Trial> {
    let mut trials = trials![
        the_schema_that_the_modules_read_is_the_one_that_harnessd_prints,
        the_lock_file_pins_what_the_flake_asks_for,
    ];
    trials.extend(trials![if no_nix(); every_nix_file_parses]);
    trials.extend(trials![if no_nixfmt(); every_nix_file_is_formatted]);
    trials
}

fn nixfmt() -> PathBuf {
    let own = binaries::tools().join("bin/nixfmt");
    if own.exists() { own } else { "nixfmt".into() }
}

fn no_nixfmt() -> Option<String> {
    let mut version = command::command(nixfmt());
    version.arg("--version");
    let found = version.output().is_ok_and(|output| output.status.success());
    (!found).then(|| "there is no nixfmt (nix/tests/install.sh)".to_owned())
}

/// Every Nix file of the tree.
fn nix_files() -> Vec<PathBuf> {
    let mut found = vec![binaries::source().join("flake.nix")];
    let mut directories = ["nix", "examples"]
        .map(|top| binaries::source().join(top))
        .to_vec();
    while let Some(directory) = directories.pop() {
        for entry in fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                directories.push(path);
            } else if path.extension().is_some_and(|extension| extension == "nix") {
                found.push(path);
            }
        }
    }
    found
}

/// Compares a generated file with what it should be, or writes it where `UPDATE` is set.
#[track_caller]
pub(super) fn is_generated(path: &str, text: &str) {
    let file = binaries::source().join(path);
    if std::env::var_os("UPDATE").is_some_and(|value| !value.is_empty()) {
        fs::write(&file, text).unwrap();
    }
    let committed = fs::read_to_string(&file).unwrap_or_default();
    let differs = committed
        .lines()
        .zip(text.lines())
        .position(|(old, new)| old != new);
    assert!(
        committed == text,
        "{path} is not what is generated now, from line {}: UPDATE=1 writes it again",
        differs.unwrap_or_else(|| committed.lines().count().min(text.lines().count())) + 1
    );
}

pub(super) fn the_schema_that_the_modules_read_is_the_one_that_harnessd_prints() {
    let mut schema = command::command(binaries::program("harnessd"));
    schema.arg("--schema");
    let printed = command::run(schema, b"", PATIENCE).ok().stdout;
    is_generated("docs/config.schema.json", &printed);
}

fn the_lock_file_pins_what_the_flake_asks_for() {
    let read = |name: &str| fs::read_to_string(binaries::source().join(name)).unwrap();
    let lock: Value = serde_json::from_str(&read("flake.lock")).unwrap();
    let node = &lock["nodes"]["nixpkgs"];
    let original = &node["original"];
    let url = format!(
        "\"{}:{}/{}/{}\"",
        original["type"].as_str().unwrap(),
        original["owner"].as_str().unwrap(),
        original["repo"].as_str().unwrap(),
        original["ref"].as_str().unwrap()
    );
    assert!(read("flake.nix").contains(&url), "{url}");
    let revision = node["locked"]["rev"].as_str().unwrap();
    assert!(
        revision.len() == 40 && revision.bytes().all(|byte| byte.is_ascii_hexdigit()),
        "{revision}"
    );
    // SHA-256 in base64, as in `nix hash`.
    let hash = node["locked"]["narHash"].as_str().unwrap();
    assert!(
        hash.starts_with("sha256-") && hash.len() == 51 && hash.ends_with('='),
        "{hash}"
    );
    let inputs: BTreeSet<&String> = lock["nodes"].as_object().unwrap().keys().collect();
    assert_eq!(inputs.into_iter().collect::<Vec<_>>(), ["nixpkgs", "root"]);
}

fn every_nix_file_parses() {
    let files = nix_files();
    assert!(files.len() > 20, "{files:?}");
    let directory = tempfile::tempdir().unwrap();
    let mut parse = isolated("nix-instantiate", directory.path());
    parse.arg("--parse").args(&files);
    command::run(parse, b"", PATIENCE).ok();
    let wrong = directory.path().join("wrong.nix");
    fs::write(&wrong, "{ a = ; }").unwrap();
    assert_ne!(parses(&wrong, directory.path()), 0);
}

fn parses(file: &Path, directory: &Path) -> i32 {
    let mut parse = isolated("nix-instantiate", directory);
    parse.arg("--parse").arg(file);
    command::run(parse, b"", PATIENCE).code
}

fn every_nix_file_is_formatted() {
    let mut format = command::command(nixfmt());
    format.arg("--check").args(nix_files());
    let output = command::run(format, b"", PATIENCE);
    assert_eq!(output.code, 0, "run nixfmt on them:\n{}", output.stderr);
}
