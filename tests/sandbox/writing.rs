//! What may be changed.

use harness_tests::{event, harness::PATIENCE, trials};
use libtest_mimic::Trial;
use serde_json::json;

use super::{each, ok, run, succeeding};

pub(crate) fn trials() -> Vec<Trial> {
    trials![
        a_workspace_task_writes_in_the_workspace_and_tmpdir_and_nowhere_else,
        no_other_call_gets_around_it,
        a_tmpdir_of_the_call_does_not_become_writable,
        read_only_means_the_workspace_too_and_spares_what_is_listed,
        devices_and_the_tasks_own_output_can_be_written_by_name,
        what_a_task_leaves_in_the_background_is_confined_as_well,
        a_turn_is_confined_as_well,
        a_shell_call_is_confined_as_well,
        a_restarted_task_is_confined_as_before,
    ]
}

const WORKSPACE_WRITE: &str = "filesystem = \"workspace-write\"\n";

fn a_workspace_task_writes_in_the_workspace_and_tmpdir_and_nowhere_else() {
    each(WORKSPACE_WRITE, |harness, ground| {
        let text = ok(
            harness,
            "mkdir -p a/b && echo new > a/b/c && mv a/b/c d && cat d && f=$(mktemp) && echo tmp > $f && mv $f moved && cat moved && rm -r a d moved",
        );
        assert_eq!(text, "new\ntmp\n");
        let status = run(harness, "echo x > $GROUND/outside/file");
        assert_eq!(status["exit_code"], 1, "{status}");
        assert!(
            status["stderr"]["tail"]
                .as_str()
                .unwrap()
                .contains("Permission denied"),
            "{status}"
        );
        assert_eq!(ground.read("outside/file"), "outside\n");
        // It can still be read and run from.
        assert_eq!(ok(harness, "cat $GROUND/outside/file"), "outside\n");
    });
}

fn no_other_call_gets_around_it() {
    each(WORKSPACE_WRITE, |harness, ground| {
        let done = succeeding(
            harness,
            &[
                "echo x >> $GROUND/outside/file",
                "truncate -s 0 $GROUND/outside/file",
                "perl -e 'truncate(\"$ENV{GROUND}/outside/file\", 0) or exit 1'",
                "rm $GROUND/outside/file",
                "mv $GROUND/outside/file taken",
                "mv $GROUND/outside/file $GROUND/outside/renamed",
                "touch mine && mv mine $GROUND/outside/mine",
                "ln $GROUND/outside/file link",
                "touch own && ln own $GROUND/outside/own",
                "ln -s x $GROUND/outside/symlink",
                "mkdir $GROUND/outside/directory",
                "mkfifo $GROUND/outside/fifo",
                "cp --reflink=auto /bin/true $GROUND/outside/true",
                "ln -s $GROUND/outside door && echo x > door/x",
                "echo x > /proc/self/root$GROUND/outside/x",
                "cd $GROUND/outside && echo x > x",
                "exec 9<$GROUND/outside/file && echo x > /proc/self/fd/9",
                "bash -c 'echo x > $GROUND/outside/x'",
                "setsid -w bash -c 'echo x > $GROUND/outside/x'",
                "perl -e 'use Socket; socket(my $s, AF_UNIX, SOCK_STREAM, 0); bind($s, sockaddr_un(\"$ENV{GROUND}/outside/socket\")) or exit 1'",
                "unshare -m true",
                "unshare -Ur mount --bind $GROUND/outside $GROUND/tmp",
                "mount -t tmpfs none $GROUND/outside",
                "mknod node b 7 0",
                "perl -e 'open(my $d, \"<\", (glob \"/dev/vd? /dev/sd? /dev/nvme?n? /dev/tty0\")[0]) or exit 1; ioctl($d, 0x1261, 0) or exit 1'",
                "echo in the workspace > works",
            ],
        );
        assert_eq!(done, ["echo in the workspace > works"]);
        assert_eq!(ground.names("outside"), ["file"]);
        assert_eq!(ground.read("outside/file"), "outside\n");
    });
}

fn a_tmpdir_of_the_call_does_not_become_writable() {
    each(WORKSPACE_WRITE, |harness, ground| {
        let mut session = harness.mcp(Some("bash"));
        let outside = ground.path("outside").display().to_string();
        let input =
            json!({"cmd": "touch $TMPDIR/x", "env": {"TMPDIR": outside}, "wait_seconds": 30});
        assert_eq!(session.ok("run", &input)["exit_code"], 1);
        assert_eq!(ground.names("outside"), ["file"]);
    });
}

fn read_only_means_the_workspace_too_and_spares_what_is_listed() {
    each(
        "filesystem = \"read-only\"\nwritable = [\"GROUND/outside\"]\n",
        |harness, ground| {
            let done = succeeding(
                harness,
                &[
                    "echo x > file",
                    "mkdir directory",
                    "touch $TMPDIR/x",
                    "echo x > $GROUND/secret/key",
                    "echo x > /dev/shm/x",
                    "echo listed > $GROUND/outside/listed",
                    "cat $GROUND/secret/key",
                    "ls . >/dev/null",
                ],
            );
            assert_eq!(done.len(), 3, "{done:?}");
            assert_eq!(ground.read("outside/listed"), "listed\n");
            assert_eq!(std::fs::read_dir(harness.workspace()).unwrap().count(), 0);
        },
    );
}

fn devices_and_the_tasks_own_output_can_be_written_by_name() {
    for filesystem in ["workspace-write", "read-only"] {
        each(&format!("filesystem = \"{filesystem}\"\n"), |harness, _| {
            let status = run(
                harness,
                "echo out >> /dev/stdout && echo err >> /dev/stderr && echo x > /dev/null && head -c 4 /dev/urandom > /dev/zero && cat /dev/stdin && echo end >> /proc/self/fd/1",
            );
            assert_eq!(status["exit_code"], 0, "{status}");
            assert_eq!(status["stdout"]["tail"], "out\nend\n", "{status}");
            assert_eq!(status["stderr"]["tail"], "err\n", "{status}");
        });
    }
}

fn what_a_task_leaves_in_the_background_is_confined_as_well() {
    each(WORKSPACE_WRITE, |harness, ground| {
        let script = "setsid sh -c 'while ! [ -e go ]; do sleep 0.01; done; echo x > $GROUND/outside/x; echo x > tried' & touch go; while ! [ -s tried ]; do sleep 0.01; done";
        ok(harness, script);
        assert_eq!(ground.names("outside"), ["file"]);
    });
}

fn a_turn_is_confined_as_well() {
    let command = "echo x > $DIRECTORY/outside/x; cat > turn.tmp; mv turn.tmp turn.json";
    let turn = format!("[turn]\ncommand = [\"sh\", \"-c\", {command:?}]\n");
    each(&format!("{WORKSPACE_WRITE}{turn}"), |harness, ground| {
        let mut session = harness.mcp(Some("bash"));
        session.ok("run", &json!({"cmd": "true", "wait_seconds": 0}));
        let given = harness.workspace().join("turn.json");
        event::file(&given, PATIENCE, |text| text.contains("bash-task"));
        assert_eq!(ground.names("outside"), ["file"]);
    });
}

fn a_shell_call_is_confined_as_well() {
    let config = format!("{WORKSPACE_WRITE}network = false\n[tool.shell]\nmode = \"allow\"\n");
    each(&config, |harness, ground| {
        let mut session = harness.mcp(Some("shell"));
        let cmd = "echo x > inside && cat inside; echo x > $GROUND/outside/x";
        let result = session.ok("shell", &json!({ "cmd": cmd }));
        assert_eq!(result["stdout"], "x\n", "{result}");
        assert_eq!(result["exitCode"], 1, "{result}");
        let rules = result["containment"].as_str().unwrap();
        assert!(rules.contains("no network"), "{result}");
        assert_eq!(ground.names("outside"), ["file"]);
        let clean = session.ok("shell", &json!({"cmd": "true"}));
        assert_eq!(clean.get("containment"), None, "{clean}");
    });
}

fn a_restarted_task_is_confined_as_before() {
    each(WORKSPACE_WRITE, |harness, ground| {
        let mut session = harness.mcp(Some("bash"));
        let cmd = "echo x >> starts; echo x > $GROUND/outside/x";
        let status = session.ok("run", &json!({"cmd": cmd, "wait_seconds": 30}));
        assert_eq!(status["active_state"], "failed", "{status}");
        let again = session.ok("restart", &json!({"id": status["id"]}));
        session.ok("status", &json!({"id": again["id"], "wait_seconds": 30}));
        let starts = std::fs::read_to_string(harness.workspace().join("starts"));
        assert_eq!(starts.unwrap(), "x\nx\n");
        assert_eq!(ground.names("outside"), ["file"]);
    });
}
