//! What may be executed in a domain: rules that are given straight to the keeper, as for a script that was
//! read wrongly.

use std::{fs, os::unix::fs::PermissionsExt as _, path::Path};

use harness_keeper::protocol::{Failure, Request, Stdio};
use harness_model::SandboxRules;

use crate::support::{Client, Keeper, NOBODY, read, shell};

/// Files that every script here needs: the shells, and the loader that the kernel opens for it.
fn needed() -> Vec<String> {
    let maps = fs::read_to_string("/proc/self/maps").unwrap();
    let loader = maps
        .lines()
        .filter_map(|line| line.split_whitespace().last())
        .find(|path| path.contains("/ld-"))
        .unwrap();
    vec![real("/bin/bash"), real("/bin/sh"), real(loader)]
}

/// The path of a program without symbolic links.
fn real(path: &str) -> String {
    fs::canonicalize(path).unwrap().display().to_string()
}

fn only(more: &[String]) -> SandboxRules {
    SandboxRules {
        executable: Some(needed().into_iter().chain(more.iter().cloned()).collect()),
        ..SandboxRules::default()
    }
}

/// A directory that everybody may use.
fn ground(keeper: &Keeper) -> String {
    let directory = keeper.directory.canonicalize().unwrap().join("ground");
    for name in ["", "a", "b"] {
        fs::create_dir(directory.join(name)).unwrap();
        let mode = fs::Permissions::from_mode(0o777);
        fs::set_permissions(directory.join(name), mode).unwrap();
    }
    directory.display().to_string()
}

fn run(client: &mut Client, cwd: &str, rules: &SandboxRules, script: &str) -> String {
    let mut request = shell(&format!("exec 2>&1; {script}"));
    request.cwd = cwd.to_owned();
    request.sandbox = Some(rules.clone());
    request.stdout = Stdio::Pipe;
    let id = client.post(Request::Spawn(Box::new(request.clone())), &[]);
    let (reply, mut fds) = client.reply(id);
    assert!(!fds.is_empty(), "{reply:?}");
    let text = read(fds.remove(0));
    client.end(&request.invocation);
    text
}

fn both(test: impl Fn(&mut Client, &str)) {
    for user in [None, Some(NOBODY)] {
        let keeper = Keeper::start_as(user, &[]);
        let ground = ground(&keeper);
        test(&mut keeper.connect(), &ground);
    }
}

#[test]
fn a_program_that_is_not_listed_cannot_be_executed_by_any_name() {
    both(|client, ground| {
        fs::copy("/bin/cat", Path::new(ground).join("a/copy")).unwrap();
        std::os::unix::fs::symlink("/bin/cat", Path::new(ground).join("a/link")).unwrap();
        let rules = only(&[real("/bin/ls")]);
        for script in [
            "cat /etc/passwd",
            "/bin/cat /etc/passwd",
            "a/copy /etc/passwd",
            "a/link /etc/passwd",
            "ls | cat",
            "(exec cat /etc/passwd)",
            "/proc/self/root/bin/cat /etc/passwd",
        ] {
            let text = run(client, ground, &rules, &format!("{script}; echo $?"));
            assert!(
                text.contains("ermission denied") && text.ends_with("126\n"),
                "{script}: {text}"
            );
            assert!(!text.contains("root:"), "{script}: {text}");
        }
        assert_eq!(
            run(client, ground, &rules, "ls; cd a; ls"),
            "a\nb\ncopy\nlink\n"
        );
    });
}

#[test]
fn below_a_listed_directory_everything_can_be_executed() {
    both(|client, ground| {
        let program = Path::new(ground).join("a/program");
        fs::write(&program, "#!/bin/sh\necho ran\n").unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        let rules = only(&[format!("{ground}/a")]);
        assert_eq!(run(client, ground, &rules, "a/program"), "ran\n");
        let rules = only(&[]);
        let text = run(client, ground, &rules, "a/program");
        assert!(text.contains("ermission denied"), "{text}");
    });
}

#[test]
fn files_are_made_and_moved_as_without_the_rule() {
    both(|client, ground| {
        let rules = only(&[real("/bin/mv"), real("/bin/cat")]);
        let script = "echo x > a/x && mv a/x b/y && cat b/y && echo z > b/y && cat b/y";
        assert_eq!(run(client, ground, &rules, script), "x\nz\n");
        // Together with the rules for writing, too.
        let rules = SandboxRules {
            writable: Some(vec![ground.to_owned()]),
            ..rules
        };
        assert_eq!(run(client, ground, &rules, script), "x\nz\n");
    });
}

#[test]
fn what_is_hidden_stays_hidden_beside_it() {
    both(|client, ground| {
        let rules = SandboxRules {
            hidden: vec![format!("{ground}/b")],
            ..only(&[real("/bin/cat")])
        };
        fs::write(Path::new(ground).join("a/open"), "open\n").unwrap();
        fs::write(Path::new(ground).join("b/key"), "s3cret\n").unwrap();
        let text = run(client, ground, &rules, "cat a/open; cat b/key; ls");
        assert!(
            text.starts_with("open\n") && !text.contains("s3cret"),
            "{text}"
        );
        assert_eq!(text.matches("ermission denied").count(), 2, "{text}");
    });
}

#[test]
fn a_script_that_cannot_start_is_told_so() {
    let keeper = Keeper::start(&[]);
    // Without the shell, and without the loader that the kernel opens for it.
    for executable in [Vec::new(), vec![real("/bin/bash")]] {
        let mut request = shell("true");
        request.sandbox = Some(SandboxRules {
            executable: Some(executable),
            ..SandboxRules::default()
        });
        let failure = keeper.connect().spawn_with(&request, &[]).unwrap_err();
        let Failure::System { step, error, .. } = &failure else {
            panic!("{failure:?}");
        };
        assert!(step == "execve" && error.contains("denied"), "{failure:?}");
    }
}

/// The limits of the rule, which the documentation names: they are kept in mind here, so that a kernel that
/// closes one is noticed.
#[test]
fn code_that_a_listed_program_loads_is_no_execution() {
    let keeper = Keeper::start(&[]);
    let ground = ground(&keeper);
    let loader = needed().pop().unwrap();
    let rules = only(&[]);
    let text = run(
        &mut keeper.connect(),
        &ground,
        &rules,
        &format!("{loader} /bin/cat /etc/hostname >/dev/null && echo loaded"),
    );
    assert_eq!(text, "loaded\n");
    // memfd_create(2): no file system has it, so no rule reaches it.
    let rules = only(&[real("/usr/bin/perl")]);
    let script = r#"perl -MConfig -e '
        my $name = "memory"; my $fd = syscall($Config{archname} =~ /aarch64/ ? 279 : 319, $name, 0);
        open(my $file, ">&=", $fd); open(my $echo, "<", "/bin/echo"); local $/; print {$file} <$echo>; $file->flush;
        exec("/proc/self/fd/$fd", "from", "memory")'"#;
    let text = run(&mut keeper.connect(), &ground, &rules, script);
    assert_eq!(text, "from memory\n");
    // What it may change stays limited.
    let rules = SandboxRules {
        writable: Some(vec![format!("{ground}/a")]),
        ..only(&[])
    };
    let text = run(
        &mut keeper.connect(),
        &ground,
        &rules,
        &format!("{loader} /bin/touch b/x; {loader} /bin/touch a/x"),
    );
    assert_eq!(text.matches("ermission denied").count(), 1, "{text}");
    assert!(Path::new(&ground).join("a/x").exists());
    assert!(!Path::new(&ground).join("b/x").exists());
}
