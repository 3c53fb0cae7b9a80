//! Where the built programs are.

use std::path::{Path, PathBuf};

/// The directory of the built programs, in or beside which the test or benchmark itself was built.
pub fn directory() -> PathBuf {
    let own = std::env::current_exe().unwrap();
    let directory = own.parent().unwrap();
    let programs = if directory.ends_with("deps") {
        directory.parent().unwrap()
    } else {
        directory
    };
    programs.to_owned()
}

/// One program; `make test` builds them all first.
pub fn program(name: &str) -> PathBuf {
    let path = directory().join(name);
    assert!(
        path.exists(),
        "{} is not built: run `cargo build --workspace` first",
        path.display()
    );
    path
}

/// A built plugin, by the name of its library without `lib` and `.so`.
pub fn library(name: &str) -> PathBuf {
    program(&format!("lib{name}.so"))
}

/// The top of the source tree.
pub fn source() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap()
}

/// Where `make test` puts clients from package registries.
pub fn tools() -> PathBuf {
    std::env::var_os("HARNESS_TEST_TOOLS")
        .map_or_else(|| source().join("target/tools"), PathBuf::from)
}
