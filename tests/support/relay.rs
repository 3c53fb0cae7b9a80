//! A loopback port that presents a bearer token to another one, for clients that cannot send a header.

use std::{
    io::{self, BufRead, BufReader, Read, Write},
    net::{Shutdown, SocketAddr, TcpListener, TcpStream},
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
    thread::{self, JoinHandle},
};

/// A running relay; dropped, it closes its port and every connection.
pub struct TokenRelay {
    address: SocketAddr,
    stopped: Arc<AtomicBool>,
    open: Arc<Mutex<Vec<TcpStream>>>,
    acceptor: Option<JoinHandle<()>>,
}

impl TokenRelay {
    /// Relays a new port of 127.0.0.1 to `target` there.
    pub fn start(target: u16, token: &str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let (stopped, open) = (Arc::new(AtomicBool::new(false)), Arc::default());
        let header = format!("Authorization: Bearer {token}\r\nConnection: close\r\n");
        let acceptor = {
            let (stopped, open) = (Arc::clone(&stopped), Arc::clone(&open));
            thread::spawn(move || accept(&listener, target, &header, &stopped, &open))
        };
        Self {
            address,
            stopped,
            open,
            acceptor: Some(acceptor),
        }
    }

    /// The port to connect to.
    pub fn port(&self) -> u16 {
        self.address.port()
    }
}

impl Drop for TokenRelay {
    fn drop(&mut self) {
        self.stopped.store(true, Ordering::SeqCst);
        // Wakes the acceptor, which then goes.
        drop(TcpStream::connect(self.address));
        for stream in self.open.lock().unwrap().iter() {
            stream.shutdown(Shutdown::Both).unwrap_or_default();
        }
        if let Some(acceptor) = self.acceptor.take() {
            acceptor.join().unwrap_or_default();
        }
    }
}

fn accept(
    listener: &TcpListener,
    target: u16,
    header: &str,
    stopped: &AtomicBool,
    open: &Mutex<Vec<TcpStream>>,
) {
    let mut connections = Vec::new();
    for client in listener.incoming() {
        if stopped.load(Ordering::SeqCst) {
            break;
        }
        let Ok(client) = client else { continue };
        // The server is gone: so is the client's connection.
        let Ok(server) = TcpStream::connect(("127.0.0.1", target)) else {
            continue;
        };
        for stream in [&client, &server] {
            open.lock().unwrap().push(stream.try_clone().unwrap());
        }
        let header = header.to_owned();
        connections.push(thread::spawn(move || {
            // Either side may go at any time.
            exchange(&client, &server, &header).unwrap_or_default();
            client.shutdown(Shutdown::Both).unwrap_or_default();
        }));
    }
    for stream in open.lock().unwrap().iter() {
        stream.shutdown(Shutdown::Both).unwrap_or_default();
    }
    for connection in connections {
        connection.join().unwrap_or_default();
    }
}

/// One request and its answer; `header` says that no other follows on this connection.
fn exchange(client: &TcpStream, server: &TcpStream, header: &str) -> io::Result<()> {
    let (mut upstream, mut request) = (server.try_clone()?, BufReader::new(client.try_clone()?));
    let head = head_with(&mut request, header)?;
    upstream.write_all(&head)?;
    let body = thread::spawn(move || {
        pass(&mut request, &mut upstream).unwrap_or_default();
        upstream.shutdown(Shutdown::Write).unwrap_or_default();
    });
    pass(&mut &*server, &mut &*client)?;
    client.shutdown(Shutdown::Both)?;
    body.join().unwrap_or_default();
    Ok(())
}

/// The head of a request without its `Connection`, and `header` behind the request line.
fn head_with(request: &mut impl BufRead, header: &str) -> io::Result<Vec<u8>> {
    let mut head = Vec::new();
    loop {
        let mut line = Vec::new();
        if request.read_until(b'\n', &mut line)? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        if line.to_ascii_lowercase().starts_with(b"connection:") {
            continue;
        }
        let first = head.is_empty();
        let last = line == b"\r\n";
        head.extend_from_slice(&line);
        if first {
            head.extend_from_slice(header.as_bytes());
        }
        if last {
            return Ok(head);
        }
    }
}

/// Passes on what comes as it comes, to the end.
fn pass(from: &mut impl Read, to: &mut impl Write) -> io::Result<()> {
    let mut buffer = [0; 16 * 1024];
    loop {
        let length = from.read(&mut buffer)?;
        if length == 0 {
            return Ok(());
        }
        to.write_all(&buffer[..length])?;
    }
}
