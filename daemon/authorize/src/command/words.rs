//! What the words behind `tools` ask for.

use std::sync::Arc;

use harness_model::{ErrorCode, Refusal, Tool};

use super::Input;

/// The tools there are, as the command names them. Hyphens and underscores are the same.
pub trait Tools {
    /// The group or server that the word names, by its own name.
    fn group(&self, word: &str) -> Option<String>;

    /// A tool of a group.
    fn tool(&self, group: &str, word: &str) -> Option<Arc<Tool>>;

    /// A tool that is called by its name alone.
    fn alone(&self, word: &str) -> Option<Arc<Tool>>;

    /// The refusal of a name that is none, with the nearest right one; within a group where one was named.
    fn unknown(&self, group: Option<&str>, word: &str) -> Refusal;
}

/// What a command asks for.
#[derive(Debug, Clone, PartialEq)]
pub enum Invocation {
    /// The groups and servers, and the tools that stand alone.
    Help,
    /// The tools of a group.
    GroupHelp(String),
    /// A tool's input.
    ToolHelp(Arc<Tool>),
    /// The tools whose name or description has these words.
    Search(Vec<String>),
    /// The calls that the script on standard input would make.
    Plan,
    /// The saved scripts; the words behind `scripts`.
    Scripts(Vec<String>),
    /// A call.
    Call {
        /// The tool.
        tool: Arc<Tool>,
        /// Its input, as far as the words say it.
        input: Input,
    },
}

const HELP: [&str; 2] = ["--help", "-h"];

/// Reads the words behind `tools`.
///
/// # Errors
/// `unknown_command`: no such group or tool, `invalid_input`: a word that is no input.
pub fn read(words: &[String], tools: &dyn Tools) -> Result<Invocation, Refusal> {
    let Some((first, rest)) = words.split_first() else {
        return Ok(Invocation::Help);
    };
    match first.as_str() {
        "--help" | "-h" | "help" if rest.is_empty() => return Ok(Invocation::Help),
        "help" => return help(rest, tools),
        "search" => return search(rest),
        "plan" if rest.is_empty() => return Ok(Invocation::Plan),
        "plan" => {
            let usage = "tools plan reads the script from standard input: tools plan < SCRIPT";
            return Err(Refusal::new(ErrorCode::InvalidInput, usage));
        }
        "scripts" => return Ok(Invocation::Scripts(rest.to_vec())),
        _ => {}
    }
    let (tool, rest) = match named(first, rest, tools)? {
        Named::Group(group) => return Ok(Invocation::GroupHelp(group)),
        Named::Tool(tool, rest) => (tool, rest),
    };
    if rest
        .iter()
        .take_while(|word| *word != "--")
        .any(|word| HELP.contains(&word.as_str()))
    {
        return Ok(Invocation::ToolHelp(tool));
    }
    let input = Input::read(rest, &tool)?;
    Ok(Invocation::Call { tool, input })
}

enum Named<'a> {
    Group(String),
    Tool(Arc<Tool>, &'a [String]),
}

/// `GROUP TOOL …`, or else `TOOL …`: a group and a tool may have one name, as `shell` does.
fn named<'a>(first: &str, rest: &'a [String], tools: &dyn Tools) -> Result<Named<'a>, Refusal> {
    let group = tools.group(first);
    let second = rest.split_first();
    if let (Some(group), Some((second, rest))) = (&group, second)
        && let Some(tool) = tools.tool(group, second)
    {
        return Ok(Named::Tool(tool, rest));
    }
    let asks_help = |word: &String| HELP.contains(&word.as_str());
    match (group, tools.alone(first), second) {
        (Some(group), _, Some((word, _))) if asks_help(word) => Ok(Named::Group(group)),
        (Some(group), None, None) => Ok(Named::Group(group)),
        (Some(group), None, Some((word, _))) => Err(tools.unknown(Some(&group), word)),
        (_, Some(tool), _) => Ok(Named::Tool(tool, rest)),
        (None, None, _) => Err(tools.unknown(None, first)),
    }
}

fn help(words: &[String], tools: &dyn Tools) -> Result<Invocation, Refusal> {
    let [first, rest @ ..] = words else {
        return Ok(Invocation::Help);
    };
    match named(first, rest, tools)? {
        Named::Group(group) => Ok(Invocation::GroupHelp(group)),
        Named::Tool(tool, _) => Ok(Invocation::ToolHelp(tool)),
    }
}

fn search(words: &[String]) -> Result<Invocation, Refusal> {
    let words: Vec<String> = words
        .iter()
        .flat_map(|word| word.split_whitespace())
        .map(str::to_lowercase)
        .collect();
    if words.is_empty() {
        return Err(Refusal::new(
            ErrorCode::InvalidInput,
            "say what to search for: tools search WORDS",
        ));
    }
    Ok(Invocation::Search(words))
}
