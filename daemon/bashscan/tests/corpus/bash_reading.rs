//! bash prints a function as it has read it: other blanks, no comments, no line continuations. The
//! commands in that text must be those of the script.

use harness_bashscan::{Class, Scan, WordKind, scan};

use crate::scripts::{Script, in_two_halves, run_bash};

/// The words of all commands, in an order that does not depend on the layout.
fn commands(found: &Scan) -> Vec<Vec<String>> {
    let word = |kind: &WordKind| match kind {
        WordKind::Literal(text) => format!("={text}"),
        WordKind::Glob { text } => format!("*{text}"),
        WordKind::Dynamic { .. } => "$".to_owned(),
    };
    let mut all: Vec<Vec<String>> = found
        .commands
        .iter()
        .map(|command| command.words.iter().map(|each| word(&each.kind)).collect())
        .collect();
    all.sort();
    all
}

/// How many commands agree, or what differs; none if there is nothing to compare.
fn compare(script: &Script) -> Option<Result<usize, String>> {
    // A translation takes the place of `$"…"` when bash reads it.
    if script.text.contains("$\"") {
        return None;
    }
    let function = format!("{NAME}() {{\n{}\n}}", script.text);
    let read = scan(&function);
    // Where the reading has ended early there is nothing to compare.
    let ended = |found: &Scan| {
        let mut reasons = found.opaque.iter().map(|each| each.reason.class());
        reasons.any(|class| class == Class::NotUnderstood)
    };
    if ended(&read) {
        return None;
    }
    let define = format!("eval \"$1\"; declare -f {NAME}");
    let printed = run_bash(&["-c", &define, "bash", &function])?;
    let again = scan(&printed);
    if ended(&again) {
        return None;
    }
    let (ours, theirs) = (commands(&read), commands(&again));
    if ours == theirs {
        return Some(Ok(ours.len()));
    }
    let only = |of: &[Vec<String>], other: &[Vec<String>]| {
        of.iter()
            .filter(|words| other.binary_search(words).is_err())
            .map(|words| words.join(" "))
            .next()
    };
    let (missing, extra) = (only(&theirs, &ours), only(&ours, &theirs));
    Some(Err(format!(
        "{}: not seen {missing:?}, too much {extra:?}",
        script.path.display()
    )))
}

const NAME: &str = "the_script_as_a_function";

pub(crate) fn commands_are_those_that_bash_reads(scripts: &[Script]) {
    let compared: Vec<Result<usize, String>> = in_two_halves(scripts, compare)
        .into_iter()
        .flatten()
        .collect();
    let counts: Vec<usize> = compared.iter().flatten().copied().collect();
    let commands: usize = counts.iter().sum();
    eprintln!(
        "{commands} commands of {} scripts are those that bash reads",
        counts.len()
    );
    let wrong: Vec<&String> = compared
        .iter()
        .filter_map(|each| each.as_ref().err())
        .collect();
    assert!(wrong.is_empty(), "{} differ: {wrong:#?}", wrong.len());
    assert!(
        compared.len() * 5 > scripts.len() * 4,
        "only {} scripts could be compared",
        compared.len()
    );
}
