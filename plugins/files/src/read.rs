//! `read`

use std::{
    fs::File,
    io::{self, BufRead, BufReader, Read as _},
};

use harness_plugin_sdk::{Call, Json, Result};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{error::Error, workspace::Workspace};

/// The most text of one read, in bytes.
const TEXT_MAX: usize = 256 * 1024;

/// Where a NUL makes a file binary: the first so many bytes, as Git has it.
pub(crate) const PROBE: usize = 8000;

/// Lines of one read, unless more are asked for.
const LINES: u64 = 2000;

/// What to read.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Read {
    /// The file.
    pub path: String,
    /// The first line, counted from 1.
    #[serde(default)]
    #[schemars(range(min = 1))]
    pub offset: Option<u64>,
    /// How many lines at most; 2000 if it is not said.
    #[serde(default)]
    #[schemars(range(min = 1))]
    pub limit: Option<u64>,
}

/// A piece of a file.
#[derive(Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Piece {
    /// The file.
    pub path: String,
    /// Its size in bytes.
    pub size: u64,
    /// The lines, with their ends.
    pub text: String,
    /// The number of the first of them.
    pub first_line: u64,
    /// How many there are.
    pub lines: u64,
    /// Where to read on; not there at the end of the file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_offset: Option<u64>,
    /// A line was too long to be given whole.
    pub cut: bool,
    /// Bytes that are no UTF-8 were replaced.
    pub lossy: bool,
}

/// Reads a piece of a text file.
///
/// # Errors
/// It is outside, not there, no regular file or binary.
pub fn read(input: Read, call: &Call<Workspace>) -> Result<(String, Json<Piece>)> {
    let path = call.state().below(&input.path)?;
    let file = call.state().file(&path)?;
    let piece = piece(&path, file, &input)?;
    let mut text = piece.text.clone();
    if let Some(next) = piece.next_offset {
        text = format!("{text}\n[there is more: read on at offset {next}]");
    } else if piece.lines == 0 && piece.first_line > 1 {
        "[the file ends before that line]".clone_into(&mut text);
    }
    Ok((text, Json(piece)))
}

fn piece(path: &str, file: File, input: &Read) -> Result<Piece, Error> {
    let failed = |error: io::Error| Error::system(path, error);
    let size = file.metadata().map_err(failed)?.len();
    let mut reader = BufReader::with_capacity(64 * 1024, file);
    if is_binary(reader.fill_buf().map_err(failed)?) {
        let path = path.into();
        return Err(Error::Binary { path, size });
    }
    let first_line = input.offset.unwrap_or(1).max(1);
    let mut ended = false;
    for _ in 1..first_line {
        ended = reader.skip_until(b'\n').map_err(failed)? == 0;
        if ended {
            break;
        }
    }
    let limit = input.limit.unwrap_or(LINES);
    let (mut bytes, mut lines, mut cut) = (Vec::new(), 0, false);
    while lines < limit && !ended {
        let before = bytes.len();
        let room = (TEXT_MAX - before) as u64;
        let read = reader.by_ref().take(room + 1).read_until(b'\n', &mut bytes);
        let read = read.map_err(failed)?;
        ended = read == 0;
        if read as u64 > room {
            if lines > 0 {
                // The whole line is for the next read.
                bytes.truncate(before);
                return Ok(made(
                    path,
                    size,
                    &bytes,
                    first_line,
                    lines,
                    Some(first_line + lines),
                    false,
                ));
            }
            bytes.truncate(TEXT_MAX);
            reader.skip_until(b'\n').map_err(failed)?;
            cut = true;
            lines = 1;
            break;
        }
        lines += u64::from(!ended);
    }
    let more = !reader.fill_buf().map_err(failed)?.is_empty();
    let next = more.then_some(first_line + lines);
    Ok(made(path, size, &bytes, first_line, lines, next, cut))
}

fn made(
    path: &str,
    size: u64,
    bytes: &[u8],
    first_line: u64,
    lines: u64,
    next_offset: Option<u64>,
    cut: bool,
) -> Piece {
    let valid = str::from_utf8(bytes);
    // A code point that was cut in two at the end is no fault of the file.
    let whole = match &valid {
        Err(error) if cut && error.error_len().is_none() => &bytes[..error.valid_up_to()],
        Ok(_) | Err(_) => bytes,
    };
    Piece {
        path: path.to_owned(),
        size,
        text: String::from_utf8_lossy(whole).into_owned(),
        first_line,
        lines,
        next_offset,
        cut,
        lossy: str::from_utf8(whole).is_err(),
    }
}

/// Whether the beginning of a file says that it is no text.
pub(crate) fn is_binary(beginning: &[u8]) -> bool {
    beginning.iter().take(PROBE).any(|byte| *byte == 0)
}
