//! `if` and `case`.

use super::keyword::Keyword;
use crate::context::Place;
use crate::lexer::{Parser, Walk, WordMode};

impl Parser<'_, '_> {
    /// `if … then … [elif … then …] [else …] fi`
    pub(super) fn if_command(&mut self) -> Walk {
        self.skip_keyword();
        self.some_list()?;
        let context = self.context.within(Place::Conditional);
        self.within(context, |this| {
            loop {
                this.expect(Keyword::Then)?;
                this.block(Self::some_list)?;
                match this.keyword() {
                    Some(Keyword::Elif) => {
                        this.skip_keyword();
                        this.block(Self::some_list)?;
                    }
                    Some(Keyword::Else) => {
                        this.skip_keyword();
                        this.block(Self::some_list)?;
                        return this.expect(Keyword::Fi);
                    }
                    _ => return this.expect(Keyword::Fi),
                }
            }
        })
    }

    /// `case word in [(] pattern [| pattern] … ) list ;; … esac`
    pub(super) fn case_command(&mut self) -> Walk {
        self.skip_keyword();
        self.blanks();
        self.word(WordMode::Plain)?;
        self.found.expressions += 1;
        self.blank_lines()?;
        if !self.at_word(b"in") {
            return Err(self.syntax("a case without in"));
        }
        self.skip_keyword();
        let context = self.context.within(Place::Conditional);
        self.within(context, |this| {
            loop {
                this.blank_lines()?;
                if this.keyword() == Some(Keyword::Esac) {
                    this.skip_keyword();
                    return Ok(());
                }
                this.case_patterns()?;
                this.block(Self::list)?;
                if !this.case_terminator()? {
                    return this.expect(Keyword::Esac);
                }
            }
        })
    }

    fn case_patterns(&mut self) -> Walk {
        if self.peek() == Some(b'(') {
            self.at += 1;
            self.operator_ends()?;
            self.blanks();
            if self.keyword() == Some(Keyword::Esac) {
                return Err(self.syntax("esac as a pattern"));
            }
        }
        loop {
            self.blanks();
            self.word(WordMode::Plain)?;
            self.blanks();
            match self.peek() {
                Some(b'|') => self.at += 1,
                Some(b')') => {
                    self.at += 1;
                    return Ok(());
                }
                _ => return Err(self.syntax("a pattern that does not end")),
            }
            self.operator_ends()?;
        }
    }

    /// `;;`, `;&` or `;;&`; false if there is none.
    fn case_terminator(&mut self) -> Walk<bool> {
        let length = if self.looking_at(b";;&") {
            3
        } else if self.looking_at(b";;") || self.looking_at(b";&") {
            2
        } else {
            return Ok(false);
        };
        if length == 3 || self.peek_at(1) == Some(b'&') {
            self.bash_only(";& in a POSIX shell")?;
        }
        self.at += length;
        self.operator_ends()?;
        Ok(true)
    }
}
