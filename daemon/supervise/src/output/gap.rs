//! The part of a file that was freed.

use std::{fs::File, io};

use harness_model::Gap;
use rustix::{
    fs::{SeekFrom, seek},
    io::Errno,
};

/// The first hole of a file of `size` bytes: what was freed to keep it within its budget.
///
/// The file system is asked for it (lseek(2), `SEEK_HOLE`), so nothing has to be remembered. One that
/// knows no holes has none. Moves the file's offset.
///
/// # Errors
/// When the kernel refuses to look.
pub fn gap(file: &File, size: u64) -> io::Result<Option<Gap>> {
    let offset = match seek(file, SeekFrom::Hole(0)) {
        Ok(offset) => offset,
        // Nothing in it; or a file system that cannot say.
        Err(Errno::NXIO | Errno::INVAL | Errno::OPNOTSUPP) => return Ok(None),
        Err(error) => return Err(error.into()),
    };
    if offset >= size {
        return Ok(None);
    }
    let end = match seek(file, SeekFrom::Data(offset)) {
        Ok(end) => end.min(size),
        Err(Errno::NXIO) => size,
        Err(error) => return Err(error.into()),
    };
    Ok((end > offset).then(|| Gap {
        offset,
        length: end - offset,
    }))
}
