//! What a configuration is checked against: this machine, or none.

use std::{
    fs, io,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
};

use super::{
    describe::find_host,
    environment::{VariableMap, of_process},
};

/// The machine as the checks see it.
#[derive(Debug, Clone)]
pub struct Host {
    /// The daemon's own variables: `HOME`, `PATH`, `CREDENTIALS_DIRECTORY`, `HARNESSD_PLUGIN_PATH`.
    pub variables: VariableMap,
    /// The directory the daemon was started in.
    pub current_directory: PathBuf,
    /// The daemon's own program.
    pub program: Option<PathBuf>,
    /// The configuration is for another machine: what it names here is looked up only where its
    /// directory exists (a build of a NixOS system sees the store, and nothing else of it).
    pub offline: bool,
    /// The program that is asked what plugins are, to check their settings. A daemon asks none: it runs no
    /// foreign code.
    pub plugin_host: Option<PathBuf>,
}

/// How a look at a file went.
#[derive(Debug)]
pub(super) enum Look {
    Found,
    Missing,
    /// It cannot be seen from here: no permission, or another machine's.
    Unknown(io::Error),
}

impl Host {
    /// This machine and process.
    #[must_use]
    pub fn current() -> Self {
        Self {
            variables: of_process(std::env::vars_os()).0,
            current_directory: std::env::current_dir().unwrap_or_else(|_| PathBuf::from("/")),
            program: std::env::current_exe().ok(),
            offline: false,
            plugin_host: None,
        }
    }

    /// The same, with plugins asked for what they are by the host that is installed with this program.
    #[must_use]
    pub fn asking_plugins(mut self) -> Self {
        let search_path = self.variable("PATH").unwrap_or_default();
        self.plugin_host = Some(find_host(self.program.as_deref(), search_path));
        self
    }

    pub(super) fn variable(&self, name: &str) -> Option<&str> {
        self.variables
            .get(name)
            .map(String::as_str)
            .filter(|value| !value.is_empty())
    }

    /// `~` and `~/…` become the home directory; an absolute path stays. Another one is `None`.
    pub(super) fn expand(&self, path: &Path) -> Option<PathBuf> {
        if path.is_absolute() {
            return Some(path.to_owned());
        }
        let below = path.strip_prefix("~").ok()?;
        let home = Path::new(self.variable("HOME")?);
        home.is_absolute().then(|| home.join(below))
    }

    /// Whether there is a program at an absolute path.
    pub(super) fn program_at(&self, path: &Path) -> Look {
        self.look(path, |metadata| {
            metadata.is_file() && metadata.permissions().mode() & 0o111 != 0
        })
    }

    pub(super) fn file_at(&self, path: &Path) -> Look {
        self.look(path, fs::Metadata::is_file)
    }

    pub(super) fn directory_at(&self, path: &Path) -> Look {
        self.look(path, fs::Metadata::is_dir)
    }

    fn look(&self, path: &Path, right: impl Fn(&fs::Metadata) -> bool) -> Look {
        match fs::metadata(path) {
            Ok(metadata) if right(&metadata) => Look::Found,
            Ok(_) => Look::Missing,
            Err(error) => {
                let kind = error.kind();
                let missing =
                    kind == io::ErrorKind::NotFound || kind == io::ErrorKind::NotADirectory;
                let elsewhere = self.offline && !path.parent().is_some_and(Path::is_dir);
                if missing && !elsewhere {
                    Look::Missing
                } else {
                    Look::Unknown(error)
                }
            }
        }
    }
}

/// The files of directories, for a hint; what cannot be read is passed over.
pub(super) fn names_in<'a>(directories: impl IntoIterator<Item = &'a Path>) -> Vec<String> {
    let entries = directories
        .into_iter()
        .filter_map(|directory| fs::read_dir(directory).ok())
        .flatten()
        .flatten();
    entries
        .filter_map(|entry| entry.file_name().into_string().ok())
        .collect()
}
