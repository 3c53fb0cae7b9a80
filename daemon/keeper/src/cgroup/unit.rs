//! The cgroup of one run.

use std::{
    fs::File,
    io::{self, Read, Write},
    os::{
        fd::{AsFd, OwnedFd},
        unix::fs::FileExt,
    },
    path::PathBuf,
};

use harness_keeper::protocol::Limits;
use rustix::{
    fs::{AtFlags, Dir, FileType, Mode, OFlags, mkdirat, openat, unlinkat},
    io::Errno,
};

use super::{Hierarchy, memory};

/// The period that `cpu.max` counts in, in microseconds: the kernel's default.
const CPU_PERIOD: u64 = 100_000;

/// One run's cgroup, by the name of its directory among the units. No descriptor is held while it runs.
pub(crate) struct UnitCgroup {
    name: String,
    events: Option<File>,
}

impl UnitCgroup {
    /// Makes it; the descriptor is for clone3(2).
    ///
    /// The name is the unit's, or `UNIT.INVOCATION` while an earlier run has left something in that.
    pub(crate) fn create(
        hierarchy: &Hierarchy,
        unit: &str,
        invocation: &str,
    ) -> Result<(Self, OwnedFd), Errno> {
        let mode = Mode::from_raw_mode(0o755);
        let mut name = unit.to_owned();
        if let Err(error) = mkdirat(hierarchy.units(), &name, mode) {
            if error != Errno::EXIST {
                return Err(error);
            }
            name = format!("{unit}.{invocation}");
            mkdirat(hierarchy.units(), &name, mode)?;
        }
        let cgroup = Self { name, events: None };
        match cgroup.open(hierarchy, "", OFlags::RDONLY | OFlags::DIRECTORY) {
            Ok(directory) => Ok((cgroup, directory)),
            Err(error) => {
                cgroup.remove(hierarchy);
                Err(error)
            }
        }
    }

    /// Sets the limits; returns what is not enforced, in words.
    pub(crate) fn limit(&self, hierarchy: &Hierarchy, limits: &Limits) -> Vec<String> {
        let controllers = hierarchy.controllers();
        let mut words = Vec::new();
        let mut set =
            |key: &str, enabled: &Result<(), String>, file: &str, value: Option<String>| {
                let Some(value) = value else { return };
                let reason = match enabled {
                    Ok(()) => self
                        .write(hierarchy, file, &value)
                        .err()
                        .map(|error| format!("{file}: {error}")),
                    Err(reason) => Some(reason.clone()),
                };
                words.extend(reason.map(|reason| not_enforced(key, &reason)));
            };
        set(
            "memory_max",
            &controllers.memory,
            "memory.max",
            limits.memory_max.map(|bytes| bytes.to_string()),
        );
        set(
            "oom_policy",
            &controllers.memory,
            "memory.oom.group",
            limits.oom_group.then(|| "1".to_owned()),
        );
        set(
            "tasks_max",
            &controllers.pids,
            "pids.max",
            limits.tasks_max.map(|tasks| tasks.to_string()),
        );
        let quota = limits.cpu_quota.map(|percent| {
            let quota = (u64::from(percent) * CPU_PERIOD / 100).max(1000);
            format!("{quota} {CPU_PERIOD}")
        });
        set("cpu_quota", &controllers.cpu, "cpu.max", quota);
        words
    }

    /// `cgroup.procs`, for a child that has to move there by itself.
    pub(crate) fn processes_file(&self, hierarchy: &Hierarchy) -> Result<OwnedFd, Errno> {
        self.open(hierarchy, "cgroup.procs", OFlags::WRONLY)
    }

    /// The pids in it and in those that were made in it.
    pub(crate) fn processes(&self, hierarchy: &Hierarchy) -> Vec<i32> {
        let mut pids = Vec::new();
        if let Ok(directory) = self.open(hierarchy, "", OFlags::RDONLY | OFlags::DIRECTORY) {
            collect(&directory, &mut pids);
        }
        pids
    }

    /// Kills everything in it at once.
    pub(crate) fn kill(&self, hierarchy: &Hierarchy) -> Result<(), Errno> {
        self.write(hierarchy, "cgroup.kill", "1")
    }

    /// Whether a process is left in it.
    pub(crate) fn is_populated(&self, hierarchy: &Hierarchy) -> bool {
        let populated = match &self.events {
            Some(events) => is_populated(events),
            None => self
                .open_events(hierarchy)
                .and_then(|events| is_populated(&events)),
        };
        // It is gone only when someone removed it, which takes that it was empty.
        populated.unwrap_or(false)
    }

    /// A descriptor that becomes readable as priority data whenever [`Self::is_populated`] may have changed.
    pub(crate) fn watch(&mut self, hierarchy: &Hierarchy) -> io::Result<&File> {
        let events = match self.events.take() {
            Some(events) => events,
            None => self.open_events(hierarchy)?,
        };
        Ok(self.events.insert(events))
    }

    /// Whether the kernel killed something in it for want of memory.
    pub(crate) fn oom_killed(&self, hierarchy: &Hierarchy) -> bool {
        memory::kills_in(&self.directory(hierarchy)) > 0
    }

    /// Its directory.
    pub(crate) fn directory(&self, hierarchy: &Hierarchy) -> PathBuf {
        hierarchy.directory().join(&self.name)
    }

    /// Removes it, if nothing is left in it.
    pub(crate) fn remove(&self, hierarchy: &Hierarchy) -> bool {
        unlinkat(hierarchy.units(), &self.name, AtFlags::REMOVEDIR).is_ok()
            || super::hierarchy::remove_tree(&self.directory(hierarchy)).is_ok()
    }

    /// The name of its directory.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    fn open_events(&self, hierarchy: &Hierarchy) -> io::Result<File> {
        Ok(File::from(self.open(
            hierarchy,
            "cgroup.events",
            OFlags::RDONLY,
        )?))
    }

    fn write(&self, hierarchy: &Hierarchy, file: &str, value: &str) -> Result<(), Errno> {
        let file = self.open(hierarchy, file, OFlags::WRONLY)?;
        File::from(file)
            .write_all(value.as_bytes())
            .map_err(|error| Errno::from_io_error(&error).unwrap_or(Errno::IO))
    }

    fn open(&self, hierarchy: &Hierarchy, file: &str, flags: OFlags) -> Result<OwnedFd, Errno> {
        let path = if file.is_empty() {
            self.name.clone()
        } else {
            format!("{}/{file}", self.name)
        };
        openat(
            hierarchy.units(),
            path,
            flags | OFlags::CLOEXEC,
            Mode::empty(),
        )
    }
}

/// In words for a person.
pub(crate) fn not_enforced(key: &str, reason: &str) -> String {
    format!("{key} is not enforced: {reason}")
}

/// Reads an open `cgroup.events`, which arms its next notification.
pub(super) fn is_populated(events: &File) -> io::Result<bool> {
    let mut buffer = [0; 128];
    let length = events.read_at(&mut buffer, 0)?;
    Ok(buffer[..length]
        .windows(11)
        .any(|window| window == b"populated 1"))
}

fn collect(directory: &OwnedFd, pids: &mut Vec<i32>) {
    let flags = OFlags::RDONLY | OFlags::CLOEXEC;
    let mut text = String::new();
    let read = openat(directory, "cgroup.procs", flags, Mode::empty())
        .is_ok_and(|file| File::from(file).read_to_string(&mut text).is_ok());
    if read {
        // A 0 stands for a process of another pid namespace.
        pids.extend(
            text.lines()
                .filter_map(|line| line.parse::<i32>().ok())
                .filter(|pid| *pid != 0),
        );
    }
    let Ok(entries) = Dir::read_from(directory.as_fd()) else {
        return;
    };
    for entry in entries.flatten() {
        let hidden = entry.file_name().to_bytes().starts_with(b".");
        if !hidden
            && entry.file_type() == FileType::Directory
            && let Ok(inner) = openat(
                directory,
                entry.file_name(),
                flags | OFlags::DIRECTORY,
                Mode::empty(),
            )
        {
            collect(&inner, pids);
        }
    }
}
