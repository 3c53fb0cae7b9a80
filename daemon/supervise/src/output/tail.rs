//! The end of a file, for people and agents.

use std::{fs::File, io, os::unix::fs::FileExt, path::Path};

use harness_model::{Gap, StreamStatus};

use super::{
    gap::gap,
    open::reading,
    text::{end, incomplete, plain},
};

/// So much more is read than is shown, because escape sequences fall away and one may be cut.
const MARGIN: usize = 4096;
/// The most that is read of a file, whatever is asked for.
const MAX_WINDOW: usize = 4 << 20;

/// A stream's last `max` bytes as plain text (see [`plain`]), with its size and what was freed of it.
/// The last line is there even when it is not terminated. Of a stream that has not `ended` the beginning of a
/// character is left out: the rest is still to come.
///
/// # Errors
/// When the file cannot be read. A file that is not there yet is an empty stream.
pub fn tail(path: &Path, max: usize, ended: bool) -> io::Result<StreamStatus> {
    let (text, bytes, gap) = plain_end(path, max, ended)?;
    Ok(StreamStatus {
        tail: end(&text, max).to_owned(),
        path: path.to_string_lossy().into_owned(),
        bytes,
        gap,
    })
}

/// The last `lines` lines of a stream that has ended as plain text, at most `max` bytes, without a final newline.
///
/// # Errors
/// When the file cannot be read. A file that is not there yet has no lines.
pub fn last_lines(path: &Path, lines: usize, max: usize) -> io::Result<String> {
    let (text, ..) = plain_end(path, max, true)?;
    let text = end(text.strip_suffix('\n').unwrap_or(&text), max);
    if lines == 0 {
        return Ok(String::new());
    }
    let start = text
        .rmatch_indices('\n')
        .nth(lines - 1)
        .map_or(0, |(place, _)| place + 1);
    Ok(text[start..].to_owned())
}

/// Plain text that holds the last `max` bytes, the file's size, and its gap.
fn plain_end(path: &Path, max: usize, ended: bool) -> io::Result<(String, u64, Option<Gap>)> {
    let file = match reading(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return Ok((String::new(), 0, None));
        }
        Err(error) => return Err(error),
    };
    let size = file.metadata()?.len();
    let gap = gap(&file, size)?;
    let window = max.saturating_mul(4).saturating_add(MARGIN).min(MAX_WINDOW);
    let first = size.saturating_sub(window as u64);
    let readable = gap.map_or(0, |gap| gap.offset + gap.length);
    // All of a short stream is shown; of one with a gap, what comes after it.
    let start = match gap {
        Some(gap) if first < gap.offset + gap.length => readable,
        Some(_) | None => first,
    };
    let mut bytes = piece(&file, start, size)?;
    if !ended {
        bytes.truncate(bytes.len() - incomplete(&bytes));
    }
    let cut = start > 0;
    let mut text = plain(&bytes);
    if cut && text.len() <= max {
        // The cut may show: it may lie in a sequence or a character.
        text = plain(after_cut(&bytes));
    }
    Ok((text, size, gap))
}

/// The bytes from the first place where a line, or at least a character, begins.
fn after_cut(bytes: &[u8]) -> &[u8] {
    if let Some(newline) = bytes.iter().position(|byte| *byte == b'\n') {
        return &bytes[newline + 1..];
    }
    let inside = bytes
        .iter()
        .take(3)
        .take_while(|byte| matches!(byte, 0x80..=0xbf))
        .count();
    &bytes[inside..]
}

/// The bytes from `start` to `end`, or to the end of the file when that comes first.
pub(super) fn piece(file: &File, start: u64, end: u64) -> io::Result<Vec<u8>> {
    let wanted = usize::try_from(end.saturating_sub(start)).unwrap_or(usize::MAX);
    let mut bytes = vec![0; wanted];
    let mut filled = 0;
    while filled < wanted {
        match file.read_at(&mut bytes[filled..], start + filled as u64) {
            Ok(0) => break,
            Ok(count) => filled += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    bytes.truncate(filled);
    Ok(bytes)
}
