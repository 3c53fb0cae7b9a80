//! `memory.events` of cgroups: hearing of the out-of-memory killer (cgroup-v2, "Memory Interface Files").

use std::{collections::HashMap, fs, mem::MaybeUninit, os::fd::OwnedFd, path::Path};

use harness_model::InvocationId;
use rustix::{
    fs::inotify::{CreateFlags, ReadFlags, Reader, WatchFlags, add_watch, init, remove_watch},
    io::Errno,
};

/// The file in the directory of a cgroup.
pub(super) const EVENTS: &str = "memory.events";

/// Watches the cgroups of all runs through one descriptor.
pub(crate) struct MemoryWatch {
    inotify: OwnedFd,
    runs: HashMap<i32, InvocationId>,
}

impl MemoryWatch {
    pub(crate) fn new() -> Result<Self, Errno> {
        Ok(Self {
            inotify: init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK)?,
            runs: HashMap::new(),
        })
    }

    /// Becomes readable when something has changed.
    pub(crate) fn descriptor(&self) -> &OwnedFd {
        &self.inotify
    }

    /// Watches the cgroup of a run, by its directory. Without one, its end tells all the same.
    pub(crate) fn add(&mut self, cgroup: &Path, invocation: &InvocationId) {
        if let Ok(watch) = add_watch(&self.inotify, cgroup.join(EVENTS), WatchFlags::MODIFY) {
            self.runs.insert(watch, invocation.clone());
        }
    }

    /// The run has ended.
    pub(crate) fn remove(&mut self, invocation: &InvocationId) {
        self.runs.retain(|watch, watched| {
            let other = watched != invocation;
            if !other {
                // It goes with its file, too.
                remove_watch(&self.inotify, *watch).ok();
            }
            other
        });
    }

    /// The runs whose file has changed, each once; all of them when changes were lost.
    pub(crate) fn changed(&mut self) -> Vec<InvocationId> {
        let mut buffer = [MaybeUninit::uninit(); 4096];
        let mut reader = Reader::new(&self.inotify, &mut buffer);
        let mut changed: Vec<InvocationId> = Vec::new();
        while let Ok(event) = reader.next() {
            let lost = event.events().contains(ReadFlags::QUEUE_OVERFLOW);
            let runs = self
                .runs
                .iter()
                .filter(|(watch, _)| lost || **watch == event.wd());
            for (_, run) in runs {
                if !changed.contains(run) {
                    changed.push(run.clone());
                }
            }
        }
        changed
    }
}

/// How many processes the kernel has killed for want of memory, by the text of `memory.events`.
pub(super) fn kills(text: &str) -> u64 {
    let count = |key: &str| {
        let line = text
            .lines()
            .find_map(|line| line.strip_prefix(key)?.strip_prefix(' '));
        line.and_then(|count| count.trim().parse::<u64>().ok())
            .unwrap_or(0)
    };
    count("oom_kill").max(count("oom_group_kill"))
}

/// The same of a cgroup's directory; 0 where memory is not accounted.
pub(crate) fn kills_in(cgroup: &Path) -> u64 {
    fs::read_to_string(cgroup.join(EVENTS)).map_or(0, |text| kills(&text))
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;

    fn text(oom: u32, oom_kill: u32, oom_group_kill: u32) -> String {
        format!(
            "low 0\nhigh 0\nmax 7\noom {oom}\noom_kill {oom_kill}\noom_group_kill {oom_group_kill}\n"
        )
    }

    /// A directory that looks like a cgroup.
    fn fake(name: &str) -> PathBuf {
        let directory =
            std::env::temp_dir().join(format!("harness-memory-{name}-{}", std::process::id()));
        fs::create_dir_all(&directory).unwrap();
        fs::write(directory.join(EVENTS), text(0, 0, 0)).unwrap();
        directory
    }

    #[test]
    fn only_kills_are_counted_and_not_limits_that_were_hit() {
        assert_eq!(kills(&text(5, 0, 0)), 0);
        assert_eq!(kills(&text(5, 2, 0)), 2);
        assert_eq!(kills(&text(1, 0, 1)), 1);
        assert_eq!(kills("oom_kill\noom_killer 7\n"), 0);
        assert_eq!(kills(""), 0);
    }

    #[test]
    fn a_run_is_named_once_when_its_file_changes_and_never_after_it_was_removed() {
        let (one, two) = (fake("one"), fake("two"));
        let (first, second) = (InvocationId::generate(), InvocationId::generate());
        let mut watch = MemoryWatch::new().unwrap();
        watch.add(&one, &first);
        watch.add(&two, &second);
        watch.add(Path::new("/nowhere"), &InvocationId::generate());
        assert_eq!(watch.changed(), []);
        fs::write(two.join(EVENTS), text(1, 1, 0)).unwrap();
        fs::write(two.join(EVENTS), text(2, 2, 0)).unwrap();
        assert_eq!(watch.changed(), std::slice::from_ref(&second));
        assert_eq!((kills_in(&one), kills_in(&two)), (0, 2));
        watch.remove(&second);
        fs::write(two.join(EVENTS), text(3, 3, 0)).unwrap();
        fs::write(one.join(EVENTS), text(1, 1, 0)).unwrap();
        assert_eq!(watch.changed(), [first]);
        for directory in [one, two] {
            fs::remove_dir_all(directory).unwrap();
        }
    }
}
