//! What the command says of itself and of the tools: short, since a model reads it.

use std::fmt::Write as _;

use harness_model::Tool;

use super::names::Names;

/// `tools --help`
pub(super) fn all(names: &Names<'_>) -> String {
    let mut text = "\
usage: tools SERVER TOOL [INPUT]   call a tool; INPUT is JSON, key=value, --key value, or - for standard input
       tools SERVER --help         its tools
       tools SERVER TOOL --help    a tool's input
       tools search WORDS          tools by name and description
       tools plan < SCRIPT         the calls that a script would make, and what each needs; runs nothing

servers:
"
    .to_owned();
    for group in names.groups() {
        let count = names.tools(&group).len();
        let _infallible = writeln!(
            text,
            "  {group} ({count} {})",
            if count == 1 { "tool" } else { "tools" }
        );
    }
    text
}

/// `tools SERVER --help`
pub(super) fn group(names: &Names<'_>, group: &str) -> String {
    let mut text = String::new();
    for tool in names.tools(group) {
        let _infallible = writeln!(text, "{}", line(&tool, &tool.name));
    }
    text
}

/// `tools SERVER TOOL --help`
pub(super) fn tool(tool: &Tool) -> String {
    let schema = serde_json::to_string(&tool.input_schema).unwrap_or_default();
    format!(
        "{}\n\nusage: tools {} {}\ninput schema: {schema}\n",
        plain(&tool.description),
        tool.group,
        tool.signature()
    )
}

/// A tool in one line: its name and the first sentence of its description.
pub(super) fn line(tool: &Tool, name: &str) -> String {
    let first = tool.description.lines().next().unwrap_or_default();
    let sentence = first.find(". ").map_or(first, |end| &first[..=end]);
    let sentence: String = sentence.chars().take(160).collect();
    format!("{name}  {}", plain(&sentence))
}

/// Without characters that a terminal would obey.
fn plain(text: &str) -> String {
    text.chars()
        .filter(|c| *c == '\n' || *c == '\t' || !c.is_control())
        .collect()
}
