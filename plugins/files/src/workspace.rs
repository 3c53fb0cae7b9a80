//! The directory that nothing leads out of.

use std::{
    fs::{self, File},
    os::fd::OwnedFd,
    path::{Path, PathBuf},
    sync::{Mutex, MutexGuard, PoisonError},
};

use rustix::{
    fs::{FileType, Mode, OFlags, ResolveFlags, open, openat2},
    io::Errno,
};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::error::{Error, Result};

/// How often a resolution that raced with a rename is tried again: "EAGAIN: … retry", openat2(2).
const ATTEMPTS: usize = 16;

/// What can be set.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// The workspace; the directory in which the plugin was started, if it is not set.
    #[schemars(extend("pattern" = "^/"))]
    pub root: Option<PathBuf>,
}

/// The workspace.
#[derive(Debug)]
pub struct Workspace {
    root: OwnedFd,
    /// By the paths that absolute ones may begin with: as it was given, and without links.
    names: Vec<PathBuf>,
    changing: Mutex<()>,
}

impl Workspace {
    /// Opens it; from then on it is this directory, whatever becomes of its name.
    ///
    /// # Errors
    /// There is no such directory.
    pub fn open(settings: &Settings) -> Result<Self> {
        let given = settings.root.clone().unwrap_or_else(|| PathBuf::from("."));
        let failed = |source| Error::Workspace {
            path: given.display().to_string(),
            source,
        };
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let root = open(&given, flags, Mode::empty()).map_err(|errno| failed(errno.into()))?;
        let real = fs::canonicalize(&given).map_err(failed)?;
        let names = vec![given, real];
        let changing = Mutex::default();
        Ok(Self {
            root,
            names,
            changing,
        })
    }

    /// The path below the workspace. `..` and links are left to the kernel.
    pub(crate) fn below(&self, given: &str) -> Result<String> {
        if given.contains('\0') {
            return Err(Error::Outside {
                path: given.escape_debug().to_string(),
            });
        }
        let path = Path::new(given);
        let relative = if path.is_absolute() {
            let inside = |name: &PathBuf| path.strip_prefix(name).ok();
            let stripped = self.names.iter().find_map(inside);
            stripped.ok_or_else(|| Error::Outside { path: given.into() })?
        } else {
            path
        };
        let relative = relative.to_string_lossy().into_owned();
        Ok(if relative.is_empty() {
            ".".to_owned()
        } else {
            relative
        })
    }

    /// Opens what is at a path below the workspace, and never anything else.
    pub(crate) fn open_at(&self, path: &str, flags: OFlags, mode: Mode) -> Result<OwnedFd> {
        let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS;
        let flags = flags | OFlags::CLOEXEC;
        for _ in 0..ATTEMPTS {
            match openat2(&self.root, path, flags, mode, resolve) {
                Err(Errno::AGAIN | Errno::INTR) => {}
                opened => return opened.map_err(|errno| Error::system(path, errno)),
            }
        }
        Err(Error::system(path, Errno::AGAIN))
    }

    /// Held from the look at a file to its replacement, so that of two changes at once none is lost.
    pub(crate) fn changing(&self) -> MutexGuard<'_, ()> {
        self.changing.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Opens a regular file for reading.
    pub(crate) fn file(&self, path: &str) -> Result<File> {
        // Neither does a FIFO hang nor does a terminal become this process's.
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY;
        let file = File::from(self.open_at(path, flags, Mode::empty())?);
        let status = rustix::fs::fstat(&file).map_err(|errno| Error::system(path, errno))?;
        regular(path, FileType::from_raw_mode(status.st_mode))?;
        Ok(file)
    }

    /// Opens a directory.
    pub(crate) fn directory(&self, path: &str) -> Result<OwnedFd> {
        self.open_at(path, OFlags::RDONLY | OFlags::DIRECTORY, Mode::empty())
    }
}

/// An error if it is anything but a regular file.
pub(crate) fn regular(path: &str, kind: FileType) -> Result<()> {
    if kind == FileType::RegularFile {
        return Ok(());
    }
    Err(Error::NotRegular {
        path: path.into(),
        kind: word(kind),
    })
}

fn word(kind: FileType) -> &'static str {
    match kind {
        FileType::RegularFile => "a regular file",
        FileType::Directory => "a directory",
        FileType::Symlink => "a symbolic link",
        FileType::Fifo => "a FIFO",
        FileType::Socket => "a socket",
        FileType::CharacterDevice | FileType::BlockDevice => "a device",
        FileType::Unknown => "something else",
    }
}

/// A path as a line of text: what would begin another line, or hide, is escaped.
pub(crate) fn shown(path: &str) -> String {
    let plain = |c: char| {
        !c.is_control() && !matches!(c, '\u{200e}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    if path.chars().all(plain) {
        path.to_owned()
    } else {
        path.escape_default().to_string()
    }
}
