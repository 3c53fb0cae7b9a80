//! `LoadCredential=` (systemd.exec(5)): secrets that are files of this service alone.

use std::{
    fs::File,
    io::Read as _,
    path::{Path, PathBuf},
};

use super::error::CredentialError;

/// The most systemd passes per credential.
const CREDENTIAL_MAX: u64 = 1 << 20;

/// The credentials of this service.
#[derive(Debug, Clone, Default)]
pub struct Credentials {
    directory: Option<PathBuf>,
}

impl Credentials {
    /// Those of `$CREDENTIALS_DIRECTORY`, which may be none.
    #[must_use]
    pub fn from_environment() -> Self {
        Self::new(std::env::var_os("CREDENTIALS_DIRECTORY").map(PathBuf::from))
    }

    /// Those in a directory.
    #[must_use]
    pub fn new(directory: Option<PathBuf>) -> Self {
        Self {
            directory: directory.filter(|directory| directory.is_absolute()),
        }
    }

    /// The text of a credential, without the line end at its end.
    pub fn read(&self, name: &str) -> Result<String, CredentialError> {
        let plain = Path::new(name).components().count() == 1 && !name.contains('/');
        if !plain || name == ".." || name == "." {
            return Err(CredentialError::Name(name.chars().take(80).collect()));
        }
        let directory = self
            .directory
            .as_ref()
            .ok_or_else(|| CredentialError::NoDirectory(name.to_owned()))?;
        let failed = |source| CredentialError::Io {
            name: name.to_owned(),
            source,
        };
        let mut bytes = Vec::new();
        File::open(directory.join(name))
            .and_then(|file| file.take(CREDENTIAL_MAX + 1).read_to_end(&mut bytes))
            .map_err(failed)?;
        if bytes.len() as u64 > CREDENTIAL_MAX {
            return Err(CredentialError::NotText(name.to_owned()));
        }
        let mut text =
            String::from_utf8(bytes).map_err(|_| CredentialError::NotText(name.to_owned()))?;
        let length = text.trim_end_matches(['\r', '\n']).len();
        text.truncate(length);
        Ok(text)
    }

    /// Every credential that is text, with its name.
    #[must_use]
    pub fn all(&self) -> Vec<(String, String)> {
        let entries = self
            .directory
            .as_ref()
            .and_then(|path| path.read_dir().ok());
        let names = entries
            .into_iter()
            .flatten()
            .filter_map(|entry| entry.ok()?.file_name().into_string().ok());
        names
            .filter_map(|name| self.read(&name).ok().map(|text| (name, text)))
            .collect()
    }
}
