//! `[sandbox]`: from the words of the configuration to rules.

use std::path::{Path, PathBuf};

use harness_model::{Filesystem, SandboxProfile, SandboxRules};

use super::Checker;
use crate::config::{
    environment::ChildEnvironment,
    path::{Step, steps},
};

/// Where `TMPDIR` is when it is not set.
const TEMPORARY: &str = "/tmp";

/// POSIX shared memory, which programs take for memory and not for files.
const SHARED_MEMORY: &str = "/dev/shm";

impl Checker<'_> {
    /// The rules for tasks, shell calls and turns. Its paths need not exist: what is not there cannot be
    /// written, and what is hidden stays hidden when it is made.
    pub(super) fn sandbox(
        &mut self,
        workspace: &Path,
        environment: &ChildEnvironment,
    ) -> SandboxProfile {
        let sandbox = &self.config.sandbox;
        let home = environment.get("HOME").map(PathBuf::from);
        let writable = self.listed("writable", &sandbox.writable, home.as_deref());
        let hidden = self.listed("hidden", &sandbox.hidden, home.as_deref());
        let temporary = environment
            .get("TMPDIR")
            .map_or(Path::new(TEMPORARY), Path::new);
        let temporary = if temporary.is_absolute() {
            temporary
        } else {
            Path::new(TEMPORARY)
        };
        let mut own = vec![workspace.to_owned(), temporary.to_owned()];
        for (index, path) in &writable {
            self.warn_missing(steps!["sandbox", "writable", *index].as_ref(), path);
        }
        own.extend(writable.iter().map(|(_, path)| path.clone()));
        for (index, path) in &hidden {
            self.hidden(*index, path, &own, writable.len());
        }
        let text = |path: &PathBuf| path.to_string_lossy().into_owned();
        let all = |paths: &[(usize, PathBuf)]| paths.iter().map(|(_, path)| text(path)).collect();
        let listed: Vec<String> = all(&writable);
        let own: Vec<String> = own.iter().map(text).collect();
        let shared = SHARED_MEMORY.to_owned();
        let workspace_write: Vec<String> = own.iter().cloned().chain([shared]).collect();
        let hidden: Vec<String> = all(&hidden);
        let rules = SandboxRules {
            writable: match sandbox.filesystem {
                Filesystem::Open => None,
                Filesystem::WorkspaceWrite => Some(workspace_write.clone()),
                Filesystem::ReadOnly => Some(listed.clone()),
            },
            visible: if hidden.is_empty() { Vec::new() } else { own },
            hidden,
            no_network: !sandbox.network,
            required: sandbox.required,
            ..SandboxRules::default()
        };
        SandboxProfile {
            filesystem: sandbox.filesystem,
            rules,
            workspace_write,
            listed,
        }
    }

    /// The paths of a list that are well formed, and their places in it.
    fn listed(
        &mut self,
        name: &str,
        list: &[String],
        home: Option<&Path>,
    ) -> Vec<(usize, PathBuf)> {
        let mut paths = Vec::new();
        for (index, given) in list.iter().enumerate() {
            let key = steps!["sandbox", name, index];
            let below_home = Path::new(given).strip_prefix("~").ok();
            let path = match (below_home, home) {
                (Some(rest), Some(home)) => home.join(rest),
                (Some(_), None) => {
                    self.error(
                        &key,
                        "children have no HOME that ~ could stand for: write the path in full",
                    );
                    continue;
                }
                (None, _) => PathBuf::from(given),
            };
            if !path.is_absolute() {
                self.error(&key, "expected an absolute path, or one below ~");
            } else if given.contains('\0') || path.components().any(|part| part.as_os_str() == "..")
            {
                self.error(&key, "expected a path without \"..\" and NUL");
            } else {
                // Without a slash at the end, or two in a row.
                paths.push((index, path.components().collect()));
            }
        }
        paths
    }

    fn warn_missing(&mut self, key: &[Step], path: &Path) {
        if !self.host.offline
            && matches!(std::fs::symlink_metadata(path), Err(error) if error.kind() == std::io::ErrorKind::NotFound)
        {
            let text = format!(
                "there is no {}: it cannot be written until it is there",
                path.display()
            );
            self.warning(key, &text);
        }
    }

    /// `own`: the workspace, `TMPDIR`, and so many `writable` paths.
    fn hidden(&mut self, index: usize, path: &Path, own: &[PathBuf], writable: usize) {
        let key = steps!["sandbox", "hidden", index];
        if path == Path::new("/") || path.starts_with("/proc") {
            self.error(&key, "nothing could run without it: name a narrower path");
            return;
        }
        let written = match self.config.sandbox.filesystem {
            Filesystem::Open | Filesystem::WorkspaceWrite => own,
            Filesystem::ReadOnly => &own[own.len() - writable..],
        };
        let real = real(path);
        if let Some(directory) = written
            .iter()
            .find(|other| path.starts_with(other) || real.starts_with(self::real(other)))
        {
            let text = format!(
                "{} lies in {}, where tasks make files: Landlock could hide it only together with all that is made beside it later; move it out of there",
                path.display(),
                directory.display()
            );
            self.error(&key, &text);
        }
    }
}

/// As far as it is there, without links.
fn real(path: &Path) -> PathBuf {
    for ancestor in path.ancestors() {
        if let (Ok(real), Ok(rest)) = (ancestor.canonicalize(), path.strip_prefix(ancestor)) {
            return real.join(rest);
        }
    }
    path.to_owned()
}
