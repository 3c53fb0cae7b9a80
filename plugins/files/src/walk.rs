//! From directory to directory, by descriptors: no link is followed, so none leads out.

use std::{ops::ControlFlow, os::fd::OwnedFd};

use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, Stat, openat, statat};

use crate::{
    error::{Error, Result},
    ignored::Ignored,
    workspace::Workspace,
};

/// The deepest that is walked, in directories; each takes a descriptor.
const DEPTH_MAX: usize = 64;

/// What is walked past.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Scope {
    /// Directories below the first, 1 for it alone.
    pub(crate) depth: usize,
    /// Names that begin with a dot, too.
    pub(crate) hidden: bool,
    /// What `.gitignore` files name, too.
    pub(crate) ignored: bool,
}

/// What is found.
pub(crate) struct Found<'a> {
    /// The directory it is in.
    pub(crate) directory: &'a OwnedFd,
    /// Its name there.
    pub(crate) name: &'a str,
    /// Its path in the workspace.
    pub(crate) path: &'a str,
    /// What it is; a link is not followed.
    pub(crate) status: &'a Stat,
}

impl Found<'_> {
    pub(crate) fn kind(&self) -> FileType {
        FileType::from_raw_mode(self.status.st_mode)
    }
}

/// Visits what is below a directory, each directory's names in order.
pub(crate) fn walk(
    workspace: &Workspace,
    path: &str,
    scope: Scope,
    visit: &mut dyn FnMut(&Found<'_>) -> ControlFlow<()>,
) -> Result<()> {
    let directory = workspace.directory(path)?;
    let mut walker = Walker {
        scope,
        ignored: Ignored::default(),
        visit,
    };
    if !scope.ignored {
        walker.above(workspace, path);
    }
    let path = path.trim_end_matches('/').trim_start_matches("./");
    // How it ended does not matter to whoever ended it.
    let (ControlFlow::Continue(()) | ControlFlow::Break(())) = walker
        .directory(&directory, path, 1)
        .map_err(|errno| Error::system(path, errno))?;
    Ok(())
}

struct Walker<'a> {
    scope: Scope,
    ignored: Ignored,
    visit: &'a mut dyn FnMut(&Found<'_>) -> ControlFlow<()>,
}

impl Walker<'_> {
    /// What the directories above the first ignore.
    fn above(&mut self, workspace: &Workspace, path: &str) {
        if path == "." || path.split('/').any(|part| part == "..") {
            return;
        }
        let parents = path.match_indices('/').map(|(place, _)| &path[..place]);
        for parent in std::iter::once(".").chain(parents) {
            if let Ok(directory) = workspace.directory(parent) {
                self.ignored.push(&directory, parent);
            }
        }
    }

    fn directory(
        &mut self,
        directory: &OwnedFd,
        path: &str,
        depth: usize,
    ) -> rustix::io::Result<ControlFlow<()>> {
        let mut names = Vec::new();
        for entry in Dir::read_from(directory)? {
            let name = entry?.file_name().to_string_lossy().into_owned();
            let hidden = name.starts_with('.');
            if name != "." && name != ".." && (self.scope.hidden || !hidden) {
                names.push(name);
            }
        }
        names.sort_unstable();
        if !self.scope.ignored {
            self.ignored.push(directory, path);
        }
        let mut flow = ControlFlow::Continue(());
        for name in names {
            let below = if path == "." {
                name.clone()
            } else {
                format!("{path}/{name}")
            };
            flow = self.entry(directory, &name, &below, depth);
            if flow.is_break() {
                break;
            }
        }
        if !self.scope.ignored {
            self.ignored.pop();
        }
        Ok(flow)
    }

    /// What is gone meanwhile, or may not be seen, is passed over.
    fn entry(
        &mut self,
        directory: &OwnedFd,
        name: &str,
        path: &str,
        depth: usize,
    ) -> ControlFlow<()> {
        let Ok(status) = statat(directory, name, AtFlags::SYMLINK_NOFOLLOW) else {
            return ControlFlow::Continue(());
        };
        let is_directory = FileType::from_raw_mode(status.st_mode) == FileType::Directory;
        if !self.scope.ignored && self.ignored.matches(path, is_directory) {
            return ControlFlow::Continue(());
        }
        (self.visit)(&Found {
            directory,
            name,
            path,
            status: &status,
        })?;
        if is_directory && depth < self.scope.depth.min(DEPTH_MAX) {
            let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            if let Ok(child) = openat(directory, name, flags, Mode::empty()) {
                return self
                    .directory(&child, path, depth + 1)
                    .unwrap_or(ControlFlow::Continue(()));
            }
        }
        ControlFlow::Continue(())
    }
}
