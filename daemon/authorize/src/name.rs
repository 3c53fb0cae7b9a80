//! Names of tools against the names and globs of rules.

use harness_model::Tool;

/// A name or glob with underscores for hyphens, which are the same.
pub(crate) fn plain(name: &str) -> String {
    name.replace('-', "_")
}

/// The names of a tool, plain.
pub(crate) struct Names {
    full: String,
    /// Where in `full` the tool's own name begins.
    own: usize,
}

impl Names {
    pub(crate) fn of(tool: &Tool) -> Self {
        let full = plain(&format!("{}__{}", tool.group, tool.name));
        let own = full.len() - tool.name.len();
        Self { full, own }
    }

    /// How closely a plain `pattern` names the tool; `None` when it does not. `GROUP__TOOL` is closer than `TOOL`,
    /// both are closer than any glob, and of globs the one with more letters is closer. A `foreign` tool has its full
    /// name alone.
    pub(crate) fn closeness(&self, pattern: &str, foreign: bool) -> Option<usize> {
        let (full, name) = (self.full.as_str(), &self.full[self.own..]);
        if pattern == full {
            return Some(usize::MAX);
        }
        if pattern == name && !foreign {
            return Some(usize::MAX - 1);
        }
        let matches = matches(pattern.as_bytes(), full.as_bytes())
            || !foreign && matches(pattern.as_bytes(), name.as_bytes());
        matches.then(|| pattern.chars().filter(|c| !matches!(c, '*' | '?')).count())
    }
}

/// `*` is any text, `?` any one character; in linear space and without backtracking over more than one `*`.
fn matches(pattern: &[u8], text: &[u8]) -> bool {
    let (mut at, mut place) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    while place < text.len() {
        match pattern.get(at) {
            Some(b'*') => {
                star = Some((at, place));
                at += 1;
            }
            Some(&letter) if letter == b'?' || letter == text[place] => {
                at += 1;
                place += 1;
            }
            Some(_) | None => match star {
                Some((star_at, star_place)) => {
                    star = Some((star_at, star_place + 1));
                    at = star_at + 1;
                    place = star_place + 1;
                }
                None => return false,
            },
        }
    }
    pattern[at..].iter().all(|&letter| letter == b'*')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_is_any_text_and_a_question_mark_one_character() {
        for (pattern, text, expected) in [
            ("*", "", true),
            ("*", "anything", true),
            ("a*c", "abbbc", true),
            ("a*c", "abbb", false),
            ("a?c", "abc", true),
            ("a?c", "ac", false),
            ("*a*b*", "xxaxxbxx", true),
            ("github__*", "github__delete_branch", true),
            ("github__*", "gitlab__x", false),
            ("", "", true),
            ("", "x", false),
        ] {
            assert_eq!(
                matches(pattern.as_bytes(), text.as_bytes()),
                expected,
                "{pattern} {text}"
            );
        }
    }

    #[test]
    fn many_stars_take_no_more_than_quadratic_time() {
        let pattern = "*a".repeat(200);
        assert!(!matches(pattern.as_bytes(), "a".repeat(199).as_bytes()));
    }
}
