//! Frames out of a stream of bytes, and into one.

use std::{
    collections::VecDeque,
    os::fd::{AsFd, OwnedFd},
};

use rustix::io::Errno;
use serde::Serialize;

use super::{FrameError, receive};

/// The longest frame, in bytes without its length. A command of 2 MiB fits however JSON has to write it.
pub const FRAME_MAX: usize = 32 << 20;

/// The length in front of each frame.
const HEAD: usize = 4;

/// How much is read at once where no long frame is under way.
const CHUNK: usize = 16 << 10;

/// How much of a long frame is read at once.
const LONG_CHUNK: usize = 256 << 10;

/// Writes a value as a frame, its length in front.
///
/// # Errors
/// It is longer than [`FRAME_MAX`] or cannot be written as JSON.
pub fn encode<T: Serialize>(value: &T) -> Result<Vec<u8>, FrameError> {
    let mut bytes = Vec::with_capacity(512);
    bytes.extend([0; HEAD]);
    serde_json::to_writer(&mut bytes, value).map_err(FrameError::Encode)?;
    let length = bytes.len() - HEAD;
    match u32::try_from(length) {
        Ok(head) if length <= FRAME_MAX => bytes[..HEAD].copy_from_slice(&head.to_le_bytes()),
        _ => {
            return Err(FrameError::TooLong {
                length: length as u64,
            });
        }
    }
    Ok(bytes)
}

/// Puts frames together from what arrives in pieces of any size.
#[derive(Debug, Default)]
pub struct Decoder {
    buffer: Vec<u8>,
    start: usize,
    fds: VecDeque<Vec<OwnedFd>>,
}

impl Decoder {
    /// Reads once, without waiting; returns how many bytes came, 0 at the end of the stream.
    ///
    /// # Errors
    /// What recvmsg(2) says; `EAGAIN` when nothing is there.
    pub fn receive(&mut self, socket: impl AsFd) -> Result<usize, Errno> {
        self.compact();
        let length = self.buffer.len();
        let room = self
            .missing()
            .map_or(CHUNK, |missing| missing.clamp(CHUNK, LONG_CHUNK));
        self.buffer.resize(length + room, 0);
        let received = receive(socket, &mut self.buffer[length..]);
        let bytes = received.as_ref().map_or(0, |received| received.bytes);
        self.buffer.truncate(length + bytes);
        let received = received?;
        self.fds.extend(received.fds);
        Ok(received.bytes)
    }

    /// Takes bytes that came some other way.
    pub fn push(&mut self, bytes: &[u8]) {
        self.compact();
        self.buffer.extend_from_slice(bytes);
    }

    /// Hands the next whole frame to `parse`, or returns `None` when more has to arrive.
    ///
    /// # Errors
    /// The next frame is longer than [`FRAME_MAX`]; nothing after it can be read.
    pub fn next<T>(&mut self, parse: impl FnOnce(&[u8]) -> T) -> Result<Option<T>, FrameError> {
        let Some(length) = self.next_length() else {
            return Ok(None);
        };
        if length > FRAME_MAX {
            return Err(FrameError::TooLong {
                length: length as u64,
            });
        }
        let from = self.start + HEAD;
        let Some(bytes) = self.buffer.get(from..from + length) else {
            return Ok(None);
        };
        let value = parse(bytes);
        self.start = from + length;
        Ok(Some(value))
    }

    /// The descriptors of a frame that announced `expected` of them; to be called in the frames' order.
    ///
    /// # Errors
    /// Some of them did not arrive; those that did are closed.
    pub fn take_fds(&mut self, expected: usize) -> Result<Vec<OwnedFd>, FrameError> {
        if expected == 0 {
            return Ok(Vec::new());
        }
        let fds = self.fds.pop_front().unwrap_or_default();
        if fds.len() == expected {
            Ok(fds)
        } else {
            Err(FrameError::FdsLost {
                expected,
                arrived: fds.len(),
            })
        }
    }

    fn next_length(&self) -> Option<usize> {
        let head = self.buffer.get(self.start..self.start + HEAD)?;
        let head = <[u8; HEAD]>::try_from(head).ok()?;
        usize::try_from(u32::from_le_bytes(head)).ok()
    }

    /// How much of the frame under way has not come yet.
    fn missing(&self) -> Option<usize> {
        let whole = HEAD + self.next_length()?.min(FRAME_MAX);
        Some(whole.saturating_sub(self.buffer.len() - self.start))
    }

    /// Forgets what was read, and gives memory back after a long frame.
    fn compact(&mut self) {
        if self.start == self.buffer.len() {
            self.buffer.clear();
            if self.buffer.capacity() > 2 * CHUNK {
                self.buffer = Vec::new();
            }
        } else if self.start > 0 {
            self.buffer.drain(..self.start);
        }
        self.start = 0;
    }
}

#[cfg(test)]
mod tests {
    use std::os::{fd::AsFd, unix::net::UnixStream};

    use super::*;
    use crate::protocol::send;

    fn text(bytes: &[u8]) -> String {
        serde_json::from_slice(bytes).unwrap()
    }

    #[test]
    fn a_frame_that_comes_byte_by_byte_is_put_together() {
        let mut decoder = Decoder::default();
        let frames = [encode(&"first").unwrap(), encode(&"second").unwrap()].concat();
        let mut read = Vec::new();
        for byte in frames {
            decoder.push(&[byte]);
            read.extend(decoder.next(text).unwrap());
        }
        assert_eq!(read, ["first", "second"]);
    }

    #[test]
    fn a_frame_beyond_the_limit_is_refused_by_its_length_alone() {
        let mut decoder = Decoder::default();
        decoder.push(&u32::MAX.to_le_bytes());
        let error = decoder.next(|_| ()).unwrap_err();
        assert!(matches!(error, FrameError::TooLong { length } if length == u64::from(u32::MAX)));
        let long = "x".repeat(FRAME_MAX);
        assert!(matches!(encode(&long), Err(FrameError::TooLong { .. })));
    }

    #[test]
    fn descriptors_stay_with_the_frame_they_were_sent_with() {
        let (ours, theirs) = UnixStream::pair().unwrap();
        let file = std::fs::File::open("/dev/null").unwrap();
        for (text, fds) in [
            ("none", vec![]),
            ("two", vec![file.as_fd(); 2]),
            ("one", vec![file.as_fd()]),
        ] {
            let frame = encode(&text).unwrap();
            assert_eq!(send(&ours, &frame, &fds).unwrap(), frame.len());
        }
        drop(ours);
        let mut decoder = Decoder::default();
        while decoder.receive(&theirs).unwrap() > 0 {}
        let mut seen = Vec::new();
        for expected in [0, 2, 1] {
            let text = decoder.next(text).unwrap().unwrap();
            seen.push((text, decoder.take_fds(expected).unwrap().len()));
        }
        assert_eq!(
            seen,
            [("none".into(), 0), ("two".into(), 2), ("one".into(), 1)]
        );
    }

    #[test]
    fn a_frame_whose_descriptors_did_not_come_says_so() {
        let mut decoder = Decoder::default();
        let error = decoder.take_fds(2).unwrap_err();
        assert!(matches!(
            error,
            FrameError::FdsLost {
                expected: 2,
                arrived: 0
            }
        ));
    }

    #[test]
    fn memory_of_a_long_frame_is_given_back() {
        let mut decoder = Decoder::default();
        decoder.push(&encode(&"x".repeat(1 << 20)).unwrap());
        assert_eq!(decoder.next(<[u8]>::len).unwrap(), Some((1 << 20) + 2));
        decoder.push(&[]);
        assert_eq!(decoder.buffer.capacity(), 0);
    }
}
