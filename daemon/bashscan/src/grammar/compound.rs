//! Compound commands.

use super::keyword::Keyword;
use crate::context::Place;
use crate::lexer::{Parser, Walk, WordMode};
use crate::opaque::Reason;
use crate::order::Site;
use crate::value::{Kind, Value, positional_in};
use crate::variable::is_identifier;

impl Parser<'_, '_> {
    /// A compound command, from its reserved word.
    pub(super) fn compound(&mut self, keyword: Keyword) -> Walk {
        match keyword {
            Keyword::OpenBrace => {
                self.skip_keyword();
                self.some_list()?;
                self.expect(Keyword::CloseBrace)
            }
            Keyword::If => self.if_command(),
            Keyword::While | Keyword::Until => self.while_command(),
            Keyword::For => self.for_command(),
            Keyword::Select => {
                self.bash_only("select in a POSIX shell")?;
                self.for_command()
            }
            Keyword::Case => self.case_command(),
            Keyword::OpenTest => self.conditional_command(),
            Keyword::Bang
            | Keyword::Coproc
            | Keyword::Do
            | Keyword::Done
            | Keyword::Elif
            | Keyword::Else
            | Keyword::Esac
            | Keyword::Fi
            | Keyword::Function
            | Keyword::Then
            | Keyword::CloseBrace
            | Keyword::Time => Err(self.syntax("a reserved word out of place")),
        }
    }

    /// Whether a compound command begins here.
    pub(super) fn at_compound(&self) -> bool {
        self.peek() == Some(b'(')
            || matches!(
                self.keyword(),
                Some(
                    Keyword::OpenBrace
                        | Keyword::If
                        | Keyword::While
                        | Keyword::Until
                        | Keyword::For
                        | Keyword::Select
                        | Keyword::Case
                        | Keyword::OpenTest
                )
            )
    }

    pub(super) fn expect(&mut self, keyword: Keyword) -> Walk {
        if self.keyword() != Some(keyword) {
            return Err(self.syntax("a compound command that is not closed"));
        }
        self.skip_keyword();
        Ok(())
    }

    /// `( … )`, from behind the parenthesis.
    pub(super) fn subshell(&mut self) -> Walk {
        let context = self.context.within(Place::Subshell);
        self.within(context, |this| this.block(Self::some_list))?;
        if self.peek() != Some(b')') {
            return Err(self.syntax("a subshell that is not closed"));
        }
        self.at += 1;
        Ok(())
    }

    /// `((…))`
    pub(super) fn arithmetic_command(&mut self) -> Walk {
        self.bash_only("((…)) in a POSIX shell")?;
        self.at += 2;
        self.found.expressions += 1;
        let start = self.at;
        self.arithmetic_parentheses()?;
        self.assigned_first(start);
        Ok(())
    }

    fn while_command(&mut self) -> Walk {
        self.skip_keyword();
        let context = self.context.within(Place::Loop);
        self.within(context, |this| {
            this.some_list()?;
            this.loop_body()
        })
    }

    /// `do … done`
    fn loop_body(&mut self) -> Walk {
        self.expect(Keyword::Do)?;
        self.block(Self::some_list)?;
        self.expect(Keyword::Done)
    }

    /// `for` and `select`.
    fn for_command(&mut self) -> Walk {
        self.skip_keyword();
        self.blanks();
        let mut name = None;
        if self.looking_at(b"((") {
            self.bash_only("for ((…)) in a POSIX shell")?;
            self.at += 2;
            self.arithmetic_for()?;
            self.blanks_and_comment();
            if self.peek() == Some(b';') {
                self.at += 1;
                self.operator_ends()?;
            }
        } else {
            name = Some(self.for_words()?);
        }
        self.blank_lines()?;
        let context = self.context.within(Place::Loop);
        if let Some(name) = name {
            let site = Site {
                span: self.span(self.at, self.at),
                is_firm: false,
            };
            self.found.assigned_for_certain(&name, &context, site);
        }
        self.within(context, |this| {
            this.block(|this| {
                if this.keyword() == Some(Keyword::OpenBrace) {
                    return this.compound(Keyword::OpenBrace);
                }
                this.loop_body()
            })
        })
    }

    /// The variable and the words of a loop.
    fn for_words(&mut self) -> Walk<String> {
        let word = self.word(WordMode::Plain)?;
        let name = word
            .literal()
            .filter(|name| !word.quoted && is_identifier(name));
        let Some(name) = name else {
            return Err(self.syntax("an unusual name of a loop's variable"));
        };
        self.variable_is_set(&name, None, word.start);
        self.blank_lines()?;
        let mut has_words = false;
        if self.at_word(b"in") {
            has_words = true;
            self.skip_keyword();
            loop {
                self.blanks();
                match self.peek() {
                    None | Some(b';' | b'\n' | b'#') => break,
                    Some(_) => {}
                }
                let value = self.word(WordMode::Plain)?;
                let span = self.span(value.start, value.end);
                self.found.values.assign(&name, &value, span);
            }
            self.blanks_and_comment();
        }
        if !has_words {
            let span = self.span(word.start, self.at);
            let value = match positional_in(&self.context) {
                Some(all) => Value::of_name(all),
                None => Value::of_kind(Kind::Unknown),
            };
            self.found.values.assign_value(&name, value, span);
        }
        if self.peek() == Some(b';') {
            self.at += 1;
            self.operator_ends()?;
        } else if has_words && self.peek() != Some(b'\n') {
            return Err(self.syntax("the words of a loop do not end"));
        }
        Ok(name)
    }

    /// `coproc [NAME] command`. Its pipes can carry anything from one command to another.
    pub(super) fn coprocess(&mut self) -> Walk {
        self.bash_only("coproc in a POSIX shell")?;
        let start = self.at;
        self.skip_keyword();
        self.blanks();
        let context = self.context.within(Place::Coprocess);
        self.within(context, |this| {
            if this.at_compound() {
                return this.block(Self::command);
            }
            // A name counts as one only if a compound command follows.
            let before = this.at;
            this.at += this.identifier(before).len();
            let named = this.at > before && matches!(this.peek(), Some(b' ' | b'\t'));
            this.blanks();
            if named && this.at_compound() {
                return this.block(Self::command);
            }
            this.at = before;
            this.block(Self::simple)
        })?;
        self.note(Reason::ShellState("coproc".to_owned()), start);
        Ok(())
    }
}
