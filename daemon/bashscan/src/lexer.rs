//! Reading characters: the cursor, blanks, comments and regions of text.

mod arithmetic;
mod character;
mod expansion;
mod lexeme;
mod parameter;
mod pieces;
mod quote;
mod words;

pub(crate) use character::is_confusable;
pub(crate) use lexeme::Lexeme;
pub(crate) use pieces::Piece;
pub(crate) use words::WordMode;

use crate::context::Context;
use crate::findings::Findings;
use crate::here_document::Pending;
use crate::opaque::Reason;
use crate::order::{BlockKind, Site};
use crate::recount;
use crate::scan::{Dialect, MAX_DEPTH};
use crate::value::Value;
use crate::word::Span;

/// Reading has ended: the reason is among the findings.
#[derive(Debug)]
pub(crate) struct Stop;

pub(crate) type Walk<T = ()> = Result<T, Stop>;

/// How offsets in a region map to the script.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Origin {
    /// The region is a part of the script.
    Offset(usize),
    /// The region was made from the text at this place.
    Fixed(Span),
}

/// What kind of text a region holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Region {
    /// Commands.
    Code,
    /// The body of a here-document in which expansions happen.
    Body,
}

/// How the surrounding text is quoted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Quote {
    /// Not at all.
    None,
    /// By double quotes, or as if by them.
    Double,
    /// In the body of a here-document.
    Body,
}

/// Most regions within regions (backticks, here-documents, literal code).
const MAX_REGIONS: usize = 16;

/// Reads one region.
pub(crate) struct Parser<'t, 'f> {
    pub(crate) text: &'t [u8],
    pub(crate) at: usize,
    pub(crate) origin: Origin,
    pub(crate) found: &'f mut Findings,
    pub(crate) context: Context,
    pub(crate) dialect: Dialect,
    /// Here-documents whose bodies begin behind the next newline.
    pub(crate) pending: Vec<Pending>,
    /// Within `$(…)` or `<(…)` of this region.
    pub(crate) in_substitution: bool,
    /// Within `${…}`, arithmetic or a subscript: bash removes backslashes more than once there.
    pub(crate) in_operand: bool,
    /// Where a substitution was entered, to be compared with the second reading.
    pub(crate) entered: Vec<usize>,
    /// Where the line begins that the shell reads as one (see [`BlockKind::Line`]).
    pub(crate) line_start: usize,
    /// What the list that was read last prints, if it is known.
    pub(crate) output: Option<Value>,
    /// Index of the command that is looked into.
    pub(crate) command: usize,
    /// Where that is, if it runs whenever the text comes there.
    pub(crate) command_site: Option<Site>,
    depth: usize,
    regions: usize,
}

impl<'t, 'f> Parser<'t, 'f> {
    pub(crate) fn new(
        text: &'t [u8],
        origin: Origin,
        found: &'f mut Findings,
        dialect: Dialect,
    ) -> Self {
        Self {
            text,
            at: 0,
            origin,
            found,
            context: Context::default(),
            dialect,
            pending: Vec::new(),
            in_substitution: false,
            in_operand: false,
            entered: Vec::new(),
            line_start: 0,
            output: None,
            command: 0,
            command_site: None,
            depth: 0,
            regions: 0,
        }
    }

    /// Reads all of the region, then compares with the second reading.
    pub(crate) fn whole_region(&mut self, kind: Region) -> Walk {
        match kind {
            Region::Code => self.script()?,
            Region::Body => self.body_text()?,
        }
        self.entered.sort_unstable();
        if recount::substitutions(self.text, kind).as_ref() == Some(&self.entered) {
            return Ok(());
        }
        Err(self.stop(Reason::Disagreement, 0))
    }

    /// Reads a text that the shell reads on its own, in the given context.
    pub(crate) fn inner_region(
        &mut self,
        text: &[u8],
        origin: Origin,
        kind: Region,
        context: Context,
        dialect: Dialect,
    ) -> Walk {
        if self.regions >= MAX_REGIONS || self.depth >= MAX_DEPTH {
            return Err(self.stop(Reason::TooDeep, self.at));
        }
        let mut inner = Parser::new(text, origin, self.found, dialect);
        inner.context = context;
        inner.depth = self.depth + 1;
        inner.regions = self.regions + 1;
        inner.whole_region(kind)?;
        self.output = inner.output;
        Ok(())
    }

    /// The origin for a region that is this part of the present one.
    pub(crate) fn origin_at(&self, start: usize) -> Origin {
        match self.origin {
            Origin::Offset(base) => Origin::Offset(base + start),
            Origin::Fixed(span) => Origin::Fixed(span),
        }
    }

    pub(crate) fn span(&self, start: usize, end: usize) -> Span {
        match self.origin {
            Origin::Offset(base) => Span {
                start: base + start,
                end: base + end,
            },
            Origin::Fixed(span) => span,
        }
    }

    pub(crate) fn note(&mut self, reason: Reason, start: usize) {
        let span = self.span(start, self.at.max(start));
        self.found.opaque(reason, span);
    }

    pub(crate) fn stop(&mut self, reason: Reason, start: usize) -> Stop {
        self.note(reason, start);
        Stop
    }

    pub(crate) fn syntax(&mut self, what: &'static str) -> Stop {
        self.stop(Reason::Syntax(what), self.at)
    }

    /// Reads a nested construct.
    pub(crate) fn deeper<T>(&mut self, read: impl FnOnce(&mut Self) -> Walk<T>) -> Walk<T> {
        if self.depth >= MAX_DEPTH {
            return Err(self.stop(Reason::TooDeep, self.at));
        }
        self.depth += 1;
        let result = read(self);
        self.depth -= 1;
        result
    }

    /// Reads what is run only sometimes, or elsewhere.
    pub(crate) fn block<T>(&mut self, read: impl FnOnce(&mut Self) -> Walk<T>) -> Walk<T> {
        let start = self.at;
        let result = read(self)?;
        let span = self.span(start, self.at);
        self.found.block(span, BlockKind::Part);
        Ok(result)
    }

    /// Something holds from here on that began at `start`, when there had been so many risks. The
    /// commands of a line behind the first may not be reached.
    pub(crate) fn site(&self, start: usize, risks: usize) -> Site {
        Site {
            span: self.span(start, self.at),
            is_firm: start == self.line_start && self.found.risks == risks,
        }
    }

    /// Reads with the context changed.
    pub(crate) fn within<T>(
        &mut self,
        context: Context,
        read: impl FnOnce(&mut Self) -> Walk<T>,
    ) -> Walk<T> {
        let outer = std::mem::replace(&mut self.context, context);
        let result = read(self);
        self.context = outer;
        result
    }

    /// Reads the inside of an expansion.
    pub(crate) fn operand_of<T>(&mut self, read: impl FnOnce(&mut Self) -> Walk<T>) -> Walk<T> {
        let outer = std::mem::replace(&mut self.in_operand, true);
        let result = self.deeper(read);
        self.in_operand = outer;
        result
    }

    pub(crate) fn peek(&self) -> Option<u8> {
        self.peek_at(0)
    }

    pub(crate) fn peek_at(&self, ahead: usize) -> Option<u8> {
        self.text.get(self.at + ahead).copied()
    }

    pub(crate) fn rest(&self) -> &'t [u8] {
        self.text.get(self.at..).unwrap_or_default()
    }

    pub(crate) fn looking_at(&self, literal: &[u8]) -> bool {
        self.rest().starts_with(literal)
    }

    /// A backslash before a newline: the shell removes both before it looks at anything else.
    pub(crate) fn at_continuation(&self) -> bool {
        self.peek() == Some(b'\\') && self.peek_at(1) == Some(b'\n')
    }

    /// Skips spaces, tabs and line continuations.
    pub(crate) fn blanks(&mut self) {
        loop {
            if matches!(self.peek(), Some(b' ' | b'\t')) {
                self.at += 1;
            } else if self.at_continuation() {
                self.at += 2;
            } else {
                return;
            }
        }
    }

    /// Skips blanks and a comment behind them.
    pub(crate) fn blanks_and_comment(&mut self) {
        self.blanks();
        if self.peek() == Some(b'#') {
            let rest = self.rest();
            self.at += rest.iter().position(|b| *b == b'\n').unwrap_or(rest.len());
        }
    }

    /// Skips blanks, comments and newlines; bodies of here-documents are read on the way.
    pub(crate) fn blank_lines(&mut self) -> Walk {
        loop {
            self.blanks_and_comment();
            if self.peek() != Some(b'\n') {
                return Ok(());
            }
            self.newline()?;
        }
    }

    /// The newline that ends a line, and the here-documents that begin behind it.
    pub(crate) fn newline(&mut self) -> Walk {
        self.at += 1;
        let pending = std::mem::take(&mut self.pending);
        for document in pending {
            self.here_document(&document)?;
        }
        Ok(())
    }

    /// Refuses what posix shells read differently.
    pub(crate) fn bash_only(&mut self, what: &'static str) -> Walk {
        match self.dialect {
            Dialect::Bash => Ok(()),
            Dialect::Posix => Err(self.syntax(what)),
        }
    }
}
