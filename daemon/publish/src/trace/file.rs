//! The trace's file and its rotation.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, Read, Seek, SeekFrom, Write},
    os::unix::fs::OpenOptionsExt,
    path::{Path, PathBuf},
};

/// Old files that are kept: `trace.ndjson.1` is the newest of them.
const KEPT: u32 = 3;

/// The trace cannot be written.
#[derive(Debug, thiserror::Error)]
#[error("{path} cannot be {step}: see that there is space and that this user may write there")]
pub struct TraceError {
    /// The file.
    pub path: PathBuf,
    /// `opened`, `written` or `rotated`.
    pub step: &'static str,
    /// What the kernel said.
    #[source]
    pub source: io::Error,
}

/// A file of whole lines that moves aside when it is full.
#[derive(Debug)]
pub struct TraceFile {
    path: PathBuf,
    max_bytes: u64,
    file: File,
    /// Its length, up to the end of the last whole line.
    length: u64,
    /// Events that it did not take since the last time that it took some.
    pub(crate) unwritten: u64,
}

impl TraceFile {
    /// Opens or makes the file, readable by its owner alone. It is moved to `PATH.1` before it would
    /// grow beyond `max_bytes`, and the three newest of these are kept. A last line that a crash
    /// left unfinished is cut off.
    pub fn open(path: &Path, max_bytes: u64) -> Result<Self, TraceError> {
        let opened = open(path).and_then(|mut file| {
            let length = whole_lines(&mut file)?;
            file.set_len(length)?;
            Ok((file, length))
        });
        let (file, length) = opened.map_err(|source| TraceError {
            path: path.to_owned(),
            step: "opened",
            source,
        })?;
        Ok(Self {
            path: path.to_owned(),
            max_bytes,
            file,
            length,
            unwritten: 0,
        })
    }

    /// Appends whole lines, or nothing.
    pub(crate) fn append(&mut self, lines: &[u8]) -> Result<(), TraceError> {
        let bytes = lines.len() as u64;
        if self.length > 0 && self.length.saturating_add(bytes) > self.max_bytes {
            self.rotate()
                .map_err(|source| self.error("rotated", source))?;
        }
        match self.file.write_all(lines) {
            Ok(()) => {
                self.length += bytes;
                Ok(())
            }
            Err(source) => {
                // A part may be in the file; the next write must not continue that line.
                if let Err(error) = self.file.set_len(self.length) {
                    tracing::warn!(%error, "the trace holds a broken line");
                }
                Err(self.error("written", source))
            }
        }
    }

    fn rotate(&mut self) -> io::Result<()> {
        for number in (1..KEPT).rev() {
            rename(&self.old(number), &self.old(number + 1))?;
        }
        rename(&self.path, &self.old(1))?;
        self.file = open(&self.path)?;
        self.length = 0;
        Ok(())
    }

    fn old(&self, number: u32) -> PathBuf {
        let mut name = self.path.clone().into_os_string();
        name.push(format!(".{number}"));
        name.into()
    }

    fn error(&self, step: &'static str, source: io::Error) -> TraceError {
        TraceError {
            path: self.path.clone(),
            step,
            source,
        }
    }
}

fn open(path: &Path) -> io::Result<File> {
    OpenOptions::new()
        .create(true)
        .read(true)
        .append(true)
        .mode(0o600)
        .open(path)
}

fn rename(from: &Path, to: &Path) -> io::Result<()> {
    match fs::rename(from, to) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        other => other,
    }
}

/// Up to and with the last line end.
fn whole_lines(file: &mut File) -> io::Result<u64> {
    const PIECE: u64 = 64 << 10;
    let mut end = file.metadata()?.len();
    let mut piece = Vec::new();
    while end > 0 {
        let start = end.saturating_sub(PIECE);
        file.seek(SeekFrom::Start(start))?;
        piece.clear();
        Read::take(&mut *file, end - start).read_to_end(&mut piece)?;
        if let Some(place) = piece.iter().rposition(|byte| *byte == b'\n') {
            return Ok(start + place as u64 + 1);
        }
        end = start;
    }
    Ok(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_write_that_the_disk_refuses_is_an_error_with_its_reason() {
        let mut file = TraceFile {
            path: "trace.ndjson".into(),
            max_bytes: 1 << 20,
            file: open(Path::new("/dev/full")).unwrap(),
            length: 0,
            unwritten: 0,
        };
        let error = file.append(b"{}\n").unwrap_err();
        assert_eq!(error.source.kind(), io::ErrorKind::StorageFull);
        assert!(error.to_string().contains("space"), "{error}");
        assert_eq!(file.length, 0);
    }
}
