//! Programs that people run in a workspace, under every rule at once.

use harness_tests::trials;
use libtest_mimic::Trial;

use super::{each, ok, run};

pub(crate) fn trials() -> Vec<Trial> {
    trials![
        git_makes_a_repository_and_a_commit,
        python_writes_its_byte_code_and_shares_memory,
        a_compiler_makes_a_program_that_runs,
        cargo_builds_and_runs,
        make_and_a_shell_with_jobs_work,
    ]
}

const ALL: &str =
    "filesystem = \"workspace-write\"\nhidden = [\"GROUND/secret\"]\nnetwork = false\n";

/// Whether the program can be run here at all; it says so where not.
pub(super) fn is_there(harness: &harness_tests::harness::Harness, program: &str) -> bool {
    let there = run(harness, &format!("{program} --version"))["exit_code"] == 0;
    if !there {
        #[expect(
            clippy::print_stderr,
            reason = "the reason belongs beside the runner's own report"
        )]
        {
            eprintln!("skipped in part: {program} does not run for this user");
        }
    }
    there
}

fn git_makes_a_repository_and_a_commit() {
    each(ALL, |harness, _| {
        let script = "export HOME=$PWD; git init -q -b main . && git config user.name a && git config user.email a@example.org && echo x > x && git add x && git commit -q -m one && git checkout -q -b two && git mv x y && git commit -q -m two && git gc -q && git log --oneline | wc -l";
        assert_eq!(ok(harness, script).trim(), "2");
    });
}

fn python_writes_its_byte_code_and_shares_memory() {
    each(ALL, |harness, _| {
        if !is_there(harness, "python3") {
            return;
        }
        let script = "unset PYTHONDONTWRITEBYTECODE; echo 'x = 7' > m.py && python3 -c 'import m, tempfile, multiprocessing; multiprocessing.Lock(); tempfile.TemporaryFile().write(b\"x\"); print(m.x)' && ls __pycache__ | grep -c pyc";
        assert_eq!(ok(harness, script), "7\n1\n");
    });
}

fn a_compiler_makes_a_program_that_runs() {
    each(ALL, |harness, _| {
        if !is_there(harness, "cc") {
            return;
        }
        let script = "printf '#include <stdio.h>\\nint main(void) { puts(\"built\"); return 0; }' > a.c && cc -o a a.c && ./a";
        assert_eq!(ok(harness, script), "built\n");
    });
}

fn cargo_builds_and_runs() {
    each(ALL, |harness, _| {
        if is_there(harness, "cargo") {
            let script = "cargo init -q --vcs none --name made . && cargo run -q --offline";
            assert_eq!(ok(harness, script), "Hello, world!\n");
        }
    });
}

fn make_and_a_shell_with_jobs_work() {
    each(ALL, |harness, _| {
        let script = "printf 'all: a b\\na b:\\n\\techo $@ > $@\\n' > Makefile && make -s -j2 && cat a b && (sleep 0.01; echo late) & wait; yes | head -1; echo $((1 + 1)) > n; read x < n; echo $x; trap 'echo bye' EXIT";
        let status = run(harness, script);
        let text = status["stdout"]["tail"].as_str().unwrap();
        assert!(text.ends_with("late\ny\n2\nbye\n"), "{status}");
    });
}
