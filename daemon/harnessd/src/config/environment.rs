//! The environment of children: a pure function of the daemon's, the configuration and the call.

use std::{collections::BTreeMap, ffi::OsString};

use globset::{GlobBuilder, GlobMatcher};
use nix::unistd::{Uid, User};

use super::schema::{Environment, Inherit};

/// Variables by name.
pub type VariableMap = BTreeMap<String, String>;

/// Never passed on: they make programs run other code than they are.
const CODE_LOADING: [&str; 8] = [
    "LD_PRELOAD",
    "LD_LIBRARY_PATH",
    "LD_AUDIT",
    "DYLD_INSERT_LIBRARIES",
    "NODE_OPTIONS",
    "BASH_ENV",
    "ENV",
    "PYTHONSTARTUP",
];

/// Never passed on: what the service manager gives to the daemon alone (systemd.exec(5)).
const SERVICE_MANAGER: [&str; 17] = [
    "NOTIFY_SOCKET",
    "CREDENTIALS_DIRECTORY",
    "INVOCATION_ID",
    "JOURNAL_STREAM",
    "SYSTEMD_EXEC_PID",
    "MAINPID",
    "MANAGERPID",
    "MEMORY_PRESSURE_WATCH",
    "MEMORY_PRESSURE_WRITE",
    "FDSTORE",
    "REMOTE_ADDR",
    "REMOTE_PORT",
    "STATE_DIRECTORY",
    "RUNTIME_DIRECTORY",
    "CACHE_DIRECTORY",
    "LOGS_DIRECTORY",
    "CONFIGURATION_DIRECTORY",
];

/// Never passed on: families of the same.
const SERVICE_MANAGER_PREFIXES: [&str; 2] = ["LISTEN_", "WATCHDOG_"];

/// Never inherited: they name the run that this daemon itself was started in.
const OUTER_RUN: [&str; 2] = ["HARNESS_TOOLS_SOCKET", "HARNESS_RUN_TOKEN"];

/// What `inherit = "core"` keeps, beside `LC_*`.
const CORE: [&str; 10] = [
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "SHELL",
    "LANG",
    "TERM",
    "TZ",
    "TMPDIR",
    "XDG_RUNTIME_DIR",
];

/// Nobody sits in front of a task: no pager, no editor, no question may wait for a key.
const UNATTENDED: [(&str, &str); 10] = [
    ("DEBIAN_FRONTEND", "noninteractive"),
    ("EDITOR", "false"),
    ("GIT_EDITOR", "false"),
    ("GIT_PAGER", "cat"),
    ("GIT_TERMINAL_PROMPT", "0"),
    ("MANPAGER", "cat"),
    ("PAGER", "cat"),
    ("SSH_ASKPASS_REQUIRE", "never"),
    ("SYSTEMD_PAGER", "cat"),
    ("VISUAL", "false"),
];

/// Where programs are looked up when nothing says.
pub const DEFAULT_PATH: &str =
    "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin:/run/current-system/sw/bin";

/// Whether a variable of this name is never passed on, whoever sets it.
#[must_use]
pub fn is_withheld(name: &str) -> bool {
    CODE_LOADING.contains(&name)
        || SERVICE_MANAGER.contains(&name)
        || SERVICE_MANAGER_PREFIXES
            .iter()
            .any(|prefix| name.starts_with(prefix))
}

/// Whether a name and a value can stand in an environment at all.
#[must_use]
pub fn is_valid(name: &str, value: &str) -> bool {
    !name.is_empty() && !name.contains(['=', '\0']) && !value.contains('\0')
}

/// The user that children run as, where it is another one than the daemon's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChildUser {
    /// `USER` and `LOGNAME`.
    pub name: String,
    /// `HOME`.
    pub home: String,
    /// `SHELL`.
    pub shell: String,
}

impl ChildUser {
    /// The user of a uid, if this machine knows one.
    #[must_use]
    pub fn of_uid(uid: u32) -> Option<Self> {
        let user = User::from_uid(Uid::from_raw(uid)).ok()??;
        Some(Self {
            name: user.name,
            home: user.dir.into_os_string().into_string().ok()?,
            shell: user.shell.into_os_string().into_string().ok()?,
        })
    }
}

/// Makes environments; cheap to call, made anew when the configuration changes.
#[derive(Debug, Clone)]
pub struct ChildEnvironment {
    base: VariableMap,
}

impl ChildEnvironment {
    /// From the daemon's own variables and the configuration. A glob that cannot be read excludes
    /// everything; [`super::Config::load`] does not let one through.
    #[must_use]
    pub fn new(daemon: &VariableMap, config: &Environment, user: Option<&ChildUser>) -> Self {
        let excluded: Option<Vec<GlobMatcher>> = config
            .exclude
            .iter()
            .map(|glob| matcher(glob).ok())
            .collect();
        let kept = |name: &str| {
            let inherited = match config.inherit {
                Inherit::All => true,
                Inherit::Core => CORE.contains(&name) || name.starts_with("LC_"),
                Inherit::None => false,
            };
            inherited
                && !OUTER_RUN.contains(&name)
                && excluded
                    .as_ref()
                    .is_some_and(|globs| !globs.iter().any(|glob| glob.is_match(name)))
        };
        let mut base: VariableMap = daemon
            .iter()
            .filter(|(name, _)| kept(name))
            .map(|(name, value)| (name.clone(), value.clone()))
            .collect();
        if let Some(user) = user.filter(|_| config.inherit != Inherit::None) {
            for (name, value) in [
                ("HOME", &user.home),
                ("USER", &user.name),
                ("LOGNAME", &user.name),
                ("SHELL", &user.shell),
            ] {
                base.insert(name.to_owned(), value.clone());
            }
            // It names the daemon's user's.
            base.remove("XDG_RUNTIME_DIR");
        }
        for (name, value) in UNATTENDED {
            base.insert(name.to_owned(), value.to_owned());
        }
        base.entry("TERM".to_owned())
            .or_insert_with(|| "dumb".to_owned());
        base.extend(config.set.clone());
        base.entry("PATH".to_owned())
            .or_insert_with(|| DEFAULT_PATH.to_owned());
        base.retain(|name, _| !is_withheld(name));
        Self { base }
    }

    /// The same with a directory before all others of `PATH`.
    #[must_use]
    pub fn first_in_path(mut self, directory: Option<&str>) -> Self {
        if let Some(directory) = directory {
            let path = format!("{directory}:{}", self.path());
            self.base.insert("PATH".to_owned(), path);
        }
        self
    }

    /// The environment of one child: the call's variables over the others, in the order of names.
    #[must_use]
    pub fn with(&self, call: &VariableMap) -> Vec<(String, String)> {
        let mut all = self.base.clone();
        let allowed =
            |(name, value): &(&String, &String)| is_valid(name, value) && !is_withheld(name);
        for (name, value) in call.iter().filter(allowed) {
            all.insert(name.clone(), value.clone());
        }
        all.into_iter().collect()
    }

    /// A command of the configuration as it is run: `~` before its program is the home directory.
    #[must_use]
    pub fn command(&self, words: &[String]) -> Vec<String> {
        let mut words = words.to_vec();
        if let (Some(program), Some(home)) = (words.first_mut(), self.get("HOME"))
            && let Some(below) = program.strip_prefix("~/")
        {
            *program = format!("{}/{below}", home.trim_end_matches('/'));
        }
        words
    }

    /// A variable that every child gets.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&str> {
        self.base.get(name).map(String::as_str)
    }

    /// The `PATH` that programs are looked up in.
    #[must_use]
    pub fn path(&self) -> &str {
        self.base.get("PATH").map_or(DEFAULT_PATH, String::as_str)
    }
}

/// The daemon's own variables that `exclude` withholds from children, whatever `inherit` says.
pub(crate) fn excluded<'a>(
    daemon: &'a VariableMap,
    config: &Environment,
) -> impl Iterator<Item = (&'a str, &'a str)> + use<'a> {
    let globs: Vec<GlobMatcher> = config
        .exclude
        .iter()
        .filter_map(|glob| matcher(glob).ok())
        .collect();
    daemon
        .iter()
        .filter(move |(name, _)| globs.iter().any(|glob| glob.is_match(name)))
        .map(|(name, value)| (name.as_str(), value.as_str()))
}

/// A glob over variable names; upper and lower case are the same, `/` is a letter like any other.
pub(crate) fn matcher(glob: &str) -> Result<GlobMatcher, globset::Error> {
    let glob = GlobBuilder::new(glob).case_insensitive(true).build()?;
    Ok(glob.compile_matcher())
}

/// The daemon's own variables as text, and the names of those that are not UTF-8 (lossily).
#[must_use]
pub fn of_process(
    variables: impl IntoIterator<Item = (OsString, OsString)>,
) -> (VariableMap, Vec<String>) {
    let mut text = VariableMap::new();
    let mut skipped = Vec::new();
    for (name, value) in variables {
        match (name.into_string(), value.into_string()) {
            (Ok(name), Ok(value)) => _ = text.insert(name, value),
            (Ok(name), Err(_)) => skipped.push(name),
            (Err(name), _) => skipped.push(name.to_string_lossy().into_owned()),
        }
    }
    (text, skipped)
}
