//! Configurations on disk, as the daemon reads them.

mod children;
mod errors;
mod examples;
mod files;
mod places;
mod plugins;
mod references;
mod sandbox;
mod values;

use std::{collections::BTreeMap, fs, path::PathBuf};

use super::{Config, Diagnostics, Host, Loaded, Mode, Places, PlacesRequest, Variables};

/// Two tokens as short as they may be.
const ONE: &str = "0123456789abcdefghij";
const TWO: &str = "abcdefghij0123456789";

/// A directory with a configuration, a workspace, and a machine with two programs.
pub(super) struct Desk {
    pub(super) directory: tempfile::TempDir,
    pub(super) host: Host,
    pub(super) mode: Mode,
}

impl Desk {
    pub(super) fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let root = directory.path().to_owned();
        fs::create_dir_all(root.join("place")).unwrap();
        fs::create_dir_all(root.join("bin")).unwrap();
        let desk = Self {
            host: Host {
                variables: BTreeMap::from([
                    ("HOME".to_owned(), root.display().to_string()),
                    ("PATH".to_owned(), root.join("bin").display().to_string()),
                    ("TMPDIR".to_owned(), root.join("tmp").display().to_string()),
                ]),
                current_directory: root.join("place"),
                program: None,
                offline: false,
                plugin_host: None,
            },
            directory,
            mode: Mode::User,
        };
        desk.write_mode("bin/bash", "", 0o755);
        desk.write_mode("bin/guard", "", 0o755);
        desk
    }

    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    pub(super) fn write(&self, name: &str, text: &str) {
        self.write_mode(name, text, 0o644);
    }

    pub(super) fn write_mode(&self, name: &str, text: impl AsRef<[u8]>, mode: u32) {
        use std::os::unix::fs::PermissionsExt as _;
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
    }

    pub(super) fn places(&self) -> Places {
        let request = PlacesRequest {
            config: Some(self.path("a.toml")),
            mode: Some(self.mode),
            state: Some(self.path("state")),
            runtime: Some(PathBuf::from("/run/user/0/a")),
            ..PlacesRequest::default()
        };
        Places::resolve(request, &Variables::new(), 0).unwrap()
    }

    pub(super) fn load(&self, text: &str) -> Result<Loaded, Diagnostics> {
        self.write("a.toml", text);
        Config::load_on(&self.places(), &self.host)
    }

    /// `FILE:LINE:COL: message` of each error, without the directory.
    pub(super) fn complaints(&self, text: &str) -> Vec<String> {
        let problems = match self.load(text) {
            Ok(loaded) => loaded.warnings,
            Err(problems) => problems,
        };
        let prefix = format!("{}/", self.directory.path().display());
        let heads = problems.iter().map(|one| one.render(false));
        heads
            .map(|text| text.lines().next().unwrap().replace(&prefix, ""))
            .collect()
    }

    /// The only complaint.
    pub(super) fn complaint(&self, text: &str) -> String {
        let complaints = self.complaints(text);
        assert_eq!(complaints.len(), 1, "{text}: {complaints:#?}");
        complaints[0].clone()
    }
}
