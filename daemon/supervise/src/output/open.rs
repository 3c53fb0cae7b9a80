//! Opening output files.

use std::{fs::File, io, os::fd::OwnedFd, path::Path};

use rustix::fs::{FileType, Mode, OFlags};

/// Opens a file to write at its end, and makes it and its directory where they are missing. Mode
/// 0640. A symbolic link or anything but a regular file is refused.
pub(crate) fn append(path: &Path) -> io::Result<OwnedFd> {
    if let Some(directory) = path.parent() {
        std::fs::create_dir_all(directory)?;
    }
    let flags = OFlags::WRONLY | OFlags::APPEND | OFlags::CREATE | OFlags::NOCTTY;
    let file = regular(path, flags, Mode::from_raw_mode(0o640))?;
    // Asked for only so that a pipe in the file's place could not hold the daemon up.
    rustix::fs::fcntl_setfl(&file, OFlags::APPEND)?;
    Ok(file)
}

/// Opens a file to read it.
pub(crate) fn reading(path: &Path) -> io::Result<File> {
    regular(path, OFlags::RDONLY, Mode::empty()).map(File::from)
}

/// Opens a file to free parts of it.
pub(crate) fn writing(path: &Path) -> io::Result<File> {
    regular(path, OFlags::WRONLY, Mode::empty()).map(File::from)
}

fn regular(path: &Path, flags: OFlags, mode: Mode) -> io::Result<OwnedFd> {
    let flags = flags | OFlags::CLOEXEC | OFlags::NOFOLLOW | OFlags::NONBLOCK;
    let file = rustix::fs::open(path, flags, mode)?;
    let kind = FileType::from_raw_mode(rustix::fs::fstat(&file)?.st_mode);
    if kind != FileType::RegularFile {
        return Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            "not a regular file: remove it, or choose another place",
        ));
    }
    Ok(file)
}
