//! Names of tools in the whole catalogue.

use sha2::{Digest as _, Sha256};

use crate::approvals::hex;

/// What stands between a group's name and a tool's where both are shown as one name.
pub(super) const SEPARATOR: &str = "__";

/// The longest name that every model takes, in bytes.
const LONGEST: usize = 64;

/// Digits of the suffix.
const DIGITS: usize = 8;

/// `GROUP__TOOL` of 1 to 64 letters, digits, `_` and `-`, which every model takes.
///
/// Where that would be longer, has other characters, or could be read as the tool of another group, it is cut and ends
/// with a digest of both names: it stays the same whoever else is there.
pub(super) fn full(group: &str, tool: &str) -> String {
    let name = format!("{group}{SEPARATOR}{tool}");
    let fits = name.len() <= LONGEST && name.chars().all(is_plain);
    let one_reading = !group.ends_with('_') && !tool.starts_with('_') && !group.contains(SEPARATOR);
    if fits && one_reading {
        return name;
    }
    let plain = name.chars().map(|c| if is_plain(c) { c } else { '_' });
    let kept: String = plain.take(LONGEST - DIGITS - 1).collect();
    let mut hasher = Sha256::new();
    hasher.update(group.as_bytes());
    hasher.update([0]);
    hasher.update(tool.as_bytes());
    let digest = hasher.finalize();
    format!("{kept}_{}", hex(&digest[..DIGITS / 2]))
}

fn is_plain(character: char) -> bool {
    character.is_ascii_alphanumeric() || matches!(character, '_' | '-')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_plain_name_is_both_names() {
        assert_eq!(full("github", "create_issue"), "github__create_issue");
        assert_eq!(full("a-b", "c"), "a-b__c");
    }

    #[test]
    fn a_long_or_odd_name_is_cut_with_a_suffix_that_stays_the_same() {
        let long = full("server", &"x".repeat(100));
        assert_eq!(long.len(), 64);
        assert_eq!(long, full("server", &"x".repeat(100)));
        assert_ne!(long, full("server", &"x".repeat(101)));
        assert!(full("s", "päth/of.tool").starts_with("s__p_th_of_tool_"));
        assert_eq!(full("s", &"x".repeat(61)), format!("s__{}", "x".repeat(61)));
        assert_eq!(full("s", &"x".repeat(62)).len(), 64);
        // This name was written down by somebody: it may not change.
        assert_eq!(full("a", "_b"), "a___b_ee647d3b");
    }

    #[test]
    fn names_that_read_the_same_are_told_apart() {
        assert_ne!(full("a", "_b"), full("a_", "b"));
        assert_ne!(full("s", "a.b"), full("s", "a/b"));
    }

    proptest! {
        #[test]
        fn every_name_is_one_that_every_model_takes(group in "[a-zA-Z0-9_-]{1,32}", tool in ".{1,200}") {
            let name = full(&group, &tool);
            prop_assert!((1..=64).contains(&name.len()));
            prop_assert!(name.chars().all(is_plain));
        }

        #[test]
        fn no_two_tools_have_one_name(a in "[ab_]{1,4}", x in "[ab_.]{1,4}", b in "[ab_]{1,4}", y in "[ab_.]{1,4}") {
            prop_assert_eq!(full(&a, &x) == full(&b, &y), (a, x) == (b, y));
        }
    }
}
