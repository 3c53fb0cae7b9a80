//! Scripts that pass hostile values around: whatever bash runs of them, by its own trace and by what
//! was started, the scan has seen, or it has said that it does not understand.

#![expect(
    clippy::print_stderr,
    reason = "the test prints what it has counted, and why it was skipped"
)]

mod support;

use std::cell::Cell;

use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use support::{Stubs, assert_all_seen, assert_trace_seen, has};

/// Values that run `k9` when they are evaluated, that are names, options or patterns, and plain ones.
fn value() -> impl Strategy<Value = String> {
    prop_oneof![
        3 => prop::sample::select(vec![
            "'a[$(k9)]'", "'-v a[$(k9)]'", "'x[$(k9)]'", "'-v x[$(k9)]'", "'-n x -o -v a[`k9`]'", "-v", "'k8 a'", "k8",
            "'-vx'", "'*'", "'USER'", "y", "'x'", "'-k'", "'[$(k9)]'", "')'", "'! -v a[$(k9)]'", "\"-R a[\\$(k9)]\"",
        ]).prop_map(str::to_owned),
        3 => prop::sample::select(vec!["1", "0", "-3", "abc", "a.b", "''", "'a b'", "a-b", "/x/y", "07"]).prop_map(str::to_owned),
        3 => variable().prop_map(|name| format!("${name}")),
        1 => variable().prop_map(|name| format!("\"${name}\"")),
        1 => (variable(), prop::sample::select(vec!["%b*", "#a", "/a/[", "^^", ":1:2", ":-1", "-'a[$(k9)]'", "+1", "//[/b", "@Q"]))
            .prop_map(|(name, operation)| format!("${{{name}{operation}}}")),
        1 => (variable(), variable()).prop_map(|(one, other)| format!("${one}${other}")),
        1 => variable().prop_map(|name| format!("$((${{#{name}}} + 1))")),
        1 => variable().prop_map(|name| format!("$(echo ${name})")),
        1 => Just("$(expr $x + 1)".to_owned()),
        2 => prop::sample::select(vec!["$1", "\"$1\"", "$@", "\"$@\"", "$#", "$*", "$2", "$0", "${1:-a}", "$_", "$-"]).prop_map(str::to_owned),
    ]
}

fn variable() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec!["x", "y", "USER", "g"])
}

/// Commands that assign, in all ways.
const ASSIGNMENTS: &[&str] = &[
    "NAME=VALUE",
    "NAME=VALUE",
    "NAME=VALUE",
    "export NAME=VALUE",
    "declare NAME=VALUE",
    "readonly NAME=VALUE",
    "NAME+=VALUE",
    "local NAME=VALUE",
    "local NAME",
    "unset NAME",
    "read NAME <<< VALUE",
    "printf -v NAME %s VALUE",
    "for NAME in VALUE; do :; done",
    "NAME=(VALUE b)",
    "declare -i NAME=VALUE",
    "declare -u NAME=VALUE",
    "let NAME=VALUE",
    "(( NAME = 1 ))",
    "(( NAME++ ))",
    "${NAME:=VALUE}",
    ": ${NAME:=VALUE}",
    "set -- VALUE",
    "set VALUE",
    "set -- a VALUE",
    "shift",
    "IFS=a",
    "IFS=VALUE",
    "declare -A m",
    "m[VALUE]=1",
    "a[VALUE]=1",
    "NAME=VALUE f VALUE",
    "f VALUE",
    "f a VALUE",
    "PATH=$PATH:/usr/bin",
    "declare -a NAME=VALUE",
    "NAME=$(( NAME + 1 ))",
    "getopts ab NAME",
    "eval 'NAME=VALUE2'",
    "trap 'NAME=k7' EXIT",
    "unset m",
    "NAME=k8",
    "readonly NAME",
    "echo $((1/0)); g=k8",
    "echo $((1/0)); k3() { :; }",
    "g=k8",
    "declare -r NAME",
    "k8() { :; }",
    "k2() { k3 VALUE; }",
    "function k0 { :; }",
    "unset -f k8",
    "echo $((1/0))",
    "readonly q; q=1",
    "h=$((1/0)) NAME=k8",
    "NAME=k8 < nofile",
    "export NAME=k8 < nofile",
    "{ NAME=k8; } < nofile",
    "{ k8() { :; }; } < nofile",
    ": ${x[-9]}",
    "m=(VALUE)",
    "(( NAME = 1/0 ))",
    "h=1 NAME=k8",
    "[[ 1/0 -eq 1 ]]",
    "declare -A m; m[VALUE]=1",
    "local -A m",
    "m=([VALUE]=1)",
    "readonly NAME",
    "declare -r NAME",
    "NAME='k8 a'",
];

/// One command that assigns.
fn assignment() -> impl Strategy<Value = String> {
    let how = prop::sample::select(ASSIGNMENTS);
    (how, variable(), value()).prop_map(|(how, name, value)| {
        let quoted = value.replace('\'', "'\\''");
        how.replace("NAME", name)
            .replace("VALUE2", &quoted)
            .replace("VALUE", &value)
    })
}

/// Commands that take values, maybe for code.
const USES: &[&str] = &[
    "[ VALUE ]",
    "[ VALUE = a ]",
    "[ -n VALUE ]",
    "[ VALUE OTHER ]",
    "[ VALUE -eq OTHER ]",
    "test VALUE",
    "[[ -v VALUE ]]",
    "[[ VALUE -eq 1 ]]",
    "[ -z VALUE -o VALUE = OTHER ]",
    "[[ VALUE == OTHER ]]",
    "(( x ))",
    "(( USER + 1 ))",
    "k0 $(( $x + 1 ))",
    "k0 $(( g ))",
    "k0 ${a[VALUE]}",
    "k0 ${m[VALUE]}",
    "m[VALUE]=2",
    "printf VALUE OTHER",
    "printf VALUE",
    "k0 VALUE OTHER",
    "$g VALUE",
    "$g k3 a",
    "k3 a",
    "k8 VALUE",
    "k2",
    "$g",
    "\"$g\" VALUE",
    "$x $g k1",
    "${g}x",
    "command $g a",
    "exec $g a",
    "k0 ${x:USER:1}",
    "echo VALUE",
    "[ VALUE ] && k2 VALUE",
    "case VALUE in OTHER) k3;; esac",
    "while [ VALUE ]; do k4; break; done",
    "k0 | $g",
    "$g &",
    "( $g OTHER )",
    "k5 $($g)",
    "eval '$g'",
    "set -- VALUE; [ $1 ]",
    "for i in VALUE; do [ $i ]; $i; done",
    "let VALUE",
    "unset VALUE",
    "wait VALUE",
];

/// One command that takes values, maybe for code.
fn usage() -> impl Strategy<Value = String> {
    let how = prop::sample::select(USES);
    (how, value(), value())
        .prop_map(|(how, value, other)| how.replace("VALUE", &value).replace("OTHER", &other))
}

/// Some of both, in all kinds of places.
fn script() -> impl Strategy<Value = String> {
    let command = prop_oneof![3 => assignment(), 2 => usage()];
    let nested = command.prop_recursive(3, 16, 4, |inner| {
        let list = prop::collection::vec(inner.clone(), 1..4).prop_map(|all| all.join("; "));
        prop_oneof![
            2 => list.clone(),
            1 => list.clone().prop_map(|list| format!("if [ 1 ]; then {list}; fi")),
            1 => list.clone().prop_map(|list| format!("if ! k1; then {list}; else :; fi")),
            2 => list.clone().prop_map(|list| format!("f() {{ {list}; }}")),
            1 => (list.clone(), value()).prop_map(|(list, value)| format!("f() {{ {list}; }}; f {value}")),
            1 => list.clone().prop_map(|list| format!("f; f() {{ {list}; }}")),
            1 => list.clone().prop_map(|list| format!("( {list} )")),
            1 => list.clone().prop_map(|list| format!("{{ {list}; }} &")),
            1 => list.clone().prop_map(|list| format!("k0 | {{ {list}; }}")),
            1 => list.clone().prop_map(|list| format!("k0 && {{ {list}; }}")),
            1 => list.clone().prop_map(|list| format!("for i in 1 2; do {list}; done")),
            1 => list.clone().prop_map(|list| format!("k6 $({list})")),
            1 => list.prop_map(|list| format!("eval '{}'", list.replace('\'', "'\\''"))),
        ]
    });
    let ends = prop::sample::select(vec!["; ", "\n", "\n", " ;\n", " # it's\n"]);
    prop::collection::vec((nested, ends), 2..6).prop_map(|all| {
        all.into_iter()
            .map(|(command, end)| command + end)
            .collect()
    })
}

/// What sets something, what counts on it, and what undoes it or sets it only sometimes.
type Topic = [&'static [&'static str]; 3];

const TOPICS: &[Topic] = &[
    [
        &["g=k8", "g=k8", "g=k8", "export g=k8"],
        &["$g k4 a"],
        &[
            "local g=k8",
            "g=k8 < nofile",
            "h=$((1/0)) g=k8",
            "h=1 g=k8",
            "readonly g",
            "unset g",
            "f",
        ],
    ],
    [
        &["k3() { :; }", "k3() { :; }", "function k3 { k2; }"],
        &["k3 a"],
        &["unset -f k3", "f"],
    ],
    [
        &["n=0", "n=0", "(( n = 0 ))"],
        &["k5 $((n))", "x='a[$(k9)]'"],
        &["(( n = 1/0 ))", "local n=0", "readonly n", "f"],
    ],
    [
        &["declare -A m"],
        &["m[$x]=1", "k5 ${m[$x]}", "x='a[$(k9)]'"],
        &["m=(1)", "local -A m", "f"],
    ],
];

/// Errors after which bash goes on with the next line, or with the next command.
const ERRORS: &[&str] = &[
    "echo $((1/0))",
    "echo $((1/0))",
    "echo $((1/0))",
    ": ${h[-9]}",
    "readonly q; q=1",
    "(( 1/0 ))",
    "k1",
];

/// What may be skipped, undone or done elsewhere, and what counts on it.
fn order() -> impl Strategy<Value = String> {
    prop::sample::select(TOPICS).prop_flat_map(order_of)
}

fn order_of([sets, counts, undoes]: Topic) -> impl Strategy<Value = String> {
    let command = prop_oneof![
        3 => prop::sample::select(sets),
        3 => prop::sample::select(counts),
        2 => prop::sample::select(ERRORS),
        1 => prop::sample::select(undoes),
    ];
    let command = command.prop_map(str::to_owned);
    let nested = command.clone().prop_recursive(2, 10, 3, |inner| {
        let ends = prop::sample::select(vec!["; ", "; ", "\n"]);
        let list = prop::collection::vec((inner, ends), 1..4).prop_map(|all| {
            all.into_iter()
                .map(|(one, end)| one + end)
                .collect::<String>()
        });
        let around = prop::sample::select(vec![
            "{ LIST}",
            "( LIST)",
            "f() { LIST}",
            "if k1; then LIST fi",
            "for g in k6; do LIST done",
            "{ LIST} < nofile",
            "k0 && { LIST}",
            "{ LIST} &",
            "k0 | { LIST}",
            "k7 $(LIST)",
            "trap 'f' EXIT",
            "while k1; do LIST done",
            "case $USER in x) LIST ;; esac",
        ]);
        (list, around).prop_map(|(list, around)| around.replace("LIST", &list))
    });
    let ends = prop::sample::select(vec!["; ", "\n", "\n"]);
    // Most commands stand in no other.
    let command = prop_oneof![3 => command, 1 => nested];
    prop::collection::vec((command, ends), 3..7)
        .prop_map(|all| all.into_iter().map(|(one, end)| one + end).collect())
}

#[test]
fn what_bash_runs_after_errors_was_seen() {
    compare(&order(), support::number("BASHSCAN_ROUNDS", 3000), 200);
}

#[test]
fn what_bash_runs_of_scripts_with_hostile_values_was_seen() {
    // Most scripts are opaque: they are generated, but not run.
    compare(&script(), support::number("BASHSCAN_ROUNDS", 3500), 150);
}

/// Runs those of the scripts that are understood, which must be more than `wanted`.
fn compare(scripts: &impl Strategy<Value = String>, cases: u32, wanted: usize) {
    if !has("bash") {
        eprintln!("skipped: no bash");
        return;
    }
    let stubs = Stubs::new();
    let (clear, traced) = (Cell::new(0), Cell::new(0));
    let seed = [support::number("BASHSCAN_SEED", 7); 32];
    let generator = TestRng::from_seed(RngAlgorithm::ChaCha, &seed);
    let config = Config {
        cases,
        failure_persistence: None,
        ..Config::default()
    };
    let result = TestRunner::new_with_rng(config, generator).run(scripts, |script| {
        if !harness_bashscan::scan(&script).opaque.is_empty() {
            return Ok(());
        }
        clear.set(clear.get() + 1);
        let ran = stubs.run(&script);
        let trace = stubs.trace();
        traced.set(traced.get() + trace.len());
        assert_all_seen(&script, &ran);
        assert_trace_seen(&script, &trace);
        Ok(())
    });
    if let Err(error) = result {
        panic!("{error}");
    }
    let (clear, traced) = (clear.get(), traced.get());
    eprintln!("{clear} scripts understood and run, {traced} commands traced");
    assert!(clear > wanted, "only {clear} scripts were understood");
    assert!(traced > clear, "only {traced} commands were traced");
}
