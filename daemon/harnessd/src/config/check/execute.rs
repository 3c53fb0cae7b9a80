//! `[tool.NAME] execute`: what may be executed beneath allowlisted commands.

use std::path::{Path, PathBuf};

use super::Checker;
use crate::config::{
    environment::ChildEnvironment,
    host::Look,
    path::{Step, steps},
};

impl Checker<'_> {
    /// Each entry is `*`, the name of a program, or the path of a program or directory.
    pub(super) fn execute(&mut self, environment: &ChildEnvironment) {
        let config = self.config;
        let home = environment.get("HOME").map(Path::new);
        for (name, rule) in &config.tool {
            for (index, entry) in rule.execute.iter().enumerate() {
                let key = steps!["tool", name, "execute", index];
                if entry.starts_with('~') || entry.contains('/') {
                    self.executable_at(&key, entry, home);
                } else if entry != "*" {
                    self.program(&key, entry);
                }
            }
        }
    }

    fn executable_at(&mut self, key: &[Step], entry: &str, home: Option<&Path>) {
        let path = match (Path::new(entry).strip_prefix("~"), home) {
            (Ok(below), Some(home)) => home.join(below),
            (Ok(_), None) => {
                let text = "children have no HOME that ~ could stand for: write the path in full";
                self.error(key, text);
                return;
            }
            (Err(_), _) => PathBuf::from(entry),
        };
        if !path.is_absolute() || entry.contains('\0') {
            self.error(
                key,
                "expected the name of a program, an absolute path, or one below ~",
            );
            return;
        }
        match (self.host.program_at(&path), self.host.directory_at(&path)) {
            (Look::Found, _) | (_, Look::Found) => {}
            (Look::Missing, Look::Missing) => {
                let text = format!("there is no program or directory {}", path.display());
                self.error(key, &text);
            }
            (Look::Unknown(error), _) | (_, Look::Unknown(error)) => {
                if !self.host.offline {
                    let text = format!("cannot look at {}: {error}", path.display());
                    self.warning(key, &text);
                }
            }
        }
    }
}
