//! Starting processes and hearing of their end.

use std::{
    fs::File,
    io::{Seek, SeekFrom, Write},
    os::fd::OwnedFd,
};

use harness_keeper::protocol::{Failure, Limits, Reply, Request, Stdio};
use harness_model::{ExitStatus, Signal};

use crate::support::{Keeper, read, request, shell};

#[test]
fn the_exit_code_and_the_signal_are_told_apart() {
    let keeper = Keeper::start(&[]);
    let mut client = keeper.connect();
    let signaled = |signal| ExitStatus::Signaled {
        signal,
        core_dump: false,
    };
    for (script, status) in [
        ("exit 0", ExitStatus::Exited(0)),
        ("exit 7", ExitStatus::Exited(7)),
        ("exit 255", ExitStatus::Exited(255)),
        ("kill -9 $$", signaled(Signal::KILL)),
        ("kill -TERM $$", signaled(Signal::TERM)),
        ("kill -40 $$", signaled(Signal::from_number(40).unwrap())),
    ] {
        let (_, exit) = client.run(script);
        assert_eq!(exit.status, status, "{script}");
        assert_eq!((exit.left_over, exit.survivors.len()), (0, 0), "{script}");
        assert!(
            exit.runtime_usec > 0 && exit.usage.max_rss_bytes > 1 << 20,
            "{exit:?}"
        );
    }
}

#[test]
fn all_three_streams_are_the_descriptors_that_were_passed() {
    let keeper = Keeper::start(&[]);
    let mut client = keeper.connect();
    let path = |name: &str| keeper.directory.join(name);
    let mut input = File::options()
        .create_new(true)
        .read(true)
        .write(true)
        .open(path("in"))
        .unwrap();
    input.write_all(b"from the daemon").unwrap();
    input.seek(SeekFrom::Start(0)).unwrap();
    let create = |name: &str| File::create(path(name)).unwrap();
    let mut request = shell("cat; echo -n err >&2");
    (request.stdin, request.stdout, request.stderr) = (Stdio::Fd, Stdio::Fd, Stdio::Fd);
    let fds: [OwnedFd; 3] = [input.into(), create("out").into(), create("err").into()];
    client.spawn_with(&request, &fds).unwrap();
    client.end(&request.invocation);
    assert_eq!(
        std::fs::read_to_string(path("out")).unwrap(),
        "from the daemon"
    );
    assert_eq!(std::fs::read_to_string(path("err")).unwrap(), "err");
}

#[test]
fn a_descriptor_that_is_missing_is_a_clear_error_and_starts_nothing() {
    let keeper = Keeper::start(&[]);
    let mut client = keeper.connect();
    let mut request = shell("exit 0");
    request.stdout = Stdio::Fd;
    let failure = client.spawn_with(&request, &[]).unwrap_err();
    assert!(matches!(failure, Failure::Invalid { .. }), "{failure:?}");
    assert!(client.list().is_empty());
}

#[test]
fn a_child_has_null_streams_no_other_descriptor_no_tty_and_a_session_of_its_own() {
    let keeper = Keeper::start(&[]);
    let mut client = keeper.connect();
    let script = r#"
        readlink /proc/self/fd/0
        ls /proc/$$/fd | tr '\n' ' '; echo
        [ "$(cut -d' ' -f6 /proc/$$/stat)" = $$ ] && echo own session
        (: </dev/tty) 2>/dev/null || echo no tty
        echo "$HARNESS_UNIT" | wc -c; grep -E 'Sig(Blk|Ign)' /proc/self/status; ulimit -n"#;
    let (text, _) = client.run(script);
    let lines: Vec<_> = text.lines().collect();
    // 255 is bash's own copy of its script.
    assert_eq!(lines[0], "/dev/null");
    assert!(
        matches!(lines[1].trim(), "0 1 2" | "0 1 2 255" | "0 1 2 3"),
        "{text}"
    );
    assert_eq!(
        (lines[2], lines[3], lines[4].trim()),
        ("own session", "no tty", "9")
    );
    assert_eq!(lines[5], "SigBlk:\t0000000000000000");
    assert_eq!(lines[6], "SigIgn:\t0000000000000000");
    let limit = rustix::process::getrlimit(rustix::process::Resource::Nofile);
    assert_eq!(lines[7], limit.current.unwrap().to_string());
}

#[test]
fn what_cannot_start_says_why_and_leaves_nothing() {
    let keeper = Keeper::start(&[]);
    let mut client = keeper.connect();
    let script = keeper.directory.join("script");
    std::fs::write(&script, "#!/no/such/interpreter\n").unwrap();
    let executable = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(&script, executable).unwrap();
    for program in [
        "no-such-program",
        "/no/such/program",
        script.to_str().unwrap(),
        "",
    ] {
        let failure = client.spawn_with(&request(&[program]), &[]).unwrap_err();
        let expected = Failure::NoSuchProgram {
            program: program.to_owned(),
        };
        assert_eq!(failure, expected);
    }
    let mut nowhere = shell("exit 0");
    nowhere.cwd = "/no/such/directory".to_owned();
    let failure = client.spawn_with(&nowhere, &[]).unwrap_err();
    assert!(
        matches!(&failure, Failure::Directory { directory, .. } if directory == "/no/such/directory"),
        "{failure:?}"
    );
    for (failing, part) in [
        (request(&[]), "argument list is empty"),
        (request(&["echo", "a\0b"]), "argument 1 has a NUL byte"),
    ] {
        let failure = client.spawn_with(&failing, &[]).unwrap_err();
        assert!(failure.to_string().contains(part), "{failure}");
    }
    let mut variable = shell("exit 0");
    variable
        .environment
        .push(("A=B".to_owned(), "c".to_owned()));
    assert!(
        client
            .spawn_with(&variable, &[])
            .unwrap_err()
            .to_string()
            .contains("A=B")
    );
    let denied = client
        .spawn_with(&request(&["/etc/passwd"]), &[])
        .unwrap_err();
    assert!(denied.to_string().contains("Permission denied"), "{denied}");
    assert!(client.list().is_empty());
    assert_eq!(client.run("exit 3").1.status, ExitStatus::Exited(3));
}

#[test]
fn a_large_environment_passes_and_one_that_is_too_large_is_a_clear_error() {
    let keeper = Keeper::start(&[]);
    let mut client = keeper.connect();
    let mut large = shell(r#"echo -n "${#V7}""#);
    large.stdout = Stdio::Pipe;
    // Control characters are written six times as long in JSON.
    for number in 0..16 {
        large
            .environment
            .push((format!("V{number}"), "\u{1}".repeat(64 << 10)));
    }
    let id = client.post(Request::Spawn(Box::new(large)), &[]);
    let (reply, mut fds) = client.reply(id);
    assert!(matches!(reply, Reply::Spawned { .. }), "{reply:?}");
    assert_eq!(read(fds.remove(0)), "65536");
    let failure = client
        .spawn_with(&shell(&"#".repeat(2 << 20)), &[])
        .unwrap_err();
    assert!(failure.to_string().contains("2097152 bytes"), "{failure}");
    let mut many = shell("exit 0");
    let variables = (0..400).map(|number| (format!("V{number}"), "x".repeat(64 << 10)));
    many.environment.extend(variables);
    let failure = client.spawn_with(&many, &[]).unwrap_err();
    assert!(failure.to_string().contains("together longer"), "{failure}");
    assert_eq!(client.run("exit 3").1.status, ExitStatus::Exited(3));
}

#[test]
fn the_same_run_is_not_started_twice() {
    let keeper = Keeper::start(&[]);
    let mut client = keeper.connect();
    let request = shell("exec sleep 1000");
    client.spawn(&request);
    let failure = client.spawn_with(&request, &[]).unwrap_err();
    assert!(matches!(failure, Failure::Exists { .. }), "{failure:?}");
    assert_eq!(client.list().len(), 1);
}

#[test]
fn what_is_not_enforced_is_said_in_words() {
    for flags in [&[][..], &["--no-cgroup"]] {
        let keeper = Keeper::start(flags);
        let mut client = keeper.connect();
        let enforcement = client.hello().enforcement;
        let enforced = |name: &str| {
            enforcement
                .iter()
                .find(|one| one.name == name)
                .unwrap()
                .enforced
        };
        let mut limited = shell("exit 0");
        limited.limits = Limits {
            memory_max: Some(64 << 20),
            tasks_max: Some(20),
            cpu_quota: Some(50),
            ..Limits::default()
        };
        let id = client.post(Request::Spawn(Box::new(limited)), &[]);
        let (Reply::Spawned { not_enforced, .. }, _) = client.reply(id) else {
            panic!("it did not start");
        };
        for name in ["memory_max", "tasks_max", "cpu_quota"] {
            let said = not_enforced
                .iter()
                .any(|words| words.starts_with(&format!("{name} is not enforced: ")));
            assert_ne!(
                said,
                enforced(name),
                "{name}: {not_enforced:?} {enforcement:?}"
            );
        }
        assert!(enforced("signal_scope") && enforced("environ"));
        assert_eq!(enforced("cgroup"), flags.is_empty());
    }
}
