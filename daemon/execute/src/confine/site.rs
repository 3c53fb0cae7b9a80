//! Where a script is about to run, and which file a word of it means there.

use std::path::{Path, PathBuf};

use rustix::fs::{Access, access};

/// Where a script is about to run.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Site<'a> {
    /// The interpreter; an absolute path.
    pub(crate) interpreter: &'a Path,
    /// Its `PATH`.
    pub(crate) search_path: &'a str,
    /// Where it starts; an absolute path.
    pub(crate) cwd: &'a Path,
    /// The workspace; an absolute path.
    pub(crate) workspace: &'a Path,
}

impl Site<'_> {
    /// The program that a shell would run for a name without a slash: the first of `PATH`.
    pub(super) fn lookup(&self, name: &str) -> Option<PathBuf> {
        self.search_path
            .split(':')
            // An empty entry is the current directory, and a relative one lies in it.
            .map(|directory| self.cwd.join(directory).join(name))
            .find(|candidate| is_program(candidate))
    }
}

/// A file that may be executed, by the rights of its mode.
pub(super) fn is_program(path: &Path) -> bool {
    path.metadata().is_ok_and(|metadata| metadata.is_file())
        && access(path, Access::EXEC_OK).is_ok()
}

/// The value of a variable.
pub(crate) fn variable<'a>(environment: &'a [(String, String)], name: &str) -> Option<&'a str> {
    let named = environment.iter().rev().find(|(other, _)| other == name);
    named.map(|(_, value)| value.as_str())
}

/// As far as a path is there, without symbolic links.
pub(super) fn real(path: &Path) -> PathBuf {
    for ancestor in path.ancestors() {
        if let (Ok(real), Ok(rest)) = (ancestor.canonicalize(), path.strip_prefix(ancestor)) {
            // Joining nothing would put a slash at the end.
            return if rest.as_os_str().is_empty() {
                real
            } else {
                real.join(rest)
            };
        }
    }
    path.to_owned()
}
