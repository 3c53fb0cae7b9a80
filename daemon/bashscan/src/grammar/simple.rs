//! Simple commands.

use crate::builtin::{Argument, is_declaration};
use crate::lexer::{Lexeme, Parser, Walk, WordMode};
use crate::opaque::Reason;
use crate::order::Site;
use crate::scan::{Command, Redirection};
use crate::value::{is_plain_setting, output};
use crate::variable::{affects_programs, affects_shell};
use crate::word::Word;

/// An assignment before the command's name.
struct Prefix {
    name: String,
    value: Option<Lexeme>,
    /// Nothing is left of what the variable was.
    whole: bool,
    start: usize,
}

#[derive(Default)]
struct Draft {
    arguments: Vec<Argument>,
    prefixes: Vec<Prefix>,
    redirections: Vec<Redirection>,
    declares: bool,
    /// What could fail before it.
    risks: usize,
}

impl Parser<'_, '_> {
    /// A simple command, or a function definition that begins with its name.
    pub(super) fn simple(&mut self) -> Walk {
        let start = self.at;
        let mut draft = Draft {
            arguments: std::mem::take(&mut self.found.spare),
            risks: self.found.risks,
            ..Draft::default()
        };
        loop {
            self.blanks();
            if let Some(redirection) = self.redirection()? {
                draft.redirections.push(redirection);
                continue;
            }
            match self.peek() {
                None | Some(b'\n' | b';' | b'|' | b'&' | b')' | b'#') => break,
                Some(b'(') => {
                    if let [name] = draft.arguments.as_slice()
                        && draft.prefixes.is_empty()
                        && draft.redirections.is_empty()
                    {
                        let name = name.lexeme();
                        return self.function_parentheses(&name);
                    }
                    return Err(self.syntax("a parenthesis within a command"));
                }
                Some(_) => self.simple_word(&mut draft)?,
            }
        }
        if draft.arguments.is_empty() && draft.prefixes.is_empty() && draft.redirections.is_empty()
        {
            return Err(self.syntax("a command is missing"));
        }
        self.finish_simple(draft, start)
    }

    fn simple_word(&mut self, draft: &mut Draft) -> Walk {
        if draft.arguments.is_empty() && self.at_assignment() {
            let assigned = self.assignment()?;
            draft.prefixes.push(Prefix {
                name: assigned.name,
                value: assigned.value,
                whole: assigned.whole,
                start: assigned.start,
            });
            return Ok(());
        }
        if draft.declares && self.at_array() {
            return self.declared_array(draft);
        }
        let lexeme = self.word(WordMode::Plain)?;
        self.refuse_continued(&lexeme, draft.arguments.is_empty())?;
        let span = self.span(lexeme.start, lexeme.end);
        let argument = Argument::new(lexeme, span);
        if draft.arguments.is_empty() {
            draft.declares = argument.literal().is_some_and(is_declaration);
        }
        draft.arguments.push(argument);
        Ok(())
    }

    /// Words that only the removal of a line continuation makes an assignment or the descriptor of
    /// a redirection, and `{a[…]}>`.
    fn refuse_continued(&mut self, lexeme: &Lexeme, is_first: bool) -> Walk {
        let at_redirection = matches!(self.peek(), Some(b'<' | b'>'));
        let raw = self.text.get(lexeme.start..lexeme.end).unwrap_or_default();
        if at_redirection && raw.starts_with(b"{") && raw.ends_with(b"}") {
            return Err(self.syntax("an unusual {…} before a redirection"));
        }
        if lexeme.continued
            && (at_redirection || is_first)
            && (is_first || raw.iter().any(u8::is_ascii_digit))
        {
            let text = lexeme.prefix();
            let digits = text.bytes().all(|b| b.is_ascii_digit());
            if (is_first && (text.contains('=') || text.contains('[')))
                || (at_redirection && digits)
            {
                return Err(self.syntax("a line continuation within a name or number"));
            }
        }
        Ok(())
    }

    /// Whether `NAME=(` or `NAME+=(` stands here.
    fn at_array(&self) -> bool {
        let length = self.identifier_length(self.at);
        let behind = self.text.get(self.at + length..).unwrap_or_default();
        length > 0 && (behind.starts_with(b"=(") || behind.starts_with(b"+=("))
    }

    fn declared_array(&mut self, draft: &mut Draft) -> Walk {
        let start = self.at;
        let assigned = self.assignment()?;
        self.variable_is_set(&assigned.name, None, start);
        let span = self.span(start, self.at);
        let mut lexeme = Lexeme {
            start,
            end: self.at,
            quoted: true,
            ..Lexeme::default()
        };
        lexeme.text().extend_from_slice(assigned.name.as_bytes());
        lexeme.text().extend_from_slice(b"=()");
        let kind = crate::word::WordKind::Dynamic {
            prefix: format!("{}=", assigned.name),
            one_word: true,
        };
        draft.arguments.push(Argument {
            lexeme,
            word: Word { kind, span },
        });
        Ok(())
    }

    fn finish_simple(&mut self, mut draft: Draft, start: usize) -> Walk {
        // Nothing of it runs if a file cannot be opened.
        let site = draft
            .redirections
            .is_empty()
            .then(|| self.site(start, draft.risks));
        self.finish_prefixes(&draft, site);
        let end = draft
            .arguments
            .iter()
            .map(|argument| argument.lexeme.end)
            .max()
            .unwrap_or(self.at);
        let reads_stdin = draft.redirections.iter().any(Redirection::is_input);
        let prints_plainly = draft.prefixes.is_empty()
            && draft
                .redirections
                .iter()
                .all(|each| each.is_input() || each.discards_errors());
        self.found.commands.push(Command {
            words: Vec::new(),
            assignments: draft
                .prefixes
                .into_iter()
                .map(|prefix| prefix.name)
                .collect(),
            redirections: draft.redirections,
            context: self.context.clone(),
            reads_stdin,
            span: self.span(start, end.max(start)),
            line: 0,
            calls_function: false,
        });
        let index = self.found.commands.len() - 1;
        self.command = index;
        self.command_site = site;
        let inspected = self.inspect(&draft.arguments, 0);
        self.output = if prints_plainly {
            output(&draft.arguments)
        } else {
            None
        };
        let mut words = Vec::with_capacity(draft.arguments.len());
        for (at, argument) in draft.arguments.drain(..).enumerate() {
            if at > 0 && argument.literal().is_none() {
                self.found.values.call(index, argument.lexeme);
            }
            words.push(argument.word);
        }
        if let Some(command) = self.found.commands.get_mut(index) {
            command.words = words;
        }
        self.found.spare = draft.arguments;
        inspected
    }

    /// The assignments before the command's name.
    fn finish_prefixes(&mut self, draft: &Draft, site: Option<Site>) {
        let name = draft.arguments.first().and_then(Argument::literal);
        if let Some(mut site) = site.filter(|_| draft.arguments.is_empty()) {
            for prefix in &draft.prefixes {
                if prefix.whole {
                    let context = &self.context;
                    self.found.assigned_for_certain(&prefix.name, context, site);
                }
                // It fails if the variable is readonly, and the next one is not reached.
                site.is_firm = false;
            }
        }
        for prefix in &draft.prefixes {
            // The separator of fields holds for the one command, which takes data with it, not code.
            let for_read = prefix.name == "IFS" && name == Some("read");
            if !for_read {
                self.variable_is_set(&prefix.name, prefix.value.as_ref(), prefix.start);
            }
            let is_plain = prefix
                .value
                .as_ref()
                .is_some_and(|value| is_plain_setting(&prefix.name, value));
            let known = affects_shell(&prefix.name) || is_plain;
            if !draft.arguments.is_empty() && !known && affects_programs(&prefix.name) {
                self.note(Reason::Variable(prefix.name.clone()), prefix.start);
            }
        }
    }
}
