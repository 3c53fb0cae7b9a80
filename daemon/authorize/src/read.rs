//! What an allowed script was read to run.

use harness_bashscan::{Command, Matched, Scan};

/// What a script runs by its text: nothing else may be executed when it runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Read {
    /// The command words that the list allowed, each once; builtins are among them, functions of the script
    /// are not.
    pub(crate) programs: Vec<String>,
    /// It changes its directory.
    pub(crate) moves: bool,
}

impl Read {
    /// From the commands of a script and what allowed each.
    pub(crate) fn of(scan: &Scan, matched: &[Matched]) -> Self {
        let listed = scan
            .commands
            .iter()
            .zip(matched)
            .filter(|(_, matched)| matched.pattern.is_some());
        let mut programs: Vec<String> = listed
            .filter_map(|(command, _)| command.name().map(str::to_owned))
            .collect();
        programs.sort();
        programs.dedup();
        Self {
            programs,
            moves: scan.commands.iter().any(changes_directory),
        }
    }
}

/// A builtin that does, or a program that runs others in a directory of its choice.
fn changes_directory(command: &Command) -> bool {
    let name = command.name().and_then(|name| name.rsplit('/').next());
    matches!(name, Some("cd" | "pushd" | "popd" | "find"))
}
