//! HTTP/1.1 over a Unix socket, by hand: the product's own client is tested against this one.

use std::{
    io::{BufRead, BufReader, Read, Write},
    os::unix::net::UnixStream,
    path::Path,
};

use crate::harness::PATIENCE;

/// A whole reply.
#[derive(Debug)]
pub struct Reply {
    /// The status code.
    pub status: u16,
    /// The headers, names in lower case.
    pub headers: Vec<(String, String)>,
    /// The body as text.
    pub body: String,
}

impl Reply {
    /// The body as JSON.
    #[track_caller]
    pub fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.body)
            .unwrap_or_else(|error| panic!("no JSON ({error}): {self:?}"))
    }
}

/// One request on a connection of its own.
#[track_caller]
pub fn request(socket: &Path, method: &str, path: &str, body: Option<&str>) -> Reply {
    let stream =
        UnixStream::connect(socket).unwrap_or_else(|error| panic!("{}: {error}", socket.display()));
    send(stream, method, path, "", body)
}

/// One request over any connected Unix stream, with further header lines.
#[track_caller]
pub fn send(
    mut stream: UnixStream,
    method: &str,
    path: &str,
    headers: &str,
    body: Option<&str>,
) -> Reply {
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    let length = body.map_or(String::new(), |body| {
        format!(
            "Content-Type: application/json\r\nContent-Length: {}\r\n",
            body.len()
        )
    });
    let head = format!(
        "{method} {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n{headers}{length}\r\n"
    );
    stream.write_all(head.as_bytes()).unwrap();
    // A server may refuse before it has read all of a body.
    stream
        .write_all(body.unwrap_or("").as_bytes())
        .unwrap_or_default();
    let mut reader = BufReader::new(stream);
    let (status, headers) = read_head(&mut reader);
    let mut bytes = Vec::new();
    reader.read_to_end(&mut bytes).unwrap();
    if headers
        .iter()
        .any(|(name, value)| name == "transfer-encoding" && value == "chunked")
    {
        bytes = unchunk(&bytes);
    }
    Reply {
        status,
        headers,
        body: String::from_utf8_lossy(&bytes).into_owned(),
    }
}

/// The status line and the headers.
pub fn read_head(reader: &mut impl BufRead) -> (u16, Vec<(String, String)>) {
    let mut line = String::new();
    reader.read_line(&mut line).unwrap();
    let status = line.split(' ').nth(1).and_then(|code| code.parse().ok());
    let status = status.unwrap_or_else(|| panic!("no status line: {line:?}"));
    let mut headers = Vec::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).unwrap();
        let Some((name, value)) = line.trim_end().split_once(':') else {
            return (status, headers);
        };
        headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
    }
}

/// The stream of events, from now on.
pub struct Events(BufReader<UnixStream>);

impl Events {
    /// Subscribed when this returns.
    #[track_caller]
    pub fn open(socket: &Path) -> Self {
        let mut stream = UnixStream::connect(socket).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream
            .write_all(b"GET /v1/events HTTP/1.1\r\nHost: localhost\r\n\r\n")
            .unwrap();
        let mut reader = BufReader::new(stream);
        assert_eq!(read_head(&mut reader).0, 200);
        Self(reader)
    }

    /// The next event that is so.
    #[track_caller]
    pub fn find(&mut self, is_so: impl Fn(&serde_json::Value) -> bool) -> serde_json::Value {
        loop {
            let mut line = String::new();
            assert!(self.0.read_line(&mut line).unwrap() > 0, "the stream ended");
            if let Some(text) = line.strip_prefix("data:") {
                let event = serde_json::from_str(text.trim()).unwrap();
                if is_so(&event) {
                    return event;
                }
            }
        }
    }

    /// The next event of this name.
    #[track_caller]
    pub fn next(&mut self, name: &str) -> serde_json::Value {
        self.find(|event| event["event"] == name)
    }
}

/// One connection for several requests, which are one session to the harness.
pub struct Connection(BufReader<UnixStream>);

impl Connection {
    /// Connects.
    #[track_caller]
    pub fn open(socket: &Path) -> Self {
        let stream = UnixStream::connect(socket).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        Self(BufReader::new(stream))
    }

    /// A request and its reply.
    #[track_caller]
    pub fn post(&mut self, path: &str, body: &str) -> Reply {
        let length = body.len();
        let request = format!(
            "POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: {length}\r\n\r\n{body}"
        );
        self.0.get_mut().write_all(request.as_bytes()).unwrap();
        let (status, headers) = read_head(&mut self.0);
        let length = headers.iter().find(|(name, _)| name == "content-length");
        let length: usize = length.unwrap().1.parse().unwrap();
        let mut bytes = vec![0; length];
        self.0.read_exact(&mut bytes).unwrap();
        let body = String::from_utf8(bytes).unwrap();
        Reply {
            status,
            headers,
            body,
        }
    }
}

fn unchunk(mut bytes: &[u8]) -> Vec<u8> {
    let mut whole = Vec::new();
    while let Some(end) = bytes.windows(2).position(|pair| pair == b"\r\n") {
        let size =
            usize::from_str_radix(std::str::from_utf8(&bytes[..end]).unwrap().trim(), 16).unwrap();
        whole.extend_from_slice(&bytes[end + 2..end + 2 + size]);
        bytes = &bytes[end + 2 + size + 2..];
        if size == 0 {
            break;
        }
    }
    whole
}
