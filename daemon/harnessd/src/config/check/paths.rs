//! The workspace.

use std::path::PathBuf;

use super::Checker;
use crate::config::{host::Look, path::steps, places::Mode};

impl Checker<'_> {
    /// The workspace as an absolute path; checked to be a directory.
    pub(super) fn workspace(&mut self, mode: Mode) -> PathBuf {
        let key = steps!["workspace"];
        let Some(given) = &self.config.workspace else {
            if mode == Mode::System {
                self.error(
                    &key,
                    "it is not set: name the directory the agent works in, as in \"/srv/coder\"",
                );
            }
            return self.host.current_directory.clone();
        };
        let Some(directory) = self.host.expand(given) else {
            self.error(&key, "expected an absolute path, or one below ~");
            return self.host.current_directory.clone();
        };
        if directory.components().any(|part| part.as_os_str() == "..") {
            self.error(&key, "expected a path without \"..\"");
        }
        match self.host.directory_at(&directory) {
            Look::Found => {}
            // Another machine's is made there.
            Look::Missing | Look::Unknown(_) if self.host.offline => {}
            Look::Missing => {
                let text = format!(
                    "there is no directory {}: make it first",
                    directory.display()
                );
                self.error(&key, &text);
            }
            Look::Unknown(error) => {
                let text = format!("cannot look at {}: {error}", directory.display());
                self.warning(&key, &text);
            }
        }
        directory
    }
}
