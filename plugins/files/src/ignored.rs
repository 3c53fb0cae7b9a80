//! `.gitignore` files of the directories that are walked.

use std::{fs::File, io::Read as _, os::fd::OwnedFd, path::Path};

use ignore::gitignore::{Gitignore, GitignoreBuilder};
use rustix::fs::{Mode, OFlags, openat};

/// The longest `.gitignore` that is read, in bytes.
const FILE_MAX: u64 = 1024 * 1024;

/// The files of a directory and of those above it, the nearest last.
#[derive(Default)]
pub(crate) struct Ignored {
    files: Vec<Option<Gitignore>>,
}

impl Ignored {
    /// A directory is entered.
    pub(crate) fn push(&mut self, directory: &OwnedFd, path: &str) {
        self.files.push(read(directory, path));
    }

    /// It is left.
    pub(crate) fn pop(&mut self) {
        self.files.pop();
    }

    /// Whether Git would not track this; the nearest file that says something of it decides.
    pub(crate) fn matches(&self, path: &str, is_directory: bool) -> bool {
        for file in self.files.iter().rev().flatten() {
            let found = file.matched(Path::new(path), is_directory);
            if !found.is_none() {
                return found.is_ignore();
            }
        }
        false
    }
}

/// What cannot be read ignores nothing.
fn read(directory: &OwnedFd, path: &str) -> Option<Gitignore> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = File::from(openat(directory, ".gitignore", flags, Mode::empty()).ok()?);
    if !file.metadata().ok()?.is_file() {
        return None;
    }
    let mut bytes = Vec::new();
    file.take(FILE_MAX).read_to_end(&mut bytes).ok()?;
    let root = if path == "." { "" } else { path };
    let mut builder = GitignoreBuilder::new(root);
    for line in String::from_utf8_lossy(&bytes).lines() {
        // A line that is no pattern ignores nothing.
        builder.add_line(None, line).ok();
    }
    builder.build().ok()
}
