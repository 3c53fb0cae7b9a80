//! The part of the cgroup tree that the keeper's units live in.

use std::{
    fs, io,
    os::{fd::OwnedFd, unix::fs::MetadataExt as _},
    path::{Path, PathBuf},
    time::Duration,
};

use rustix::{
    event::{PollFd, PollFlags, poll},
    fs::{CWD, Mode, OFlags, getxattr, openat},
    io::Errno,
};

use super::{Controllers, mount::Place};

/// The keeper's own leaf in a delegated cgroup: systemd's `DelegateSubgroup=` may name it too.
const LEAF: &str = "keeper";

/// How long a dead keeper's processes may take to die at the start.
const PATIENCE: Duration = Duration::from_secs(5);

/// Where units are made.
pub(crate) struct Hierarchy {
    units: OwnedFd,
    directory: PathBuf,
    /// As `/proc/PID/cgroup` names it.
    name: String,
    controllers: Controllers,
    /// Removed at the end.
    made: Vec<PathBuf>,
}

impl Hierarchy {
    /// Makes it in the delegated cgroup the keeper is in, or else below its own. Whatever an earlier keeper left there is killed.
    ///
    /// `label` tells this keeper's part from those of others. The error says why there can be none.
    pub(crate) fn new(label: &str) -> Result<Self, String> {
        let own = Place::own()?;
        let (top, moved) = match delegated(&own) {
            Some(delegated) => (delegated, true),
            None => (free(&own, label), false),
        };
        let mut made = Vec::new();
        if moved {
            let leaf = top.child(LEAF);
            if leaf.name != own.name {
                make(&leaf.directory)?;
                fs::write(leaf.directory.join("cgroup.procs"), "0").map_err(|error| {
                    format!("the keeper cannot move into {}: {error}", leaf.name)
                })?;
            }
        } else {
            make(&top.directory)?;
            made.push(top.directory.clone());
        }
        let units = top.child("units");
        sweep(&units.directory)?;
        make(&units.directory)?;
        made.push(units.directory.clone());
        let handing_down: Vec<&Path> = if moved {
            vec![&top.directory, &units.directory]
        } else {
            vec![&own.directory, &top.directory, &units.directory]
        };
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let hierarchy = Self {
            units: openat(CWD, &units.directory, flags, Mode::empty())
                .map_err(|error| format!("{} cannot be opened: {error}", units.name))?,
            controllers: Controllers::enable(&handing_down),
            directory: units.directory,
            name: units.name,
            made,
        };
        hierarchy.prove()?;
        Ok(hierarchy)
    }

    /// Making the directory is not enough: a process has to get in, and `cgroup.kill` has to be there.
    fn prove(&self) -> Result<(), String> {
        let writable = |name: &str| {
            fs::OpenOptions::new()
                .write(true)
                .open(self.directory.join(name))
                .map_err(|error| format!("{}/{name} cannot be written: {error}", self.name))
        };
        writable("cgroup.procs")?;
        writable("cgroup.kill")?;
        Ok(())
    }

    pub(super) fn units(&self) -> &OwnedFd {
        &self.units
    }

    /// The directory of all units, for people.
    pub(crate) fn directory(&self) -> &Path {
        &self.directory
    }

    pub(crate) fn controllers(&self) -> &Controllers {
        &self.controllers
    }

    /// The name of the unit directory that a process with this cgroup is in, if it is in any.
    pub(crate) fn unit_of<'a>(&self, cgroup: &'a str) -> Option<&'a str> {
        let below = cgroup.strip_prefix(&self.name)?.strip_prefix('/')?;
        below.split('/').next()
    }

    /// Kills what is left and removes the directories.
    pub(crate) fn remove(&self) {
        if sweep(&self.directory).is_ok() {
            for directory in self.made.iter().rev() {
                drop(fs::remove_dir(directory));
            }
        }
    }
}

/// The keeper's part of its own cgroup; another one where the last keeper's cannot be emptied.
fn free(own: &Place, label: &str) -> Place {
    let place = own.child(label);
    match sweep(&place.directory) {
        Ok(()) => place,
        Err(reason) => {
            crate::log(&reason);
            own.child(&format!("{label}-{}", std::process::id()))
        }
    }
}

/// The cgroup that systemd has handed to the service this process is in (its `Delegate=` marks it so).
fn delegated(own: &Place) -> Option<Place> {
    let marked = |place: &Place| {
        ["user.delegate", "trusted.delegate"].iter().any(|name| {
            let mut value = [0; 8];
            getxattr(&place.directory, *name, &mut value[..])
                .is_ok_and(|length| &value[..length] == b"1")
        })
    };
    if own.is_root() {
        return None;
    }
    if marked(own) || handed_over(own) {
        return Some(own.clone());
    }
    let parent = own.parent()?;
    (own.directory.ends_with(LEAF) && marked(&parent)).then_some(parent)
}

/// A user's service manager sets no mark. What it hands over belongs to the user, as everything
/// below it does; a service's cgroup that holds nobody else is as good as marked.
fn handed_over(place: &Place) -> bool {
    let user = rustix::process::geteuid();
    let ours = fs::metadata(&place.directory).is_ok_and(|file| file.uid() == user.as_raw());
    let alone = fs::read_to_string(place.directory.join("cgroup.procs"))
        .is_ok_and(|members| members.trim() == std::process::id().to_string());
    !user.is_root() && ours && alone && place.name.ends_with(".service")
}

fn make(directory: &Path) -> Result<(), String> {
    match fs::create_dir(directory) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(format!(
            "{} cannot be made: {error}; run the keeper as a systemd service with Delegate=yes",
            directory.display()
        )),
        Ok(()) | Err(_) => Ok(()),
    }
}

/// Kills everything in a cgroup, waits until it is empty, and removes it.
fn sweep(directory: &Path) -> Result<(), String> {
    if !directory.exists() {
        return Ok(());
    }
    let fail = |step: &str, error: io::Error| {
        format!(
            "{} is left by an earlier keeper and cannot be {step}: {error}",
            directory.display()
        )
    };
    fs::write(directory.join("cgroup.kill"), "1").map_err(|error| fail("killed", error))?;
    wait_empty(&directory.join("cgroup.events")).map_err(|error| fail("emptied", error))?;
    remove_tree(directory).map_err(|error| fail("removed", error))
}

fn wait_empty(events: &Path) -> io::Result<()> {
    let end = std::time::Instant::now() + PATIENCE;
    let file = fs::File::open(events)?;
    while super::unit::is_populated(&file)? {
        let left = end.saturating_duration_since(std::time::Instant::now());
        let timeout = rustix::time::Timespec::try_from(left).map_err(io::Error::other)?;
        match poll(&mut [PollFd::new(&file, PollFlags::PRI)], Some(&timeout)) {
            Ok(0) => return Err(io::ErrorKind::TimedOut.into()),
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

/// Removes a cgroup and those that were made in it, innermost first.
pub(super) fn remove_tree(directory: &Path) -> io::Result<()> {
    for entry in fs::read_dir(directory)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            remove_tree(&entry.path())?;
        }
    }
    fs::remove_dir(directory)
}
