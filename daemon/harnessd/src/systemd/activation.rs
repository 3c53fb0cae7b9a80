//! Socket activation (`sd_listen_fds(3)`).

use std::os::unix::net::UnixListener;

use listenfd::ListenFd;

use super::error::ActivationError;

/// A socket of the daemon, by the name it has in `FileDescriptorName=`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SocketName {
    /// `mcp.sock`
    Mcp,
    /// `tools.sock`
    Tools,
    /// `control.sock`
    Control,
}

impl SocketName {
    /// In the order in which sockets without names are taken.
    pub const ALL: [Self; 3] = [Self::Mcp, Self::Tools, Self::Control];

    /// The name.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Mcp => "mcp",
            Self::Tools => "tools",
            Self::Control => "control",
        }
    }
}

/// The sockets that the service manager listens on for the daemon. They stay its own: nobody
/// removes their files.
#[derive(Debug, Default)]
pub struct Activated {
    /// `mcp.sock`
    pub mcp: Option<UnixListener>,
    /// `tools.sock`
    pub tools: Option<UnixListener>,
    /// `control.sock`
    pub control: Option<UnixListener>,
}

impl Activated {
    /// Takes over the sockets that were passed, in blocking mode as they are; none outside systemd.
    ///
    /// Call it once, before the first thread is started: it clears `LISTEN_*` from the environment.
    pub fn take() -> Result<Self, ActivationError> {
        // Read first: `from_env` clears them.
        let names = std::env::var("LISTEN_FDNAMES").unwrap_or_default();
        let mut passed = ListenFd::from_env();
        let names = assign(&names, passed.len())?;
        let mut activated = Self::default();
        for (index, name) in names.into_iter().enumerate() {
            let listener =
                passed
                    .take_unix_listener(index)
                    .map_err(|source| ActivationError::WrongKind {
                        name: name.as_str().to_owned(),
                        source,
                    })?;
            let place = match name {
                SocketName::Mcp => &mut activated.mcp,
                SocketName::Tools => &mut activated.tools,
                SocketName::Control => &mut activated.control,
            };
            *place = listener;
        }
        Ok(activated)
    }
}

/// Which socket is which. A name that is a unit's (`harnessd-mcp@a.socket`, systemd's default) or
/// `unknown` counts as none, and then the order decides.
pub(super) fn assign(names: &str, count: usize) -> Result<Vec<SocketName>, ActivationError> {
    let names: Vec<&str> = names.split(':').filter(|name| !name.is_empty()).collect();
    let unnamed = |name: &&str| *name == "unknown" || name.ends_with(".socket");
    if names.len() != count || names.iter().all(unnamed) {
        return match SocketName::ALL.get(..count) {
            Some(names) => Ok(names.to_vec()),
            None => Err(ActivationError::TooMany(count)),
        };
    }
    let mut assigned = Vec::new();
    for name in names {
        let known = SocketName::ALL
            .into_iter()
            .find(|known| known.as_str() == name)
            .ok_or_else(|| ActivationError::UnknownName(name.to_owned()))?;
        if assigned.contains(&known) {
            return Err(ActivationError::Twice(name.to_owned()));
        }
        assigned.push(known);
    }
    Ok(assigned)
}
