//! Text of others that a person is to judge by: on a terminal, on a card.
//!
//! Control characters can move the cursor and rewrite what was shown; bidirectional and invisible
//! ones make a command look like another. They are shown as what they are.

use std::fmt::Write as _;

/// One line: every control, bidirectional and invisible character is escaped, line ends included.
#[must_use]
pub fn text(text: &str) -> String {
    escaped(text, |_| false)
}

/// Several lines: line feeds and tabs stay.
#[must_use]
pub fn lines(text: &str) -> String {
    escaped(text, |character| matches!(character, '\n' | '\t'))
}

fn escaped(text: &str, keep: impl Fn(char) -> bool) -> String {
    let mut shown = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            _ if keep(character) || !is_deceptive(character) => shown.push(character),
            '\n' => shown.push_str("\\n"),
            '\t' => shown.push_str("\\t"),
            '\r' => shown.push_str("\\r"),
            // Writing to a string cannot fail.
            _ => write!(shown, "\\u{{{:x}}}", u32::from(character)).unwrap_or_default(),
        }
    }
    shown
}

/// Unicode's controls, its format characters, and those that draw nothing or end a line.
fn is_deceptive(character: char) -> bool {
    character.is_control()
        || matches!(
            character,
            '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}'..='\u{1160}' | '\u{17b4}'..='\u{17b5}' | '\u{180b}'..='\u{180f}'
            | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{3164}'
            | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}'
            | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}'
        )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_that_reorders_itself_is_shown_as_it_is() {
        assert_eq!(
            text("echo \u{202e}fr- mr\u{2066}"),
            "echo \\u{202e}fr- mr\\u{2066}"
        );
    }

    #[test]
    fn escape_sequences_line_ends_and_invisible_characters_are_shown() {
        assert_eq!(
            text("\x1b[2J\r\n\t\0\u{7f}\u{9b}"),
            "\\u{1b}[2J\\r\\n\\t\\u{0}\\u{7f}\\u{9b}"
        );
        assert_eq!(
            text("a\u{200b}b\u{feff}\u{e0041}\u{2028}"),
            "a\\u{200b}b\\u{feff}\\u{e0041}\\u{2028}"
        );
    }

    #[test]
    fn output_keeps_its_lines_and_tabs_and_nothing_else() {
        assert_eq!(lines("a\tb\nc\x1b]0;x\x07"), "a\tb\nc\\u{1b}]0;x\\u{7}");
    }

    #[test]
    fn letters_of_every_script_stay() {
        let plain = "grün, 東京, שלום, 🦀 -- \\x 'y' $z";
        assert_eq!(text(plain), plain);
    }
}
