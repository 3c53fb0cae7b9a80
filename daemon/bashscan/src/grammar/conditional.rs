//! `[[ … ]]`

use crate::lexer::{Lexeme, Parser, Walk, WordMode};
use crate::opaque::Reason;
use crate::value::Need;
use crate::variable::is_plain_reference;

/// Both operands are evaluated as arithmetic, other than in `test`.
const ARITHMETIC: &[&str] = &["-eq", "-ne", "-lt", "-le", "-gt", "-ge"];

/// A token of the expression.
enum Token {
    Word(Lexeme),
    Operator,
}

impl Parser<'_, '_> {
    pub(super) fn conditional_command(&mut self) -> Walk {
        self.bash_only("[[ in a POSIX shell")?;
        self.skip_keyword();
        self.found.expressions += 1;
        let mut tokens = Vec::new();
        let mut open = 0_usize;
        loop {
            self.condition_blanks()?;
            let mode = match tokens.last() {
                Some(Token::Word(word)) if is_unquoted(word, "=~") => WordMode::Regex,
                _ => WordMode::Condition,
            };
            if mode == WordMode::Condition {
                if self.condition_operator(&mut open)? {
                    tokens.push(Token::Operator);
                    continue;
                }
                if self.looking_at(b"#") {
                    return Err(self.syntax("a number sign at the start of a word in [["));
                }
            }
            let word = self.word(mode)?;
            if mode == WordMode::Condition && is_unquoted(&word, "]]") {
                break;
            }
            tokens.push(Token::Word(word));
        }
        if open > 0 || tokens.is_empty() {
            return Err(self.syntax("an unbalanced [["));
        }
        self.condition_operands(&tokens);
        Ok(())
    }

    fn condition_blanks(&mut self) -> Walk {
        loop {
            self.blanks();
            match self.peek() {
                Some(b'\n') => self.newline()?,
                None => return Err(self.syntax("a [[ that is not closed")),
                Some(_) => return Ok(()),
            }
        }
    }

    /// `&&`, `||`, parentheses, `<`, `>`: true if one was read.
    fn condition_operator(&mut self, open: &mut usize) -> Walk<bool> {
        let length = match (self.peek(), self.peek_at(1)) {
            (Some(b'&'), Some(b'&')) | (Some(b'|'), Some(b'|')) => 2,
            (Some(b'<' | b'>'), Some(b'(')) => return Ok(false),
            (Some(b'<'), Some(b'<' | b'&' | b'>')) | (Some(b'>'), Some(b'>' | b'&' | b'|')) => {
                return Err(self.syntax("a redirection within [["));
            }
            (Some(b'<' | b'>'), _) => 1,
            (Some(b'('), _) => {
                *open += 1;
                1
            }
            (Some(b')'), _) if *open > 0 => {
                *open -= 1;
                1
            }
            (Some(b'&' | b'|' | b';' | b')'), _) => {
                return Err(self.syntax("an operator within [["));
            }
            _ => return Ok(false),
        };
        self.at += length;
        self.operator_ends()?;
        Ok(true)
    }

    /// Operands that are evaluated.
    fn condition_operands(&mut self, tokens: &[Token]) {
        for (at, token) in tokens.iter().enumerate() {
            let Token::Word(word) = token else { continue };
            let Some(operator) = word.literal() else {
                continue;
            };
            let neighbour = |at: Option<usize>| match at.and_then(|at| tokens.get(at)) {
                Some(Token::Word(word)) => Some(word),
                Some(Token::Operator) | None => None,
            };
            if ARITHMETIC.contains(&operator.as_str()) {
                for operand in [neighbour(at.checked_sub(1)), neighbour(Some(at + 1))]
                    .into_iter()
                    .flatten()
                {
                    let span = self.span(operand.start, operand.end);
                    self.found.values.evaluate(operand, &self.context, span);
                }
            }
            if matches!(operator.as_str(), "-v" | "-R")
                && let Some(name) = neighbour(Some(at + 1))
                && !name.literal().is_some_and(|name| is_plain_reference(&name))
            {
                let span = self.span(name.start, name.end);
                let reason = Reason::DynamicVariable("[[ -v".to_owned());
                let values = &mut self.found.values;
                values.require(name, Need::Plain, reason, span);
            }
        }
    }
}

fn is_unquoted(word: &Lexeme, text: &str) -> bool {
    !word.quoted && word.constant().as_deref() == Some(text)
}
