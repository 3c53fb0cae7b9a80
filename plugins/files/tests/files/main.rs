//! Each tool on real trees.
#![expect(
    clippy::unwrap_used,
    reason = "a test that cannot go on fails by panicking"
)]

mod confinement;
mod reading;
mod writing;

use std::{fs, path::Path};

use harness_files::{Settings, Workspace};
use harness_plugin_sdk::{Call, Result};
use tempfile::TempDir;

/// A workspace with a secret beside it.
struct Desk {
    directory: TempDir,
    workspace: Workspace,
}

impl Desk {
    fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let root = directory.path().join("work");
        fs::create_dir(&root).unwrap();
        fs::write(directory.path().join("secret"), "top secret\n").unwrap();
        let workspace = Workspace::open(&Settings { root: Some(root) }).unwrap();
        Self {
            directory,
            workspace,
        }
    }

    fn path(&self, name: &str) -> std::path::PathBuf {
        self.directory.path().join("work").join(name)
    }

    fn file(&self, name: &str, text: impl AsRef<[u8]>) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn text(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap()
    }

    /// Runs a tool with an input.
    fn run<I, O>(&self, tool: fn(I, &Call<Workspace>) -> Result<O>, input: I) -> Result<O> {
        tool(input, &Call::of(&self.workspace))
    }

    /// The names in a directory, in order.
    fn names(&self, name: &str) -> Vec<String> {
        names(&self.path(name))
    }
}

fn names(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory).unwrap();
    let mut names: Vec<String> = entries
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

/// Why a tool has failed.
fn failure<O>(result: Result<O>) -> String {
    match result {
        Ok(_) => panic!("it succeeds"),
        Err(error) => error.to_string(),
    }
}
