//! Where the second version is mounted, and where the keeper is in it.

use std::{
    ffi::OsString,
    fs,
    os::unix::ffi::OsStringExt,
    path::{Path, PathBuf},
};

/// A cgroup as a directory and as `/proc/PID/cgroup` names it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) directory: PathBuf,
    pub(super) name: String,
}

impl Place {
    /// Of this process. The error says why there is none.
    pub(super) fn own() -> Result<Self, String> {
        let mounts = fs::read_to_string("/proc/self/mountinfo")
            .map_err(|error| format!("/proc/self/mountinfo cannot be read: {error}"))?;
        let name = crate::process::cgroup(i32::try_from(std::process::id()).unwrap_or(0))
            .ok_or("the kernel has no cgroups of the second version")?;
        Self::of(&mounts, &name)
    }

    fn of(mounts: &str, name: &str) -> Result<Self, String> {
        mounts
            .lines()
            .filter_map(mounted)
            .find_map(|(root, at)| {
                let below = Path::new(name).strip_prefix(&root).ok()?;
                // With nothing below, the join would end in a slash.
                let directory = if below.as_os_str().is_empty() {
                    at
                } else {
                    at.join(below)
                };
                Some(Self {
                    directory,
                    name: name.to_owned(),
                })
            })
            .ok_or_else(|| {
                "no cgroup2 file system is mounted where the keeper's own cgroup can be seen"
                    .to_owned()
            })
    }

    pub(super) fn child(&self, name: &str) -> Self {
        Self {
            directory: self.directory.join(name),
            name: format!("{}/{name}", self.name.trim_end_matches('/')),
        }
    }

    pub(super) fn parent(&self) -> Option<Self> {
        let (parent, _) = self.name.rsplit_once('/')?;
        Some(Self {
            directory: self.directory.parent()?.to_owned(),
            name: if parent.is_empty() { "/" } else { parent }.to_owned(),
        })
    }

    pub(super) fn is_root(&self) -> bool {
        self.name == "/"
    }
}

/// The root and the mount point of a line of mountinfo, if it is a cgroup2 mount.
fn mounted(line: &str) -> Option<(PathBuf, PathBuf)> {
    let (mount, file_system) = line.split_once(" - ")?;
    if file_system.split(' ').next() != Some("cgroup2") {
        return None;
    }
    let mut fields = mount.split(' ').skip(3);
    Some((unescape(fields.next()?), unescape(fields.next()?)))
}

/// Blanks and backslashes are written as `\040`.
fn unescape(text: &str) -> PathBuf {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let octal = (*first == b'\\')
            .then(|| std::str::from_utf8(after.get(..3)?).ok())
            .flatten()
            .and_then(|digits| u8::from_str_radix(digits, 8).ok());
        bytes.push(octal.unwrap_or(*first));
        rest = if octal.is_some() { &after[3..] } else { after };
    }
    PathBuf::from(OsString::from_vec(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    const HYBRID: &str = "\
31 23 0:28 / /sys/fs/cgroup rw,relatime - tmpfs tmpfs rw,mode=755
35 31 0:32 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory
41 31 0:38 / /sys/fs/cgroup/unified rw,relatime shared:3 - cgroup2 cgroup2 rw";

    #[test]
    fn the_mount_of_a_hybrid_host_is_found() {
        let place = Place::of(HYBRID, "/a.slice/b.service").unwrap();
        assert_eq!(
            place.directory,
            Path::new("/sys/fs/cgroup/unified/a.slice/b.service")
        );
        assert_eq!(place.child("units").name, "/a.slice/b.service/units");
        assert_eq!(place.parent().unwrap().name, "/a.slice");
        let root = Place::of(HYBRID, "/").unwrap();
        assert_eq!(root.directory, Path::new("/sys/fs/cgroup/unified"));
        assert_eq!(root.child("x").name, "/x");
        assert!(root.is_root());
    }

    #[test]
    fn a_mount_of_a_part_of_the_tree_is_understood() {
        let mounts = "41 31 0:38 /pod\\0401 /sys/fs/c\\134g rw - cgroup2 cgroup2 rw";
        let place = Place::of(mounts, "/pod 1/box").unwrap();
        assert_eq!(place.directory, Path::new("/sys/fs/c\\g/box"));
        assert!(
            Place::of(mounts, "/elsewhere")
                .unwrap_err()
                .contains("mounted")
        );
    }
}
