//! Noticing that directories have changed since rules were made from them.

use std::{
    path::{Path, PathBuf},
    time::{Duration, SystemTime},
};

use rustix::fs::{AtFlags, CWD, Stat, statat};

/// The clock that stamps files may lag behind by one tick, which is 10 ms at most.
const TICK: Duration = Duration::from_millis(20);

/// A file by its device and number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Identity {
    device: u64,
    number: u64,
}

impl Identity {
    pub(super) fn of(status: &Stat) -> Self {
        Self {
            device: status.st_dev,
            number: status.st_ino,
        }
    }
}

/// What was found at each place.
#[derive(Debug, Default)]
pub(super) struct Stamps {
    stamps: Vec<(PathBuf, Kind, Option<Stamp>)>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// Its entries matter.
    Directory,
    /// What it is, and how many names it has.
    Entry,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Stamp {
    identity: Identity,
    /// Seconds and nanoseconds of the last change of a directory; the names of an entry.
    version: (i64, u64),
}

impl Stamps {
    pub(super) fn add_directory(&mut self, path: &Path) {
        self.add(path, Kind::Directory);
    }

    pub(super) fn add_entry(&mut self, path: &Path) {
        self.add(path, Kind::Entry);
    }

    fn add(&mut self, path: &Path, kind: Kind) {
        self.stamps.push((path.to_owned(), kind, stamp(path, kind)));
    }

    /// Whether nothing has changed.
    pub(super) fn hold(&self) -> bool {
        self.stamps
            .iter()
            .all(|(path, kind, then)| stamp(path, *kind) == *then)
    }

    /// Whether a change after `now` will show: one within the same tick of the clock would not.
    pub(super) fn are_settled(&self, now: SystemTime) -> bool {
        let directories = self
            .stamps
            .iter()
            .filter(|(_, kind, _)| *kind == Kind::Directory);
        directories
            .filter_map(|(_, _, stamp)| stamp.as_ref())
            .all(|stamp| {
                let seconds = u64::try_from(stamp.version.0).unwrap_or(0);
                let nanoseconds = u32::try_from(stamp.version.1).unwrap_or(0);
                let changed = SystemTime::UNIX_EPOCH + Duration::new(seconds, nanoseconds);
                now.duration_since(changed).is_ok_and(|age| age > TICK)
            })
    }
}

fn stamp(path: &Path, kind: Kind) -> Option<Stamp> {
    let status = statat(CWD, path, AtFlags::SYMLINK_NOFOLLOW).ok()?;
    Some(Stamp {
        identity: Identity::of(&status),
        version: match kind {
            Kind::Directory => (status.st_ctime, status.st_ctime_nsec),
            Kind::Entry => (0, status.st_nlink),
        },
    })
}
