//! How many scripts no list can allow, and why.

use std::collections::{BTreeMap, BTreeSet};

use harness_bashscan::{Class, Reason, scan};

use crate::scripts::Script;

/// The worst that is in a script; none if a list can allow it.
fn class(found: &harness_bashscan::Scan) -> Option<Class> {
    let worst = found.opaque.iter().map(|each| each.reason.class()).min();
    worst.or_else(|| (!found.sources.is_empty()).then_some(Class::Asks))
}

pub(crate) fn real_scripts_are_understood(scripts: &[Script]) {
    let mut classes: BTreeMap<Class, usize> = BTreeMap::new();
    let mut why: BTreeMap<(Class, &'static str), usize> = BTreeMap::new();
    for script in scripts {
        let found = scan(&script.text);
        if let Some(class) = class(&found) {
            *classes.entry(class).or_default() += 1;
        }
        let mut kinds: BTreeSet<(Class, &'static str)> = found
            .opaque
            .iter()
            .map(|each| (each.reason.class(), kind(&each.reason)))
            .collect();
        if !found.sources.is_empty() {
            kinds.insert((Class::Asks, "source"));
        }
        for kind in kinds {
            *why.entry(kind).or_default() += 1;
        }
    }
    let total = scripts.len();
    let percent = |count: usize| {
        let tenths = count * 1000 / total;
        format!("{count} ({}.{} %)", tenths / 10, tenths % 10)
    };
    let count = |class: Class| classes.get(&class).copied().unwrap_or(0);
    let opaque: usize = classes.values().sum();
    eprintln!(
        "{total} scripts that bash -n accepts; no list can allow {}:",
        percent(opaque)
    );
    for class in [Class::NotUnderstood, Class::Evaluates, Class::Asks] {
        eprintln!("  {class:?}: {}", percent(count(class)));
        let mut reasons: Vec<(usize, &str)> = why
            .iter()
            .filter(|((of, _), _)| *of == class)
            .map(|((_, kind), count)| (*count, *kind))
            .collect();
        reasons.sort_unstable_by(|one, other| other.cmp(one));
        for (count, kind) in reasons {
            eprintln!("    {kind}: in {count}");
        }
    }
    let not_understood = count(Class::NotUnderstood);
    assert!(
        not_understood * 100 < total * 15,
        "{not_understood} of {total} scripts were not understood"
    );
    // The rest asks by contract: eval, source, commands whose names are data.
    let evaluates = not_understood + count(Class::Evaluates);
    assert!(
        evaluates * 100 < total * 25,
        "{evaluates} of {total} scripts were not understood or evaluate data"
    );
}

fn kind(reason: &Reason) -> &'static str {
    match reason {
        Reason::DynamicCommand => "dynamic command name",
        Reason::Code(name) if name == "." || name == "source" => "source",
        Reason::Code(name) if name == "eval" => "eval",
        Reason::Code(name) if name == "trap" => "trap",
        Reason::Code(_) => "sh -c and other code",
        Reason::ShellState(_) => "shell state",
        Reason::Variable(name) if name == "PATH" => "PATH",
        Reason::Variable(name) if name == "IFS" => "IFS",
        Reason::Variable(_) => "other variables",
        Reason::DynamicVariable(name) if name == "test" => "test on data",
        Reason::DynamicVariable(_) => "variable's name",
        Reason::Arithmetic(_) => "arithmetic on data",
        Reason::Wrapper(_) => "wrapper",
        Reason::Character(_) => "character",
        Reason::Network => "network",
        Reason::Syntax(_) | Reason::Nothing => "syntax",
        Reason::Disagreement => "two readings disagree",
        Reason::TooLong | Reason::TooDeep => "too long or deep",
    }
}
