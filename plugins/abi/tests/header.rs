//! The header that C authors include is the one that the structures make, and C lays it out alike.

#![expect(
    clippy::unwrap_used,
    reason = "a test that cannot go on fails by panicking"
)]

use std::{fs, mem, path::Path};

use harness_plugin_abi::{
    HarnessBuffer, HarnessCall, HarnessInit, HarnessPlugin, HarnessSlice, VERSION_SYMBOL,
};

/// What a plugin has to export; cbindgen sees only what is defined here.
const EXPORTS: &str = "\
#ifdef __cplusplus
extern \"C\" {
#endif

/**
 * Exported by the plugin: HARNESS_PLUGIN_ABI_VERSION. It is read before anything else is used.
 */
__attribute__((visibility(\"default\"))) extern const uint32_t harness_plugin_abi_version;

/**
 * Exported by the plugin: gives its table.
 */
__attribute__((visibility(\"default\"))) const HarnessPlugin *harness_plugin(void);

#ifdef __cplusplus
}
#endif
";

fn generated() -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let config = cbindgen::Config::from_file(root.join("cbindgen.toml")).unwrap();
    let mut bytes = Vec::new();
    cbindgen::Builder::new()
        .with_src(root.join("src/table.rs"))
        .with_config(config)
        .generate()
        .unwrap()
        .write(&mut bytes);
    let text = String::from_utf8(bytes).unwrap();
    let end = "#ifdef __cplusplus\n}";
    let place = text
        .rfind(end)
        .unwrap_or_else(|| text.rfind("#endif").unwrap());
    format!("{}{EXPORTS}\n{}", &text[..place], &text[place..])
}

#[test]
fn the_header_is_the_one_that_the_structures_make() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("include/harness_plugin.h");
    let expected = generated();
    if std::env::var_os("UPDATE").is_some() {
        fs::write(&path, &expected).unwrap();
    }
    let committed = fs::read_to_string(&path).unwrap_or_default();
    assert!(
        committed == expected,
        "include/harness_plugin.h is not up to date: run with UPDATE=1"
    );
}

/// `sizeof` and every `offsetof`, as C has to see them.
fn assertions() -> String {
    macro_rules! layout {
        ($($name:ident { $($field:ident),* })*) => {
            [$(
                format!("_Static_assert(sizeof({0}) == {1}, \"{0}\");\n", stringify!($name), mem::size_of::<$name>()),
                $(format!(
                    "_Static_assert(offsetof({0}, {1}) == {2}, \"{0}.{1}\");\n",
                    stringify!($name), stringify!($field), mem::offset_of!($name, $field),
                ),)*
            )*].concat()
        };
    }
    layout! {
        HarnessSlice { data, length }
        HarnessBuffer { data, length }
        HarnessInit { size, settings }
        HarnessCall { size, tool, input, context, progress, cancelled, cancel_descriptor }
        HarnessPlugin { size, describe, init, call, free, shutdown }
    }
}

#[test]
fn c_and_rust_lay_the_structures_out_alike() {
    let directory = tempfile::tempdir().unwrap();
    let source = directory.path().join("layout.c");
    let symbol = VERSION_SYMBOL.to_str().unwrap();
    let text = format!(
        "#include \"harness_plugin.h\"\n{}const uint32_t {symbol} = HARNESS_PLUGIN_ABI_VERSION;\n",
        assertions()
    );
    fs::write(&source, text).unwrap();
    for language in [
        ["-x", "c", "-std=c11"],
        ["-x", "c++", "-D_Static_assert=static_assert"],
    ] {
        let mut compiler = command("cc");
        compiler
            .args(language)
            .args(["-Wall", "-Wextra", "-Werror", "-fsyntax-only", "-I"])
            .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("include"))
            .arg(&source);
        let output = compiler.output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        // A C compiler comes with every Rust toolchain as its linker; one for C++ does not.
        if said.contains("cc1plus") {
            continue;
        }
        assert!(output.status.success(), "{said}");
    }
}

#[expect(clippy::disallowed_methods, reason = "the test starts a compiler")]
fn command(program: &str) -> std::process::Command {
    std::process::Command::new(program)
}
