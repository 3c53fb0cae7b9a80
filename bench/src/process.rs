//! What a process costs while it does nothing.

use std::{collections::BTreeMap, fs, path::PathBuf};

/// A process by its pid.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Process(pub(crate) i32);

impl Process {
    fn read(self, file: &str) -> String {
        let path = PathBuf::from(format!("/proc/{}/{file}", self.0));
        fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    }

    /// Proportional set size, in bytes (`smaps_rollup` of proc(5)).
    pub(crate) fn pss(self) -> u64 {
        field(&self.read("smaps_rollup"), "Pss:") * 1024
    }

    /// How often each of its threads went to sleep and was woken since it began.
    pub(crate) fn wakeups(self) -> Wakeups {
        let threads = fs::read_dir(format!("/proc/{}/task", self.0)).unwrap();
        let names =
            threads.map(|thread| thread.unwrap().file_name().to_string_lossy().into_owned());
        Wakeups(
            names
                .map(|thread| (thread.clone(), self.wakeups_of(&thread)))
                .collect(),
        )
    }

    fn wakeups_of(self, thread: &str) -> u64 {
        field(
            &self.read(&format!("task/{thread}/status")),
            "voluntary_ctxt_switches:",
        )
    }
}

/// Counts by thread.
#[derive(Debug, Clone)]
pub(crate) struct Wakeups(BTreeMap<String, u64>);

impl Wakeups {
    /// How many there were between `earlier` and this; a thread that has ended was woken for it.
    pub(crate) fn since(&self, earlier: &Self) -> u64 {
        let ended = earlier
            .0
            .keys()
            .filter(|thread| !self.0.contains_key(*thread));
        let counted = self
            .0
            .iter()
            .map(|(thread, count)| count - earlier.0.get(thread).unwrap_or(&0));
        counted.sum::<u64>() + ended.count() as u64
    }
}

/// The number after a key at the beginning of a line.
fn field(text: &str, key: &str) -> u64 {
    let value = text.lines().find_map(|line| line.strip_prefix(key));
    let number = value.and_then(|value| value.split_whitespace().next()?.parse().ok());
    number.unwrap_or_else(|| panic!("no {key} in {text}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_that_has_ended_counts_as_woken_once() {
        let counts = |pairs: &[(&str, u64)]| {
            Wakeups(
                pairs
                    .iter()
                    .map(|(thread, count)| ((*thread).to_owned(), *count))
                    .collect(),
            )
        };
        let before = counts(&[("1", 10), ("2", 500)]);
        assert_eq!(counts(&[("1", 10), ("2", 500)]).since(&before), 0);
        assert_eq!(counts(&[("1", 12)]).since(&before), 3);
        assert_eq!(counts(&[("1", 10), ("2", 500), ("3", 4)]).since(&before), 4);
    }

    #[test]
    fn a_field_is_found_by_its_whole_key() {
        let text = "Pss_Dirty:  7 kB\nPss:  42 kB\nnonvoluntary_ctxt_switches:\t5\nvoluntary_ctxt_switches:\t3\n";
        assert_eq!(field(text, "Pss:"), 42);
        assert_eq!(field(text, "voluntary_ctxt_switches:"), 3);
    }
}
