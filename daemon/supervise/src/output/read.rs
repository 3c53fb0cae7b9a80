//! Reading a stream piece by piece.

use std::{fs::File, io, path::Path};

use harness_model::Gap;

use super::{gap::gap, open::reading, tail::piece, text::incomplete};

/// The most that one piece holds, in bytes of the file.
pub const MAX_PIECE: usize = 4 << 20;

/// A piece of a stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Piece {
    /// Where the text begins, in bytes. Past the gap when the asked offset lay in it; at the start of
    /// its character when it lay in one.
    pub offset: u64,
    /// Where to read on.
    pub next_offset: u64,
    /// The stream's length, in bytes.
    pub bytes: u64,
    /// The text. Bytes that are not UTF-8 are shown as U+FFFD; escape sequences stay.
    pub text: String,
    /// What was freed of the stream.
    pub gap: Option<Gap>,
}

/// Reads at most `limit` bytes from `offset` on, of a stream that may still grow: the beginning of a
/// character at its very end is left for the next piece. Never splits a character; a limit smaller
/// than the next one is raised to it. A piece ends at a gap.
///
/// # Errors
/// When the file cannot be read. A file that is not there yet is an empty stream.
pub fn read(path: &Path, offset: u64, limit: usize) -> io::Result<Piece> {
    read_piece(path, offset, limit, false)
}

/// As [`read`], of a stream that has ended: what is left of a character at its end is shown as U+FFFD.
///
/// # Errors
/// Those of [`read`].
pub fn read_ended(path: &Path, offset: u64, limit: usize) -> io::Result<Piece> {
    read_piece(path, offset, limit, true)
}

fn read_piece(path: &Path, offset: u64, limit: usize, ended: bool) -> io::Result<Piece> {
    let file = match reading(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return Ok(Piece {
                offset: 0,
                next_offset: 0,
                bytes: 0,
                text: String::new(),
                gap: None,
            });
        }
        Err(error) => return Err(error),
    };
    let size = file.metadata()?.len();
    let gap = gap(&file, size)?;
    let bounds = bounds(offset.min(size), size, gap);
    let start = bounds.start - inside(&file, &bounds)?;
    let last = bounds.end;
    let mut end = start.saturating_add(limit.min(MAX_PIECE) as u64).min(last);
    let mut bytes = piece(&file, start, end)?;
    let open = incomplete(&bytes);
    if open == bytes.len() && open > 0 && end < last && limit > 0 {
        end = start.saturating_add(4).min(last);
        bytes = first_character(piece(&file, start, end)?);
    } else if end < last || !ended && end == size {
        bytes.truncate(bytes.len() - open);
    }
    Ok(Piece {
        offset: start,
        next_offset: start + bytes.len() as u64,
        bytes: size,
        text: String::from_utf8_lossy(&bytes).into_owned(),
        gap,
    })
}
/// Where a piece from `offset` on may begin and must end, and how far back its beginning may move.
struct Bounds {
    least: u64,
    start: u64,
    end: u64,
}

fn bounds(offset: u64, size: u64, gap: Option<Gap>) -> Bounds {
    match gap {
        Some(gap) if offset < gap.offset => Bounds {
            least: 0,
            start: offset,
            end: gap.offset,
        },
        Some(gap) => Bounds {
            least: gap.offset + gap.length,
            start: offset.max(gap.offset + gap.length),
            end: size,
        },
        None => Bounds {
            least: 0,
            start: offset,
            end: size,
        },
    }
}

/// How far before `start` the character begins that `start` lies in; 0 when it lies in none.
fn inside(file: &File, bounds: &Bounds) -> io::Result<u64> {
    let back = (bounds.start - bounds.least).min(3);
    let before = usize::try_from(back).unwrap_or(0);
    let around = piece(
        file,
        bounds.start - back,
        bounds.start.saturating_add(3).min(bounds.end),
    )?;
    let begun = incomplete(around.get(..before).unwrap_or_default());
    let whole = around[before - begun..]
        .utf8_chunks()
        .next()
        .and_then(|chunk| chunk.valid().chars().next());
    match whole {
        Some(character) if begun > 0 && character.len_utf8() > begun => Ok(begun as u64),
        Some(_) | None => Ok(0),
    }
}

/// The first character of the bytes, or their first byte when they begin with none.
fn first_character(mut bytes: Vec<u8>) -> Vec<u8> {
    let length = bytes.utf8_chunks().next().map_or(0, |chunk| {
        let valid = chunk.valid().chars().next().map(char::len_utf8);
        valid.unwrap_or(chunk.invalid().len())
    });
    bytes.truncate(length);
    bytes
}
