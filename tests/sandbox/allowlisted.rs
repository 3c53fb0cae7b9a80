//! What an allowlist let through: it executes its own programs and writes in the workspace, whatever else its
//! text may hide from whoever reads it.

use std::{fs, os::unix::fs::PermissionsExt as _};

use harness_tests::{harness::Harness, mcp::text, trials};
use libtest_mimic::Trial;
use serde_json::{Value, json};

use super::{Ground, each, ok, programs::is_there, run};

pub(crate) fn trials() -> Vec<Trial> {
    trials![
        what_people_list_works,
        what_an_allowed_program_is_told_to_run_is_not_executed,
        nothing_is_written_outside_whatever_runs,
        what_the_sandbox_lists_as_writable_can_be_written,
        it_holds_for_a_shell_call_and_on_every_front,
        the_configuration_can_name_more_and_lift_the_limit,
        a_program_put_into_the_path_by_a_task_is_not_executed,
        what_a_person_answered_or_another_mode_allows_is_not_limited,
        a_restarted_task_stays_within_what_was_read,
        an_explanation_shows_what_may_be_executed,
        the_loader_of_programs_can_load_but_not_write_outside,
    ]
}

/// A rule for `run` and for `shell` with this list; further keys may follow.
fn list(commands: &[&str]) -> String {
    let entries: Vec<String> = commands.iter().map(|entry| format!("{entry:?}")).collect();
    let entries = entries.join(", ");
    let rule =
        |tool: &str| format!("[tool.{tool}]\nmode = \"allowlist\"\nallowlist = [{entries}]\n");
    format!("[approval]\nhold_sec = 0\n{}{}", rule("shell"), rule("run"))
}

/// Scripts in which a program runs another, that no list of commands shows.
const HOLES: [&str; 4] = [
    "awk 'BEGIN { exit system(\"touch ran\") }'",
    "sed -n '1e touch ran' file",
    "tar -cf all.tar --checkpoint=1 --checkpoint-action=exec='touch ran' file",
    "awk 'BEGIN { print \"x\" | \"tee ran\"; exit close(\"tee ran\") }'",
];

const HOLED: [&str; 3] = ["awk *", "sed *", "tar *"];

fn what_people_list_works() {
    let commands = [
        "git *", "ls *", "grep *", "cat *", "sort *", "wc *", "cargo *", "make *", "npm *",
        "node *", "tar *", "cd *", "echo *", "test *", "cc *", "./a", "find *", "xargs *", "env *",
        "head *",
    ];
    each(&list(&commands), |harness, _| {
        assert_eq!(
            ok(harness, "echo x > x; ls | grep -c x; cat x | sort | wc -l"),
            "1\n1\n"
        );
        assert_eq!(
            ok(
                harness,
                "git init -q . && git status --short; git log 2>/dev/null || echo none"
            ),
            "?? x\nnone\n"
        );
        assert_eq!(
            ok(
                harness,
                "tar -czf x.tgz x && tar -tzf x.tgz; find . -name x -exec cat {} +"
            ),
            "x\nx\n"
        );
        assert_eq!(ok(harness, "echo x | xargs env A=b cat"), "x\n");
        let write = |name: &str, text: &str| {
            fs::write(harness.workspace().join(name), text).unwrap();
            let mode = fs::Permissions::from_mode(0o644);
            fs::set_permissions(harness.workspace().join(name), mode).unwrap();
        };
        write(
            "Makefile",
            "test:\n\t@echo 'int main(void) { return 0; }' > t.c; cp x y; sh -c 'cat y'\n",
        );
        assert_eq!(ok(harness, "make -s test"), "x\n");
        if is_there(harness, "cc") {
            assert_eq!(ok(harness, "cc -o a t.c && ./a && echo ran"), "ran\n");
        }
        if is_there(harness, "cargo") {
            assert_eq!(
                ok(
                    harness,
                    "cargo init -q --vcs none --name made . && cargo run -q --offline"
                ),
                "Hello, world!\n"
            );
        }
        if is_there(harness, "npm") {
            write(
                "package.json",
                r#"{"scripts": {"test": "node t.js && ls x"}}"#,
            );
            write(
                "t.js",
                "console.log(require('child_process').execSync('cat x').toString())",
            );
            assert_eq!(ok(harness, "npm test --silent"), "x\n\nx\n");
        }
    });
}

fn what_an_allowed_program_is_told_to_run_is_not_executed() {
    each(&list(&HOLED), |harness, _| {
        fs::write(harness.workspace().join("file"), "x\n").unwrap();
        for cmd in HOLES {
            let status = run(harness, cmd);
            assert!(!harness.workspace().join("ran").exists(), "{cmd}: {status}");
            let told = status["containment"].as_str();
            let told = told.unwrap_or_else(|| panic!("{cmd}: {status}"));
            for part in ["may execute only ", "[tool.run] execute", "`sandbox`"] {
                assert!(told.contains(part), "{part}: {told}");
            }
        }
    });
    // The same runs where no list stands between.
    let harness = Harness::start();
    fs::write(harness.workspace().join("file"), "x\n").unwrap();
    for cmd in HOLES {
        let status = run(&harness, cmd);
        fs::remove_file(harness.workspace().join("ran"))
            .unwrap_or_else(|error| panic!("{cmd}: {error}: {status}"));
    }
}

fn nothing_is_written_outside_whatever_runs() {
    each(&list(&["awk *", "make *"]), |harness, ground| {
        let status = run(
            harness,
            "awk 'BEGIN { print \"x\" > ENVIRON[\"GROUND\"] \"/outside/file\" }'",
        );
        assert_ne!(status["exit_code"], 0, "{status}");
        // What runs anything still writes nowhere else.
        let makefile = "all:\n\ttouch inside $$TMPDIR/inside\n\trm -f $$GROUND/outside/file\n";
        fs::write(harness.workspace().join("Makefile"), makefile).unwrap();
        let status = run(harness, "make");
        assert_ne!(status["exit_code"], 0, "{status}");
        let told = status["containment"].as_str().unwrap();
        assert!(
            told.starts_with("may write only below ") && told.contains("[sandbox] writable"),
            "{told}"
        );
        assert!(harness.workspace().join("inside").exists());
        assert_eq!(ground.names("tmp"), ["inside"]);
        assert_eq!(ground.read("outside/file"), "outside\n");
    });
}

fn what_the_sandbox_lists_as_writable_can_be_written() {
    let config = format!("writable = [\"GROUND/outside\"]\n{}", list(&["awk *"]));
    each(&config, |harness, ground| {
        ok(
            harness,
            "awk 'BEGIN { print \"new\" > ENVIRON[\"GROUND\"] \"/outside/file\" }'",
        );
        assert_eq!(ground.read("outside/file"), "new\n");
    });
    let config = format!("filesystem = \"read-only\"\n{}", list(&["awk *"]));
    each(&config, |harness, _| {
        let status = run(harness, "awk 'BEGIN { print \"x\" > \"file\" }'");
        assert_ne!(status["exit_code"], 0, "{status}");
        assert!(!harness.workspace().join("file").exists());
    });
}

fn it_holds_for_a_shell_call_and_on_every_front() {
    each(&list(&HOLED), |harness, _| {
        let cmd = HOLES[0];
        let result = harness
            .mcp(Some("shell"))
            .call("shell", &json!({"cmd": cmd}));
        let status = &result["structuredContent"];
        assert_eq!(status["exitCode"], 126, "{status}");
        let told = status["containment"].as_str().unwrap();
        assert!(told.contains("[tool.shell] execute"), "{told}");
        assert!(text(&result).contains(told), "{result}");
        let task = harness.post("/v1/tasks", &json!({"cmd": cmd, "wait_seconds": 30}));
        assert_eq!(task["exit_code"], 126, "{task}");
        let input = json!({"cmd": cmd, "wait_seconds": 30}).to_string();
        let called = harness.ctl(&["--json", "call", "run", &input]).ok().json();
        assert_eq!(called["structured"]["exit_code"], 126, "{called}");
        assert_eq!(harness.ctl(&["run", "--wait=30", "--", cmd]).code, 126);
        assert_eq!(harness.ctl(&["shell", cmd]).code, 126);
        assert!(!harness.workspace().join("ran").exists());
    });
}

fn the_configuration_can_name_more_and_lift_the_limit() {
    for (execute, expected) in [
        ("\"cat\"", false),
        ("\"touch\"", true),
        ("\"/bin/touch\"", true),
        ("\"*\"", true),
    ] {
        let config = format!("{}execute = [{execute}]\n", list(&HOLED));
        each(&config, |harness, _| {
            let status = run(harness, HOLES[0]);
            let ran = harness.workspace().join("ran").exists();
            assert_eq!(ran, expected, "{execute}: {status}");
        });
    }
}

fn a_program_put_into_the_path_by_a_task_is_not_executed() {
    let ground = Ground::new();
    let mut harness = Harness::prepared("");
    let bin = harness.workspace().join("bin");
    fs::create_dir(&bin).unwrap();
    fs::write(bin.join("ls"), "#!/bin/sh\necho planted\n").unwrap();
    fs::set_permissions(bin.join("ls"), fs::Permissions::from_mode(0o755)).unwrap();
    let config = |more: &str| {
        let config = ground.config(&format!("{}{more}", list(&["ls *"])));
        let path = format!("set = {{ PATH = \"{}:/usr/bin:/bin\",", bin.display());
        config.replace("set = {", &path)
    };
    harness.write_config(&config(""));
    harness.start_daemon();
    let status = run(&harness, "ls");
    assert_eq!(status["exit_code"], 126, "{status}");
    assert_eq!(status["stdout"]["tail"], "", "{status}");
    harness.write_config(&config(&format!("execute = [\"{}\"]\n", bin.display())));
    harness.ctl(&["reload"]).ok();
    assert_eq!(ok(&harness, "ls"), "planted\n");
}

fn what_a_person_answered_or_another_mode_allows_is_not_limited() {
    each(&list(&["true"]), |harness, ground| {
        let mut session = harness.mcp(Some("bash"));
        for answer in ["approve", "always"] {
            let input = json!({"cmd": format!("awk 'BEGIN {{ exit system(\"touch \" ENVIRON[\"GROUND\"] \"/outside/{answer}\") }}'"), "wait_seconds": 30});
            let asked = session.call("run", &input);
            let id = asked["structuredContent"]["error"]["details"]["approval"].to_string();
            match answer {
                "approve" => harness.ctl(&["approve", &id]).ok(),
                _ => harness.ctl(&["approve", "--always", &id]).ok(),
            };
            assert_eq!(session.ok("run", &input)["exit_code"], 0);
        }
        assert_eq!(ground.names("outside"), ["always", "approve", "file"]);
    });
    each(
        "[tool.run]\nmode = \"allow\"\nallowlist = [\"awk *\"]\n",
        |harness, _| {
            ok(harness, HOLES[0]);
            assert!(harness.workspace().join("ran").exists());
        },
    );
}

fn a_restarted_task_stays_within_what_was_read() {
    let ground = Ground::new();
    let mut harness = Harness::with_config(&ground.config(&list(&HOLED)));
    let id = run(&harness, HOLES[0])["id"].as_str().unwrap().to_owned();
    // Whatever the rules are by then.
    harness.write_config(&ground.config(""));
    harness.stop_daemon();
    harness.start_daemon();
    let again = harness.ctl(&["restart", &id]);
    assert_eq!(again.code, 0, "{again:?}");
    let status = harness
        .mcp(Some("bash"))
        .ok("status", &json!({"id": id, "wait_seconds": 30}));
    assert_eq!(status["exit_code"], 126, "{status}");
    assert!(!harness.workspace().join("ran").exists());
}

fn an_explanation_shows_what_may_be_executed() {
    let ground = Ground::new();
    let harness = Harness::with_config(&ground.config(&list(&["ls *", "grep *", "make *"])));
    let real = |program: &str| {
        let path = fs::canonicalize(format!("/bin/{program}")).unwrap();
        Value::from(path.display().to_string())
    };
    let explained = harness
        .ctl(&["--json", "explain", "run", "ls | grep x"])
        .ok()
        .json();
    let executable = explained["sandbox"]["executable"].as_array().unwrap();
    for program in ["ls", "grep", "sh"] {
        assert!(executable.contains(&real(program)), "{explained}");
    }
    assert!(!executable.contains(&real("rm")), "{explained}");
    let text = harness
        .ctl(&["explain", "shell", "ls | grep x"])
        .ok()
        .stdout;
    assert!(text.contains(real("grep").as_str().unwrap()), "{text}");
    let text = harness.ctl(&["explain", "run", "make && ls"]).ok().stdout;
    assert!(text.contains("anything"), "{text}");
    // What is asked about has no such limits.
    let explained = harness
        .ctl(&["--json", "explain", "run", "rm x"])
        .ok()
        .json();
    assert_eq!(explained.get("sandbox"), None, "{explained}");
    assert_eq!(harness.get("/v1/calls")["items"], json!([]));
}

/// A limit that the documentation names: loading code is no execution. The rules for writing hold all the same.
fn the_loader_of_programs_can_load_but_not_write_outside() {
    each(&list(&["awk *"]), |harness, ground| {
        let script = "awk 'BEGIN { exit system(\"for l in /lib64/ld-*.so.* /lib/ld-*.so.*; do [ -x $l ] && $l /bin/touch $GROUND/outside/new loaded; done\") }'";
        let status = run(harness, script);
        assert!(harness.workspace().join("loaded").exists(), "{status}");
        assert_eq!(ground.names("outside"), ["file"]);
    });
}
