//! `edit`

use std::io::Read as _;

use harness_plugin_sdk::{Call, Json, Result};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    error::Error,
    read::is_binary,
    replace::Place,
    workspace::{Workspace, shown},
};

/// The largest file that is edited, in bytes.
const SIZE_MAX: u64 = 16 * 1024 * 1024;

/// Places that are told when there are too many.
const PLACES: usize = 10;

/// What to replace by what.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Edit {
    /// The file.
    pub path: String,
    /// The text that is there, to the letter, with as many lines around it as make it the only one.
    #[schemars(length(min = 1))]
    pub old_string: String,
    /// The text that takes its place.
    pub new_string: String,
    /// Replace it wherever it is.
    #[serde(default)]
    pub replace_all: bool,
}

/// What was replaced.
#[derive(Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Edited {
    /// The file.
    pub path: String,
    /// The lines on which the replaced texts began, counted from 1, as they were before.
    pub lines: Vec<usize>,
}

/// Replaces a text in a file; its mode stays.
///
/// # Errors
/// The text is not there, or more than once; the file is no text, or was written by someone else meanwhile.
pub fn edit(input: Edit, call: &Call<Workspace>) -> Result<(String, Json<Edited>)> {
    let path = call.state().below(&input.path)?;
    let place = Place::of(call.state(), &path, false)?;
    let _changing = call.state().changing();
    let Some(before) = place.status()? else {
        return Err(Error::system(&path, rustix::io::Errno::NOENT).into());
    };
    let text = text(&path, &place)?;
    let (text, lines) = replaced(&path, &text, &input)?;
    place.replace(text.as_bytes(), Some(&before))?;
    let count = lines.len();
    let first = lines.first().copied().unwrap_or_default();
    let told = if count == 1 {
        format!("edited {} at line {first}", shown(&path))
    } else {
        format!(
            "edited {} in {count} places, the first at line {first}",
            shown(&path)
        )
    };
    Ok((told, Json(Edited { path, lines })))
}

fn text(path: &str, place: &Place<'_>) -> Result<String, Error> {
    let file = place.open()?;
    let failed = |error| Error::system(path, error);
    let size = file.metadata().map_err(failed)?.len();
    if size > SIZE_MAX {
        return Err(Error::TooLarge {
            path: path.into(),
            size,
            limit: SIZE_MAX,
        });
    }
    let mut bytes = Vec::new();
    file.take(SIZE_MAX + 1)
        .read_to_end(&mut bytes)
        .map_err(failed)?;
    let binary = || Error::Binary {
        path: path.into(),
        size,
    };
    if is_binary(&bytes) {
        return Err(binary());
    }
    String::from_utf8(bytes).map_err(|_| binary())
}

/// The text afterwards, and the lines on which something was replaced.
fn replaced(path: &str, text: &str, input: &Edit) -> Result<(String, Vec<usize>), Error> {
    let fault = |fault: String| Error::Edit {
        path: path.into(),
        fault,
    };
    let (old, new) = (input.old_string.as_str(), input.new_string.as_str());
    if old.is_empty() {
        return Err(fault(
            "old_string is empty: give the text that is there, or use write".into(),
        ));
    }
    if old == new {
        return Err(fault("old_string and new_string are the same".into()));
    }
    let mut lines = Vec::new();
    let (mut line, mut from) = (1, 0);
    for (place, _) in text.match_indices(old) {
        line += text[from..place].matches('\n').count();
        from = place;
        lines.push(line);
    }
    match lines.len() {
        0 => Err(fault(format!(
            "old_string is not in the file{}",
            hint(text, old)
        ))),
        count if count > 1 && !input.replace_all => {
            let shown: Vec<String> = lines.iter().take(PLACES).map(ToString::to_string).collect();
            let more = if count > PLACES { ", …" } else { "" };
            Err(fault(format!(
                "old_string is there {count} times (lines {}{more}): give more of the text around the one you mean, or set replace_all",
                shown.join(", "),
            )))
        }
        _ => Ok((text.replace(old, new), lines)),
    }
}

/// What may be the reason.
fn hint(text: &str, old: &str) -> &'static str {
    let squeezed = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    if text.contains("\r\n") && old.contains('\n') && !old.contains("\r\n") {
        "; its lines end with \\r\\n"
    } else if squeezed(text).contains(&squeezed(old)) {
        ", but for its white space: read the file, and give the text to the letter"
    } else {
        ": read the file, and give the text to the letter"
    }
}
