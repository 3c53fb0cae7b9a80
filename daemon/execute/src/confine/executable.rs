//! From the words of a script to the files that may be executed.

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
};

use harness_model::Allowance;

use super::{
    Site,
    beneath::{Beneath, own_directories},
    format::Format,
    site::{is_program, real},
};

/// The shell that programs run commands with (system(3)).
const SHELL: &str = "/bin/sh";

/// As many interpreters of interpreters as the kernel follows (execve(2)), and one more for `env`.
const DEPTH_MOST: u32 = 6;

/// The word of `execute` that lifts the limit.
const ALL: &str = "*";

/// The files that may be executed.
pub(super) struct Executable<'a> {
    site: &'a Site<'a>,
    /// Where the script may write, and so put programs; without links.
    writable: Vec<PathBuf>,
    /// What a person has named; without links.
    named: Vec<PathBuf>,
    paths: BTreeSet<PathBuf>,
    anything: bool,
}

impl<'a> Executable<'a> {
    /// What a script may execute that was let through as this; `writable`: where it may write.
    pub(super) fn of(
        allowance: &Allowance,
        site: &'a Site<'a>,
        writable: Option<&[String]>,
    ) -> Self {
        let writable = writable.unwrap_or_default().iter().map(Path::new);
        let mut executable = Self {
            site,
            // Who may write everywhere is not held by where a program lies.
            writable: writable
                .map(real)
                .filter(|path| path != Path::new("/"))
                .collect(),
            named: Vec::new(),
            paths: BTreeSet::new(),
            anything: false,
        };
        executable.program(site.interpreter, 0);
        executable.program(Path::new(SHELL), 0);
        for entry in &allowance.execute {
            executable.entry(entry);
        }
        for word in &allowance.programs {
            executable.word(word, allowance.moves);
        }
        executable
    }

    /// The paths, or `None` when there is no limit.
    pub(super) fn into_paths(self) -> Option<Vec<String>> {
        if self.anything {
            return None;
        }
        // A name that is not UTF-8 cannot be named, so it cannot be executed.
        let text = |path: PathBuf| path.into_os_string().into_string().ok();
        Some(self.paths.into_iter().filter_map(text).collect())
    }

    /// An entry of `execute`: a program by name, the path of a program or directory, or all.
    fn entry(&mut self, entry: &str) {
        if entry == ALL {
            self.anything = true;
            return;
        }
        let path = if entry.contains('/') {
            Some(PathBuf::from(entry))
        } else {
            self.site.lookup(entry)
        };
        let Some(path) = path else {
            return;
        };
        let path = real(&path);
        self.named.push(path.clone());
        if path.is_dir() {
            self.paths.insert(path);
        } else {
            self.installed(&path, &[entry.rsplit('/').next().unwrap_or(entry)]);
        }
    }

    /// A command word of the script; a builtin is no file, and needs none.
    fn word(&mut self, word: &str, moves: bool) {
        let name = word.rsplit('/').next().unwrap_or(word);
        let file = if !word.contains('/') {
            // What the script could have put there itself is not what the list means.
            self.site.lookup(word).filter(|file| !self.is_own(file))
        } else if word.starts_with('/') || !moves {
            Some(self.site.cwd.join(word)).filter(|file| is_program(file))
        } else {
            None
        };
        let Some(file) = file else {
            if word.contains('/') && !word.starts_with('/') {
                // It is made by the script, or lies where that goes to.
                self.paths.insert(real(self.site.workspace));
            }
            return;
        };
        let file = real(&file);
        let called = file
            .file_name()
            .and_then(|name| name.to_str())
            .unwrap_or(name);
        self.installed(&file, &[name, called]);
        for name in [name, called] {
            match Beneath::of(name) {
                Some(Beneath::Anything) => self.anything = true,
                Some(Beneath::Programs(programs)) => {
                    for program in programs {
                        let file = self.site.lookup(program);
                        if let Some(file) = file.filter(|file| !self.is_own(file)) {
                            self.installed(&real(&file), &[program]);
                        }
                    }
                }
                None => {}
            }
        }
        // What a script runs, its text alone says.
        self.anything |= matches!(Format::of(&file), Format::Script(..));
    }

    /// A program with the directories that it has to itself.
    fn installed(&mut self, file: &Path, names: &[&str]) {
        self.program(file, 0);
        for directory in own_directories(file, names) {
            let directory = real(&directory);
            if !self.is_own(&directory) {
                self.paths.insert(directory);
            }
        }
    }

    /// A program with what the kernel opens to run it.
    fn program(&mut self, file: &Path, depth: u32) {
        let file = real(file);
        if depth > DEPTH_MOST || !self.paths.insert(file.clone()) {
            return;
        }
        match Format::of(&file) {
            Format::Elf(loader) => {
                self.paths.insert(real(&loader));
            }
            Format::Script(interpreter, argument) => {
                self.program(&self.site.cwd.join(&interpreter), depth + 1);
                let is_env = interpreter.file_name().is_some_and(|name| name == "env");
                let command = argument.as_deref().filter(|_| is_env);
                if let Some(file) = command
                    .and_then(Format::command_of_env)
                    .and_then(|command| self.site.lookup(command))
                    .filter(|file| !self.is_own(file))
                {
                    self.program(&file, depth + 1);
                }
            }
            Format::Plain => {}
        }
    }

    /// Whether the script may have written a file, and no person has named it.
    fn is_own(&self, file: &Path) -> bool {
        let real = real(file);
        let within = |places: &[PathBuf]| {
            places
                .iter()
                .any(|place| file.starts_with(place) || real.starts_with(place))
        };
        within(&self.writable) && !within(&self.named)
    }
}

#[cfg(test)]
#[path = "executable_tests.rs"]
mod tests;
