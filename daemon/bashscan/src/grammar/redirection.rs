//! Redirections.

use crate::lexer::{Parser, Walk, WordMode};
use crate::opaque::Reason;
use crate::order::BlockKind;
use crate::scan::Redirection;
use crate::variable::is_identifier;
use crate::word::{Word, WordKind};

/// Longer ones first.
const OPERATORS: &[&str] = &[
    "&>>", "&>", "<<<", "<<-", "<<", "<&", "<>", "<", ">>", ">&", ">|", ">",
];

/// A descriptor number is never longer.
const MAX_DIGITS: usize = 9;

impl Parser<'_, '_> {
    /// The redirection that begins here, if one does.
    pub(super) fn redirection(&mut self) -> Walk<Option<Redirection>> {
        if !matches!(self.peek(), Some(b'<' | b'>' | b'&' | b'{' | b'0'..=b'9')) {
            return Ok(None);
        }
        let start = self.at;
        let mut ahead = 0;
        while self.peek_at(ahead).is_some_and(|b| b.is_ascii_digit()) && ahead <= MAX_DIGITS {
            ahead += 1;
        }
        let digits = ahead;
        let variable = if digits == 0 {
            self.descriptor_variable()?
        } else {
            None
        };
        if let Some(name) = &variable {
            ahead = name.len() + 2;
        }
        let rest = self.text.get(start + ahead..).unwrap_or_default();
        let Some(operator) = OPERATORS
            .iter()
            .find(|operator| rest.starts_with(operator.as_bytes()))
        else {
            return Ok(None);
        };
        let is_process = operator.len() == 1 && rest.get(1) == Some(&b'(');
        if is_process || (operator.starts_with('&') && ahead > 0) {
            return Ok(None);
        }
        if digits > MAX_DIGITS {
            return Err(self.syntax("a descriptor with too many digits"));
        }
        if digits > 1 {
            self.bash_only("a descriptor of several digits in a POSIX shell")?;
        }
        self.at += ahead + operator.len();
        self.operator_ends()?;
        if matches!(*operator, "&>" | "&>>" | "<<<") {
            self.bash_only("a redirection that POSIX shells do not have")?;
        }
        let fd = std::str::from_utf8(self.text.get(start..start + digits).unwrap_or_default())
            .ok()
            .and_then(|digits| digits.parse().ok());
        if let Some(name) = &variable {
            self.bash_only("{fd}> in a POSIX shell")?;
            self.variable_is_set(name, None, start);
            let span = self.span(start, self.at);
            self.found.values.assign_integer(name, span);
        }
        self.redirection_target(start, operator, fd).map(Some)
    }

    /// `{name}` directly before `<` or `>`.
    fn descriptor_variable(&mut self) -> Walk<Option<String>> {
        if self.peek() != Some(b'{') {
            return Ok(None);
        }
        let name = self.identifier(self.at + 1);
        let behind = self.peek_at(1 + name.len());
        let next = self.peek_at(2 + name.len());
        let is_one =
            is_identifier(&name) && behind == Some(b'}') && matches!(next, Some(b'<' | b'>'));
        let is_process = self.peek_at(3 + name.len()) == Some(b'(');
        if is_one && is_process {
            return Err(self.syntax("a process substitution behind {…}"));
        }
        Ok(is_one.then_some(name))
    }

    fn redirection_target(
        &mut self,
        start: usize,
        operator: &'static str,
        fd: Option<u32>,
    ) -> Walk<Redirection> {
        if operator == "<<" || operator == "<<-" {
            let target = self.here_document_start(operator == "<<-")?;
            let span = self.span(start, self.at);
            return Ok(Redirection {
                operator,
                fd,
                target,
                writes: false,
                span,
            });
        }
        self.blanks();
        let word = self.word(WordMode::Plain)?;
        let span = self.span(word.start, word.end);
        let target = word.word(span);
        let path = target.prefix();
        if operator != "<<<" && (path.starts_with("/dev/tcp") || path.starts_with("/dev/udp")) {
            self.note(Reason::Network, start);
        }
        let writes = match operator {
            ">" | ">>" | ">|" | "<>" | "&>" | "&>>" => true,
            ">&" => !is_descriptor(&target),
            _ => false,
        };
        let span = self.span(start, self.at);
        Ok(Redirection {
            operator,
            fd,
            target,
            writes,
            span,
        })
    }

    /// The redirections behind a compound command, which hold for all in it.
    pub(super) fn compound_redirections(&mut self, (first, start): (usize, usize)) -> Walk {
        let mut reads = false;
        loop {
            self.blanks();
            let Some(redirection) = self.redirection()? else {
                break;
            };
            // Nothing of it runs if the file cannot be opened.
            let span = self.span(start, self.at);
            self.found.block(span, BlockKind::Part);
            reads |= redirection.is_input();
            self.found.redirections.push(redirection);
        }
        self.found.mark(first, None, reads);
        Ok(())
    }
}

impl Redirection {
    /// `2>/dev/null`
    pub(crate) fn discards_errors(&self) -> bool {
        self.fd == Some(2) && self.target.literal() == Some("/dev/null")
    }

    /// Leads something into standard input.
    pub(crate) fn is_input(&self) -> bool {
        self.operator.starts_with('<') && matches!(self.fd, None | Some(0))
    }
}

/// `2`, `-`, `2-`
fn is_descriptor(target: &Word) -> bool {
    match &target.kind {
        WordKind::Literal(text) => {
            let digits = text.strip_suffix('-').unwrap_or(text);
            !text.is_empty() && digits.bytes().all(|b| b.is_ascii_digit())
        }
        WordKind::Glob { .. } | WordKind::Dynamic { .. } => false,
    }
}
