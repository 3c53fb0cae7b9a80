//! Talking to the keeper.

use std::os::{fd::OwnedFd, unix::fs::PermissionsExt};

use harness_keeper::protocol::{
    Event, Failure, PROTOCOL_MAX, PROTOCOL_MIN, Reply, Request, Stdio, encode,
};
use harness_model::ExitStatus;

use crate::support::{Client, Keeper, NOBODY, command, hello, program, shell};

#[test]
fn a_newer_and_an_older_daemon_are_answered_by_version() {
    let keeper = Keeper::start(&[]);
    let mut client = Client::connect(&keeper.directory);
    for (min, max) in [(PROTOCOL_MAX + 1, PROTOCOL_MAX + 5), (0, PROTOCOL_MIN - 1)] {
        let reply = client.call(hello(min, max));
        let expected = Failure::Version {
            min: PROTOCOL_MIN,
            max: PROTOCOL_MAX,
        };
        assert_eq!(reply, Reply::Failed(expected));
    }
    let Reply::Welcome(welcome) = client.call(hello(0, PROTOCOL_MAX + 5)) else {
        panic!("no welcome");
    };
    assert_eq!(welcome.protocol, PROTOCOL_MAX);
    assert_eq!(welcome.pid, keeper.process.id());
}

#[test]
fn unknown_fields_are_ignored_and_unknown_requests_are_unsupported() {
    let keeper = Keeper::start(&[]);
    let mut client = keeper.connect();
    let null: OwnedFd = std::fs::File::open("/dev/null").unwrap().into();
    let fds = [std::os::fd::AsFd::as_fd(&null)];
    let frame = |value: serde_json::Value| encode(&value).unwrap();
    client.write(&frame(serde_json::json!({"id": 90, "fds": 1, "later": 1, "request": {"freeze": {"deep": [1, 2]}}})), &fds);
    let unsupported = Failure::Unsupported {
        request: "freeze".to_owned(),
    };
    assert_eq!(client.reply(90).0, Reply::Failed(unsupported));
    client.write(
        &frame(serde_json::json!({"id": 91, "request": "thaw"})),
        &[],
    );
    assert!(
        matches!(client.reply(91).0, Reply::Failed(Failure::Unsupported { request }) if request == "thaw")
    );
    client.write(
        &frame(serde_json::json!({"id": 92, "request": {"list": {"all": true}}})),
        &[],
    );
    assert_eq!(client.reply(92).0, Reply::Units(Vec::new()));
    client.write(
        &frame(serde_json::json!({"id": 93, "request": {"signal": {"signal": "SIGNOPE"}}})),
        &[],
    );
    assert!(matches!(
        client.reply(93).0,
        Reply::Failed(Failure::Invalid { .. })
    ));
    // The descriptors of the unknown request did not stay behind for this one.
    let mut request = shell("readlink /proc/self/fd/1 >&2; exit 0");
    (request.stdout, request.stderr) = (Stdio::Fd, Stdio::Null);
    client.spawn_with(&request, &[null]).unwrap();
    assert_eq!(
        client.end(&request.invocation).status,
        ExitStatus::Exited(0)
    );
}

#[test]
fn the_first_request_has_to_be_hello_and_nonsense_closes_the_connection() {
    let keeper = Keeper::start(&[]);
    let mut client = Client::connect(&keeper.directory);
    assert!(matches!(
        client.call(Request::List {}),
        Reply::Failed(Failure::Invalid { .. })
    ));
    client.write(&[4, 0, 0, 0, b'n', b'o', b'p', b'e'], &[]);
    assert!(!client.read());
    let mut client = Client::connect(&keeper.directory);
    client.write(&[255; 8], &[]);
    assert!(!client.read());
    keeper.connect().run("exit 0");
}

#[test]
fn a_spawn_sent_just_before_the_daemon_died_is_on_the_list_of_the_next() {
    let keeper = Keeper::start(&[]);
    for _ in 0..20 {
        let request = shell("exec sleep 1000");
        let mut client = keeper.connect();
        client.post(Request::Spawn(Box::new(request.clone())), &[]);
        drop(client);
        let mut client = keeper.connect();
        assert!(
            client
                .list()
                .iter()
                .any(|unit| unit.invocation == request.invocation)
        );
    }
}

#[test]
fn a_second_daemon_takes_over_after_the_first_ones_requests_are_carried_out() {
    let keeper = Keeper::start(&[]);
    let mut first = keeper.connect();
    let requests: Vec<_> = (0..50).map(|_| shell("exec sleep 1000")).collect();
    for request in &requests {
        first.post(Request::Spawn(Box::new(request.clone())), &[]);
    }
    let mut second = keeper.connect();
    assert_eq!(second.list().len(), requests.len());
    let own = i32::try_from(std::process::id()).unwrap();
    while first.read() {}
    assert_eq!(first.event(), Event::Replaced { pid: own });
    assert_eq!(second.run("exit 3").1.status, ExitStatus::Exited(3));
}

#[test]
fn reports_wait_for_a_daemon_until_they_are_acknowledged() {
    let keeper = Keeper::start(&[]);
    let mut client = keeper.connect();
    let request = shell("sleep 1000 & exit 8");
    client.spawn(&request);
    drop(client);
    let mut client = keeper.connect();
    let exit = loop {
        let unit = client.list().remove(0);
        if let Some(exit) = unit.ended {
            assert!(unit.main_exited.is_some());
            break exit;
        }
        client.read();
    };
    assert_eq!((exit.status, exit.left_over), (ExitStatus::Exited(8), 1));
    drop(client);
    let mut client = keeper.connect();
    assert_eq!(client.list().len(), 1);
    for _ in 0..2 {
        let reply = client.call(Request::Acknowledge {
            invocation: request.invocation.clone(),
        });
        assert_eq!(reply, Reply::Done {});
        assert!(client.list().is_empty());
    }
}

#[test]
fn the_socket_is_its_users_alone_and_no_task_and_no_other_user_is_let_in() {
    let keeper = Keeper::start_as(Some(NOBODY), &[]);
    let socket = keeper.directory.join("keeper.sock");
    assert_eq!(
        std::fs::metadata(&socket).unwrap().permissions().mode() & 0o777,
        0o600
    );
    let attempt = perl(&socket, "78");
    let perl = format!("perl -e {} 2>&1", quote(&attempt));
    let mut client = keeper.connect();
    for script in [
        perl.clone(),
        format!("setsid -w sh -c {}", quote(&perl)),
        format!("(setsid sh -c {} &) | cat", quote(&perl)),
    ] {
        let (text, _) = client.run(&script);
        assert_eq!(text, "0 bytes", "{script}");
    }
    std::fs::set_permissions(&socket, std::fs::Permissions::from_mode(0o666)).unwrap();
    let output = command("setpriv")
        .args(["--reuid=1", "--clear-groups", "perl", "-e", &attempt])
        .output()
        .unwrap();
    assert_eq!(
        String::from_utf8_lossy(&output.stdout),
        "0 bytes",
        "{output:?}"
    );
}

/// A Perl program that sends bytes, given in hexadecimal, and says how many come back.
fn perl(socket: &std::path::Path, hex: &str) -> String {
    format!(
        "use Socket; $SIG{{PIPE}} = q(IGNORE); socket(S, AF_UNIX, SOCK_STREAM, 0); connect(S, sockaddr_un(q({}))) or die; \
         syswrite(S, pack(q(H*), q({hex}))); my $n = sysread(S, my $b, 4096) // 0; print qq($n bytes); print $b if $n",
        socket.display()
    )
}

fn quote(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

#[test]
fn another_user_that_was_named_is_let_in() {
    let keeper = Keeper::start_as(Some(NOBODY), &["--daemon-uid", "1"]);
    rustix::fs::chmod(&keeper.directory, rustix::fs::Mode::from_raw_mode(0o755)).unwrap();
    let frame = encode(&harness_keeper::protocol::RequestFrame {
        id: 1,
        fds: 0,
        request: hello(1, 1),
    })
    .unwrap();
    let hex = frame
        .iter()
        .fold(String::new(), |hex, byte| hex + &format!("{byte:02x}"));
    let program = perl(&keeper.directory.join("keeper.sock"), &hex);
    let output = command("setpriv")
        .args(["--reuid=1", "--clear-groups", "perl", "-e", &program])
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.contains("welcome"), "{output:?}");
}

#[test]
fn a_live_socket_is_not_replaced_and_a_stale_one_is() {
    let mut keeper = Keeper::start(&[]);
    let output = command(program(&keeper.directory, None))
        .arg("--runtime-dir")
        .arg(&keeper.directory)
        .output()
        .unwrap();
    assert!(!output.status.success());
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(text.contains(&format!("pid {}", keeper.pid())), "{text}");
    keeper.connect().run("exit 0");
    keeper.kill();
    keeper.process.wait().unwrap();
    assert!(keeper.directory.join("keeper.sock").exists());
    keeper.restart();
    keeper.connect().run("exit 0");
}
