//! What a run gets in its environment, and nobody else.

use std::{
    fs,
    io::{self, Read as _, Write as _},
    os::unix::fs::{OpenOptionsExt as _, symlink},
    path::{Path, PathBuf},
};

use harness_model::{InvocationId, UnitId, UnitKind};
use harness_supervise::{RunEnvironment, UnitSpec};
use harness_tools::{SOCKET_VARIABLE, TOKEN_VARIABLE};
use sha2::{Digest as _, Sha256};

use crate::{
    approvals::hex,
    config::{DEFAULT_PATH, Places},
};

/// The bytes of the key that tokens are made with.
const KEY: usize = 32;

/// The key or the command's directory cannot be made.
#[derive(Debug, thiserror::Error)]
#[error("cannot {what} {path}: {source}", path = path.display())]
pub struct AccessError {
    what: &'static str,
    path: PathBuf,
    source: io::Error,
}

/// Makes and knows the tokens of runs.
pub(crate) struct RunAccess {
    key: [u8; KEY],
    socket: String,
    /// Holds the command `tools` and nothing else; first in `PATH`.
    directory: Option<String>,
}

impl RunAccess {
    /// Reads the key, which is made at the first start and kept: a run outlives the daemon.
    pub(crate) fn open(places: &Places) -> Result<Self, AccessError> {
        let path = places.state.join("run-token.key");
        let key = match fs::read(&path) {
            Ok(bytes) => <[u8; KEY]>::try_from(bytes.as_slice()).ok(),
            Err(_) => None,
        };
        let key = match key {
            Some(key) => key,
            None => make_key(&path).map_err(|source| AccessError {
                what: "write",
                path: path.clone(),
                source,
            })?,
        };
        Ok(Self {
            key,
            socket: places.tools_socket().display().to_string(),
            directory: command(&places.runtime.join("bin"))?,
        })
    }

    pub(crate) fn directory(&self) -> Option<&str> {
        self.directory.as_deref()
    }

    /// The token of a run: who has not the key cannot make it.
    fn token(&self, unit: &UnitId, invocation: &InvocationId) -> String {
        let inner = Sha256::new()
            .chain_update(self.key)
            .chain_update(unit.as_str())
            .chain_update([0])
            .chain_update(invocation.as_str())
            .finalize();
        let outer = Sha256::new()
            .chain_update(self.key)
            .chain_update(inner)
            .finalize();
        hex(&outer)
    }

    pub(crate) fn is_token_of(
        &self,
        unit: &UnitId,
        invocation: &InvocationId,
        token: &str,
    ) -> bool {
        let right = self.token(unit, invocation);
        // As long for a wrong one, wherever it differs.
        right.len() == token.len()
            && right
                .bytes()
                .zip(token.bytes())
                .fold(0, |sum, (a, b)| sum | (a ^ b))
                == 0
    }
}

impl RunEnvironment for RunAccess {
    fn variables(
        &self,
        unit: &UnitId,
        invocation: &InvocationId,
        spec: &UnitSpec,
    ) -> Vec<(String, String)> {
        if !matches!(spec.kind, UnitKind::Task | UnitKind::Shell) {
            return Vec::new();
        }
        let mut variables = vec![
            (SOCKET_VARIABLE.to_owned(), self.socket.clone()),
            (TOKEN_VARIABLE.to_owned(), self.token(unit, invocation)),
        ];
        if let Some(directory) = &self.directory {
            let path = spec.environment.iter().find(|(name, _)| name == "PATH");
            let path = path.map_or(DEFAULT_PATH, |(_, path)| path.as_str());
            // A call that sets a `PATH` of its own has not lost the command.
            if !path.split(':').any(|known| known == directory) {
                variables.push(("PATH".to_owned(), format!("{directory}:{path}")));
            }
        }
        variables
    }
}

fn make_key(path: &Path) -> io::Result<[u8; KEY]> {
    let mut key = [0; KEY];
    fs::File::open("/dev/urandom")?.read_exact(&mut key)?;
    // Whole or not at all: half a key would be another one at the next start.
    let new = path.with_extension("new");
    match fs::remove_file(&new) {
        Ok(()) => {}
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(error),
    }
    let mut file = fs::OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(&new)?;
    file.write_all(&key)?;
    file.sync_all()?;
    fs::rename(&new, path)?;
    Ok(key)
}

/// A directory with the command alone: the one that the daemon's own program stands in may hold much else. None where
/// the command is not installed beside the daemon; `PATH` may have it then.
fn command(directory: &Path) -> Result<Option<String>, AccessError> {
    let beside = std::env::current_exe()
        .ok()
        .map(|program| program.with_file_name("tools"));
    let Some(program) = beside.filter(|program| program.exists()) else {
        tracing::warn!(
            "the command tools is not installed beside harnessd: scripts have it only where PATH has it"
        );
        return Ok(None);
    };
    let failed = |what, path: &Path| {
        let path = path.to_owned();
        move |source| AccessError { what, path, source }
    };
    fs::create_dir_all(directory).map_err(failed("make", directory))?;
    let link = directory.join("tools");
    if fs::read_link(&link).is_ok_and(|target| target == program) {
        return Ok(Some(directory.display().to_string()));
    }
    let new = directory.join("tools.new");
    if let Err(error) = fs::remove_file(&new)
        && error.kind() != io::ErrorKind::NotFound
    {
        return Err(failed("remove", &new)(error));
    }
    symlink(&program, &new).map_err(failed("make", &new))?;
    fs::rename(&new, &link).map_err(failed("make", &link))?;
    Ok(Some(directory.display().to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn access(directory: &Path) -> RunAccess {
        let path = directory.join("run-token.key");
        let key = fs::read(&path).ok().map_or_else(
            || make_key(&path).unwrap(),
            |bytes| bytes.try_into().unwrap(),
        );
        RunAccess {
            key,
            socket: "/run/x/tools.sock".into(),
            directory: None,
        }
    }

    #[test]
    fn a_token_is_that_of_one_run_and_of_one_harness() {
        let (one, two) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let access_of_one = access(one.path());
        let (unit, run) = (UnitId::generate(), InvocationId::generate());
        let token = access_of_one.token(&unit, &run);
        assert_eq!(token.len(), 64);
        assert!(
            access(one.path()).is_token_of(&unit, &run, &token),
            "the key is kept"
        );
        assert!(!access(two.path()).is_token_of(&unit, &run, &token));
        assert!(!access_of_one.is_token_of(&unit, &InvocationId::generate(), &token));
        assert!(!access_of_one.is_token_of(&UnitId::generate(), &run, &token));
        for wrong in ["", "x", &token[1..], &token.replace(&token[..1], "g")] {
            assert!(!access_of_one.is_token_of(&unit, &run, wrong), "{wrong}");
        }
    }
}
