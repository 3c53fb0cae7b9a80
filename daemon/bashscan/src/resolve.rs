//! Names of commands that become known when all assignments are.

use crate::builtin::Argument;
use crate::context::{Context, Place};
use crate::findings::Findings;
use crate::lexer::{Lexeme, Origin, Parser};
use crate::opaque::Reason;
use crate::order::Order;
use crate::scan::Dialect;
use crate::word::{Span, Word, WordKind};

/// A command whose name, or the place of whose name, depends on what one of its words becomes.
pub(crate) struct Deferred {
    pub(crate) arguments: Vec<Argument>,
    /// Which of the arguments it is.
    pub(crate) at: usize,
    /// Wrappers around it.
    pub(crate) nested: usize,
    pub(crate) context: Context,
    /// Its index among the commands.
    pub(crate) command: usize,
    pub(crate) dialect: Dialect,
}

/// Most commands of one script that are looked up.
const MAX_DEFERRED: usize = 256;
/// What a command becomes may assign, or hold further commands of this kind.
const MAX_ROUNDS: usize = 4;

/// A word with what it was found to become.
type Settled = (Lexeme, Span, Vec<Vec<String>>);

/// Looks into the commands with every name that they can have; those that can have others are
/// opaque.
pub(crate) fn resolve(found: &mut Findings) {
    if found.deferred.is_empty() {
        return;
    }
    let mut settled: Vec<Settled> = Vec::new();
    for _ in 0..MAX_ROUNDS {
        if found.deferred.is_empty() || settled.len() + found.deferred.len() > MAX_DEFERRED {
            break;
        }
        let deferred = std::mem::take(&mut found.deferred);
        let candidates = candidates(found, &deferred);
        for (each, texts) in deferred.into_iter().zip(candidates) {
            match (texts, each.word()) {
                (Some(texts), Some(word)) => {
                    settled.push((word.lexeme().into_owned(), word.word.span, texts.clone()));
                    each.look_into(found, texts);
                }
                (_, word) => {
                    let span = word.map_or(Span { start: 0, end: 0 }, |word| word.word.span);
                    found.opaque(Reason::DynamicCommand, span);
                }
            }
        }
    }
    for each in std::mem::take(&mut found.deferred) {
        let span = each
            .word()
            .map_or(Span { start: 0, end: 0 }, |word| word.word.span);
        found.opaque(Reason::DynamicCommand, span);
    }
    if settled.is_empty() {
        return;
    }
    // What was found meanwhile may assign something else.
    found.places.sort();
    let order = Order::of(&found.places);
    let changed: Vec<Span> = settled
        .iter()
        .filter(|(word, span, texts)| {
            found.values.candidates(word, *span, &order).as_ref() != Some(texts)
        })
        .map(|(_, span, _)| *span)
        .collect();
    for span in changed {
        found.opaque(Reason::DynamicCommand, span);
    }
}

fn candidates(found: &mut Findings, deferred: &[Deferred]) -> Vec<Option<Vec<Vec<String>>>> {
    found.places.sort();
    let order = Order::of(&found.places);
    deferred
        .iter()
        .map(|each| {
            // Another shell need not have the variables.
            let word = each.word().filter(|_| !each.context.is_in(Place::Code))?;
            found
                .values
                .candidates(&word.lexeme(), word.word.span, &order)
        })
        .collect()
}

impl Deferred {
    fn word(&self) -> Option<&Argument> {
        self.arguments.get(self.at)
    }

    fn look_into(self, found: &mut Findings, texts: Vec<Vec<String>>) {
        for (which, words) in texts.into_iter().enumerate() {
            let mut arguments = self.arguments.clone();
            let span = self
                .word()
                .map_or(Span { start: 0, end: 0 }, |w| w.word.span);
            let words = words.into_iter().map(|text| known(text, span));
            arguments.splice(self.at..=self.at, words);
            let index = if which == 0 {
                self.command
            } else {
                let Some(original) = found.commands.get(self.command) else {
                    continue;
                };
                let another = original.clone();
                found.commands.push(another);
                found.commands.len() - 1
            };
            if let Some(command) = found.commands.get_mut(index) {
                command.words = arguments.iter().map(|each| each.word.clone()).collect();
            }
            for word in arguments.iter().skip(1) {
                if word.literal().is_none() {
                    found.values.call(index, word.lexeme.clone());
                }
            }
            let mut parser = Parser::new(b"", Origin::Fixed(span), found, self.dialect);
            parser.context = self.context.clone();
            parser.command = index;
            // Nothing in it was known for a declaration when it was read, hence one level deeper. A stop
            // has left its reason among the findings.
            if parser.inspect(&arguments, self.nested + 1).is_err() {
                return;
            }
        }
    }
}

/// A word that an expansion became: no assignment and no option of the grammar.
fn known(text: String, span: Span) -> Argument {
    let mut lexeme = Lexeme {
        quoted: true,
        ..Lexeme::default()
    };
    lexeme.text().extend_from_slice(text.as_bytes());
    Argument {
        lexeme,
        word: Word {
            kind: WordKind::Literal(text),
            span,
        },
    }
}
