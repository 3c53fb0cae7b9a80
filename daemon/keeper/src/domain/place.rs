//! Where a path of the rules leads.

use std::{
    ffi::OsString,
    os::fd::OwnedFd,
    path::{Component, Path, PathBuf},
};

use rustix::{
    fs::{CWD, Mode, OFlags, ResolveFlags, openat2},
    io::Errno,
};

/// As many symbolic links as the kernel follows (`path_resolution(7)`).
const LINKS_MAX: usize = 40;

/// A path without symbolic links in it, and those that led to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Place {
    /// What is not there is kept as it was given.
    pub(super) path: PathBuf,
    /// Symbolic links that were followed, each by its own path.
    pub(super) links: Vec<PathBuf>,
}

impl Place {
    /// Follows every symbolic link in an absolute path. A loop of them stays as it is.
    pub(super) fn of(path: &Path) -> Self {
        let mut place = Self {
            path: PathBuf::from("/"),
            links: Vec::new(),
        };
        let mut rest: Vec<OsString> = parts(path);
        while let Some(name) = rest.pop() {
            if name == ".." {
                place.path.pop();
                continue;
            }
            let next = place.path.join(&name);
            match std::fs::read_link(&next) {
                Ok(target) if place.links.len() < LINKS_MAX => {
                    if target.is_absolute() {
                        place.path = PathBuf::from("/");
                    }
                    rest.extend(parts(&target));
                    place.links.push(next);
                }
                Ok(_) | Err(_) => place.path = next,
            }
        }
        place
    }

    /// Opens it without following anything: what is a link by now is not there.
    pub(super) fn open(&self) -> Result<OwnedFd, Errno> {
        open(&self.path)
    }
}

/// Opens a path in which nothing may be a symbolic link.
pub(super) fn open(path: &Path) -> Result<OwnedFd, Errno> {
    openat2(
        CWD,
        path,
        OFlags::PATH | OFlags::CLOEXEC,
        Mode::empty(),
        ResolveFlags::NO_SYMLINKS,
    )
}

/// The names in a path, the last one first.
fn parts(path: &Path) -> Vec<OsString> {
    path.components()
        .rev()
        .filter_map(|part| match part {
            Component::Normal(name) => Some(name.to_owned()),
            Component::ParentDir => Some("..".into()),
            Component::RootDir | Component::CurDir | Component::Prefix(_) => None,
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use std::{fs, os::unix::fs::symlink};

    use super::*;

    #[test]
    fn every_link_is_followed_and_what_is_not_there_is_kept() {
        let directory = std::env::temp_dir().join(format!("harness-place-{}", std::process::id()));
        let directory = {
            fs::create_dir_all(directory.join("real/inner")).unwrap();
            directory.canonicalize().unwrap()
        };
        symlink("real", directory.join("relative")).unwrap();
        symlink(directory.join("relative/inner"), directory.join("absolute")).unwrap();
        symlink("loop", directory.join("loop")).unwrap();
        let place = Place::of(&directory.join("absolute/../inner/none/x"));
        assert_eq!(place.path, directory.join("real/inner/none/x"));
        assert_eq!(
            place.links,
            [directory.join("absolute"), directory.join("relative")]
        );
        assert_eq!(
            Place::of(&directory.join("real")).links,
            Vec::<PathBuf>::new()
        );
        assert!(Place::of(&directory.join("loop")).path.ends_with("loop"));
        assert!(open(&directory.join("real/inner")).is_ok());
        assert_eq!(open(&directory.join("absolute")).unwrap_err(), Errno::LOOP);
        fs::remove_dir_all(&directory).unwrap();
    }
}
