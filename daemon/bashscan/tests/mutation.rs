//! The scanner never panics, and its time is about linear.

mod support;

use std::time::{Duration, Instant};

use harness_bashscan::{MAX_LENGTH, Reason, scan};
use support::Random;

const SEEDS: &[&str] = &[
    "#!/bin/bash\nset -e\nfor f in \"$@\"; do\n  [ -f \"$f\" ] || continue\n  x=$(basename -- \"$f\")\n  case $x in *.c) cc \"$f\" ;; esac\ndone\n",
    "cat <<EOF | grep -v \"$x\"\nit's $(date) and `id`\nEOF\ncat <<-'A' <<B\n\tx\n\tA\n$(y)\nB\n",
    "a=(1 \"$(b)\" [3]=c); echo \"${a[@]:1:2}\" ${a[$((i+1))]} ${x//a/$(b)} \"${y:-\"z $(q)\"}\" $'\\x41\\n'\n",
    "[[ -n $a && $b =~ ^(x|$(y))$ ]] && (( i += $(wc) )) || { trap 'rm \"$t\"' EXIT; }\n",
    "find . -name '*.o' -exec sh -c 'echo \"$1\"; rm `x`' _ {} \\; | xargs -0 env A=b nice -n 3 rm &\n",
    "f() ( cd \"$1\" && ls > >(tee x) 2>&1 ); function g { eval 'f a'; } ; time ! f | g; select i in a; do break; done\n",
];

const BYTES: &[&str] = &[
    "'", "\"", "`", "$", "(", ")", "{", "}", "[", "]", "<", ">", "|", "&", ";", "\n", "\\", "#",
    " ", "\t", "=", "*", "?", "!", "~", "<<", "$(", "$((", "${", "<(", "[[", "]]", "\\\n", "é",
    "\u{a0}", "\0", "\r", "\u{1}", "if ", "fi", "case ", "esac", "-exec",
];

#[test]
fn twenty_thousand_mutations_neither_panic_nor_take_long() {
    let mut random = Random(7);
    let start = Instant::now();
    for _ in 0..20_000 {
        let mut text: Vec<char> = random.pick(SEEDS).chars().collect();
        for _ in 0..=random.below(6) {
            let at = random.below(text.len() + 1);
            match random.below(4) {
                0 if at < text.len() => drop(text.remove(at)),
                1 => text.truncate(at),
                2 => {
                    let other: Vec<char> = random.pick(SEEDS).chars().collect();
                    let (from, length) = (random.below(other.len()), random.below(30));
                    text.splice(at..at, other.into_iter().skip(from).take(length));
                }
                _ => drop(text.splice(at..at, random.pick(BYTES).chars()).count()),
            }
        }
        let text: String = text.into_iter().collect();
        let found = scan(&text);
        for command in &found.commands {
            assert!(
                text.get(command.span.start..command.span.end).is_some(),
                "a span outside {text:?}"
            );
            assert!(command.line > 0);
        }
    }
    assert!(
        start.elapsed() < Duration::from_mins(2),
        "{:?}",
        start.elapsed()
    );
}

const FRAGMENTS: &[&str] = &[
    "k;",
    "k\n",
    "k a ",
    "'a'",
    "\"a\"",
    "$x",
    "${x}",
    "$(",
    "$(k)",
    "`k`",
    "`",
    "<(",
    "<(k)",
    "(",
    "( k;",
    "{ k;",
    "[[ a ]];",
    "((1));",
    "$((",
    "$((1))",
    "${x:-",
    "${x[",
    "a[",
    "a=(",
    "a=1 ",
    "<<E ",
    "<<E\nE\n",
    "cat <<E\n$(k)\nE\n",
    "\\\n",
    "\\",
    "#",
    "# k\n",
    "if k; then ",
    "case x in x) ",
    "case x in x) ;; esac;",
    "f() { ",
    "f() { k; }\n",
    "! ",
    "time ",
    "env ",
    "xargs ",
    "eval ",
    "k | ",
    "k && ",
    "k & ",
    "1>",
    ">o ",
    "{a,",
    "[",
    "*",
    "$'\\n'",
    "\"$(",
    "\"${x:-",
    "declare a=(",
    "(( ",
    "[[ ( ",
    "coproc ",
    "coproc x ",
    "a$(k)",
    "x=$((x+1));",
    "x=$y;",
    "function f ",
    "find -exec ",
    "$[",
    "echo \"`",
    "@(",
    "for i in ",
    "\\`",
    "trap 'k' x;",
    "<<-E\n\t",
    "é",
    "export ",
    "export x=1 ",
    "[ $x ]; ",
    "-",
    "=",
    "~",
    "..",
];

/// Quadratic time would show at this length, even without optimisation.
const LONG: usize = 60_000;

fn long(open: &str, close: &str) -> String {
    let half = LONG / (open.len() + close.len());
    open.repeat(half) + &close.repeat(half)
}

#[test]
fn repetitions_of_anything_take_seconds() {
    for fragment in FRAGMENTS {
        for text in [
            fragment.repeat(LONG / fragment.len()),
            long(fragment, ")"),
            long(fragment, "}"),
            long(fragment, "\n"),
        ] {
            let start = Instant::now();
            let found = scan(&text);
            let took = start.elapsed();
            assert!(took < Duration::from_secs(5), "{fragment:?} took {took:?}");
            drop(found);
        }
    }
}

#[test]
fn nesting_of_every_kind_ends_in_a_reason_and_not_in_an_overflow() {
    let pairs = [
        ("$(", ")"),
        ("( ", ")"),
        ("{ ", ";}"),
        ("\"$(", ")\""),
        ("${x:-", "}"),
        ("\"${x:-", "}\""),
        ("$((", "))"),
        ("<(", ")"),
        ("if ", "; then k; fi"),
        ("while ", "; do k; done"),
        ("case x in x) ", ";; esac"),
        ("f() { ", ";}"),
        ("[[ ( ", " ) ]]"),
        ("a=(", ")"),
        ("a[", "]=1"),
        ("coproc ", ""),
        ("eval \"", "\""),
        ("! ", ""),
        ("env ", "k"),
        ("${a[", "]}"),
        ("$[", "]"),
        ("\"${x:-\"", "\"}\""),
        ("time ", ""),
        ("k | { ", ";}"),
    ];
    for (open, close) in pairs {
        for depth in [90, 101, 5000] {
            let text = format!("{}k{}", open.repeat(depth), close.repeat(depth));
            drop(scan(&text));
        }
    }
    let deep = format!("{}k{}", "$(".repeat(200), ")".repeat(200));
    assert!(
        scan(&deep)
            .opaque
            .iter()
            .any(|opaque| opaque.reason == Reason::TooDeep)
    );
    let fine = format!("{}k{}", "( ".repeat(40), ")".repeat(40));
    assert!(scan(&fine).opaque.is_empty());
}

#[test]
fn a_script_that_is_too_long_is_opaque() {
    let text = "k;".repeat(MAX_LENGTH / 2 + 1);
    assert!(matches!(scan(&text).opaque.as_slice(), [opaque] if opaque.reason == Reason::TooLong));
}

#[test]
fn a_mebibyte_of_variables_functions_and_arrays_takes_seconds() {
    let chain = |at: usize| {
        let next = at + 1;
        format!("v{at}=$v{next}; [ $v{at} ]; $v{at} a\n")
    };
    let scripts = [
        "k $(k2 \"$x\" | k3);\n".repeat(50_000),
        "x=$y; [ $x ]; f() { $x a; }; echo $((x))\n".repeat(20_000),
        "if k; then g=k; fi; $g a; declare -A m; m[$x]=1\n".repeat(20_000),
        "f() { [ $1 ]; }; f \"$x\" a; k() { f b; }; k\n".repeat(20_000),
        (0..20_000).map(chain).collect(),
    ];
    for text in scripts {
        assert!(text.len() > MAX_LENGTH / 2 && text.len() <= MAX_LENGTH);
        let start = Instant::now();
        let found = scan(&text);
        let took = start.elapsed();
        assert!(
            took < Duration::from_secs(20),
            "{} bytes with {} commands took {took:?}",
            text.len(),
            found.commands.len()
        );
    }
}
