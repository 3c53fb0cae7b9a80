//! `search`

use std::{
    fs::File,
    io::{BufRead, BufReader, Read as _},
    ops::ControlFlow,
};

use globset::GlobSet;
use harness_plugin_sdk::{Call, Json, Result};
use regex::bytes::{Regex, RegexBuilder};
use rustix::fs::{FileType, Mode, OFlags, openat};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    error::Error,
    list::{below, globs},
    read::is_binary,
    walk::{Found, Scope, walk},
    workspace::{Workspace, shown},
};

/// The most of a line that is shown, in bytes.
const LINE_MAX: usize = 500;

/// A line that is longer than this is searched in its beginning alone, in bytes.
const SEARCHED_MAX: u64 = 1024 * 1024;

/// The largest compiled expression, in bytes.
const REGEX_MAX: usize = 4 * 1024 * 1024;

/// What to search for.
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a switch of the tool"
)]
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Search {
    /// A regular expression in the syntax of Rust's regex crate: no look-around, no back-references.
    #[schemars(required)]
    pub pattern: String,
    /// The directory or file; the workspace itself if it is not said.
    pub path: Option<String>,
    /// Only in files that match one of these, as in *.rs or src/**/*.c.
    pub globs: Vec<String>,
    /// Upper and lower case are the same.
    pub ignore_case: bool,
    /// Only the names of the files that have a match.
    pub files_only: bool,
    /// In files whose names begin with a dot, too.
    pub hidden: bool,
    /// In files that .gitignore files name, too.
    pub ignored: bool,
    /// How many matches at most; 200 if it is not said.
    #[schemars(range(min = 1, max = 5000))]
    pub limit: Option<usize>,
}

/// A line that matches.
#[derive(Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Match {
    /// The file.
    pub path: String,
    /// The number of the line, counted from 1.
    pub line: u64,
    /// The line without its end; cut when it is long.
    pub text: String,
}

/// What was found.
#[expect(clippy::struct_field_names, reason = "it is what the field holds")]
#[derive(Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Matches {
    /// In the order of paths and lines.
    pub matches: Vec<Match>,
    /// There are more.
    pub truncated: bool,
    /// Text files that were looked into.
    pub files_searched: u64,
}

/// Searches files.
///
/// # Errors
/// The directory is outside or not there, or the expression or a glob is none.
pub fn search(input: Search, call: &Call<Workspace>) -> Result<(String, Json<Matches>)> {
    let workspace = call.state();
    let path = workspace.below(input.path.as_deref().unwrap_or("."))?;
    let regex = RegexBuilder::new(&input.pattern)
        .case_insensitive(input.ignore_case)
        .size_limit(REGEX_MAX)
        .build()
        .map_err(|error| Error::Pattern {
            what: "pattern",
            source: Box::new(error),
        })?;
    let globs = (!input.globs.is_empty()).then(|| globs(&input.globs));
    let mut searcher = Searcher {
        regex,
        globs: globs.transpose()?,
        files_only: input.files_only,
        limit: input.limit.unwrap_or(200),
        matches: Matches::default(),
        call,
    };
    let scope = Scope {
        depth: usize::MAX,
        hidden: input.hidden,
        ignored: input.ignored,
    };
    match walk(workspace, &path, scope, &mut |found| {
        searcher.visit(&path, found)
    }) {
        Err(Error::System { source, .. }) if source.kind() == std::io::ErrorKind::NotADirectory => {
            // The search ends at the limit as any other does.
            let (ControlFlow::Continue(()) | ControlFlow::Break(())) =
                searcher.file(&path, workspace.file(&path)?);
        }
        walked => walked?,
    }
    let matches = searcher.matches;
    Ok((text(&matches, input.files_only), Json(matches)))
}

struct Searcher<'a> {
    regex: Regex,
    globs: Option<GlobSet>,
    files_only: bool,
    limit: usize,
    matches: Matches,
    call: &'a Call<'a, Workspace>,
}

impl Searcher<'_> {
    fn visit(&mut self, directory: &str, found: &Found<'_>) -> ControlFlow<()> {
        if self.call.is_cancelled() {
            return ControlFlow::Break(());
        }
        let globs = self.globs.as_ref();
        if found.kind() != FileType::RegularFile
            || globs.is_some_and(|globs| !globs.is_match(below(found.path, directory)))
        {
            return ControlFlow::Continue(());
        }
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        match openat(found.directory, found.name, flags, Mode::empty()) {
            Ok(file) => self.file(found.path, File::from(file)),
            // What may not be read has no matches to show.
            Err(_) => ControlFlow::Continue(()),
        }
    }

    fn file(&mut self, path: &str, file: File) -> ControlFlow<()> {
        let mut reader = BufReader::with_capacity(64 * 1024, file);
        match reader.fill_buf() {
            Ok(beginning) if !is_binary(beginning) => {}
            Ok(_) | Err(_) => return ControlFlow::Continue(()),
        }
        self.matches.files_searched += 1;
        if self.matches.files_searched.is_multiple_of(1000) {
            let count = self.matches.files_searched;
            #[expect(clippy::cast_precision_loss, reason = "there are not that many files")]
            self.call.progress(count as f64, None, path);
        }
        let mut bytes = Vec::new();
        for number in 1.. {
            bytes.clear();
            let read = reader
                .by_ref()
                .take(SEARCHED_MAX)
                .read_until(b'\n', &mut bytes);
            if !matches!(read, Ok(length) if length > 0) {
                break;
            }
            let ended = bytes.ends_with(b"\n");
            if !ended && reader.skip_until(b'\n').is_err() {
                break;
            }
            let line = bytes.trim_ascii_end();
            if !self.regex.is_match(line) {
                continue;
            }
            if self.matches.matches.len() >= self.limit {
                self.matches.truncated = true;
                return ControlFlow::Break(());
            }
            self.matches.matches.push(Match {
                path: path.to_owned(),
                line: number,
                text: cut(line),
            });
            if self.files_only || self.call.is_cancelled() {
                break;
            }
        }
        ControlFlow::Continue(())
    }
}

/// The beginning of a line, never with half a code point.
fn cut(line: &[u8]) -> String {
    let text = String::from_utf8_lossy(line);
    if text.len() <= LINE_MAX {
        return text.into_owned();
    }
    format!("{}…", &text[..text.floor_char_boundary(LINE_MAX)])
}

fn text(found: &Matches, files_only: bool) -> String {
    let line = |found: &Match| {
        let path = shown(&found.path);
        if files_only {
            path
        } else {
            format!("{path}:{}:{}", found.line, found.text)
        }
    };
    let mut lines: Vec<String> = found.matches.iter().map(line).collect();
    if found.truncated {
        lines.push("[there are more: narrow it down, or raise the limit]".to_owned());
    }
    if lines.is_empty() {
        return format!("[no match in {} files]", found.files_searched);
    }
    lines.join("\n")
}
