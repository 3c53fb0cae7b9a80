//! Plugins that are built for these tests.

use std::{
    path::{Path, PathBuf},
    process::Command,
    sync::LazyLock,
};

use tempfile::TempDir;

/// Where they are until the tests have ended.
static BUILT: LazyLock<TempDir> = LazyLock::new(|| {
    let directory = tempfile::tempdir().unwrap();
    let build =
        |name: &str, flags: &[&str]| compile(&directory.path().join(name), "saboteur.c", flags);
    build("saboteur.so", &[]);
    build("version.so", &["-DSABOTEUR_VERSION=2"]);
    compile(&directory.path().join("plain.so"), "plain.c", &[]);
    directory
});

/// A command, since only the keeper spawns in the product itself.
#[expect(
    clippy::disallowed_methods,
    reason = "tests start the programs under test"
)]
pub(crate) fn command(program: impl AsRef<std::ffi::OsStr>) -> Command {
    Command::new(program)
}

/// A built plugin by its file name.
pub(crate) fn path(name: &str) -> PathBuf {
    BUILT.path().join(name)
}

/// A C compiler comes with every Rust toolchain as its linker.
fn compile(library: &Path, source: &str, flags: &[&str]) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut compiler = command("cc");
    compiler
        .args([
            "-std=gnu11",
            "-Wall",
            "-Wextra",
            "-Werror",
            "-fPIC",
            "-shared",
        ])
        .args(flags)
        .arg("-I")
        .arg(root.join("../abi/include"))
        .arg("-o")
        .arg(library)
        .arg(root.join("../../tests/fixtures").join(source));
    let output = compiler.output().unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
}
