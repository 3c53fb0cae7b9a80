//! One daemon per state directory.

use std::{
    fs::{File, OpenOptions},
    io::{self, Read as _, Seek as _, Write as _},
    os::unix::fs::OpenOptionsExt as _,
    path::PathBuf,
};

use rustix::fs::{FlockOperation, OFlags, flock};

use super::{error::LockError, places::Places};

/// The state directory is ours as long as this lives; a killed process lets go of it by itself.
///
/// It is a flock(2) on `state.lock`, which holds the pid for a person to read. The file stays:
/// removing it would let two daemons lock two files of the same name.
#[derive(Debug)]
pub struct StateLock {
    _file: File,
}

impl StateLock {
    /// Locks the state directory, or says who has it.
    pub fn acquire(places: &Places) -> Result<Self, LockError> {
        let path = places.state_lock();
        let failed = |path: PathBuf| |source: io::Error| LockError::Io { path, source };
        let mut file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .mode(0o600)
            .custom_flags(OFlags::NOFOLLOW.bits().cast_signed())
            .open(&path)
            .map_err(failed(path.clone()))?;
        match flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => {}
            Err(rustix::io::Errno::WOULDBLOCK) => {
                return Err(LockError::Held {
                    directory: places.state.clone(),
                    pid: holder(&mut file),
                });
            }
            Err(error) => return Err(failed(path)(error.into())),
        }
        write_pid(&mut file).map_err(failed(path))?;
        Ok(Self { _file: file })
    }
}

fn holder(file: &mut File) -> Option<u32> {
    let mut text = String::new();
    file.take(16).read_to_string(&mut text).ok()?;
    text.trim().parse().ok()
}

fn write_pid(file: &mut File) -> io::Result<()> {
    file.set_len(0)?;
    file.rewind()?;
    writeln!(file, "{}", std::process::id())
}
