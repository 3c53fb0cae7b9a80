//! A small random generator and a bash that can run nothing but stubs.
#![allow(dead_code, reason = "each test uses a part of it")]
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// `SplitMix64`: deterministic, so that a failure can be repeated by its seed.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub(crate) fn below(&mut self, limit: usize) -> usize {
        usize::try_from(self.next() % limit as u64).unwrap()
    }

    pub(crate) fn pick(&mut self, from: &[&'static str]) -> &'static str {
        from[self.below(from.len())]
    }
}

pub(crate) fn has(program: &str) -> bool {
    where_is(program).is_some()
}

fn where_is(program: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path)
        .map(|directory| directory.join(program))
        .find(|file| file.is_file())
}

/// Runs scripts in a directory of its own with a `PATH` of stubs that log their arguments.
pub(crate) struct Stubs {
    directory: tempfile::TempDir,
}

/// Names of the stubs: `k0` … . Those with an odd number fail.
pub(crate) const STUBS: usize = 40;

impl Stubs {
    pub(crate) fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let path = |name: &str| directory.path().join(name);
        fs::create_dir(path("bin")).unwrap();
        fs::create_dir(path("log")).unwrap();
        fs::create_dir(path("cwd")).unwrap();
        let stub = path("stub");
        let text = "#!/bin/sh\nname=${0##*/}\nprintf '%s\\037' \"$name\" \"$@\" > \"$STUB_LOG/$$\"\n\
                    case $name in *[13579]) exit 1;; esac\n";
        fs::write(&stub, text).unwrap();
        // bash reads it first, and from then on tells what it runs.
        let trace = format!(
            "exec 19>>'{}'; BASH_XTRACEFD=19; set -x\n",
            path("trace").display()
        );
        fs::write(path("trace-on"), trace).unwrap();
        fs::set_permissions(&stub, fs::Permissions::from_mode(0o755)).unwrap();
        for number in 0..STUBS {
            std::os::unix::fs::symlink(&stub, path("bin").join(format!("k{number}"))).unwrap();
        }
        Self { directory }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    /// Runs the script, ends all it left behind, and returns the argument lists of the stubs.
    #[expect(
        clippy::disallowed_methods,
        reason = "the test compares with what a real shell does"
    )]
    pub(crate) fn run(&self, script: &str) -> Vec<Vec<String>> {
        let log = self.path("log");
        empty(&log);
        fs::write(self.path("trace"), "").unwrap();
        empty(&self.path("cwd"));
        let mut child = Command::new(where_is("timeout").unwrap())
            .args(["--foreground", "-s", "KILL", "3"])
            .arg(where_is("bash").unwrap())
            .args(["--norc", "--noprofile", "-c", script])
            .env_clear()
            .env("STUB_LOG", &log)
            .env("FUNCNEST", "20")
            .env("BASH_ENV", self.path("trace-on"))
            // Names of variables that the script may set.
            .env("USER", "x")
            .env("x", "y")
            .env("n", "x")
            .env("LC_ALL", "C.UTF-8")
            .env("PATH", self.path("bin"))
            .current_dir(self.path("cwd"))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .process_group(0)
            .spawn()
            .unwrap();
        let group = child.id();
        child.wait().unwrap();
        let mut kill = Command::new("kill");
        kill.args(["-KILL", "--", &format!("-{group}")])
            .stderr(Stdio::null());
        kill.status().unwrap();
        let mut ran = Vec::new();
        for entry in fs::read_dir(&log).unwrap() {
            let bytes = fs::read(entry.unwrap().path()).unwrap();
            let text = String::from_utf8_lossy(&bytes);
            let mut words: Vec<String> = text.split('\x1f').map(str::to_owned).collect();
            words.pop();
            if !words.is_empty() {
                ran.push(words);
            }
        }
        ran
    }
}

impl Stubs {
    /// The simple commands that bash has traced (bash(1) "set -x") in the last run, with their words
    /// as they were after all expansions. Not among them are assignments and what is no command.
    pub(crate) fn trace(&self) -> Vec<Vec<String>> {
        let text = fs::read_to_string(self.path("trace")).unwrap();
        let mut records: Vec<String> = Vec::new();
        for line in text.lines() {
            let rest = line.trim_start_matches('+');
            match records.last_mut() {
                Some(record) if rest.len() == line.len() => {
                    record.push('\n');
                    record.push_str(line);
                }
                _ => records.push(rest.trim_start().to_owned()),
            }
        }
        let is_command = |record: &&String| {
            let length = record
                .find(|c: char| !c.is_ascii_alphanumeric() && c != '_')
                .unwrap_or(record.len());
            let (name, behind) = record.split_at(length);
            let assigns = !name.is_empty() && behind.starts_with(['=', '[', '+']);
            let is_syntax = matches!(name, "for" | "case" | "select") && behind.starts_with(' ');
            !(assigns || is_syntax || record.starts_with("((") || record.starts_with("[[ "))
        };
        let commands = records.iter().filter(is_command);
        commands.map(|record| unquoted(record)).collect()
    }
}

/// The words of a traced command: bash quotes them by `'…'`, `\'` and, around control characters,
/// `$'…'`.
fn unquoted(record: &str) -> Vec<String> {
    let mut words = vec![];
    let mut word: Option<String> = None;
    let mut characters = record.chars().peekable();
    while let Some(c) = characters.next() {
        match c {
            ' ' => words.extend(word.take()),
            '\'' => {
                let text = word.get_or_insert_default();
                text.extend(characters.by_ref().take_while(|c| *c != '\''));
            }
            '\\' => word.get_or_insert_default().extend(characters.next()),
            _ => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    words
}

/// A number from the environment, or this.
pub(crate) fn number<T: std::str::FromStr>(variable: &str, default: T) -> T {
    std::env::var(variable)
        .ok()
        .and_then(|text| text.parse().ok())
        .unwrap_or(default)
}

fn empty(directory: &Path) {
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            fs::remove_dir_all(&path).unwrap();
        } else {
            fs::remove_file(&path).unwrap();
        }
    }
}

/// Whether a command that was seen may have become this list of arguments.
pub(crate) fn may_be(command: &harness_bashscan::Command, ran: &[String]) -> bool {
    let mut at = 0;
    for word in &command.words {
        if !word.is_one_word() {
            return true;
        }
        let Some(actual) = ran.get(at) else {
            return false;
        };
        if word.literal().is_some_and(|text| text != actual) {
            return false;
        }
        at += 1;
    }
    at == ran.len()
}

/// Panics if a program was started that was not seen, or was taken for a function.
pub(crate) fn assert_all_seen(script: &str, ran: &[Vec<String>]) {
    assert_seen(script, ran, |command| !command.calls_function);
}

/// Panics if a command ran that was not seen, be it a program, a builtin or a function.
pub(crate) fn assert_trace_seen(script: &str, ran: &[Vec<String>]) {
    assert_seen(script, ran, |_| true);
}

fn assert_seen(
    script: &str,
    ran: &[Vec<String>],
    counts: impl Fn(&harness_bashscan::Command) -> bool,
) {
    let scan = harness_bashscan::scan(script);
    if !scan.opaque.is_empty() {
        return;
    }
    for words in ran {
        assert!(
            scan.commands.iter().any(|command| !command.words.is_empty()
                && counts(command)
                && may_be(command, words)),
            "ran {words:?}, but that was not seen in:\n{script}\n{:#?}",
            scan.commands
                .iter()
                .map(|command| &command.words)
                .collect::<Vec<_>>()
        );
    }
}
