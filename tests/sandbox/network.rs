//! `network`.

use std::net::{TcpListener, UdpSocket};

use harness_tests::{harness::Harness, trials};
use libtest_mimic::Trial;

use super::{each, ok, run, succeeding};

pub(crate) fn trials() -> Vec<Trial> {
    trials![
        without_a_network_nothing_on_this_machine_can_be_connected_to,
        without_a_network_unix_sockets_and_pipes_still_work,
        with_a_network_everything_works,
    ]
}

fn without_a_network_nothing_on_this_machine_can_be_connected_to() {
    each("network = false\n", |harness, _| {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let datagrams = UdpSocket::bind("127.0.0.1:0").unwrap();
        let udp = datagrams.local_addr().unwrap().port();
        let commands = [
            format!(": < /dev/tcp/127.0.0.1/{port}"),
            format!("echo x > /dev/udp/127.0.0.1/{udp}"),
            format!("perl -MIO::Socket::INET -e 'IO::Socket::INET->new(\"127.0.0.1:{port}\") or exit 1'"),
            "perl -MIO::Socket::INET -e 'IO::Socket::INET->new(Listen => 1, LocalAddr => \"127.0.0.1\") or exit 1'".to_owned(),
            "perl -MSocket -e 'socket(my $s, AF_INET, SOCK_STREAM, 262) or exit 1'".to_owned(),
            "perl -MSocket -e 'socket(my $s, AF_INET6, SOCK_DGRAM, 0) or exit 1'".to_owned(),
            format!("setsid -w bash -c ': < /dev/tcp/127.0.0.1/{port}'"),
            "true".to_owned(),
        ];
        let commands: Vec<&str> = commands.iter().map(String::as_str).collect();
        assert_eq!(succeeding(harness, &commands), ["true"]);
        listener.set_nonblocking(true).unwrap();
        assert!(listener.accept().is_err());
        datagrams.set_nonblocking(true).unwrap();
        assert!(datagrams.recv(&mut [0; 8]).is_err());
        let status = run(harness, &format!(": < /dev/tcp/127.0.0.1/{port}"));
        assert!(
            status["stderr"]["tail"]
                .as_str()
                .unwrap()
                .contains("Permission denied"),
            "{status}"
        );
        let told = status["containment"].as_str().unwrap();
        assert!(told.starts_with("no network; "), "{told}");
    });
}

fn without_a_network_unix_sockets_and_pipes_still_work() {
    each("network = false\n", |harness, _| {
        let script = "perl -MSocket -e 'my ($l, $c); socket($l, AF_UNIX, SOCK_STREAM, 0) && bind($l, sockaddr_un(\"s\")) && listen($l, 1) && socket($c, AF_UNIX, SOCK_STREAM, 0) && connect($c, sockaddr_un(\"s\")) || exit 1; print \"connected\\n\"' | cat";
        assert_eq!(ok(harness, script), "connected\n");
    });
}

fn with_a_network_everything_works() {
    let harness = Harness::with_config("[sandbox]\nfilesystem = \"workspace-write\"\n");
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    assert_eq!(
        ok(
            &harness,
            &format!(": < /dev/tcp/127.0.0.1/{port} && echo connected")
        ),
        "connected\n"
    );
    listener.accept().unwrap();
}
