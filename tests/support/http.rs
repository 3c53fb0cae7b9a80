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
