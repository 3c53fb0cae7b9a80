//! Variables that bash itself sets.

/// Integers that bash keeps, whose value in the inherited environment it ignores
/// (bash(1) "Shell Variables").
const KEPT_BY_BASH: &[&str] = &[
    "RANDOM",
    "SRANDOM",
    "SECONDS",
    "LINENO",
    "PPID",
    "UID",
    "EUID",
    "BASHPID",
    "EPOCHSECONDS",
    "OPTIND",
    "SHLVL",
    "BASH_SUBSHELL",
    "PIPESTATUS",
];

/// Variables to which bash itself assigns text that a script can choose, whatever the script assigns.
const SET_BY_BASH: &[&str] = &[
    "_",
    "REPLY",
    "PWD",
    "OLDPWD",
    "FUNCNAME",
    "DIRSTACK",
    "MAPFILE",
    "COPROC",
    "HOSTNAME",
    "COMP_LINE",
    "COMP_WORDS",
    "COMPREPLY",
    "READLINE_LINE",
    "READLINE_ARGUMENT",
    "GROUPS",
    "EPOCHREALTIME",
    "HISTCMD",
];

/// Of what bash sets under this prefix, these hold nothing that a script can choose.
const BASH_PREFIX: &str = "BASH_";
const BASH_FIXED: &[&str] = &["BASH_VERSION", "BASH_VERSINFO", "BASH_SOURCE"];

/// Whose value is evaluated when it is assigned.
const INTEGER_ATTRIBUTE: &[&str] = &[
    "RANDOM", "SRANDOM", "OPTIND", "SECONDS", "LINENO", "UID", "EUID", "HISTCMD",
];

pub(super) fn is_kept_by_bash(name: &str) -> bool {
    KEPT_BY_BASH.contains(&name)
}

pub(super) fn is_set_by_bash(name: &str) -> bool {
    if !name.starts_with(|first: char| first.is_ascii_uppercase() || first == '_') {
        return false;
    }
    SET_BY_BASH.contains(&name)
        || (name.starts_with(BASH_PREFIX) && !BASH_FIXED.contains(&name) && !is_kept_by_bash(name))
}

pub(super) fn has_integer_attribute(name: &str) -> bool {
    INTEGER_ATTRIBUTE.contains(&name)
}
