//! What a process costs while it does nothing.

use std::{fs, path::PathBuf};

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

    /// How often its threads went to sleep and were woken since they began.
    pub(crate) fn wakeups(self) -> u64 {
        let threads = fs::read_dir(format!("/proc/{}/task", self.0)).unwrap();
        threads
            .map(|thread| self.wakeups_of(&thread.unwrap().file_name().to_string_lossy()))
            .sum()
    }

    fn wakeups_of(self, thread: &str) -> u64 {
        field(
            &self.read(&format!("task/{thread}/status")),
            "voluntary_ctxt_switches:",
        )
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
    fn a_field_is_found_by_its_whole_key() {
        let text = "Pss_Dirty:  7 kB\nPss:  42 kB\nnonvoluntary_ctxt_switches:\t5\nvoluntary_ctxt_switches:\t3\n";
        assert_eq!(field(text, "Pss:"), 42);
        assert_eq!(field(text, "voluntary_ctxt_switches:"), 3);
    }
}
