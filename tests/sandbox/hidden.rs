//! What may not even be read.

use std::fs;

use harness_tests::{harness::Harness, trials};
use libtest_mimic::Trial;

use super::{Ground, each, ok, run, succeeding};

pub(crate) fn trials() -> Vec<Trial> {
    trials![
        a_hidden_file_cannot_be_read_by_any_path,
        a_hidden_directory_cannot_be_changed_even_when_all_else_may,
        everything_beside_it_works_as_before,
        it_holds_together_with_workspace_write,
        a_harness_can_hide_its_own_state,
        a_home_can_be_hidden_but_for_the_workspace_in_it,
    ]
}

const HIDDEN: &str = "hidden = [\"GROUND/secret\", \"GROUND/outside/twin\"]\n";

fn a_hidden_file_cannot_be_read_by_any_path() {
    each(HIDDEN, |harness, ground| {
        std::os::unix::fs::symlink(
            ground.path("secret/key"),
            harness.workspace().join("before"),
        )
        .unwrap();
        fs::hard_link(ground.path("secret/key"), ground.path("outside/twin")).unwrap();
        fs::hard_link(ground.path("secret/key"), ground.path("outside/beside")).unwrap();
        let done = succeeding(
            harness,
            &[
                "cat $GROUND/secret/key",
                "cat before",
                "cat $GROUND/outside/twin",
                "cd $GROUND/secret && cat key",
                "cat /proc/self/root$GROUND/secret/key",
                "cat /proc/self/cwd/../../../../../../$GROUND/secret/key",
                "cat $GROUND/tmp/../secret/key",
                "ln $GROUND/secret/key link && cat link",
                "ln $GROUND/secret/key $GROUND/secret/second && cat $GROUND/secret/second",
                "ln -s $GROUND/secret door && cat door/key",
                "mv $GROUND/secret/key taken && cat taken",
                "mv $GROUND/secret $GROUND/revealed && cat $GROUND/revealed/key",
                "mv $GROUND/secret secret && cat secret/key",
                "cp $GROUND/secret/key copy",
                "exec 9<$GROUND/secret/key",
                "perl -e 'open(my $f, \"+<\", \"$ENV{GROUND}/secret/key\") or exit 1'",
                "perl -e 'sysopen(my $f, \"$ENV{GROUND}/secret/key\", 010000000) or exit 1; open(my $g, \"<\", \"/proc/self/fd/\" . fileno($f)) or exit 1'",
                "mkdir -p jail && mount --bind $GROUND/secret jail && cat jail/key",
                "unshare -Urm sh -c 'mkdir -p jail && mount --bind $GROUND/secret jail && cat jail/key'",
                "tar -cf all.tar -C $GROUND secret",
                "cat $GROUND/outside/file",
            ],
        );
        assert_eq!(done, ["cat $GROUND/outside/file"]);
        assert_eq!(ground.names("secret"), ["key"]);
    });
}

fn a_hidden_directory_cannot_be_changed_even_when_all_else_may() {
    each(HIDDEN, |harness, ground| {
        let done = succeeding(
            harness,
            &[
                "echo x >> $GROUND/secret/key",
                "echo x > $GROUND/secret/new",
                "rm -f $GROUND/secret/key",
                "mkdir $GROUND/secret/directory",
                "touch plant && mv plant $GROUND/secret/plant",
                "perl -e 'truncate(\"$ENV{GROUND}/secret/key\", 0) or exit 1'",
                "bash $GROUND/secret/key",
                "echo x > $GROUND/tmp/x && mv $GROUND/tmp/x moved && rm moved",
            ],
        );
        assert_eq!(done.len(), 1, "{done:?}");
        assert_eq!(ground.read("secret/key"), "s3cret\n");
        assert_eq!(ground.names("secret"), ["key"]);
    });
}

fn everything_beside_it_works_as_before() {
    each(HIDDEN, |harness, _| {
        let commands = [
            "ls / $GROUND >/dev/null",
            "cat $GROUND/outside/file",
            "echo x > $GROUND/outside/file",
            "f=$(mktemp) && echo x > $f && mv $f here && cat here && chmod +x here",
            "mkdir -p a/b && echo 'echo hi' > a/b/c && sh a/b/c && mv a b && rm -r b",
            "cat /proc/self/status /etc/passwd >/dev/null",
            "echo x > /dev/null",
            "echo x | cat | cat",
            "cat <<<x",
            "diff <(echo x) <(echo x)",
            "perl -e 'print 1' >/dev/null",
        ];
        assert_eq!(succeeding(harness, &commands), commands);
    });
}

fn it_holds_together_with_workspace_write() {
    let config = format!("filesystem = \"workspace-write\"\n{HIDDEN}");
    each(&config, |harness, ground| {
        let done = succeeding(
            harness,
            &[
                "cat $GROUND/secret/key",
                "echo x > $GROUND/secret/key",
                "echo x > $GROUND/outside/x",
                "cat $GROUND/outside/file",
                "mkdir a && echo x > a/x && mv a/x $TMPDIR/y && mv $TMPDIR/y z && ln z a/z && cat a/z",
            ],
        );
        assert_eq!(done.len(), 2, "{done:?}");
        assert_eq!(ground.names("outside"), ["file"]);
    });
}

fn a_harness_can_hide_its_own_state() {
    let ground = Ground::new();
    let mut harness = Harness::prepared("");
    let state = harness.state().display().to_string();
    harness.write_config(&ground.config(&format!("hidden = [\"{state}\"]\n")));
    harness.start_daemon();
    let status = run(&harness, "echo named >> /dev/stdout");
    assert_eq!(status["stdout"]["tail"], "named\n", "{status}");
    let text = run(
        &harness,
        &format!("cat {state}/state.db {state}/bash-tasks/*"),
    );
    assert_eq!(text["stdout"]["tail"], "", "{text}");
}

fn a_home_can_be_hidden_but_for_the_workspace_in_it() {
    let ground = Ground::new();
    let mut harness = Harness::prepared("");
    // The directory of the harness, with the workspace in it, is the home.
    let home = harness.path("").display().to_string();
    let config = ground.config("hidden = [\"~\"]\n");
    harness.write_config(&config.replace(
        "set = {",
        &format!("set = {{ HOME = \"{}\",", home.trim_end_matches('/')),
    ));
    harness.start_daemon();
    assert_eq!(
        ok(
            &harness,
            "echo x > file && mkdir d && mv file d/file && cat d/file"
        ),
        "x\n"
    );
    let status = run(&harness, "cat ~/test.toml; ls ~/work");
    assert_eq!(status["stdout"]["tail"], "d\n", "{status}");
    assert!(
        status["stderr"]["tail"]
            .as_str()
            .unwrap()
            .contains("Permission denied"),
        "{status}"
    );
}
