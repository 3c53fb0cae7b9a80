//! Words that can become only what the script itself wrote down.

use super::origin::is_set_by_bash;
use super::table::Values;
use crate::lexer::{Lexeme, Piece};
use crate::order::Order;
use crate::variable::affects_shell;
use crate::word::Span;

/// Most texts that one word may stand for.
const MAX_CANDIDATES: usize = 16;

impl Values {
    /// All that a word of this kind can become, each as a list of words; none if that cannot be told.
    ///
    /// Every variable in it must have been assigned for certain before, and never anything but
    /// constants.
    pub(crate) fn candidates(
        &self,
        word: &Lexeme,
        span: Span,
        order: &Order<'_>,
    ) -> Option<Vec<Vec<String>>> {
        if word.pattern {
            return None;
        }
        let mut texts = vec![String::new()];
        for piece in word.pieces.iter() {
            let tails = match piece {
                Piece::Text(text) => vec![std::str::from_utf8(text).ok()?],
                Piece::Variable(name) if order.is_assigned_before(name, span) => {
                    self.constants(name)?
                }
                Piece::Variable(_) | Piece::Derived(_) | Piece::Integer | Piece::Unknown => {
                    return None;
                }
            };
            if texts.len() * tails.len() > MAX_CANDIDATES {
                return None;
            }
            texts = texts
                .iter()
                .flat_map(|text| tails.iter().map(move |tail| format!("{text}{tail}")))
                .collect();
        }
        if !word.splits {
            return Some(texts.into_iter().map(|text| vec![text]).collect());
        }
        let is_one = word.pieces.single().is_some() && !word.quoted;
        if self.separator || !texts.iter().all(|text| splits_plainly(text, is_one)) {
            return None;
        }
        let split = |text: &String| {
            let words = text.split([' ', '\t', '\n']);
            words
                .filter(|word| !word.is_empty())
                .map(str::to_owned)
                .collect()
        };
        Some(texts.iter().map(split).collect())
    }

    /// Every value that the variable may have once it is assigned.
    fn constants(&self, name: &str) -> Option<Vec<&str>> {
        let strange = is_set_by_bash(name)
            || affects_shell(name)
            || self.integer.contains(name)
            || self.changed.contains(name)
            || self.arrays.contains(name)
            || self.may_not_hold(name);
        if strange {
            return None;
        }
        let assigned = self.assigned.get(name)?;
        let mut texts: Vec<&str> = Vec::new();
        if self.emptied.contains(name) {
            texts.push("");
        }
        for each in assigned {
            let text = each.constant.as_deref()?;
            if !texts.contains(&text) {
                texts.push(text);
            }
            if texts.len() > MAX_CANDIDATES {
                return None;
            }
        }
        Some(texts)
    }
}

/// Whether an unquoted expansion to this is just cut at its blanks: nothing in it is a pattern. If
/// it is but a part of the word, there must be no blank.
fn splits_plainly(text: &str, is_whole: bool) -> bool {
    text.bytes().all(|byte| {
        !matches!(
            byte,
            b'*' | b'?' | b'[' | b']' | b'\\' | b'(' | b')' | b'|' | b'!'
        ) && (is_whole || !byte.is_ascii_whitespace())
    }) && (is_whole || !text.is_empty())
}
