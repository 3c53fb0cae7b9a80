//! Finding tools by words: names first.

use std::fmt::Write as _;

use harness_model::Tool;

use super::{help, names::Names};

/// So many are shown.
const SHOWN: usize = 20;

/// The tools that have every word in their name or description, the best first.
pub(super) fn find(names: &Names<'_>, words: &[String]) -> String {
    let tools = names.all();
    let mut found: Vec<(u32, &Tool)> = tools
        .iter()
        .filter_map(|tool| Some((rank(tool, words)?, &**tool)))
        .collect();
    // Stable, so that tools of one rank stay in the catalogue's order.
    found.sort_by_key(|(rank, _)| std::cmp::Reverse(*rank));
    if found.is_empty() {
        return format!("no tool has {}; tools --help lists all\n", words.join(" "));
    }
    let mut text = String::new();
    for (_, tool) in found.iter().take(SHOWN) {
        let name = format!("{} {}", tool.group, tool.name);
        let _infallible = writeln!(text, "{}", help::line(tool, &name));
    }
    if let Some(more) = found.len().checked_sub(SHOWN).filter(|more| *more > 0) {
        let _infallible = writeln!(text, "and {more} more");
    }
    text
}

/// `None` where a word is nowhere. A word that is the whole name counts most, then one of the name's words, then a part
/// of the name, then the server's name, then the description.
fn rank(tool: &Tool, words: &[String]) -> Option<u32> {
    let name = tool.name.to_lowercase().replace('-', "_");
    let group = tool.group.to_lowercase();
    let description = tool.description.to_lowercase();
    words.iter().try_fold(0, |sum, word| {
        let word = word.replace('-', "_");
        let points = if name == word {
            100
        } else if name.split('_').any(|part| part == word) {
            40
        } else if name.contains(&word) {
            20
        } else if group.contains(&word) {
            10
        } else if description
            .split(|c: char| !c.is_alphanumeric())
            .any(|part| part == word)
        {
            4
        } else if description.contains(&word) {
            2
        } else {
            return None;
        };
        Some(sum + points)
    })
}

#[cfg(test)]
mod tests {
    use harness_model::Annotations;

    use super::*;

    fn tool(name: &str, description: &str) -> Tool {
        Tool {
            group: "github".into(),
            name: name.into(),
            title: None,
            description: description.into(),
            input_schema: serde_json::Value::Null,
            output_schema: None,
            annotations: Annotations::default(),
            direct: false,
        }
    }

    #[test]
    fn names_come_before_descriptions_and_every_word_counts() {
        let words = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
        let rank = |name, description, line: &str| rank(&tool(name, description), &words(line));
        let exact = rank("pull", "", "pull");
        let part = rank("list_pull", "", "pull");
        let within = rank("list_pulls", "", "pull");
        let described = rank("merge", "Merges a pull request", "pull");
        assert!(exact > part && part > within && within > described && described.is_some());
        assert_eq!(rank("list_pulls", "", "pull merge"), None);
        assert!(rank("list-pulls", "", "list_pulls").is_some());
        assert!(rank("x", "", "github").is_some());
    }
}
