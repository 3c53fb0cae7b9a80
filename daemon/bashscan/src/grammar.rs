//! Lists, pipelines and what a command begins with.

mod branch;
mod compound;
mod conditional;
mod function;
mod keyword;
mod redirection;
mod simple;

use crate::context::Place;
use crate::lexer::{Parser, Walk};
use crate::order::BlockKind;
use keyword::Keyword;

impl Parser<'_, '_> {
    /// A whole text of commands.
    pub(crate) fn script(&mut self) -> Walk {
        self.lines()?;
        if self.peek().is_some() {
            return Err(self.syntax("a closing word or parenthesis without an opening one"));
        }
        if !self.pending.is_empty() {
            return Err(self.syntax("a here-document without body"));
        }
        Ok(())
    }

    /// Commands that the shell reads and runs line by line.
    pub(crate) fn lines(&mut self) -> Walk<usize> {
        let outer = self.line_start;
        let result = self.commands(true);
        self.line_start = outer;
        result
    }

    /// Commands up to a closing word or parenthesis, `;;` or the end; how many there were.
    pub(crate) fn list(&mut self) -> Walk<usize> {
        self.commands(false)
    }

    fn commands(&mut self, by_line: bool) -> Walk<usize> {
        let mut count = 0;
        // Of more than one command it is not known what they print together.
        self.output = None;
        self.blank_lines()?;
        if by_line {
            self.line_start = self.at;
        }
        loop {
            let before = self.at;
            self.blank_lines()?;
            let skipped = self.text.get(before..self.at).unwrap_or_default();
            if by_line && skipped.contains(&b'\n') {
                self.line_ends();
            }
            match self.peek() {
                None | Some(b')') => {
                    if by_line {
                        self.line_ends();
                    }
                    return Ok(count);
                }
                Some(b';') => {
                    return if matches!(self.peek_at(1), Some(b';' | b'&')) {
                        Ok(count)
                    } else {
                        Err(self.syntax("a semicolon behind no command"))
                    };
                }
                Some(_) => {}
            }
            if self.keyword().is_some_and(Keyword::closes) {
                return Ok(count);
            }
            let first = (self.found.commands.len(), self.at);
            self.and_or()?;
            count += 1;
            if count > 1 {
                self.output = None;
            }
            if !self.separator(first)? {
                if by_line {
                    self.line_ends();
                }
                return Ok(count);
            }
        }
    }

    /// The line ends before the next command, with the here-documents that follow it.
    fn line_ends(&mut self) {
        let span = self.span(self.line_start, self.at);
        self.found.block(span, BlockKind::Line);
        self.line_start = self.at;
    }

    /// A list that must not be empty.
    pub(crate) fn some_list(&mut self) -> Walk {
        if self.list()? == 0 {
            return Err(self.syntax("a command is missing"));
        }
        Ok(())
    }

    /// What ends one command of a list; false if it ends the list too.
    fn separator(&mut self, (first, start): (usize, usize)) -> Walk<bool> {
        self.blanks_and_comment();
        match (self.peek(), self.peek_at(1)) {
            (Some(b';'), Some(b';' | b'&')) | (None | Some(b')'), _) => Ok(false),
            (Some(b';'), _) => {
                self.at += 1;
                self.operator_ends()?;
                Ok(true)
            }
            (Some(b'&'), _) => {
                self.at += 1;
                self.operator_ends()?;
                self.found.mark(first, Some(Place::Background), false);
                let span = self.span(start, self.at);
                self.found.block(span, BlockKind::Part);
                Ok(true)
            }
            (Some(b'\n'), _) => Ok(true),
            // `{ while a; do b; done }`: only behind a compound command can one stand here.
            _ if self.keyword().is_some_and(Keyword::closes) => Ok(false),
            _ => Err(self.syntax("a word or parenthesis where a command should have ended")),
        }
    }

    /// An operator must not go on behind a line continuation: too easily misread.
    pub(crate) fn operator_ends(&mut self) -> Walk {
        let continues = self.at_continuation()
            && matches!(
                self.peek_at(2),
                Some(b'&' | b'|' | b';' | b'<' | b'>' | b'(' | b'-' | b'\\')
            );
        if continues {
            Err(self.syntax("an operator over two lines"))
        } else {
            Ok(())
        }
    }

    /// Pipelines joined by `&&` and `||`.
    fn and_or(&mut self) -> Walk {
        self.pipeline()?;
        loop {
            self.blanks_and_comment();
            if !self.looking_at(b"&&") && !self.looking_at(b"||") {
                return Ok(());
            }
            self.at += 2;
            self.operator_ends()?;
            self.blank_lines()?;
            let context = self.context.within(Place::Conditional);
            self.within(context, |this| this.block(Self::pipeline))?;
            self.output = None;
        }
    }

    /// Commands joined by `|`.
    fn pipeline(&mut self) -> Walk {
        if !self.pipeline_prefix()? {
            return Ok(());
        }
        let (first, start) = (self.found.commands.len(), self.at);
        let mut has_more = self.pipeline_stage()?;
        if has_more {
            self.found.mark(first, Some(Place::Pipeline), false);
            let span = self.span(start, self.at);
            self.found.block(span, BlockKind::Part);
        }
        while has_more {
            let stage = self.found.commands.len();
            has_more = self.block(Self::pipeline_stage)?;
            self.found.mark(stage, Some(Place::Pipeline), true);
        }
        Ok(())
    }

    /// `!` and `time`; false if no command follows.
    fn pipeline_prefix(&mut self) -> Walk<bool> {
        let mut has_prefix = false;
        loop {
            self.blanks();
            match self.keyword() {
                Some(Keyword::Bang) => self.skip_keyword(),
                Some(Keyword::Time) => {
                    self.bash_only("time in a POSIX shell")?;
                    self.skip_keyword();
                    self.time_options()?;
                }
                _ => break,
            }
            has_prefix = true;
        }
        let ends = matches!(self.peek(), None | Some(b';' | b'\n' | b')' | b'#'));
        if has_prefix && ends {
            self.found.expressions += 1;
        }
        Ok(!(has_prefix && ends))
    }

    /// `-p` and `--` behind `time`.
    fn time_options(&mut self) -> Walk {
        for option in [b"-p".as_slice(), b"--"] {
            self.blanks();
            let ends = matches!(self.peek_at(2), None | Some(b' ' | b'\t' | b'\n' | b';'));
            if self.looking_at(option) && ends {
                self.at += 2;
            }
        }
        self.blanks();
        if self.peek() == Some(b'-') {
            return Err(self.syntax("an option of time"));
        }
        Ok(())
    }

    /// One command of a pipeline; whether another follows.
    fn pipeline_stage(&mut self) -> Walk<bool> {
        self.deeper(Self::command)?;
        self.blanks_and_comment();
        if self.peek() != Some(b'|') || self.peek_at(1) == Some(b'|') {
            return Ok(false);
        }
        self.at += 1;
        if self.peek() == Some(b'&') {
            self.bash_only("|& in a POSIX shell")?;
            self.at += 1;
        }
        self.operator_ends()?;
        self.blank_lines()?;
        Ok(true)
    }

    /// A simple or compound command or a function definition.
    pub(crate) fn command(&mut self) -> Walk {
        self.blanks();
        let first = (self.found.commands.len(), self.at);
        if self.peek() == Some(b'(') {
            if self.peek_at(1) == Some(b'(') {
                self.arithmetic_command()?;
            } else {
                self.at += 1;
                self.operator_ends()?;
                self.subshell()?;
            }
            self.compound_redirections(first)?;
            self.output = None;
            return Ok(());
        }
        self.output = None;
        match self.keyword() {
            None | Some(Keyword::Time) => self.simple(),
            Some(Keyword::Function) => self.function_keyword(),
            Some(Keyword::Coproc) => self.coprocess(),
            Some(keyword) => {
                self.compound(keyword)?;
                self.compound_redirections(first)?;
                self.output = None;
                Ok(())
            }
        }
    }
}
