//! Which processes hold the client's socket of a TCP connection on this machine, as `/proc` tells (proc(5)).

use std::{
    fs,
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr},
    path::{Path, PathBuf},
};

use harness_mcp::Ends;

/// A process with a descriptor of the socket.
#[derive(Debug)]
pub(crate) struct Holder {
    pub(crate) pid: u32,
    descriptor: PathBuf,
    socket: PathBuf,
}

impl Holder {
    /// Whether the same pid has the same descriptor now.
    pub(crate) fn holds_still(&self) -> bool {
        fs::read_link(&self.descriptor).is_ok_and(|target| target == self.socket)
    }
}

/// Every process that can be seen to hold the client's socket; none when the socket is not of this network namespace.
pub(crate) fn holders(ends: Ends) -> Vec<Holder> {
    let inodes: Vec<u64> = ["/proc/net/tcp", "/proc/net/tcp6"]
        .into_iter()
        .filter_map(|table| fs::read_to_string(table).ok())
        .flat_map(|table| client_sockets(&table, ends))
        .collect();
    inodes.into_iter().flat_map(holders_of).collect()
}

fn holders_of(inode: u64) -> Vec<Holder> {
    let socket = PathBuf::from(format!("socket:[{inode}]"));
    let pids = entries(Path::new("/proc")).filter_map(|entry| {
        let pid: u32 = entry.file_name()?.to_str()?.parse().ok()?;
        Some((pid, entry))
    });
    pids.flat_map(|(pid, entry)| {
        let is_it =
            |descriptor: &PathBuf| fs::read_link(descriptor).is_ok_and(|target| target == socket);
        entries(&entry.join("fd"))
            .filter(is_it)
            .map(|descriptor| Holder {
                pid,
                descriptor,
                socket: socket.clone(),
            })
            .collect::<Vec<_>>()
    })
    .collect()
}

/// What cannot be read is not there.
fn entries(directory: &Path) -> impl Iterator<Item = PathBuf> + use<> {
    let entries = fs::read_dir(directory).into_iter().flatten();
    entries.filter_map(|entry| Some(entry.ok()?.path()))
}

/// The inodes of the sockets whose own end is the client's; one without an inode belongs to nobody any more.
fn client_sockets(table: &str, ends: Ends) -> Vec<u64> {
    let wanted = (canonical(ends.remote), canonical(ends.local));
    let rows = table.lines().skip(1).filter_map(|line| {
        let mut fields = line.split_whitespace().skip(1);
        let own = address(fields.next()?)?;
        let other = address(fields.next()?)?;
        let inode: u64 = fields.nth(6)?.parse().ok()?;
        Some(((own, other), inode))
    });
    rows.filter(|(pair, inode)| *pair == wanted && *inode != 0)
        .map(|(_, inode)| inode)
        .collect()
}

/// An IPv4 address in an IPv6 socket is that address.
fn canonical(address: SocketAddr) -> SocketAddr {
    SocketAddr::new(address.ip().to_canonical(), address.port())
}

/// `0100007F:1E26`: words of 32 bits in the order of this machine's bytes, then the port.
fn address(text: &str) -> Option<SocketAddr> {
    let (address, port) = text.split_once(':')?;
    let port = u16::from_str_radix(port, 16).ok()?;
    let word = |at: usize| {
        let digits = address.get(at * 8..at * 8 + 8)?;
        Some(u32::from_str_radix(digits, 16).ok()?.to_ne_bytes())
    };
    let ip = match address.len() {
        8 => IpAddr::V4(Ipv4Addr::from(word(0)?)),
        32 => {
            let mut bytes = [0; 16];
            for at in 0..4 {
                bytes
                    .get_mut(at * 4..at * 4 + 4)?
                    .copy_from_slice(&word(at)?);
            }
            IpAddr::V6(Ipv6Addr::from(bytes))
        }
        _ => return None,
    };
    Some(canonical(SocketAddr::new(ip, port)))
}

#[cfg(test)]
mod tests {
    use std::{
        net::{TcpListener, TcpStream},
        process::Stdio,
    };

    use super::*;

    fn connection(address: &str) -> (TcpStream, TcpStream, Ends) {
        let listener = TcpListener::bind(address).unwrap();
        let client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (server, remote) = listener.accept().unwrap();
        let local = server.local_addr().unwrap();
        (client, server, Ends { local, remote })
    }

    #[test]
    fn the_process_with_the_clients_socket_is_found_and_another_connection_is_not_taken_for_it() {
        let addresses: &[&str] = match TcpListener::bind("[::1]:0") {
            Ok(_) => &["127.0.0.1:0", "[::1]:0"],
            Err(_) => &["127.0.0.1:0"],
        };
        for address in addresses {
            let (client, _server, ends) = connection(address);
            let found = holders(ends);
            let pids: Vec<u32> = found.iter().map(|holder| holder.pid).collect();
            assert_eq!(pids, [std::process::id()], "{address}");
            assert!(found[0].holds_still());
            drop(client);
            assert!(!found[0].holds_still());
            assert!(holders(ends).is_empty(), "{address}: nobody holds it");
        }
    }

    #[test]
    #[expect(
        clippy::disallowed_methods,
        reason = "the test needs a process that holds the socket"
    )]
    fn every_process_that_holds_it_is_found() {
        let (client, _server, ends) = connection("127.0.0.1:0");
        let mut child = std::process::Command::new("cat")
            .stdin(Stdio::from(std::os::fd::OwnedFd::from(
                client.try_clone().unwrap(),
            )))
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        let mut pids: Vec<u32> = holders(ends).iter().map(|holder| holder.pid).collect();
        pids.sort_unstable();
        pids.dedup();
        let mut expected = [std::process::id(), child.id()];
        expected.sort_unstable();
        assert_eq!(pids, expected);
        client.shutdown(std::net::Shutdown::Both).unwrap();
        child.wait().unwrap();
    }

    #[test]
    fn an_address_is_read_as_the_kernel_writes_it() {
        if cfg!(target_endian = "little") {
            for (text, expected) in [
                ("0100007F:1E26", "127.0.0.1:7718"),
                ("00000000000000000000000001000000:0001", "[::1]:1"),
                ("0000000000000000FFFF00000100007F:1E26", "127.0.0.1:7718"),
            ] {
                assert_eq!(address(text).unwrap(), expected.parse().unwrap(), "{text}");
            }
        }
        for wrong in [
            "",
            "0100007F",
            "0100007F:",
            "01:01",
            "ÿ100007:1E26",
            "0100007G:1E26",
        ] {
            assert_eq!(address(wrong), None, "{wrong}");
        }
    }
}
