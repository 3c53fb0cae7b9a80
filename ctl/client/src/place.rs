//! Where a harness's sockets are.

use std::{
    env, fs, io,
    os::unix::fs::MetadataExt as _,
    path::{Path, PathBuf},
};

use crate::{Error, Result};

/// The agent's name when nobody names one.
pub const DEFAULT_AGENT: &str = "default";

/// One of a harness's sockets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Socket {
    /// `control.sock`, the person's.
    Control,
    /// `mcp.sock`, the agent's.
    Mcp,
}

impl Socket {
    /// Its file name.
    #[must_use]
    pub fn file_name(self) -> &'static str {
        match self {
            Self::Control => "control.sock",
            Self::Mcp => "mcp.sock",
        }
    }
}

/// What the environment says of places.
#[derive(Debug, Clone)]
pub struct Surroundings {
    /// `$HARNESS_RUNTIME_DIR`
    pub harness_runtime_dir: Option<PathBuf>,
    /// `$XDG_RUNTIME_DIR`
    pub xdg_runtime_dir: Option<PathBuf>,
    /// Where system services have theirs: `/run`.
    pub run: PathBuf,
    /// Where the kernel shows each process's root directory: `/proc`.
    pub proc: PathBuf,
    /// Where those without either have theirs: `/tmp`.
    pub tmp: PathBuf,
    /// The caller's uid.
    pub uid: u32,
}

impl Surroundings {
    /// This process's own.
    #[must_use]
    pub fn current() -> Self {
        let variable = |name| {
            env::var_os(name)
                .filter(|value| !value.is_empty())
                .map(PathBuf::from)
        };
        Self {
            harness_runtime_dir: variable("HARNESS_RUNTIME_DIR"),
            xdg_runtime_dir: variable("XDG_RUNTIME_DIR"),
            run: "/run".into(),
            proc: "/proc".into(),
            tmp: "/tmp".into(),
            uid: rustix::process::getuid().as_raw(),
        }
    }
}

/// Which harness: by directory, by name, or the default one.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Selector {
    /// `--agent`
    pub agent: Option<String>,
    /// `--runtime-dir`
    pub runtime_dir: Option<PathBuf>,
    /// `--machine`
    pub machine: Option<String>,
}

impl Selector {
    /// The path of a socket: with `--machine` in that container's `/run/harnessd/AGENT`; else in `--runtime-dir`; else, unless `--agent` is given, in
    /// `$HARNESS_RUNTIME_DIR`; else in the first of the agent's places that has it:
    /// `$XDG_RUNTIME_DIR/harnessd/AGENT`, `/run/harnessd/AGENT`, `/tmp/harnessd-UID/AGENT`.
    ///
    /// # Errors
    /// [`Error::NotRunning`], [`Error::InvalidAgent`], [`Error::Untrusted`].
    pub fn find(&self, socket: Socket, surroundings: &Surroundings) -> Result<PathBuf> {
        if let Some(machine) = &self.machine {
            let directory = self.inside(machine, surroundings)?;
            return Ok(directory.join(socket.file_name()));
        }
        let environment = surroundings
            .harness_runtime_dir
            .as_ref()
            .filter(|_| self.agent.is_none());
        if let Some(directory) = self.runtime_dir.as_ref().or(environment) {
            return Ok(directory.join(socket.file_name()));
        }
        let agent = self.agent.as_deref().unwrap_or(DEFAULT_AGENT);
        check_agent(agent)?;
        let fallback = surroundings
            .tmp
            .join(format!("harnessd-{}", surroundings.uid));
        let shared = [
            surroundings.xdg_runtime_dir.as_ref(),
            Some(&surroundings.run),
        ];
        let mut tried = Vec::new();
        for directory in shared.into_iter().flatten() {
            let path = directory
                .join("harnessd")
                .join(agent)
                .join(socket.file_name());
            if is_there(&path) {
                return Ok(path);
            }
            tried.push(path);
        }
        let path = fallback.join(agent).join(socket.file_name());
        if is_there(&path) {
            check_owner(&fallback, surroundings.uid)?;
            return Ok(path);
        }
        tried.push(path);
        Err(Error::NotRunning { tried })
    }

    /// The runtime directory in a container that systemd-machined knows (`machinectl list`), by way of
    /// its first process: root alone may look there.
    fn inside(&self, machine: &str, surroundings: &Surroundings) -> Result<PathBuf> {
        let agent = self.agent.as_deref().unwrap_or(DEFAULT_AGENT);
        check_agent(agent)?;
        check_agent(machine)?;
        let file = surroundings.run.join("systemd/machines").join(machine);
        let state = fs::read_to_string(&file).unwrap_or_default();
        let leader: Option<u32> = (state.lines())
            .find_map(|line| line.strip_prefix("LEADER="))
            .and_then(|leader| leader.parse().ok());
        let Some(leader) = leader else {
            return Err(Error::NotRunning { tried: vec![file] });
        };
        let root = surroundings.proc.join(leader.to_string()).join("root");
        Ok(root.join("run/harnessd").join(agent))
    }
}

/// What may not be looked at is there: connecting will say why not.
fn is_there(path: &Path) -> bool {
    match fs::symlink_metadata(path) {
        Ok(_) => true,
        Err(error) => error.kind() == io::ErrorKind::PermissionDenied,
    }
}

fn check_agent(name: &str) -> Result<()> {
    let valid = |character: char| character.is_ascii_alphanumeric() || "-_.@".contains(character);
    let first =
        name.starts_with(|character: char| character.is_ascii_alphanumeric() || character == '_');
    if first && name.len() <= 64 && name.chars().all(valid) {
        return Ok(());
    }
    Err(Error::InvalidAgent {
        name: name.chars().take(80).collect(),
    })
}

/// Anybody can make a directory in `/tmp` and wait there for commands.
fn check_owner(directory: &Path, uid: u32) -> Result<()> {
    let trusted = fs::symlink_metadata(directory).is_ok_and(|metadata| {
        metadata.is_dir()
            && (metadata.uid() == uid || metadata.uid() == 0)
            && metadata.mode() & 0o022 == 0
    });
    trusted.then_some(()).ok_or_else(|| Error::Untrusted {
        path: directory.to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    struct Host {
        directory: tempfile::TempDir,
        surroundings: Surroundings,
    }

    impl Host {
        fn new() -> Self {
            let directory = tempfile::tempdir().unwrap();
            let surroundings = Surroundings {
                harness_runtime_dir: None,
                xdg_runtime_dir: Some(directory.path().join("xdg")),
                run: directory.path().join("run"),
                proc: directory.path().join("proc"),
                tmp: directory.path().join("tmp"),
                uid: rustix::process::getuid().as_raw(),
            };
            Self {
                directory,
                surroundings,
            }
        }

        fn make(&self, path: &str) -> PathBuf {
            let path = self.directory.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, "").unwrap();
            path
        }

        fn find(&self, agent: Option<&str>) -> Result<PathBuf> {
            let selector = Selector {
                agent: agent.map(Into::into),
                runtime_dir: None,
                machine: None,
            };
            selector.find(Socket::Control, &self.surroundings)
        }
    }

    #[test]
    fn the_users_own_harness_comes_before_the_systems() {
        let host = Host::new();
        let system = host.make("run/harnessd/default/control.sock");
        assert_eq!(host.find(None).unwrap(), system);
        let own = host.make("xdg/harnessd/default/control.sock");
        assert_eq!(host.find(None).unwrap(), own);
    }

    #[test]
    fn a_named_agent_comes_before_the_environment_and_a_directory_before_both() {
        let mut host = Host::new();
        host.surroundings.harness_runtime_dir = Some("/elsewhere".into());
        let coder = host.make("run/harnessd/coder/control.sock");
        assert_eq!(
            host.find(None).unwrap(),
            Path::new("/elsewhere/control.sock")
        );
        assert_eq!(host.find(Some("coder")).unwrap(), coder);
        let selector = Selector {
            agent: Some("coder".into()),
            runtime_dir: Some("/mine".into()),
            machine: None,
        };
        assert_eq!(
            selector.find(Socket::Mcp, &host.surroundings).unwrap(),
            Path::new("/mine/mcp.sock")
        );
    }

    #[test]
    fn a_machine_is_looked_into_by_way_of_its_first_process() {
        let host = Host::new();
        let find = |machine: &str| {
            let selector = Selector {
                agent: Some("coder".into()),
                runtime_dir: None,
                machine: Some(machine.into()),
            };
            selector.find(Socket::Control, &host.surroundings)
        };
        let file = host.make("run/systemd/machines/box");
        let missing = find("box").unwrap_err();
        assert!(matches!(missing, Error::NotRunning { .. }), "{missing}");
        fs::write(file, "NAME=box\nSERVICE=systemd-nspawn\nLEADER=4711\n").unwrap();
        assert_eq!(
            find("box").unwrap(),
            host.surroundings
                .proc
                .join("4711/root/run/harnessd/coder/control.sock")
        );
        assert!(matches!(find("../box"), Err(Error::InvalidAgent { .. })));
    }

    #[test]
    fn where_nothing_runs_every_place_is_named() {
        let host = Host::new();
        let message = host.find(Some("coder")).unwrap_err().to_string();
        for part in [
            "xdg/harnessd/coder",
            "run/harnessd/coder",
            "tmp/harnessd-",
            "systemctl start",
        ] {
            assert!(message.contains(part), "{message}");
        }
    }

    #[test]
    fn a_fallback_that_others_can_write_is_not_trusted() {
        let host = Host::new();
        let socket = host.make(&format!(
            "tmp/harnessd-{}/default/control.sock",
            host.surroundings.uid
        ));
        assert_eq!(host.find(None).unwrap(), socket);
        let directory = socket.parent().unwrap().parent().unwrap();
        fs::set_permissions(directory, fs::Permissions::from_mode(0o777)).unwrap();
        assert!(matches!(host.find(None), Err(Error::Untrusted { .. })));
    }

    #[test]
    fn a_name_that_could_leave_its_directory_is_refused() {
        for name in ["", "..", ".", "a/b", "-x", "a\0", "ä", &"a".repeat(65)] {
            assert!(
                matches!(
                    Host::new().find(Some(name)),
                    Err(Error::InvalidAgent { .. })
                ),
                "{name:?}"
            );
        }
    }
}
