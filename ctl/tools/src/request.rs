//! What a command was called with.

use std::{fmt, str};

/// The first field of a request; another one is another protocol.
const VERSION: &str = "1";

/// What the command's standard input is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StandardInput {
    /// A pipe, a file or a socket: something can come from it.
    Stream,
    /// Nothing can: `/dev/null`, a terminal, or it is closed.
    Nothing,
}

/// One command line, from inside a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    /// Names the run.
    pub token: String,
    /// What standard input is.
    pub standard_input: StandardInput,
    /// The words behind `tools`.
    pub words: Vec<String>,
}

/// The bytes of a request are none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RequestError {
    /// It is of another version.
    Version(String),
    /// A word is not UTF-8; the number counts from 1.
    NotUtf8(usize),
    /// A field is missing.
    Incomplete,
}

impl fmt::Display for RequestError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Version(version) => write!(
                formatter,
                "`tools` speaks version {version:?} and harnessd version {VERSION:?}: install both from one build"
            ),
            Self::NotUtf8(number) => write!(formatter, "word {number} of the command is not UTF-8"),
            Self::Incomplete => formatter.write_str("the request is incomplete"),
        }
    }
}

impl std::error::Error for RequestError {}

impl Request {
    /// The bytes of a request whose words need not be UTF-8; none of them holds a NUL, as no argument does.
    pub fn encode<'a>(
        token: &[u8],
        standard_input: StandardInput,
        words: impl IntoIterator<Item = &'a [u8]>,
    ) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(512);
        bytes.extend_from_slice(VERSION.as_bytes());
        bytes.push(0);
        bytes.extend_from_slice(token);
        bytes.push(0);
        bytes.push(match standard_input {
            StandardInput::Stream => b's',
            StandardInput::Nothing => b'n',
        });
        for word in words {
            bytes.push(0);
            bytes.extend_from_slice(word);
        }
        bytes
    }

    /// Reads the bytes of a request.
    ///
    /// # Errors
    /// They are of another version, a word is not UTF-8, or a field is missing.
    pub fn decode(bytes: &[u8]) -> Result<Self, RequestError> {
        let mut fields = bytes.split(|byte| *byte == 0);
        let mut next = || fields.next().ok_or(RequestError::Incomplete);
        let version = next()?;
        if version != VERSION.as_bytes() {
            let version = String::from_utf8_lossy(version);
            return Err(RequestError::Version(version.into_owned()));
        }
        // A token that is none is refused as such.
        let token = String::from_utf8_lossy(next()?).into_owned();
        let standard_input = match next()? {
            b"s" => StandardInput::Stream,
            b"n" => StandardInput::Nothing,
            _ => return Err(RequestError::Incomplete),
        };
        let word = |(index, word)| match str::from_utf8(word) {
            Ok(word) => Ok(word.to_owned()),
            Err(_) => Err(RequestError::NotUtf8(index + 1)),
        };
        let words = fields.enumerate().map(word).collect::<Result<_, _>>()?;
        Ok(Self {
            token,
            standard_input,
            words,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_comes_out_as_it_went_in() {
        let words: [&[u8]; 4] = [b"github", b"", "k=\u{e4}\n".as_bytes(), b"--help"];
        let bytes = Request::encode(b"token", StandardInput::Stream, words);
        let request = Request::decode(&bytes).unwrap();
        assert_eq!(request.token, "token");
        assert_eq!(request.standard_input, StandardInput::Stream);
        assert_eq!(request.words, ["github", "", "k=\u{e4}\n", "--help"]);
        let none = Request::encode(b"", StandardInput::Nothing, []);
        assert!(Request::decode(&none).unwrap().words.is_empty());
    }

    #[test]
    fn what_is_no_request_says_why() {
        let bytes = Request::encode(b"t", StandardInput::Nothing, [&b"ok"[..], b"\xff"]);
        assert_eq!(Request::decode(&bytes), Err(RequestError::NotUtf8(2)));
        assert_eq!(
            Request::decode(b"2\0t\0n"),
            Err(RequestError::Version("2".into()))
        );
        for bytes in [&b""[..], b"1", b"1\0t", b"1\0t\0x"] {
            assert!(Request::decode(bytes).is_err(), "{bytes:?}");
        }
    }
}
