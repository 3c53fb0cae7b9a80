//! Where the files and sockets of one harness are (design: "Places").

use std::{
    collections::BTreeMap,
    ffi::{OsStr, OsString},
    fmt, fs, io,
    os::unix::{
        ffi::OsStrExt as _,
        fs::{DirBuilderExt as _, MetadataExt as _},
    },
    path::{Path, PathBuf},
    str::FromStr,
};

use super::error::PlacesError;

/// The name of an agent: `[a-z0-9][a-z0-9-]{0,31}`. It is a unit's instance, a directory and a
/// part of a bus name.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct AgentName(Box<str>);

impl AgentName {
    /// The name as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Default for AgentName {
    fn default() -> Self {
        Self("default".into())
    }
}

impl fmt::Display for AgentName {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl FromStr for AgentName {
    type Err = PlacesError;

    fn from_str(text: &str) -> Result<Self, PlacesError> {
        let letter = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
        let valid = (1..=32).contains(&text.len())
            && text.bytes().all(|byte| letter(byte) || byte == b'-')
            && !text.starts_with('-');
        if valid {
            Ok(Self(text.into()))
        } else {
            Err(PlacesError::AgentName(text.chars().take(80).collect()))
        }
    }
}

/// Whether the places are the system's or a user's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// `/etc`, `/var/lib`, `/run`.
    System,
    /// The XDG base directories.
    User,
}

/// What the command line says about places.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PlacesRequest {
    /// `--agent`
    pub agent: AgentName,
    /// `--system` or `--user`; without either, `$STATE_DIRECTORY` and `$RUNTIME_DIRECTORY` decide.
    pub mode: Option<Mode>,
    /// `--config`
    pub config: Option<PathBuf>,
    /// `--state-dir`
    pub state: Option<PathBuf>,
    /// `--runtime-dir`
    pub runtime: Option<PathBuf>,
}

/// The environment the places are looked up in.
pub type Variables = BTreeMap<OsString, OsString>;

/// The longest path of a socket: `sun_path` (unix(7)) without its final NUL.
pub const SOCKET_PATH_MAX: usize = 107;

/// Where the files and sockets of one harness are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Places {
    /// The agent.
    pub agent: AgentName,
    /// The system's or a user's.
    pub mode: Mode,
    /// `AGENT.toml`; drop-ins are in the directory of the same name with `.d` behind it.
    pub config: PathBuf,
    /// The file was named on the command line, so it must exist.
    pub config_required: bool,
    /// The state directory: kept over restarts and reboots.
    pub state: PathBuf,
    /// The runtime directory: gone after a reboot.
    pub runtime: PathBuf,
    /// The runtime directory's parent in `/tmp`, where there is no `$XDG_RUNTIME_DIR`.
    fallback: Option<PathBuf>,
}

impl Places {
    /// Looks the places up. Makes nothing.
    ///
    /// `uid` names the fallback for a missing `$XDG_RUNTIME_DIR`, `/tmp/harnessd-UID`.
    pub fn resolve(
        request: PlacesRequest,
        variables: &Variables,
        uid: u32,
    ) -> Result<Self, PlacesError> {
        let lookup = Lookup { variables, uid };
        let mode = request.mode.unwrap_or_else(|| lookup.mode());
        let agent = request.agent;
        let file = format!("{agent}.toml");
        let config_required = request.config.is_some();
        let config = match request.config {
            Some(path) => absolute(path)?,
            None if mode == Mode::System => Path::new("/etc/harnessd").join(file),
            None => lookup
                .xdg("XDG_CONFIG_HOME", ".config")?
                .join("harnessd")
                .join(file),
        };
        let state = match request
            .state
            .or_else(|| lookup.directory("STATE_DIRECTORY"))
        {
            Some(path) => absolute(path)?,
            None if mode == Mode::System => Path::new("/var/lib/harnessd").join(agent.as_str()),
            None => lookup
                .xdg("XDG_STATE_HOME", ".local/state")?
                .join("harnessd")
                .join(agent.as_str()),
        };
        let mut fallback = None;
        let runtime = match request
            .runtime
            .or_else(|| lookup.directory("RUNTIME_DIRECTORY"))
        {
            Some(path) => absolute(path)?,
            None if mode == Mode::System => Path::new("/run/harnessd").join(agent.as_str()),
            None => {
                let parent = lookup.path("XDG_RUNTIME_DIR").map_or_else(
                    || {
                        let parent = PathBuf::from(format!("/tmp/harnessd-{uid}"));
                        fallback.insert(parent).clone()
                    },
                    |directory| directory.join("harnessd"),
                );
                parent.join(agent.as_str())
            }
        };
        let places = Self {
            agent,
            mode,
            config,
            config_required,
            state,
            runtime,
            fallback,
        };
        places.check_socket_paths()?;
        Ok(places)
    }

    /// Makes the directories that are missing: mode 0700 in user mode; in system mode 0750 for
    /// state and 0755 for runtime, as systemd makes them.
    pub fn create(&self) -> Result<(), PlacesError> {
        let (state, runtime) = match self.mode {
            Mode::System => (0o750, 0o755),
            Mode::User => (0o700, 0o700),
        };
        if let Some(parent) = &self.fallback {
            make(parent, 0o700)?;
            check_owner(parent)?;
        }
        make(&self.state, state)?;
        make(&self.bash_tasks(), state)?;
        make(&self.tool_output(), state)?;
        make(&self.mcp_servers(), state)?;
        make(&self.runtime, runtime)
    }

    /// The record: `state.db`.
    #[must_use]
    pub fn database(&self) -> PathBuf {
        self.state.join("state.db")
    }

    /// Output files of tasks: `bash-tasks/`.
    #[must_use]
    pub fn bash_tasks(&self) -> PathBuf {
        self.state.join("bash-tasks")
    }

    /// Standard error of MCP servers: `mcp-servers/`.
    #[must_use]
    pub fn mcp_servers(&self) -> PathBuf {
        self.state.join("mcp-servers")
    }

    /// Results that were too long to show: `tool-output/`.
    #[must_use]
    pub fn tool_output(&self) -> PathBuf {
        self.state.join("tool-output")
    }

    /// All events, where `trace = true`: `trace.ndjson`.
    #[must_use]
    pub fn trace(&self) -> PathBuf {
        self.state.join("trace.ndjson")
    }

    /// Held by the one daemon of this state directory: `state.lock`.
    #[must_use]
    pub fn state_lock(&self) -> PathBuf {
        self.state.join("state.lock")
    }

    /// The agent's side: `mcp.sock`.
    #[must_use]
    pub fn mcp_socket(&self) -> PathBuf {
        self.runtime.join("mcp.sock")
    }

    /// The side of the command `tools`: `tools.sock`.
    #[must_use]
    pub fn tools_socket(&self) -> PathBuf {
        self.runtime.join("tools.sock")
    }

    /// The person's side: `control.sock`.
    #[must_use]
    pub fn control_socket(&self) -> PathBuf {
        self.runtime.join("control.sock")
    }

    /// Between daemon and keeper: `keeper.sock`.
    #[must_use]
    pub fn keeper_socket(&self) -> PathBuf {
        self.runtime.join("keeper.sock")
    }

    fn check_socket_paths(&self) -> Result<(), PlacesError> {
        let longest = self.control_socket();
        let length = longest.as_os_str().len();
        if length > SOCKET_PATH_MAX {
            return Err(PlacesError::SocketPathTooLong {
                path: longest,
                length,
            });
        }
        Ok(())
    }
}

struct Lookup<'a> {
    variables: &'a Variables,
    uid: u32,
}

impl Lookup<'_> {
    fn value(&self, name: &str) -> Option<&OsStr> {
        let value = self.variables.get(OsStr::new(name))?;
        Some(value.as_os_str()).filter(|value| !value.is_empty())
    }

    /// The XDG specification has relative paths ignored.
    fn path(&self, name: &str) -> Option<PathBuf> {
        self.value(name)
            .map(PathBuf::from)
            .filter(|path| path.is_absolute())
    }

    /// systemd.exec(5): several directories are separated by colons; the first one is ours.
    fn directory(&self, name: &str) -> Option<PathBuf> {
        let first = self
            .value(name)?
            .as_bytes()
            .split(|byte| *byte == b':')
            .next()?;
        Some(PathBuf::from(OsStr::from_bytes(first))).filter(|path| path.is_absolute())
    }

    fn mode(&self) -> Mode {
        let given = |name| self.directory(name).is_some();
        if given("STATE_DIRECTORY") || given("RUNTIME_DIRECTORY") {
            Mode::System
        } else {
            Mode::User
        }
    }

    fn xdg(&self, name: &'static str, below_home: &str) -> Result<PathBuf, PlacesError> {
        self.path(name)
            .or_else(|| self.path("HOME").map(|home| home.join(below_home)))
            .ok_or(PlacesError::NoHome {
                variable: name,
                uid: self.uid,
            })
    }
}

fn absolute(path: PathBuf) -> Result<PathBuf, PlacesError> {
    std::path::absolute(&path).map_err(|source| PlacesError::Directory { path, source })
}

/// Makes a directory and its parents. What is there already is left as it is.
fn make(path: &Path, mode: u32) -> Result<(), PlacesError> {
    let failed = |source| PlacesError::Directory {
        path: path.to_owned(),
        source,
    };
    let parents = path.parent().filter(|parent| !parent.exists());
    if let Some(parent) = parents {
        fs::DirBuilder::new()
            .recursive(true)
            .mode(0o755)
            .create(parent)
            .map_err(failed)?;
    }
    match fs::DirBuilder::new().mode(mode).create(path) {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists && path.is_dir() => Ok(()),
        Err(error) => Err(failed(error)),
    }
}

/// `/tmp` belongs to everybody: what stands there must be ours, and no link.
fn check_owner(path: &Path) -> Result<(), PlacesError> {
    let metadata = fs::symlink_metadata(path).map_err(|source| PlacesError::Directory {
        path: path.to_owned(),
        source,
    })?;
    let ours = metadata.uid() == rustix::process::geteuid().as_raw();
    let private = metadata.mode().trailing_zeros() >= 6;
    if metadata.is_dir() && ours && private {
        Ok(())
    } else {
        Err(PlacesError::NotPrivate {
            path: path.to_owned(),
        })
    }
}
