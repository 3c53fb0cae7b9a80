//! Sockets that the daemon binds itself: a stale one is replaced, a live one never.

use std::{
    fs, io,
    os::{
        fd::OwnedFd,
        unix::{
            fs::{FileTypeExt as _, MetadataExt as _, PermissionsExt as _},
            net::UnixListener,
        },
    },
    path::{Path, PathBuf},
};

use nix::sys::socket::{getsockopt, sockopt::PeerCredentials};
use rustix::{
    fs::{FlockOperation, Mode, OFlags, fchmod, flock},
    io::Errno,
    net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType, connect, listen, socket_with},
};

use super::error::BindError;

/// Connections that wait to be accepted; the kernel cuts it to `net.core.somaxconn`.
const BACKLOG: i32 = 4096;

/// A listening socket and its file, which is removed when this is dropped, if it is still ours.
#[derive(Debug)]
pub struct BoundSocket {
    path: PathBuf,
    /// Device and inode of the file.
    identity: (u64, u64),
}

impl Drop for BoundSocket {
    fn drop(&mut self) {
        let ours = fs::symlink_metadata(&self.path)
            .is_ok_and(|metadata| (metadata.dev(), metadata.ino()) == self.identity);
        if ours && let Err(error) = fs::remove_file(&self.path) {
            tracing::warn!(%error, path = %self.path.display(), "cannot remove the socket");
        }
    }
}

/// The permission bits of `control.sock`: where there are admins every user may connect, and the
/// daemon looks at who it is (`SO_PEERCRED`); else only its own user may.
#[must_use]
pub fn control_mode(has_admins: bool) -> u32 {
    if has_admins { 0o666 } else { 0o600 }
}

/// Sets the permission bits of a socket's file; of one that was passed, too, when admins come or go.
pub fn set_mode(path: &Path, mode: u32) -> Result<(), BindError> {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).map_err(|source| BindError::Io {
        step: "set the mode of",
        path: path.to_owned(),
        source,
    })
}

/// Binds a socket and listens, non-blocking, with permission bits `mode`.
///
/// A socket nobody listens on is replaced. The directory is locked meanwhile, so that two daemons
/// cannot both find the same one stale.
pub fn bind(path: &Path, mode: u32) -> Result<(UnixListener, BoundSocket), BindError> {
    let failed = |step| {
        move |error: Errno| BindError::Io {
            step,
            path: path.to_owned(),
            source: error.into(),
        }
    };
    let address = SocketAddrUnix::new(path).map_err(failed("use the path"))?;
    let parent = path.parent().unwrap_or(Path::new("/"));
    let flags = OFlags::DIRECTORY | OFlags::RDONLY | OFlags::CLOEXEC;
    let directory =
        rustix::fs::open(parent, flags, Mode::empty()).map_err(failed("open the directory of"))?;
    flock(&directory, FlockOperation::LockExclusive).map_err(failed("lock the directory of"))?;
    clear(path, &address)?;
    let socket = new_socket().map_err(failed("make a socket for"))?;
    // Linux makes the file with the socket's own bits less the umask: nobody else can connect
    // before the bits below are set.
    fchmod(&socket, Mode::from_raw_mode(0o600)).map_err(failed("protect"))?;
    rustix::net::bind(&socket, &address).map_err(failed("bind"))?;
    listen(&socket, BACKLOG).map_err(failed("listen on"))?;
    let io_failed = |step| {
        move |source| BindError::Io {
            step,
            path: path.to_owned(),
            source,
        }
    };
    let metadata = fs::symlink_metadata(path).map_err(io_failed("look at"))?;
    let bound = BoundSocket {
        path: path.to_owned(),
        identity: (metadata.dev(), metadata.ino()),
    };
    set_mode(path, mode)?;
    Ok((UnixListener::from(socket), bound))
}

fn new_socket() -> Result<OwnedFd, Errno> {
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None)
}

/// Removes a stale socket. A full backlog (`EAGAIN`) is a sign of life, too.
fn clear(path: &Path, address: &SocketAddrUnix) -> Result<(), BindError> {
    let failed = |step, source: io::Error| BindError::Io {
        step,
        path: path.to_owned(),
        source,
    };
    let kind = match fs::symlink_metadata(path) {
        Ok(metadata) => metadata.file_type(),
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(failed("look at", error)),
    };
    if !kind.is_socket() {
        return Err(BindError::NotASocket {
            path: path.to_owned(),
        });
    }
    let probe = new_socket().map_err(|error| failed("make a socket for", error.into()))?;
    match connect(&probe, address) {
        Err(Errno::CONNREFUSED) => {
            fs::remove_file(path).map_err(|error| failed("remove the stale socket", error))
        }
        Err(Errno::NOENT) => Ok(()),
        Ok(()) | Err(Errno::AGAIN) => Err(BindError::InUse {
            path: path.to_owned(),
            pid: listener_of(&probe),
        }),
        Err(error) => Err(failed("connect to", error.into())),
    }
}

/// Who listens at the other end, as far as the kernel tells it.
fn listener_of(probe: &OwnedFd) -> Option<i32> {
    let peer = getsockopt(probe, PeerCredentials).ok()?;
    Some(peer.pid()).filter(|pid| *pid > 0)
}
