//! What a program runs itself.
//!
//! Most programs run no others, and those that do mostly run their own (`git` what lies in `libexec/git-core`).
//! But a program whose purpose is to run what a file of the workspace says can be made to run anything by
//! whoever writes that file, so there is nothing in limiting what is executed beneath it.

use std::path::{Path, PathBuf};

/// What is executed beneath a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Beneath {
    /// It runs what it is told to, or what a file says.
    Anything,
    /// Programs by name, beside its own.
    Programs(&'static [&'static str]),
}

/// Shells, build tools, package managers, test runners, compilers with their linkers, language runtimes, and
/// what runs plug-ins of the workspace. Scripts (`#!`) need not be among them.
const ANYTHING: &[&str] = &[
    "ant",
    "ash",
    "bash",
    "bazel",
    "bazelisk",
    "buck",
    "buck2",
    "bun",
    "bundle",
    "bunx",
    "c++",
    "cabal",
    "cargo",
    "cc",
    "clang",
    "clang++",
    "cmake",
    "composer",
    "conan",
    "corepack",
    "cpack",
    "crystal",
    "ctest",
    "dart",
    "dash",
    "deno",
    "dmd",
    "dotnet",
    "dub",
    "dune",
    "elixir",
    "erl",
    "fish",
    "flutter",
    "g++",
    "gcc",
    "gdc",
    "gfortran",
    "ghc",
    "gmake",
    "gnumake",
    "go",
    "gradle",
    "guile",
    "hatch",
    "java",
    "javac",
    "julia",
    "just",
    "kotlin",
    "kotlinc",
    "ksh",
    "lake",
    "ldc",
    "lua",
    "luajit",
    "luarocks",
    "mage",
    "make",
    "maturin",
    "meson",
    "mix",
    "mvn",
    "nim",
    "nimble",
    "ninja",
    "nix",
    "nix-build",
    "nix-env",
    "nix-shell",
    "nix-store",
    "node",
    "nodejs",
    "npm",
    "npx",
    "ocaml",
    "opam",
    "pdm",
    "perl",
    "php",
    "phpunit",
    "pip",
    "pipenv",
    "pnpm",
    "podman",
    "poetry",
    "prove",
    "pulumi",
    "pypy",
    "pytest",
    "python",
    "R",
    "racket",
    "rake",
    "rebar",
    "ruby",
    "rustc",
    "rustdoc",
    "rustup",
    "samu",
    "sbt",
    "scala",
    "scons",
    "sh",
    "stack",
    "swift",
    "task",
    "tclsh",
    "terraform",
    "tofu",
    "tox",
    "turbo",
    "uv",
    "uvx",
    "waf",
    "xmake",
    "yarn",
    "zig",
    "zsh",
];

const PROGRAMS: &[(&str, &[&str])] = &[
    ("bsdtar", COMPRESSION),
    ("diff3", &["diff"]),
    ("gh", &["git"]),
    ("git", &["gzip"]),
    ("man", MANUAL),
    ("sdiff", &["diff"]),
    ("tar", COMPRESSION),
];

const COMPRESSION: &[&str] = &[
    "bzip2", "compress", "gzip", "lzip", "lzma", "lzop", "xz", "zstd",
];

const MANUAL: &[&str] = &[
    "bzip2", "cat", "col", "eqn", "groff", "grotty", "gzip", "iconv", "nroff", "preconv", "tbl",
    "troff", "xz", "zstd",
];

impl Beneath {
    /// Of a program by the name it was called by, or by that of the file it is.
    pub(super) fn of(name: &str) -> Option<Self> {
        let stem = stem(name);
        let anything = |name| ANYTHING.contains(&name);
        if anything(name) || anything(stem) {
            return Some(Self::Anything);
        }
        let mut programs = PROGRAMS.iter();
        programs
            .find(|(known, _)| *known == name)
            .map(|(_, programs)| Self::Programs(programs))
    }
}

/// A name without its version: `python3.12` and `gcc-14`.
fn stem(name: &str) -> &str {
    name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.' || c == '-')
}

/// The directories that an installed program has to itself, beside its `bin`: `libexec/NAME`, `lib/NAME`, and
/// the same with `-core`.
pub(super) fn own_directories(file: &Path, names: &[&str]) -> Vec<PathBuf> {
    let is_bin = |directory: &&Path| {
        directory
            .file_name()
            .is_some_and(|name| name == "bin" || name == "sbin")
    };
    let prefix = file.parent().filter(is_bin).and_then(Path::parent);
    let Some(prefix) = prefix else {
        return Vec::new();
    };
    let mut directories = Vec::new();
    for base in ["libexec", "lib"] {
        for name in names {
            for end in ["", "-core"] {
                directories.push(prefix.join(base).join(format!("{name}{end}")));
            }
        }
    }
    directories.retain(|directory| directory.is_dir());
    directories
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_are_known_by_their_names_with_and_without_a_version() {
        for name in [
            "make",
            "python3.12",
            "gcc-14",
            "clang++-18",
            "pip3",
            "R",
            "sh",
        ] {
            assert_eq!(Beneath::of(name), Some(Beneath::Anything), "{name}");
        }
        for name in ["ls", "awk", "sed", "curl", "rm", "r", "ssh", "find", ""] {
            assert_eq!(Beneath::of(name), None, "{name}");
        }
        assert!(matches!(Beneath::of("tar"), Some(Beneath::Programs(_))));
    }

    #[test]
    fn the_own_directories_are_those_of_that_name_that_are_there() {
        let root = tempfile::tempdir().unwrap();
        for directory in [
            "bin",
            "libexec/git-core",
            "lib/git",
            "lib/other",
            "libexec/x",
        ] {
            std::fs::create_dir_all(root.path().join(directory)).unwrap();
        }
        let own = own_directories(&root.path().join("bin/git"), &["git"]);
        assert_eq!(
            own,
            [
                root.path().join("libexec/git-core"),
                root.path().join("lib/git")
            ]
        );
        assert!(own_directories(&root.path().join("git"), &["git"]).is_empty());
        assert!(own_directories(Path::new("/git"), &["git"]).is_empty());
    }
}
