//! `list`

use std::ops::ControlFlow;

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};
use harness_plugin_sdk::{Call, Json, Result};
use rustix::fs::{FileType, readlinkat};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    error::Error,
    walk::{Found, Scope, walk},
    workspace::{Workspace, shown},
};

/// What to list.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct List {
    /// The directory; the workspace itself if it is not said.
    pub path: Option<String>,
    /// Only files whose path below the directory matches, as in **/*.rs. It looks into every directory below.
    pub glob: Option<String>,
    /// How many directories deep: 1 is the directory alone, and what is taken without a glob.
    #[schemars(range(min = 1, max = 64))]
    pub depth: Option<usize>,
    /// Names that begin with a dot, too.
    pub hidden: bool,
    /// What .gitignore files name, too.
    pub ignored: bool,
    /// How many at most; 1000 if it is not said.
    #[schemars(range(min = 1, max = 10000))]
    pub limit: Option<usize>,
}

/// One of them.
#[derive(Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Entry {
    /// Its path in the workspace.
    pub path: String,
    /// What it is.
    pub kind: Kind,
    /// The size of a file in bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size: Option<u64>,
    /// Where a link leads.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target: Option<String>,
}

/// What something is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// A regular file.
    File,
    /// A directory.
    Directory,
    /// A symbolic link, which is not followed.
    Link,
    /// A FIFO, socket or device.
    Other,
}

/// All of them.
#[derive(Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Listing {
    /// In the order of their paths.
    pub entries: Vec<Entry>,
    /// There are more.
    pub truncated: bool,
}

/// Lists what is in a directory.
///
/// # Errors
/// The directory is outside or not there, or the glob is none.
pub fn list(input: List, call: &Call<Workspace>) -> Result<(String, Json<Listing>)> {
    let workspace = call.state();
    let path = workspace.below(input.path.as_deref().unwrap_or("."))?;
    let glob = input.glob.as_deref().map(|glob| globs(&[glob.to_owned()]));
    let glob = glob.transpose()?;
    let deep = if glob.is_some() { usize::MAX } else { 1 };
    let scope = Scope {
        depth: input.depth.unwrap_or(deep),
        hidden: input.hidden,
        ignored: input.ignored,
    };
    let limit = input.limit.unwrap_or(1000);
    let mut listing = Listing {
        entries: Vec::new(),
        truncated: false,
    };
    walk(workspace, &path, scope, &mut |found| {
        if call.is_cancelled() {
            return ControlFlow::Break(());
        }
        if let Some(glob) = &glob
            && (found.kind() == FileType::Directory || !glob.is_match(below(found.path, &path)))
        {
            return ControlFlow::Continue(());
        }
        if listing.entries.len() >= limit {
            listing.truncated = true;
            return ControlFlow::Break(());
        }
        listing.entries.push(entry(found));
        ControlFlow::Continue(())
    })?;
    Ok((text(&listing), Json(listing)))
}

/// The path as seen from the directory that was walked.
pub(crate) fn below<'a>(path: &'a str, directory: &str) -> &'a str {
    let directory = directory.trim_end_matches('/').trim_start_matches("./");
    path.strip_prefix(directory)
        .map_or(path, |rest| rest.trim_start_matches('/'))
}

/// Globs where `*` stays within a name; one without a slash is for names anywhere.
pub(crate) fn globs(patterns: &[String]) -> Result<GlobSet, Error> {
    let failed = |error: globset::Error| Error::Pattern {
        what: "glob",
        source: Box::new(error),
    };
    let mut set = GlobSetBuilder::new();
    for pattern in patterns {
        let anywhere = if pattern.contains('/') {
            pattern.clone()
        } else {
            format!("**/{pattern}")
        };
        let glob = GlobBuilder::new(&anywhere).literal_separator(true).build();
        set.add(glob.map_err(failed)?);
    }
    set.build().map_err(failed)
}

fn entry(found: &Found<'_>) -> Entry {
    let kind = match found.kind() {
        FileType::RegularFile => Kind::File,
        FileType::Directory => Kind::Directory,
        FileType::Symlink => Kind::Link,
        FileType::Fifo
        | FileType::Socket
        | FileType::CharacterDevice
        | FileType::BlockDevice
        | FileType::Unknown => Kind::Other,
    };
    let target = (kind == Kind::Link)
        .then(|| readlinkat(found.directory, found.name, Vec::new()).ok())
        .flatten();
    Entry {
        path: found.path.to_owned(),
        kind,
        size: (kind == Kind::File).then(|| found.status.st_size.cast_unsigned()),
        target: target.map(|target| target.to_string_lossy().into_owned()),
    }
}

fn text(listing: &Listing) -> String {
    let mut lines: Vec<String> = listing.entries.iter().map(line).collect();
    if listing.truncated {
        lines.push("[there are more: narrow it down, or raise the limit]".to_owned());
    }
    if lines.is_empty() {
        return "[nothing]".to_owned();
    }
    lines.join("\n")
}

fn line(entry: &Entry) -> String {
    let path = shown(&entry.path);
    match (&entry.kind, &entry.target) {
        (Kind::Directory, _) => format!("{path}/"),
        (Kind::Link, Some(target)) => format!("{path} -> {}", shown(target)),
        (Kind::File | Kind::Link | Kind::Other, _) => path,
    }
}
