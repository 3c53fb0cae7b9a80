//! Options of builtins.

use super::Argument;

/// Short options as `getopt(3)` reads them, with what they were given.
pub(super) struct Options<'a> {
    /// Letter and value.
    pub(super) given: Vec<(char, Option<&'a Argument>, Option<String>)>,
    /// What is behind them.
    pub(super) operands: &'a [Argument],
    /// A word that may be an option, but is not known.
    pub(super) unknown: Option<&'a Argument>,
}

/// Splits options from operands. `with_value` lists the letters that take a value.
pub(super) fn options<'a>(arguments: &'a [Argument], with_value: &str) -> Options<'a> {
    let mut given = Vec::new();
    let mut at = 0;
    while let Some(argument) = arguments.get(at) {
        let Some(text) = argument.literal() else {
            let unknown = argument.word.may_be_option().then_some(argument);
            return Options {
                given,
                operands: arguments.get(at..).unwrap_or_default(),
                unknown,
            };
        };
        if text == "--" {
            at += 1;
            break;
        }
        let Some(letters) = text.strip_prefix('-').filter(|letters| !letters.is_empty()) else {
            break;
        };
        at += 1;
        for (index, letter) in letters.char_indices() {
            if !with_value.contains(letter) {
                given.push((letter, None, None));
                continue;
            }
            let rest = letters.get(index + letter.len_utf8()..).unwrap_or("");
            if rest.is_empty() {
                given.push((
                    letter,
                    arguments.get(at),
                    arguments
                        .get(at)
                        .and_then(Argument::literal)
                        .map(str::to_owned),
                ));
                at += 1;
            } else {
                given.push((letter, None, Some(rest.to_owned())));
            }
            break;
        }
    }
    Options {
        given,
        operands: arguments.get(at..).unwrap_or_default(),
        unknown: None,
    }
}

impl Options<'_> {
    pub(super) fn has(&self, letter: char) -> bool {
        self.given.iter().any(|(given, _, _)| *given == letter)
    }

    /// A value that is given as a word of its own must be one word, else the words behind it shift.
    pub(super) fn shifts(&self) -> bool {
        self.given
            .iter()
            .any(|(_, value, _)| value.is_some_and(|value| !value.word.is_one_word()))
    }
}
