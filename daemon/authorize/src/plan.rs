//! The calls that a script would make by the command `tools`, read without running it.

use std::sync::Arc;

use harness_bashscan::{self as bashscan, Command, Context, Dialect, Place, Scan};
use harness_model::{Refusal, Tool};
use serde_json::{Map, Value};

use crate::command::{self, Input, InputSource, Invocation, Tools};

/// The command itself.
const TOOLS: &str = "tools";

/// Programs and builtins that run nothing but themselves, whatever they are given: with them alone beside its
/// calls, a script makes no call that is not seen.
const PLAIN: [&str; 72] = [
    ":",
    "[",
    "base64",
    "basename",
    "break",
    "cat",
    "cd",
    "chmod",
    "column",
    "comm",
    "continue",
    "cp",
    "cut",
    "date",
    "df",
    "diff",
    "dirname",
    "du",
    "echo",
    "exit",
    "expand",
    "expr",
    "false",
    "fmt",
    "fold",
    "getopts",
    "grep",
    "head",
    "hostname",
    "id",
    "join",
    "jq",
    "kill",
    "let",
    "ln",
    "ls",
    "md5sum",
    "mkdir",
    "mktemp",
    "mv",
    "nl",
    "paste",
    "printf",
    "pwd",
    "read",
    "readlink",
    "realpath",
    "return",
    "rev",
    "rm",
    "rmdir",
    "seq",
    "set",
    "sha256sum",
    "shift",
    "shuf",
    "sleep",
    "stat",
    "tac",
    "tail",
    "tee",
    "test",
    "touch",
    "tr",
    "true",
    "truncate",
    "tsort",
    "uname",
    "uniq",
    "unset",
    "wait",
    "wc",
];

/// A script's calls.
#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    /// Each call that is written in it, in the order of the text.
    pub calls: Vec<PlannedCall>,
    /// It makes no other call than these; false where it hides some, or could.
    pub complete: bool,
}

/// One call that is written in a script.
#[derive(Debug, Clone, PartialEq)]
pub struct PlannedCall {
    /// What is known of it.
    pub what: Planned,
    /// Where it stands: `script`, or the constructs around it.
    pub place: String,
    /// It stands at script level, where nothing decides whether it is made.
    pub is_certain: bool,
    /// Its line, from 1.
    pub line: u32,
}

/// What is known of a planned call.
#[derive(Debug, Clone, PartialEq)]
pub enum Planned {
    /// All of it.
    Call {
        /// The tool.
        tool: Arc<Tool>,
        /// Its whole input.
        input: Map<String, Value>,
    },
    /// The tool, while its input is built as the script runs or comes from standard input.
    Tool(Arc<Tool>),
    /// The words as they are written: even the tool is known only as the script runs.
    Words(String),
    /// It would be refused as it is written.
    Refused(String, Refusal),
}

/// Reads a script for bash.
#[must_use]
pub fn plan(text: &str, tools: &dyn Tools) -> Plan {
    let scan = bashscan::scan_as(text, Dialect::Bash);
    let mut calls: Vec<(usize, PlannedCall)> = Vec::new();
    let mut complete = scan.opaque.is_empty() && scan.sources.is_empty();
    for command in scan
        .commands
        .iter()
        .filter(|command| !command.words.is_empty())
    {
        let Some(name) = command.name().filter(|_| !command.calls_function) else {
            complete &= command.calls_function;
            continue;
        };
        if name != TOOLS || scan.defines(TOOLS) {
            complete &= is_plain(name, &scan);
            continue;
        }
        // None is what `tools` itself says.
        if let Some(what) = planned(text, command, tools) {
            calls.push((command.span.start, placed(command, what)));
        }
    }
    calls.sort_by_key(|(start, _)| *start);
    Plan {
        calls: calls.into_iter().map(|(_, call)| call).collect(),
        complete,
    }
}

/// Whether a command runs nothing but what is seen: a plain program, a wrapper whose command is seen itself, a function
/// of the script whose body is.
fn is_plain(name: &str, scan: &Scan) -> bool {
    PLAIN.binary_search(&name).is_ok() || scan.defines(name)
}

fn placed(command: &Command, what: Planned) -> PlannedCall {
    PlannedCall {
        what,
        place: place(&command.context),
        is_certain: command.context.is_script_level(),
        line: u32::try_from(command.line).unwrap_or(u32::MAX),
    }
}

fn place(context: &Context) -> String {
    const PLACES: [(Place, &str); 11] = [
        (Place::Substitution, "substitution"),
        (Place::ProcessSubstitution, "process substitution"),
        (Place::HereDocument, "here-document"),
        (Place::Loop, "loop"),
        (Place::Conditional, "condition"),
        (Place::Pipeline, "pipeline"),
        (Place::Background, "background"),
        (Place::Subshell, "subshell"),
        (Place::Coprocess, "coprocess"),
        (Place::Code, "code"),
        (Place::Wrapper, "wrapper"),
    ];
    let within = PLACES
        .iter()
        .filter(|(place, _)| context.is_in(*place))
        .map(|(_, name)| (*name).to_owned());
    let function = context.function().map(|name| format!("function {name}"));
    let parts: Vec<String> = function.into_iter().chain(within).collect();
    if parts.is_empty() {
        "script".to_owned()
    } else {
        parts.join(", ")
    }
}

/// None for what is no call: help, a search, a plan.
fn planned(text: &str, command: &Command, tools: &dyn Tools) -> Option<Planned> {
    let written = || {
        let span = command.span;
        let text = text.get(span.start..span.end).unwrap_or_default();
        text.chars().take(200).collect::<String>()
    };
    let behind = command.words.get(1..).unwrap_or_default();
    let known: Vec<String> = behind
        .iter()
        .map_while(|word| word.literal().map(str::to_owned))
        .collect();
    if known.len() == behind.len() {
        return match command::read(&known, tools) {
            Ok(Invocation::Call { tool, input }) => Some(whole(tool, input, command)),
            Ok(Invocation::Scripts(words)) if !words.is_empty() => Some(Planned::Words(written())),
            Ok(
                Invocation::Help
                | Invocation::GroupHelp(_)
                | Invocation::ToolHelp(_)
                | Invocation::Search(_)
                | Invocation::Plan
                | Invocation::Scripts(_),
            ) => None,
            Err(refusal) => Some(Planned::Refused(written(), refusal)),
        };
    }
    // The tool may be known by the words before the first that is not, if the next one cannot name another.
    let tool = match known.as_slice() {
        [group, name, ..] => tools
            .group(group)
            .and_then(|group| tools.tool(&group, name)),
        _ => None,
    };
    let tool = tool.or_else(|| match known.as_slice() {
        [name, ..] if tools.group(name).is_none() => tools.alone(name),
        _ => None,
    });
    Some(tool.map_or_else(|| Planned::Words(written()), Planned::Tool))
}

fn whole(tool: Arc<Tool>, input: Input, command: &Command) -> Planned {
    // What stands in a pipe or a redirected loop may read from there; elsewhere a run's standard input is empty.
    let reads = match input.source {
        InputSource::StandardInput => true,
        InputSource::Either => command.reads_stdin,
        InputSource::Words => false,
    };
    if reads {
        return Planned::Tool(tool);
    }
    Planned::Call {
        tool,
        input: input.object,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command::tests::Known;

    fn of(text: &str) -> (Vec<String>, bool) {
        let plan = plan(text, &Known);
        let calls = plan.calls.iter().map(|call| {
            let what = match &call.what {
                Planned::Call { tool, input } => {
                    format!("{} {}", tool.name, Value::Object(input.clone()))
                }
                Planned::Tool(tool) => format!("{} ?", tool.name),
                Planned::Words(words) => words.clone(),
                Planned::Refused(_, refusal) => refusal.code.to_string(),
            };
            format!("{} {what} [{}]", call.line, call.place)
        });
        (calls.collect(), plan.complete)
    }

    #[test]
    fn the_list_of_plain_programs_can_be_searched() {
        assert!(PLAIN.is_sorted());
    }

    /// A script, its calls, and whether they are all.
    const CASES: &[(&str, &[&str], bool)] = &[
        (
            "tools github list-pulls repo=a",
            &[r#"1 list_pulls {"repo":"a"} [script]"#],
            true,
        ),
        (
            "echo x\ntools run repo=a",
            &[r#"2 run {"repo":"a"} [script]"#],
            true,
        ),
        (
            "tools github list-pulls repo=$R",
            &["1 list_pulls ? [script]"],
            true,
        ),
        (
            "tools github list-pulls $ARGS",
            &["1 list_pulls ? [script]"],
            true,
        ),
        (
            "tools github $TOOL",
            &["1 tools github $TOOL [script]"],
            true,
        ),
        (
            "tools $X list-pulls",
            &["1 tools $X list-pulls [script]"],
            true,
        ),
        (
            "jq -n '{}' | tools github list-pulls",
            &["1 list_pulls ? [pipeline]"],
            true,
        ),
        (
            "tools github list-pulls | jq .",
            &["1 list_pulls {} [pipeline]"],
            true,
        ),
        (
            "tools github list-pulls - </dev/null",
            &["1 list_pulls ? [script]"],
            true,
        ),
        (
            "for n in 1 2; do tools run repo=$n; done",
            &["1 run ? [loop]"],
            true,
        ),
        (
            "f() { tools run repo=a; }; f",
            &[r#"1 run {"repo":"a"} [function f]"#],
            true,
        ),
        (
            "x=$(tools run repo=a)",
            &[r#"1 run {"repo":"a"} [substitution]"#],
            true,
        ),
        (
            "true && tools run repo=a",
            &[r#"1 run {"repo":"a"} [condition]"#],
            true,
        ),
        ("tools --help; tools search x; tools run --help", &[], true),
        ("tools nothing", &["1 unknown_command [script]"], true),
        ("tools run word", &["1 invalid_input [script]"], true),
        ("eval \"$X\"", &[], false),
        ("make", &[], false),
        (
            "python3 x.py; tools run repo=a",
            &[r#"1 run {"repo":"a"} [script]"#],
            false,
        ),
        ("$CMD", &[], false),
        ("tools() { rm x; }; tools run repo=a", &[], true),
        ("", &[], true),
    ];

    #[test]
    fn calls_are_read_with_their_place_and_what_is_known_of_them() {
        for (text, calls, complete) in CASES {
            assert_eq!(
                of(text),
                (
                    calls.iter().map(|call| (*call).to_owned()).collect(),
                    *complete
                ),
                "{text}"
            );
        }
    }
}
