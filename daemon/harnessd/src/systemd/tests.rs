//! With a notification socket and passed descriptors that are not systemd's: each such test starts
//! itself again in a process whose environment is made for it.

#![expect(
    clippy::disallowed_methods,
    reason = "a test starts itself again, and the keeper is no part of that"
)]

use std::{
    fs,
    io::{Read as _, Write as _},
    os::{
        fd::OwnedFd,
        unix::{
            fs::{MetadataExt as _, PermissionsExt as _},
            net::{UnixDatagram, UnixListener, UnixStream},
        },
    },
    path::Path,
    process::{Child, Command, Stdio},
    time::Duration,
};

use super::{
    Activated, ActivationError, BindError, Credentials, Notifier, SocketName, Watchdog,
    activation::assign, bind, control_mode, listen_tcp,
};

/// Set in the process that plays the daemon.
const INSIDE: &str = "HARNESSD_TEST_INSIDE";

/// The test of this name in a new process; `bash` sets it up.
fn again(test: &str, setup: &str) -> Command {
    let program = std::env::current_exe().unwrap();
    let mut command = Command::new("bash");
    command
        .arg("-c")
        .arg(format!("{setup} exec \"$0\" \"$@\""))
        .arg(program)
        .args(["--exact", &format!("systemd::tests::{test}"), "--nocapture"])
        .env(INSIDE, "1")
        // Its count of tests is not the run's.
        .stdout(Stdio::null());
    command
}

fn inside() -> bool {
    std::env::var_os(INSIDE).is_some()
}

fn notify_socket(directory: &Path) -> UnixDatagram {
    let socket = UnixDatagram::bind(directory.join("notify")).unwrap();
    socket
        .set_read_timeout(Some(Duration::from_secs(30)))
        .unwrap();
    socket
}

fn next(socket: &UnixDatagram) -> String {
    let mut buffer = [0; 4096];
    let length = socket.recv(&mut buffer).unwrap();
    String::from_utf8(buffer[..length].to_vec()).unwrap()
}

fn ended_well(mut child: Child) {
    assert!(child.wait().unwrap().success());
}

#[test]
fn the_service_manager_is_told_of_every_stage() {
    if inside() {
        let notifier = Notifier::from_environment();
        notifier.ready("2 tasks\nREADY=0");
        notifier.reloading();
        notifier.stopping("bye");
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    let socket = notify_socket(directory.path());
    let child = again("the_service_manager_is_told_of_every_stage", "")
        .env("NOTIFY_SOCKET", directory.path().join("notify"))
        .spawn()
        .unwrap();
    assert_eq!(next(&socket), "READY=1\nSTATUS=2 tasks READY=0\n");
    let reloading = next(&socket);
    assert!(
        reloading.starts_with("RELOADING=1\nMONOTONIC_USEC="),
        "{reloading}"
    );
    assert_eq!(next(&socket), "STOPPING=1\nSTATUS=bye\n");
    ended_well(child);
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build()
        .unwrap()
}

#[test]
fn the_watchdog_hears_from_a_loop_that_turns_and_nothing_once_the_record_fails() {
    if inside() {
        let notifier = Notifier::from_environment();
        runtime().block_on(async {
            let mut watchdog = Watchdog::from_environment(notifier);
            watchdog.due().await;
            watchdog.answer(async { Ok::<(), String>(()) }).await;
            watchdog.due().await;
            watchdog.answer(async { Err("disk full") }).await;
            watchdog.due().await;
            let never = std::future::pending::<Result<(), String>>();
            watchdog.answer(never).await;
        });
        notifier.status("end");
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    let socket = notify_socket(directory.path());
    let child = again(
        "the_watchdog_hears_from_a_loop_that_turns_and_nothing_once_the_record_fails",
        "export WATCHDOG_PID=$$;",
    )
    .env("NOTIFY_SOCKET", directory.path().join("notify"))
    .env("WATCHDOG_USEC", "100000")
    .spawn()
    .unwrap();
    assert_eq!(next(&socket), "WATCHDOG=1\n");
    assert_eq!(next(&socket), "STATUS=end\n");
    ended_well(child);
}

#[test]
fn without_a_watchdog_there_is_no_timer() {
    // The runtime has no timer: one would panic.
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap();
    runtime.block_on(async {
        let mut watchdog = Watchdog::new(Notifier::default(), None);
        let due = std::pin::pin!(watchdog.due());
        assert!(futures_util::poll!(due).is_pending());
    });
}

#[test]
fn a_passed_socket_is_taken_by_its_name() {
    if inside() {
        let activated = Activated::take().unwrap();
        assert!(activated.mcp.is_none() && activated.tools.is_none());
        let (mut stream, _) = activated.control.unwrap().accept().unwrap();
        stream.write_all(b"hello").unwrap();
        assert!(std::env::var_os("LISTEN_FDS").is_none());
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("control.sock");
    let listener = UnixListener::bind(&path).unwrap();
    let child = again(
        "a_passed_socket_is_taken_by_its_name",
        "exec 3<&0 </dev/null; export LISTEN_PID=$$ LISTEN_FDS=1 LISTEN_FDNAMES=control;",
    )
    .stdin(Stdio::from(OwnedFd::from(listener)))
    .spawn()
    .unwrap();
    let mut text = String::new();
    UnixStream::connect(&path)
        .unwrap()
        .read_to_string(&mut text)
        .unwrap();
    assert_eq!(text, "hello");
    ended_well(child);
}

#[test]
fn passed_sockets_without_names_are_taken_in_order() {
    use SocketName::{Control, Mcp, Tools};
    assert_eq!(assign("", 0).unwrap(), []);
    assert_eq!(assign("", 2).unwrap(), [Mcp, Tools]);
    assert_eq!(assign("unknown:unknown", 2).unwrap(), [Mcp, Tools]);
    assert_eq!(assign("harnessd@a.socket", 1).unwrap(), [Mcp]);
    assert_eq!(assign("control:mcp", 2).unwrap(), [Control, Mcp]);
    assert!(matches!(assign("", 4), Err(ActivationError::TooMany(4))));
    assert!(
        matches!(assign("mcp:http", 2), Err(ActivationError::UnknownName(name)) if name == "http")
    );
    assert!(matches!(
        assign("mcp:mcp", 2),
        Err(ActivationError::Twice(_))
    ));
}

#[test]
fn a_stale_socket_is_replaced_and_a_live_one_never() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("mcp.sock");
    drop(UnixListener::bind(&path).unwrap());
    assert!(path.exists(), "a closed listener leaves its file");

    let (listener, bound) = bind(&path, 0o660).unwrap();
    assert_eq!(fs::metadata(&path).unwrap().mode() & 0o777, 0o660);
    let error = bind(&path, 0o660).unwrap_err();
    let own = i32::try_from(std::process::id()).unwrap();
    assert!(
        matches!(error, BindError::InUse { pid: Some(pid), .. } if pid == own),
        "{error}"
    );
    UnixStream::connect(&path).unwrap();

    drop((listener, bound));
    assert!(!path.exists(), "our own file goes with the socket");
}

#[test]
fn a_socket_with_a_full_backlog_is_live() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("mcp.sock");
    let address = rustix::net::SocketAddrUnix::new(&path).unwrap();
    let socket = rustix::net::socket(
        rustix::net::AddressFamily::UNIX,
        rustix::net::SocketType::STREAM,
        None,
    )
    .unwrap();
    rustix::net::bind(&socket, &address).unwrap();
    rustix::net::listen(&socket, 0).unwrap();
    let _waiting = UnixStream::connect(&path).unwrap();
    assert!(matches!(bind(&path, 0o600), Err(BindError::InUse { .. })));
}

#[test]
fn a_file_that_is_no_socket_is_left_alone() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("mcp.sock");
    fs::write(&path, "precious").unwrap();
    assert!(matches!(
        bind(&path, 0o600),
        Err(BindError::NotASocket { .. })
    ));
    assert_eq!(fs::read_to_string(&path).unwrap(), "precious");
}

#[test]
fn the_file_of_another_socket_is_not_removed_at_the_end() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("mcp.sock");
    let (_listener, bound) = bind(&path, 0o600).unwrap();
    // Kept under another name, so that the inode is not used again.
    fs::rename(&path, directory.path().join("old")).unwrap();
    let _other = UnixListener::bind(&path).unwrap();
    drop(bound);
    assert!(path.exists());
}

#[test]
fn an_address_in_use_is_named() {
    let first = listen_tcp("127.0.0.1:0".parse().unwrap()).unwrap();
    let address = first.local_addr().unwrap();
    let error = listen_tcp(address).unwrap_err();
    assert_eq!(error.to_string(), format!("cannot listen on {address}"));
}

#[test]
fn only_admins_open_the_control_socket_to_others() {
    assert_eq!(control_mode(false), 0o600);
    assert_eq!(control_mode(true), 0o666);
}

#[test]
fn a_credential_is_read_by_its_name_alone() {
    let directory = tempfile::tempdir().unwrap();
    fs::write(directory.path().join("token"), "secret\n").unwrap();
    fs::set_permissions(directory.path(), fs::Permissions::from_mode(0o700)).unwrap();
    let credentials = Credentials::new(Some(directory.path().to_owned()));
    assert_eq!(credentials.read("token").unwrap(), "secret");
    for name in ["", ".", "..", "../token", "a/b", "token/", "/etc/passwd"] {
        assert!(credentials.read(name).is_err(), "{name:?}");
    }
    let error = credentials.read("other").unwrap_err().to_string();
    assert!(error.contains("LoadCredential=other:PATH"), "{error}");
    assert!(Credentials::new(None).read("token").is_err());
}
