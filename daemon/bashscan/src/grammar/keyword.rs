//! Reserved words.

use crate::lexer::Parser;

/// A reserved word (bash(1) "RESERVED WORDS").
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Keyword {
    Bang,
    Case,
    Coproc,
    Do,
    Done,
    Elif,
    Else,
    Esac,
    Fi,
    For,
    Function,
    If,
    Select,
    Then,
    Until,
    While,
    OpenBrace,
    CloseBrace,
    Time,
    OpenTest,
}

const WORDS: &[(&[u8], Keyword)] = &[
    (b"!", Keyword::Bang),
    (b"case", Keyword::Case),
    (b"coproc", Keyword::Coproc),
    (b"do", Keyword::Do),
    (b"done", Keyword::Done),
    (b"elif", Keyword::Elif),
    (b"else", Keyword::Else),
    (b"esac", Keyword::Esac),
    (b"fi", Keyword::Fi),
    (b"for", Keyword::For),
    (b"function", Keyword::Function),
    (b"if", Keyword::If),
    (b"select", Keyword::Select),
    (b"then", Keyword::Then),
    (b"until", Keyword::Until),
    (b"while", Keyword::While),
    (b"{", Keyword::OpenBrace),
    (b"}", Keyword::CloseBrace),
    (b"time", Keyword::Time),
    (b"[[", Keyword::OpenTest),
];

const LONGEST: usize = 8;

impl Keyword {
    /// Ends a list of commands.
    pub(crate) fn closes(self) -> bool {
        match self {
            Self::Do
            | Self::Done
            | Self::Elif
            | Self::Else
            | Self::Esac
            | Self::Fi
            | Self::Then
            | Self::CloseBrace => true,
            Self::Bang
            | Self::Case
            | Self::Coproc
            | Self::For
            | Self::Function
            | Self::If
            | Self::Select
            | Self::Until
            | Self::While
            | Self::OpenBrace
            | Self::Time
            | Self::OpenTest => false,
        }
    }

    pub(crate) fn of(word: &[u8]) -> Option<Self> {
        WORDS
            .iter()
            .find(|(text, _)| *text == word)
            .map(|(_, keyword)| *keyword)
    }
}

impl Parser<'_, '_> {
    /// The unquoted word here, if it is short and plain, and the offset behind it. A line
    /// continuation in it does not count: the shell removes it before it looks for reserved words.
    pub(crate) fn plain_word(&self) -> Option<([u8; LONGEST], usize, usize)> {
        let mut word = [0; LONGEST];
        let mut length = 0;
        let mut at = self.at;
        loop {
            match self.text.get(at).copied() {
                Some(b'\\') if self.text.get(at + 1) == Some(&b'\n') => at += 2,
                Some(byte)
                    if byte.is_ascii_lowercase() || matches!(byte, b'!' | b'{' | b'}' | b'[') =>
                {
                    *word.get_mut(length)? = byte;
                    length += 1;
                    at += 1;
                }
                Some(b'<' | b'>') if self.text.get(at + 1) == Some(&b'(') => return None,
                None
                | Some(b' ' | b'\t' | b'\n' | b';' | b'&' | b'|' | b'<' | b'>' | b'(' | b')') => {
                    break;
                }
                Some(_) => return None,
            }
        }
        (length > 0).then_some((word, length, at))
    }

    /// The reserved word here, where one may stand.
    pub(crate) fn keyword(&self) -> Option<Keyword> {
        let (word, length, _) = self.plain_word()?;
        Keyword::of(word.get(..length)?)
    }

    /// Whether just this word stands here.
    pub(crate) fn at_word(&self, expected: &[u8]) -> bool {
        self.plain_word()
            .is_some_and(|(word, length, _)| word.get(..length) == Some(expected))
    }

    /// To behind the reserved word here.
    pub(crate) fn skip_keyword(&mut self) {
        if let Some((_, _, end)) = self.plain_word() {
            self.at = end;
        }
    }
}
