//! A second, independent reading that only looks for substitutions.
//!
//! It shares no code with the first one and knows no grammar: a stack of quotes and brackets is all
//! it has. Where the two do not agree about the place of every `$(`, backtick, `<(` and `>(`, the
//! script is opaque.

use crate::lexer::Region;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Frame {
    /// Commands; within parentheses, and within how many `case`s.
    Code { closes: bool, cases: usize },
    /// `"…"`
    Double,
    /// The body of a here-document.
    Body,
    /// `${…}`, and whether quotes surround it.
    Brace { quoted: bool },
    /// `((…))` with so many open parentheses.
    Arithmetic(usize),
    /// `$[…]` with so many open brackets.
    Bracket(usize),
}

struct Recount<'t> {
    text: &'t [u8],
    at: usize,
    stack: Vec<Frame>,
    found: Vec<usize>,
    /// Delimiter, quoted, tabs stripped.
    documents: Vec<(Vec<u8>, bool, bool)>,
    /// A word may begin here.
    at_word: bool,
    /// A command may begin here.
    at_command: bool,
}

/// Offsets of all substitutions in the order of the text; None if quotes or brackets do not match.
pub(crate) fn substitutions(text: &[u8], kind: Region) -> Option<Vec<usize>> {
    let bottom = match kind {
        Region::Code => Frame::Code {
            closes: false,
            cases: 0,
        },
        Region::Body => Frame::Body,
    };
    let mut recount = Recount {
        text,
        at: 0,
        stack: vec![bottom],
        found: Vec::new(),
        documents: Vec::new(),
        at_word: true,
        at_command: true,
    };
    while recount.at < text.len() {
        recount.step()?;
    }
    (recount.stack.len() == 1 && recount.documents.is_empty()).then_some(recount.found)
}

impl Recount<'_> {
    fn byte(&self, ahead: usize) -> u8 {
        self.text.get(self.at + ahead).copied().unwrap_or(0)
    }

    fn step(&mut self) -> Option<()> {
        let top = *self.stack.last()?;
        if let Frame::Code { .. } = top {
            return self.code();
        }
        let byte = self.byte(0);
        match (byte, top) {
            (b'\\', _) => self.at += 2,
            (b'`', _) => self.backtick()?,
            (b'$', _) => self.dollar(top)?,
            (b'"', Frame::Double) | (b'}', Frame::Brace { .. }) | (b']', Frame::Bracket(0)) => {
                self.pop(1);
            }
            (b')', Frame::Arithmetic(0)) => self.pop(2),
            (b'\'', Frame::Brace { quoted: false }) => self.single()?,
            (b'"', Frame::Brace { .. } | Frame::Arithmetic(_) | Frame::Bracket(_)) => {
                self.push(Frame::Double, 1);
            }
            (b'(', Frame::Arithmetic(open)) => self.replace(Frame::Arithmetic(open + 1)),
            (b')', Frame::Arithmetic(open)) => self.replace(Frame::Arithmetic(open - 1)),
            (b'[', Frame::Bracket(open)) => self.replace(Frame::Bracket(open + 1)),
            (b']', Frame::Bracket(open)) => self.replace(Frame::Bracket(open - 1)),
            _ => self.run(),
        }
        Some(())
    }

    /// Over a byte, and the letters and the like behind it.
    fn run(&mut self) {
        let rest = self.text.get(self.at + 1..).unwrap_or_default();
        let plain = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.');
        let length = rest.iter().position(|byte| !plain(byte));
        self.at += 1 + length.unwrap_or(rest.len());
    }

    fn push(&mut self, frame: Frame, length: usize) {
        self.stack.push(frame);
        self.at += length;
        let is_code = matches!(frame, Frame::Code { .. });
        (self.at_word, self.at_command) = (is_code, is_code);
    }

    fn pop(&mut self, length: usize) {
        self.stack.pop();
        self.at += length;
        (self.at_word, self.at_command) = (false, false);
    }

    fn replace(&mut self, frame: Frame) {
        self.stack.pop();
        self.stack.push(frame);
        self.at += 1;
    }

    /// To behind the next byte of this kind, from behind the present one.
    fn single(&mut self) -> Option<()> {
        let rest = self.text.get(self.at + 1..)?;
        self.at += rest.iter().position(|b| *b == b'\'')? + 2;
        Some(())
    }

    /// To behind the next such byte that no backslash precedes.
    fn escaped_until(&mut self, close: u8) -> Option<()> {
        loop {
            match self.text.get(self.at)? {
                b'\\' => self.at += 2,
                byte if *byte == close => {
                    self.at += 1;
                    return Some(());
                }
                _ => self.at += 1,
            }
        }
    }

    fn backtick(&mut self) -> Option<()> {
        self.found.push(self.at);
        self.at += 1;
        self.escaped_until(b'`')
    }

    fn dollar(&mut self, top: Frame) -> Option<()> {
        let quoted = match top {
            Frame::Code { .. } => false,
            Frame::Brace { quoted } => quoted,
            Frame::Double | Frame::Body | Frame::Arithmetic(_) | Frame::Bracket(_) => true,
        };
        match (self.byte(1), self.byte(2)) {
            (b'(', b'(') => {
                self.found.push(self.at);
                self.push(Frame::Arithmetic(0), 3);
            }
            (b'(', _) => {
                self.found.push(self.at);
                self.push(
                    Frame::Code {
                        closes: true,
                        cases: 0,
                    },
                    2,
                );
            }
            // The number sign of `${#x}` and `$#` begins nothing.
            (b'{', _) => self.push(Frame::Brace { quoted }, 2),
            (b'[', _) => self.push(Frame::Bracket(0), 2),
            (b'\'', _) if !quoted => {
                self.at += 2;
                self.escaped_until(b'\'')?;
            }
            (b'$' | b'#' | b'!' | b'?' | b'@' | b'*', _) => self.at += 2,
            _ => self.at += 1,
        }
        Some(())
    }

    fn code(&mut self) -> Option<()> {
        let (byte, next) = (self.byte(0), self.byte(1));
        let (at_word, at_command) = (self.at_word, self.at_command);
        match byte {
            b' ' | b'\t' => {
                self.at += 1;
                self.at_word = true;
                return Some(());
            }
            b'\n' => return self.line_end(),
            b'\\' if next == b'\n' => {
                self.at += 2;
                return Some(());
            }
            b'#' if at_word => {
                let rest = self.text.get(self.at..)?;
                self.at += rest.iter().position(|b| *b == b'\n').unwrap_or(rest.len());
                return Some(());
            }
            b';' | b'&' | b'|' => {
                self.at += 1;
                (self.at_word, self.at_command) = (true, true);
                return Some(());
            }
            b'(' | b')' | b'<' | b'>' => return self.operator(byte, next, at_word),
            _ => {}
        }
        (self.at_word, self.at_command) = (false, false);
        match byte {
            b'\\' => self.at += 2,
            b'\'' => self.single()?,
            b'"' => self.push(Frame::Double, 1),
            b'`' => self.backtick()?,
            b'$' => self.dollar(Frame::Code {
                closes: false,
                cases: 0,
            })?,
            _ if at_word => self.plain_word(at_command),
            _ => self.run(),
        }
        Some(())
    }

    fn operator(&mut self, byte: u8, next: u8, at_word: bool) -> Option<()> {
        match (byte, next) {
            (b'<' | b'>', b'(') => {
                self.found.push(self.at);
                self.push(
                    Frame::Code {
                        closes: true,
                        cases: 0,
                    },
                    2,
                );
            }
            (b'<', b'<') if self.byte(2) == b'<' => {
                self.at += 3;
                self.at_word = true;
            }
            (b'<', b'<') => return self.document(),
            (b'(', b'(') if at_word => self.push(Frame::Arithmetic(0), 2),
            (b'(', _) => self.push(
                Frame::Code {
                    closes: true,
                    cases: 0,
                },
                1,
            ),
            (b')', _) => {
                // Behind a `case`, an unmatched parenthesis ends a pattern.
                if matches!(
                    self.stack.last(),
                    Some(Frame::Code {
                        closes: true,
                        cases: 0
                    })
                ) {
                    self.pop(1);
                    // Only within a substitution does a word go on behind it.
                    self.at_command = true;
                } else {
                    self.at += 1;
                    (self.at_word, self.at_command) = (true, true);
                }
            }
            _ => {
                self.at += 1;
                self.at_word = true;
            }
        }
        Some(())
    }

    /// The first plain characters of a word; only some of the reserved words matter.
    fn plain_word(&mut self, at_command: bool) {
        let rest = self.text.get(self.at..).unwrap_or_default();
        let length = rest.iter().take_while(|b| b.is_ascii_alphabetic()).count();
        if length == 0 {
            self.at_command = at_command && matches!(rest.first(), Some(b'{' | b'!'));
            self.at += 1;
            return;
        }
        let whole = matches!(
            rest.get(length),
            None | Some(b' ' | b'\t' | b'\n' | b';' | b'&' | b'|' | b'(' | b')')
        );
        let word = rest.get(..length).unwrap_or_default();
        self.at += length;
        if !at_command || !whole {
            return;
        }
        if let Some(Frame::Code { cases, .. }) = self.stack.last_mut() {
            match word {
                b"case" => *cases += 1,
                b"esac" => *cases = cases.saturating_sub(1),
                _ => {}
            }
        }
        self.at_command = matches!(
            word,
            b"then" | b"do" | b"else" | b"elif" | b"if" | b"while" | b"until" | b"time"
        );
    }

    /// The delimiter of a here-document.
    fn document(&mut self) -> Option<()> {
        self.at += 2;
        let strips = self.byte(0) == b'-';
        self.at += usize::from(strips);
        while matches!(self.byte(0), b' ' | b'\t') {
            self.at += 1;
        }
        let (mut delimiter, mut quoted) = (Vec::new(), false);
        while let Some(byte) = self.text.get(self.at).copied() {
            match byte {
                b' ' | b'\t' | b'\n' | b';' | b'&' | b'|' | b'<' | b'>' | b'(' | b')' => break,
                b'\\' => {
                    quoted = true;
                    delimiter.push(self.byte(1));
                    self.at += 2;
                }
                b'\'' | b'"' => {
                    quoted = true;
                    let rest = self.text.get(self.at + 1..)?;
                    let length = rest.iter().position(|b| *b == byte)?;
                    delimiter.extend_from_slice(rest.get(..length)?);
                    self.at += length + 2;
                }
                _ => {
                    delimiter.push(byte);
                    self.at += 1;
                }
            }
        }
        self.documents.push((delimiter, quoted, strips));
        self.at_word = false;
        Some(())
    }

    /// A newline, and the here-documents that follow it.
    fn line_end(&mut self) -> Option<()> {
        self.at += 1;
        (self.at_word, self.at_command) = (true, true);
        for (delimiter, quoted, strips) in std::mem::take(&mut self.documents) {
            while self.document_line(quoted, strips)? != delimiter {}
        }
        Some(())
    }

    fn document_line(&mut self, quoted: bool, strips: bool) -> Option<Vec<u8>> {
        let mut line = Vec::new();
        if self.at >= self.text.len() {
            return None;
        }
        while let Some(byte) = self.text.get(self.at).copied() {
            if byte == b'\n' {
                self.at += 1;
                break;
            }
            if byte == b'\\' && !quoted {
                if self.byte(1) != b'\n' {
                    line.push(byte);
                    line.extend(self.text.get(self.at + 1));
                }
                self.at += 2;
                continue;
            }
            line.push(byte);
            self.at += 1;
        }
        if strips {
            let tabs = line.iter().take_while(|b| **b == b'\t').count();
            line.drain(..tabs);
        }
        Some(line)
    }
}
