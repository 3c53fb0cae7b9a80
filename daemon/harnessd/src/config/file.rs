//! Finds and reads the files of a configuration.

use std::{
    fs::{self, File},
    io::{self, Read as _},
    path::{Path, PathBuf},
    sync::Arc,
};

use super::diagnostic::{Diagnostic, Diagnostics, Source, Span};

/// A configuration is written by hand; anything larger is a mistake (a log, a disk image).
const FILE_MAX: u64 = 1 << 20;

/// The main file, if there is one, and the drop-ins of `FILE.d/` in the order of their names.
///
/// A file that was asked for by name must exist. A drop-in that links to `/dev/null` counts as
/// empty, like systemd's.
pub(super) fn read_all(main: &Path, required: bool) -> Result<Vec<Arc<Source>>, Diagnostics> {
    let mut problems = Diagnostics::new();
    let mut sources = Vec::new();
    match read_text(main) {
        Ok(text) => sources.push(Arc::new(Source {
            path: main.to_owned(),
            text,
        })),
        Err(Unreadable::Io(error)) if error.kind() == io::ErrorKind::NotFound && !required => {}
        Err(error) => problems.push(error.into_diagnostic(main)),
    }
    match drop_ins(main) {
        Ok(paths) => {
            for path in paths {
                match read_text(&path) {
                    Ok(text) => sources.push(Arc::new(Source { path, text })),
                    Err(error) => problems.push(error.into_diagnostic(&path)),
                }
            }
        }
        Err((directory, error)) => {
            problems.push(Unreadable::Io(error).into_diagnostic(&directory));
        }
    }
    if problems.is_empty() {
        Ok(sources)
    } else {
        Err(problems)
    }
}

/// `AGENT.toml.d/*.toml`; hidden files are passed over.
fn drop_ins(main: &Path) -> Result<Vec<PathBuf>, (PathBuf, io::Error)> {
    let mut directory = main.as_os_str().to_owned();
    directory.push(".d");
    let directory = PathBuf::from(directory);
    let at = |error| (directory.clone(), error);
    let entries = match fs::read_dir(&directory) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        // A FILE of `/dev/fd/63` has no directory beside it.
        Err(error) if error.kind() == io::ErrorKind::NotADirectory => return Ok(Vec::new()),
        Err(error) => return Err(at(error)),
    };
    let mut paths = Vec::new();
    for entry in entries {
        let path = entry.map_err(at)?.path();
        let hidden = path
            .file_name()
            .is_some_and(|name| name.as_encoded_bytes().starts_with(b"."));
        if !hidden
            && path
                .extension()
                .is_some_and(|extension| extension == "toml")
        {
            paths.push(path);
        }
    }
    paths.sort();
    Ok(paths)
}

enum Unreadable {
    Io(io::Error),
    Directory,
    TooLarge,
    /// The text up to the first wrong byte.
    NotUtf8(String),
}

impl Unreadable {
    fn into_diagnostic(self, path: &Path) -> Diagnostic {
        let name = path.display();
        match self {
            Self::Io(error) => Diagnostic::error(format!("cannot read {name}: {error}"), None),
            Self::Directory => Diagnostic::error(
                format!("cannot read {name}: it is not a file; drop-ins go to FILE.d/*.toml"),
                None,
            ),
            Self::TooLarge => Diagnostic::error(
                format!("{name} is larger than {FILE_MAX} bytes: that is no configuration"),
                None,
            ),
            Self::NotUtf8(text) => {
                let range = text.len()..text.len();
                let source = Arc::new(Source {
                    path: path.to_owned(),
                    text,
                });
                let message = "the file is not UTF-8 from here on: TOML must be";
                Diagnostic::error(message, Some(Span { source, range }))
            }
        }
    }
}

fn read_text(path: &Path) -> Result<String, Unreadable> {
    let file = File::open(path).map_err(Unreadable::Io)?;
    if file.metadata().map_err(Unreadable::Io)?.is_dir() {
        return Err(Unreadable::Directory);
    }
    let mut bytes = Vec::new();
    let mut limited = file.take(FILE_MAX + 1);
    limited.read_to_end(&mut bytes).map_err(Unreadable::Io)?;
    if bytes.len() as u64 > FILE_MAX {
        return Err(Unreadable::TooLarge);
    }
    String::from_utf8(bytes).map_err(|error| {
        let valid = error.utf8_error().valid_up_to();
        Unreadable::NotUtf8(String::from_utf8_lossy(&error.as_bytes()[..valid]).into_owned())
    })
}
