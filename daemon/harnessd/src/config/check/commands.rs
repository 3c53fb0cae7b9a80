//! Programs that the configuration names.

use std::path::{Path, PathBuf};

use super::Checker;
use crate::config::{
    host::{Look, names_in},
    nearest::nearest,
    path::{Step, steps},
};

impl Checker<'_> {
    /// The shell of tasks, as an absolute path.
    pub(super) fn shell(&mut self) -> PathBuf {
        let shell = self.config.bash.shell.clone();
        self.program(&steps!["bash", "shell"], &shell)
            .unwrap_or_else(|| PathBuf::from(shell))
    }

    pub(super) fn commands(&mut self) {
        let config = self.config;
        if let Some(turn) = &config.turn {
            self.command(&steps!["turn", "command"], &turn.command);
        }
        if !config.approval.rater.is_empty() {
            self.command(&steps!["approval", "rater"], &config.approval.rater);
        }
        for (index, hook) in config.hook.iter().enumerate() {
            self.command(&steps!["hook", index, "command"], &hook.command);
        }
        for (name, server) in &config.mcp {
            match (&server.url, server.command.is_empty()) {
                (None, false) => self.command(&steps!["mcp", name, "command"], &server.command),
                // What the address may be is a matter of the protocol.
                (Some(_), true) => {}
                (Some(_), false) => self.error(
                    &steps!["mcp", name, "url"],
                    "a server has a command or a url, not both: remove one",
                ),
                (None, true) => self.key_error(
                    &steps!["mcp", name],
                    "the server has neither a command nor a url: set one",
                ),
            }
        }
    }

    fn command(&mut self, path: &[Step], words: &[String]) {
        let Some(program) = words.first() else {
            self.error(path, "the command is empty: name a program");
            return;
        };
        if let Some(index) = words.iter().position(|word| word.contains('\0')) {
            let at = [path, &[Step::from(index)]].concat();
            self.error(&at, "an argument cannot contain a NUL character");
        }
        let first = [path, &[Step::from(0)]].concat();
        self.program(&first, program);
    }

    /// The program's absolute path; an error when there is none.
    pub(super) fn program(&mut self, path: &[Step], word: &str) -> Option<PathBuf> {
        if word.contains('/') {
            return self.program_by_path(path, word);
        }
        if word.is_empty() {
            self.error(path, "the program has no name");
            return None;
        }
        let search_path = self.search_path.clone();
        let directories = || {
            search_path
                .split(':')
                .map(Path::new)
                .filter(|directory| directory.is_absolute())
        };
        let found = directories()
            .map(|directory| directory.join(word))
            .find(|file| matches!(self.host.program_at(file), Look::Found));
        if found.is_none() && !self.host.offline {
            let names = names_in(directories());
            let hint = match nearest(word, names.iter().map(String::as_str)) {
                Some(name) => format!("; did you mean `{name}`?"),
                None => ": install it, or give its absolute path".to_owned(),
            };
            self.error(path, &format!("there is no program {word:?} in PATH{hint}"));
        }
        found
    }

    fn program_by_path(&mut self, path: &[Step], word: &str) -> Option<PathBuf> {
        let Some(file) = self.host.expand(Path::new(word)) else {
            self.error(path, "expected the name of a program or an absolute path");
            return None;
        };
        match self.host.program_at(&file) {
            Look::Found => Some(file),
            Look::Missing => {
                let hint = beside(&file);
                let text = format!("there is no program at {}{hint}", file.display());
                self.error(path, &text);
                None
            }
            Look::Unknown(error) => {
                if !self.host.offline {
                    let text = format!("cannot look at {}: {error}", file.display());
                    self.warning(path, &text);
                }
                Some(file)
            }
        }
    }
}

/// A file of nearly the same name in the same directory.
fn beside(file: &Path) -> String {
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    let names = names_in(file.parent());
    match nearest(&name, names.iter().map(String::as_str)) {
        Some(near) if near == name => "; it is there, but not executable".to_owned(),
        Some(near) => format!("; did you mean `{near}`?"),
        None => String::new(),
    }
}
