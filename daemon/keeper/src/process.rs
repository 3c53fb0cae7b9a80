//! Other processes, as /proc shows them (proc(5)).

use std::{fs, io, os::unix::fs::FileExt};

/// One line of `/proc/PID/stat`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Process {
    pub(crate) pid: i32,
    pub(crate) name: String,
    pub(crate) state: u8,
    pub(crate) parent: i32,
    pub(crate) group: i32,
    pub(crate) session: i32,
    /// In clock ticks since the boot; with the pid it names the process for good.
    pub(crate) start_time: u64,
}

impl Process {
    /// The process with this pid, if there is one.
    pub(crate) fn read(pid: i32) -> Option<Self> {
        Self::parse(&fs::read(format!("/proc/{pid}/stat")).ok()?)
    }

    fn parse(line: &[u8]) -> Option<Self> {
        let line = String::from_utf8_lossy(line);
        // The name may hold spaces and parentheses.
        let (pid, rest) = line.split_once(" (")?;
        let (name, rest) = rest.rsplit_once(") ")?;
        let mut fields = rest.split(' ');
        Some(Self {
            pid: pid.parse().ok()?,
            name: name
                .chars()
                .map(|c| if c.is_control() { '?' } else { c })
                .collect(),
            state: *fields.next()?.as_bytes().first()?,
            parent: fields.next()?.parse().ok()?,
            group: fields.next()?.parse().ok()?,
            session: fields.next()?.parse().ok()?,
            // Field 22 of the line, where the group is 5 and the session 6.
            start_time: fields.nth(15)?.parse().ok()?,
        })
    }

    /// Whether it can still do anything.
    pub(crate) fn lives(&self) -> bool {
        !matches!(self.state, b'Z' | b'X')
    }

    /// `PID NAME`, for people.
    pub(crate) fn describe(&self) -> String {
        format!("{} {}", self.pid, self.name)
    }
}

/// Every process there is.
pub(crate) fn all() -> Vec<Process> {
    let Ok(entries) = fs::read_dir("/proc") else {
        return Vec::new();
    };
    entries
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
        .filter_map(Process::read)
        .collect()
}

/// The value of a variable in the environment that a process was started with.
pub(crate) fn variable(pid: i32, name: &str) -> Option<String> {
    let environment = fs::read(format!("/proc/{pid}/environ")).ok()?;
    let value = environment
        .split(|byte| *byte == 0)
        .find_map(|entry| entry.strip_prefix(name.as_bytes())?.strip_prefix(b"="))?;
    String::from_utf8(value.to_vec()).ok()
}

/// The cgroup of the second version that a process is in, as `/a/b`.
pub(crate) fn cgroup(pid: i32) -> Option<String> {
    let text = fs::read_to_string(format!("/proc/{pid}/cgroup")).ok()?;
    let path = text.lines().find_map(|line| line.strip_prefix("0::"))?;
    Some(path.strip_suffix(" (deleted)").unwrap_or(path).to_owned())
}

/// The list of this process's own children, kept open.
pub(crate) struct Children(Option<fs::File>);

impl Children {
    pub(crate) fn open() -> Self {
        let pid = std::process::id();
        Self(fs::File::open(format!("/proc/{pid}/task/{pid}/children")).ok())
    }

    /// Their pids, those that have ended and not been reaped among them.
    pub(crate) fn read(&self) -> Vec<i32> {
        if let Some(Ok(text)) = self.0.as_ref().map(read_whole) {
            return text
                .split(' ')
                .filter_map(|pid| pid.trim().parse().ok())
                .collect();
        }
        // A kernel without CONFIG_PROC_CHILDREN.
        let own = i32::try_from(std::process::id()).unwrap_or(0);
        let children = all().into_iter().filter(|process| process.parent == own);
        children.map(|process| process.pid).collect()
    }
}

fn read_whole(file: &fs::File) -> io::Result<String> {
    let mut bytes = Vec::new();
    let mut buffer = [0; 1024];
    loop {
        let length = file.read_at(&mut buffer, bytes.len() as u64)?;
        if length == 0 {
            break;
        }
        bytes.extend_from_slice(&buffer[..length]);
    }
    String::from_utf8(bytes).map_err(io::Error::other)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_with_spaces_and_parentheses_is_read_whole() {
        let line = b"42 (a) (b c) S 1 40 39 0 -1 4194304 1 0 0 0 0 0 0 0 20 0 1 0 777 1 1\n";
        let process = Process::parse(line).unwrap();
        assert_eq!(process.name, "a) (b c");
        assert_eq!(
            (
                process.parent,
                process.group,
                process.session,
                process.start_time
            ),
            (1, 40, 39, 777)
        );
        assert!(process.lives());
        assert_eq!(process.describe(), "42 a) (b c");
    }

    #[test]
    fn this_process_is_found_with_its_environment_and_cgroup() {
        let own = i32::try_from(std::process::id()).unwrap();
        assert!(all().iter().any(|process| process.pid == own));
        assert_eq!(variable(own, "PATH"), std::env::var("PATH").ok());
        assert_eq!(variable(own, "PAT"), None);
    }
}
