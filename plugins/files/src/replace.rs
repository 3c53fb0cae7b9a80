//! Puts a file in the place of another in one step, or not at all.

use std::{
    fs::File,
    io::Write,
    os::fd::OwnedFd,
    sync::atomic::{AtomicU64, Ordering},
};

use rustix::{
    fs::{
        AtFlags, FileType, Gid, Mode, OFlags, Stat, Uid, fchmod, fchown, fstat, fsync, mkdirat,
        openat, readlinkat, renameat, statat, unlinkat,
    },
    io::Errno,
};

use crate::{
    error::{Error, Result},
    workspace::{Workspace, regular},
};

/// Makes names of new files differ within this process.
static NUMBER: AtomicU64 = AtomicU64::new(0);

/// Where a file is to be: its directory, which cannot be exchanged any more, and its name.
pub(crate) struct Place<'a> {
    path: &'a str,
    directory: OwnedFd,
    name: &'a str,
}

impl<'a> Place<'a> {
    /// The place of a path; with `make` directories that are missing are made.
    pub(crate) fn of(workspace: &Workspace, path: &'a str, make: bool) -> Result<Self> {
        let trimmed = path.trim_end_matches('/');
        let (parent, name) = trimmed.rsplit_once('/').unwrap_or((".", trimmed));
        if matches!(name, "" | "." | "..") || trimmed.len() < path.len() {
            return Err(Error::NotRegular {
                path: path.into(),
                kind: "a directory",
            });
        }
        let directory = match workspace.directory(parent) {
            Err(Error::System { source, .. })
                if make && source.kind() == std::io::ErrorKind::NotFound =>
            {
                make_directories(workspace, parent)?
            }
            opened => opened?,
        };
        Ok(Self {
            path,
            directory,
            name,
        })
    }

    /// What is there now, a regular file or nothing.
    pub(crate) fn status(&self) -> Result<Option<Stat>> {
        let status = match statat(&self.directory, self.name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(status) => status,
            Err(Errno::NOENT) => return Ok(None),
            Err(errno) => return Err(Error::system(self.path, errno)),
        };
        let kind = FileType::from_raw_mode(status.st_mode);
        if kind == FileType::Symlink {
            let target = readlinkat(&self.directory, self.name, Vec::new());
            let target = target.map_err(|errno| Error::system(self.path, errno))?;
            return Err(Error::Link {
                path: self.path.into(),
                target: target.to_string_lossy().into_owned(),
            });
        }
        regular(self.path, kind)?;
        Ok(Some(status))
    }

    /// Opens the file that is there for reading.
    pub(crate) fn open(&self) -> Result<File> {
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let file = openat(&self.directory, self.name, flags, Mode::empty());
        Ok(File::from(
            file.map_err(|errno| Error::system(self.path, errno))?,
        ))
    }

    /// Puts a file with this text there. It has the mode and owner of `before`, the one that was there; when
    /// that one is not there any more, what is there stays as it is.
    pub(crate) fn replace(&self, text: &[u8], before: Option<&Stat>) -> Result<()> {
        let failed = |errno| Error::system(self.path, errno);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let short = &self.name[..self.name.floor_char_boundary(200)];
        let new = format!(".{short}.{}.{number}.new", std::process::id());
        let flags =
            OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let file = openat(&self.directory, &*new, flags, Mode::from_raw_mode(0o666));
        let file = File::from(file.map_err(failed)?);
        let filled = self.fill(&file, text, before).and_then(|()| {
            renameat(&self.directory, &*new, &self.directory, self.name).map_err(failed)
        });
        if filled.is_err() {
            // Why it was not filled is what matters.
            unlinkat(&self.directory, &*new, AtFlags::empty()).unwrap_or_default();
        }
        filled
    }

    fn fill(&self, mut file: &File, text: &[u8], before: Option<&Stat>) -> Result<()> {
        let failed = |errno| Error::system(self.path, errno);
        if let Some(before) = before {
            let own = fstat(file).map_err(failed)?;
            if (own.st_uid, own.st_gid) != (before.st_uid, before.st_gid) {
                let (owner, group) = (Uid::from_raw(before.st_uid), Gid::from_raw(before.st_gid));
                // Only root may give a file away; whoever may not has its own file afterwards.
                fchown(file, Some(owner), Some(group)).unwrap_or_default();
            }
            // As with write(2), set-user-id does not survive.
            fchmod(file, Mode::from_raw_mode(before.st_mode & 0o777)).map_err(failed)?;
        }
        file.write_all(text)
            .map_err(|error| Error::system(self.path, error))?;
        fsync(file).map_err(failed)?;
        match (before, self.status()?) {
            (Some(before), Some(now)) if !same(before, &now) => Err(self.changed()),
            (None, Some(_)) | (Some(_), None) => Err(self.changed()),
            (None, None) | (Some(_), Some(_)) => Ok(()),
        }
    }

    fn changed(&self) -> Error {
        Error::Changed {
            path: self.path.into(),
        }
    }
}

/// Whether it is the same file with the same text.
fn same(one: &Stat, other: &Stat) -> bool {
    let identity = |status: &Stat| {
        (
            status.st_dev,
            status.st_ino,
            status.st_size,
            status.st_mtime,
            status.st_mtime_nsec,
        )
    };
    identity(one) == identity(other)
}

/// Makes each directory of a path that is missing, and opens the last.
fn make_directories(workspace: &Workspace, path: &str) -> Result<OwnedFd> {
    let mut directory = workspace.directory(".")?;
    let ends = path.match_indices('/').map(|(place, _)| place);
    let mut begin = 0;
    for end in ends.chain([path.len()]) {
        let (name, prefix) = (&path[begin..end], &path[..end]);
        begin = end + 1;
        if matches!(name, "" | "." | "..") {
            continue;
        }
        match mkdirat(&directory, name, Mode::from_raw_mode(0o777)) {
            Ok(()) | Err(Errno::EXIST) => {}
            Err(errno) => return Err(Error::system(path, errno)),
        }
        directory = workspace.directory(prefix)?;
    }
    workspace.directory(path)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::Settings;

    #[test]
    fn what_another_has_written_meanwhile_is_not_replaced() {
        let directory = tempfile::tempdir().unwrap();
        let root = Some(directory.path().to_owned());
        let workspace = Workspace::open(&Settings { root }).unwrap();
        let file = directory.path().join("f");
        let place = Place::of(&workspace, "f", false).unwrap();
        fs::write(&file, "old").unwrap();
        let before = place.status().unwrap();
        fs::write(&file, "theirs").unwrap();
        let changed = place.replace(b"ours", before.as_ref());
        assert!(matches!(changed, Err(Error::Changed { .. })), "{changed:?}");
        assert_eq!(fs::read_to_string(&file).unwrap(), "theirs");
        fs::remove_file(&file).unwrap();
        let gone = place.replace(b"ours", before.as_ref());
        assert!(matches!(gone, Err(Error::Changed { .. })), "{gone:?}");
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 0);
    }
}
