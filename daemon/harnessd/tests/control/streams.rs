//! Event streams as they are on the wire.

use tokio::{
    io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader},
    net::UnixStream,
};

use crate::fake::{Asked, Served, refusal};

async fn open(served: &Served, target: &str, last_event_id: &str) -> BufReader<UnixStream> {
    let mut stream = UnixStream::connect(served.socket()).await.unwrap();
    let head =
        format!("GET {target} HTTP/1.1\r\nHost: x\r\nLast-Event-ID: {last_event_id}\r\n\r\n");
    stream.write_all(head.as_bytes()).await.unwrap();
    BufReader::new(stream)
}

/// Lines up to and with the first that begins so; empty when the stream ended before.
async fn until(stream: &mut BufReader<UnixStream>, start: &str) -> String {
    let mut text = String::new();
    loop {
        let mut line = String::new();
        if stream.read_line(&mut line).await.unwrap() == 0 {
            return String::new();
        }
        text += &line;
        if line.starts_with(start) {
            return text;
        }
    }
}

#[tokio::test]
async fn an_event_has_id_name_and_one_line_of_json() {
    let served = Served::start(true);
    let mut stream = open(&served, "/v1/events", "boot-0").await;
    let text = until(&mut stream, "data:").await;
    assert!(text.contains("content-type: text/event-stream"), "{text}");
    assert!(
        text.contains("id: boot-1\nevent: wake\ndata: {\"seq\":1,"),
        "{text}"
    );
    assert!(text.contains("two\\nlines"), "{text}");
    assert_eq!(
        served.control.asked(),
        [Asked::Events(Some("boot-0".into()))]
    );
}

#[tokio::test]
async fn followed_output_is_resumed_at_the_last_id() {
    let served = Served::start(true);
    let mut stream = open(&served, "/v1/tasks/abc/output?follow=1", "40").await;
    let text = until(&mut stream, "data:").await;
    assert!(text.contains("id: 45\nevent: output\ndata: {"), "{text}");
    assert_eq!(served.control.asked(), [Asked::Follow(40)]);
    let answer = served
        .ask("GET /v1/tasks/abc/output?follow=1&stream=nope", b"")
        .await;
    refusal(&answer, 400, "invalid_input");
}

#[tokio::test]
async fn a_shutdown_ends_open_streams_and_then_the_server() {
    let served = Served::start(true);
    let mut stream = open(&served, "/v1/events", "x").await;
    until(&mut stream, "id: boot-2").await;
    served.shutdown.cancel();
    assert_eq!(until(&mut stream, "never").await, "");
    let socket = served.socket();
    served.server.await.unwrap();
    assert!(UnixStream::connect(socket).await.is_err());
}
