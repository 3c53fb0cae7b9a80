//! Frames: a byte that says what it is, four bytes of length, little endian, and so many bytes.

use std::{
    fmt,
    io::{self, Read, Write},
};

/// The longest frame, in bytes without its header. Longer texts travel in several.
pub const FRAME_MAX: usize = 1 << 20;

/// The bytes before a frame's contents.
const HEAD: usize = 5;

/// What a frame is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Kind {
    /// To the daemon: what the command was called with ([`Request`](crate::Request)).
    Request = b'R',
    /// To the daemon: a piece of standard input; an empty one ends it.
    StandardInput = b'I',
    /// To the command: send standard input.
    WantStandardInput = b'W',
    /// To the command: a piece of standard output.
    Output = b'O',
    /// To the command: a piece of standard error.
    Error = b'E',
    /// To the command: begins a file of that name in the image directory.
    FileBegin = b'F',
    /// To the command: a piece of that file; an empty one ends it.
    FilePiece = b'P',
    /// To the command: end with this status (one byte).
    Exit = b'X',
}

/// A byte that begins no frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KindError(pub u8);

impl fmt::Display for KindError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            formatter,
            "a frame cannot begin with byte {:#04x}: `tools` and harnessd do not fit together",
            self.0
        )
    }
}

impl std::error::Error for KindError {}

impl TryFrom<u8> for Kind {
    type Error = KindError;

    fn try_from(byte: u8) -> Result<Self, KindError> {
        const ALL: [Kind; 8] = [
            Kind::Request,
            Kind::StandardInput,
            Kind::WantStandardInput,
            Kind::Output,
            Kind::Error,
            Kind::FileBegin,
            Kind::FilePiece,
            Kind::Exit,
        ];
        let kind = ALL.into_iter().find(|kind| *kind as u8 == byte);
        kind.ok_or(KindError(byte))
    }
}

/// One frame.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Frame {
    /// What it is.
    pub kind: Kind,
    /// Its contents.
    pub bytes: Vec<u8>,
}

/// The bytes before contents of so many bytes, which are at most [`FRAME_MAX`].
#[must_use]
pub fn header(kind: Kind, length: usize) -> [u8; HEAD] {
    let [a, b, c, d] = u32::try_from(length).unwrap_or(u32::MAX).to_le_bytes();
    [kind as u8, a, b, c, d]
}

/// Kind and length of the frame that a header begins.
///
/// # Errors
/// `InvalidData`: no frame begins so, or it would be longer than [`FRAME_MAX`].
pub fn length(header: [u8; HEAD]) -> io::Result<(Kind, usize)> {
    let invalid = |error| io::Error::new(io::ErrorKind::InvalidData, error);
    let [kind, a, b, c, d] = header;
    let kind = Kind::try_from(kind).map_err(|error| invalid(error.to_string()))?;
    let length = u32::from_le_bytes([a, b, c, d]);
    match usize::try_from(length) {
        Ok(length) if length <= FRAME_MAX => Ok((kind, length)),
        Ok(_) | Err(_) => Err(invalid(format!(
            "a frame of {length} bytes is longer than {FRAME_MAX}"
        ))),
    }
}

/// Writes one frame with a single write(2) where the kernel takes it whole.
///
/// # Errors
/// What write(2) says. The contents are at most [`FRAME_MAX`] bytes; longer ones are refused as `InvalidInput`.
pub fn write(mut to: impl Write, kind: Kind, contents: &[u8]) -> io::Result<()> {
    if contents.len() > FRAME_MAX {
        return Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            format!("{} bytes do not fit in one frame", contents.len()),
        ));
    }
    let mut bytes = Vec::with_capacity(HEAD + contents.len());
    bytes.extend(header(kind, contents.len()));
    bytes.extend_from_slice(contents);
    to.write_all(&bytes)
}

/// Reads one frame; `None` at the end of the stream.
///
/// # Errors
/// What read(2) says; `UnexpectedEof` within a frame, `InvalidData` for what is none.
pub fn read(mut from: impl Read) -> io::Result<Option<Frame>> {
    let mut head = [0; HEAD];
    let mut filled = 0;
    while let Some(rest) = head.get_mut(filled..).filter(|rest| !rest.is_empty()) {
        match from.read(rest) {
            Ok(0) if filled == 0 => return Ok(None),
            Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(count) => filled += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    let (kind, length) = length(head)?;
    let mut bytes = vec![0; length];
    from.read_exact(&mut bytes)?;
    Ok(Some(Frame { kind, bytes }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_come_out_as_they_went_in() {
        let mut stream = Vec::new();
        for (kind, bytes) in [
            (Kind::Output, &b"a\0b"[..]),
            (Kind::Exit, &[3]),
            (Kind::StandardInput, &[]),
        ] {
            write(&mut stream, kind, bytes).unwrap();
        }
        let mut from = stream.as_slice();
        let mut seen = Vec::new();
        while let Some(frame) = read(&mut from).unwrap() {
            seen.push((frame.kind, frame.bytes));
        }
        assert_eq!(
            seen,
            [
                (Kind::Output, b"a\0b".to_vec()),
                (Kind::Exit, vec![3]),
                (Kind::StandardInput, vec![])
            ]
        );
    }

    #[test]
    fn a_frame_that_is_cut_too_long_or_unknown_is_an_error() {
        let mut whole = Vec::new();
        write(&mut whole, Kind::Output, b"text").unwrap();
        for end in 1..whole.len() {
            let error = read(&whole[..end]).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::UnexpectedEof, "{end}");
        }
        let long = header(Kind::Output, FRAME_MAX + 1);
        assert_eq!(
            read(&long[..]).unwrap_err().kind(),
            io::ErrorKind::InvalidData
        );
        assert_eq!(
            read(&b"?\0\0\0\0"[..]).unwrap_err().kind(),
            io::ErrorKind::InvalidData
        );
        let error = write(Vec::new(), Kind::Output, &vec![0; FRAME_MAX + 1]).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::InvalidInput);
    }
}
