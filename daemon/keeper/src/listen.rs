//! The socket the daemon comes to, and the lock that says this keeper is the only one.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, Read, Seek, Write},
    os::{
        fd::{AsFd, FromRawFd, OwnedFd},
        unix::fs::{MetadataExt, OpenOptionsExt},
    },
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use harness_keeper::protocol::SOCKET_NAME;
use rustix::{
    event::{PollFd, PollFlags, poll},
    fs::{FlockOperation, Mode, Uid, chmod, chown, flock, inotify},
    io::{Errno, FdFlags, fcntl_setfd, ioctl_fionbio},
    net::{
        AddressFamily, SocketAddrUnix, SocketFlags, SocketType, bind, connect, listen, socket_with,
        sockopt::socket_peercred,
    },
    process::{Pid, PidfdFlags, getuid, pidfd_open},
    time::Timespec,
};

/// Where systemd puts the first socket (`sd_listen_fds(3)`).
const FIRST_INHERITED: i32 = 3;

const BACKLOG: i32 = 64;

/// How long a keeper that answers no more may take to end.
const PATIENCE: Duration = Duration::from_secs(10);

/// Held while the keeper lives.
pub(crate) struct Listener {
    pub(crate) socket: OwnedFd,
    /// The socket's file and its inode, when the keeper made it.
    made: Option<(PathBuf, u64)>,
    /// Held by this keeper alone.
    lock: Option<File>,
}

/// Takes the lock of the runtime directory, and writes the pid into it.
///
/// # Errors
/// Another keeper has it, which is named, or the directory cannot be written.
pub(crate) fn lock(directory: &Path) -> io::Result<File> {
    let path = directory.join("keeper.lock");
    let mut file = OpenOptions::new()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .mode(0o600)
        .open(&path)
        .map_err(|error| named(&error, &path, "cannot be opened"))?;
    let end = Instant::now() + PATIENCE;
    loop {
        match flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => break,
            Err(Errno::WOULDBLOCK) => await_holder(directory, &mut file, end)?,
            Err(error) => return Err(named(&error.into(), &path, "cannot be locked")),
        }
    }
    write_pid(&mut file)?;
    Ok(file)
}

/// The holder of the lock may be about to end: then it answers no more. Returns when it is worth another try.
fn await_holder(directory: &Path, file: &mut File, end: Instant) -> io::Result<()> {
    let mut pid = String::new();
    file.rewind()?;
    file.read_to_string(&mut pid)?;
    let refused = in_use(directory, &pid);
    let left = Timespec::try_from(end.saturating_duration_since(Instant::now()));
    let (Some(holder), Ok(left)) = (pid.parse().ok().and_then(Pid::from_raw), left) else {
        return Err(refused);
    };
    let socket = directory.join(SOCKET_NAME);
    if left == Timespec::default() || refuse_live(directory, &socket).is_err() {
        return Err(refused);
    }
    let Ok(holder) = pidfd_open(holder, PidfdFlags::empty()) else {
        return Ok(());
    };
    // It may also be about to begin: then its socket appears.
    let appears = inotify::init(inotify::CreateFlags::CLOEXEC)?;
    inotify::add_watch(&appears, directory, inotify::WatchFlags::MOVED_TO)?;
    if refuse_live(directory, &socket).is_err() {
        return Err(refused);
    }
    let mut either = [&holder, &appears].map(|source| PollFd::new(source, PollFlags::IN));
    match poll(&mut either, Some(&left)) {
        Ok(_) | Err(Errno::INTR) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

fn write_pid(file: &mut File) -> io::Result<()> {
    file.set_len(0)?;
    file.rewind()?;
    file.write_all(std::process::id().to_string().as_bytes())
}

impl Listener {
    /// Takes the socket that systemd has passed, or makes one. `lock` is from [`lock`].
    ///
    /// # Errors
    /// Someone answers at the place of the socket, who is named, or it cannot be made.
    pub(crate) fn new(directory: &Path, daemon_uids: &[u32], mut lock: File) -> io::Result<Self> {
        write_pid(&mut lock)?;
        if let Some(socket) = inherited() {
            fcntl_setfd(&socket, FdFlags::CLOEXEC)?;
            ioctl_fionbio(&socket, true)?;
            return Ok(Self {
                socket,
                made: None,
                lock: Some(lock),
            });
        }
        let path = directory.join(SOCKET_NAME);
        refuse_live(directory, &path)?;
        let socket =
            make(&path, daemon_uids).map_err(|error| named(&error, &path, "cannot be made"))?;
        let inode = fs::symlink_metadata(&path)?.ino();
        Ok(Self {
            socket,
            made: Some((path, inode)),
            lock: Some(lock),
        })
    }

    /// Removes the socket's file, if it is still the one this keeper made, and gives the lock up.
    pub(crate) fn close(&mut self) {
        if let Some((path, inode)) = &self.made
            && fs::symlink_metadata(path).is_ok_and(|metadata| metadata.ino() == *inode)
        {
            drop(fs::remove_file(path));
        }
        self.lock = None;
    }
}

/// The socket of `LISTEN_FDS`, if they are meant for this process.
#[expect(unsafe_code, reason = "systemd passes the descriptor by its number")]
pub(crate) fn inherited() -> Option<OwnedFd> {
    let variable = |name| std::env::var(name).ok()?.parse::<u32>().ok();
    if variable("LISTEN_PID") != Some(std::process::id()) || variable("LISTEN_FDS")? == 0 {
        return None;
    }
    // SAFETY: systemd hands this descriptor over to the process it names, which takes it here once.
    Some(unsafe { OwnedFd::from_raw_fd(FIRST_INHERITED) })
}

/// Made under another name first, so that whoever sees the socket can connect to it.
fn make(path: &Path, daemon_uids: &[u32]) -> io::Result<OwnedFd> {
    let new = path.with_extension("sock.new");
    match fs::remove_file(&new) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        Ok(()) | Err(_) => {}
    }
    let socket = socket_with(
        AddressFamily::UNIX,
        SocketType::STREAM,
        SocketFlags::CLOEXEC | SocketFlags::NONBLOCK,
        None,
    )?;
    let mask = rustix::process::umask(Mode::from_raw_mode(0o177));
    let bound = SocketAddrUnix::new(&new).and_then(|address| bind(&socket, &address));
    rustix::process::umask(mask);
    bound?;
    let other = daemon_uids.iter().find(|uid| **uid != getuid().as_raw());
    if let Some(uid) = other {
        if getuid().is_root() && daemon_uids.len() == 1 {
            chown(&new, Some(Uid::from_raw(*uid)), None)?;
        } else {
            // Only root can give the file away. Who may talk is decided by the peer's uid, not by the mode.
            chmod(&new, Mode::from_raw_mode(0o666))?;
        }
    }
    listen(&socket, BACKLOG)?;
    fs::rename(&new, path)?;
    Ok(socket)
}

fn refuse_live(directory: &Path, path: &Path) -> io::Result<()> {
    let probe = socket_with(
        AddressFamily::UNIX,
        SocketType::STREAM,
        SocketFlags::CLOEXEC,
        None,
    )?;
    let address = SocketAddrUnix::new(path)
        .map_err(|error| named(&error.into(), path, "is no name for a socket"))?;
    match connect(&probe, &address) {
        Ok(()) => {
            let pid =
                socket_peercred(probe.as_fd()).map_or(0, |peer| peer.pid.as_raw_nonzero().get());
            Err(in_use(directory, &pid.to_string()))
        }
        Err(_) => Ok(()),
    }
}

fn in_use(directory: &Path, pid: &str) -> io::Error {
    io::Error::new(
        io::ErrorKind::AddrInUse,
        format!(
            "a keeper (pid {pid}) lives in {}: end it first, or use another runtime directory",
            directory.display()
        ),
    )
}

fn named(error: &io::Error, path: &Path, what: &str) -> io::Error {
    io::Error::new(error.kind(), format!("{} {what}: {error}", path.display()))
}
