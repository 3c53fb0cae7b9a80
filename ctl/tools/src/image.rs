//! Images that a tool returned, saved under `tool-images/`.

use std::{
    ffi::OsStr,
    fs::{self, File, OpenOptions},
    io::{self, Write},
    os::unix::ffi::OsStrExt,
    path::PathBuf,
};

use harness_tools::IMAGE_DIRECTORY;

use crate::command::Failure;

/// A file that is being written.
pub(crate) struct Image {
    path: PathBuf,
    file: File,
}

impl Image {
    /// Makes a new file; its name comes from the daemon and is a name alone.
    pub(crate) fn create(name: &[u8]) -> Result<Self, Failure> {
        let path = PathBuf::from(IMAGE_DIRECTORY).join(OsStr::from_bytes(name));
        let plain = !name.is_empty() && !name.contains(&b'/') && !name.starts_with(b".");
        let made = if plain {
            fs::create_dir_all(IMAGE_DIRECTORY)
                .and_then(|()| OpenOptions::new().write(true).create_new(true).open(&path))
        } else {
            Err(io::Error::other("its name is a path"))
        };
        match made {
            Ok(file) => Ok(Self { path, file }),
            Err(error) => Err(failure(&path, error)),
        }
    }

    pub(crate) fn append(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        let written = self.file.write_all(bytes);
        written.map_err(|error| failure(&self.path, error))
    }

    /// Names the file on standard error.
    pub(crate) fn finish(self) -> Result<(), Failure> {
        let named = writeln!(io::stderr(), "image saved: {}", self.path.display());
        named.map_err(|error| failure(&self.path, error))
    }
}

fn failure(path: &std::path::Path, error: io::Error) -> Failure {
    Failure::Image(path.display().to_string(), error)
}
