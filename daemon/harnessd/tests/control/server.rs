//! Connections: who is refused, what a vanished client leaves, many at once.

use std::{sync::Arc, time::Duration};

use harnessd::front::{authority::ControlAuthority, lineage::KeeperTree};
use serde_json::Value;
use tokio::{io::AsyncWriteExt as _, net::UnixStream};

use crate::fake::{Asked, Served, answer, refusal};

#[tokio::test]
async fn a_refused_peer_gets_403_for_whatever_it_asks() {
    let served = Served::start(false);
    for request in [
        "GET /v1/status",
        "POST /v1/tasks",
        "GET /nowhere",
        "DELETE /v1/tasks",
    ] {
        assert_eq!(
            refusal(&served.ask(request, b"{}").await, 403, "denied"),
            "not you"
        );
    }
    assert!(served.control.asked().is_empty());
}

#[tokio::test]
async fn the_kernel_says_who_asks_and_the_agents_own_processes_are_refused() {
    let person = Served::judged_by(Arc::new(ControlAuthority::new(Vec::new, Vec::new)));
    let (head, _) = person.ask("GET /v1/status", b"").await;
    assert!(head.starts_with("HTTP/1.1 200 "), "{head}");
    let keeper = || {
        vec![KeeperTree {
            pid: std::process::id(),
            cgroup: None,
        }]
    };
    let agent = Served::judged_by(Arc::new(ControlAuthority::new(Vec::new, keeper)));
    let message = refusal(&agent.ask("GET /v1/status", b"").await, 403, "denied");
    assert!(message.contains("belongs to the agent"), "{message}");
}

#[tokio::test]
async fn a_refused_connection_serves_one_answer_and_is_closed() {
    let served = Served::start(false);
    let mut stream = UnixStream::connect(served.socket()).await.unwrap();
    stream
        .write_all(b"GET /v1/status HTTP/1.1\r\nHost: x\r\n\r\n")
        .await
        .unwrap();
    let (head, _) = answer(&mut stream).await;
    assert!(head.starts_with("HTTP/1.1 403 "), "{head}");
}

#[tokio::test]
async fn a_client_that_goes_away_takes_its_wait_back() {
    let served = Served::start(true);
    let mut stream = UnixStream::connect(served.socket()).await.unwrap();
    stream
        .write_all(b"GET /v1/tasks/abc?wait=9999 HTTP/1.1\r\nHost: x\r\n\r\n")
        .await
        .unwrap();
    served.control.waiting.notified().await;
    drop(stream);
    served.control.dropped.notified().await;
    assert_eq!(
        served.control.asked(),
        [Asked::Task("abc".into(), Duration::from_mins(5))]
    );
}

#[tokio::test]
async fn a_hundred_clients_at_once_are_all_answered() {
    let served = Served::start(true);
    let answers = (0..100).map(|_| served.ask("GET /v1/status", b""));
    for (head, body) in futures_util::future::join_all(answers).await {
        assert!(head.starts_with("HTTP/1.1 200 "), "{head}");
        assert!(head.contains("cache-control: no-store"), "{head}");
        assert_eq!(
            serde_json::from_str::<Value>(&body).unwrap()["agent"],
            "coder"
        );
    }
}

#[tokio::test]
async fn several_requests_share_a_connection_and_a_session() {
    let served = Served::start(true);
    let mut stream = UnixStream::connect(served.socket()).await.unwrap();
    let first = b"HEAD /v1/status HTTP/1.1\r\nHost: x\r\n\r\n";
    let second = b"GET /v1/wakes HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";
    stream
        .write_all(&[&first[..], second].concat())
        .await
        .unwrap();
    let (_, rest) = answer(&mut stream).await;
    assert!(
        rest.starts_with("HTTP/1.1 200 "),
        "a HEAD has no body: {rest}"
    );
    assert!(rest.contains("bash-task-abc"), "{rest}");
}

#[tokio::test]
async fn a_created_task_says_where_it_is_and_the_document_is_served() {
    let served = Served::start(true);
    let (head, _) = served.ask("POST /v1/tasks", b"{\"cmd\":\"true\"}").await;
    assert!(
        head.starts_with("HTTP/1.1 201 ") && head.contains("location: /v1/tasks/abc"),
        "{head}"
    );
    let (_, body) = served.ask("GET /v1/openapi.json", b"").await;
    assert_eq!(
        serde_json::from_str::<Value>(&body).unwrap(),
        harnessd::front::http::document()
    );
}

#[tokio::test]
async fn what_is_no_http_is_answered_as_such_and_hurts_nobody() {
    let served = Served::start(true);
    let mut stream = UnixStream::connect(served.socket()).await.unwrap();
    stream.write_all(b"\x16\x03\x01\0\0\r\n\r\n").await.unwrap();
    let (head, _) = answer(&mut stream).await;
    assert!(head.starts_with("HTTP/1.1 400 "), "{head}");
    assert!(
        served
            .ask("GET /v1/status", b"")
            .await
            .0
            .starts_with("HTTP/1.1 200 ")
    );
}

#[tokio::test]
async fn a_request_on_a_connection_from_before_the_shutdown_is_answered() {
    let served = Served::start(true);
    let mut stream = UnixStream::connect(served.socket()).await.unwrap();
    // Connections are taken in order: with this answer the first one has been taken, too.
    served.ask("GET /v1/status", b"").await;
    served.shutdown.cancel();
    tokio::task::yield_now().await;
    stream
        .write_all(b"GET /v1/status HTTP/1.1\r\nHost: localhost\r\n\r\n")
        .await
        .unwrap();
    let (head, _) = answer(&mut stream).await;
    assert!(head.starts_with("HTTP/1.1 200 "), "{head}");
    served.server.await.unwrap();
}
