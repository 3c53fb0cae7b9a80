//! The TCP listener: a token, and a name of this machine.

use std::{net::SocketAddr, sync::Arc};

use harnessd::{
    config::Token,
    front::http::{ControlServer, backend::Control},
};
use tokio::{
    io::AsyncWriteExt as _,
    net::{TcpListener, TcpStream},
};
use tokio_util::sync::CancellationToken;

use crate::fake::{Asked, FakeControl, answer, refusal};

const TOKEN: &str = "0123456789abcdefghij";

async fn serve() -> (SocketAddr, Arc<FakeControl>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let control = Arc::new(FakeControl::default());
    let server = ControlServer::new(
        Arc::clone(&control) as Arc<dyn Control>,
        CancellationToken::new(),
    );
    tokio::spawn(async move {
        server
            .serve_tcp(listener, Token::parse(TOKEN).unwrap())
            .await;
    });
    (address, control)
}

async fn ask(address: SocketAddr, headers: &str) -> (String, String) {
    let mut stream = TcpStream::connect(address).await.unwrap();
    let body = "{\"cmd\":\"x\"}";
    let length = body.len();
    let request = format!(
        "POST /v1/tasks HTTP/1.1\r\nConnection: close\r\nContent-Length: {length}\r\n{headers}\r\n{body}"
    );
    stream.write_all(request.as_bytes()).await.unwrap();
    answer(&mut stream).await
}

#[tokio::test]
async fn without_the_token_nothing_is_done() {
    let (address, control) = serve().await;
    for authorization in [
        "",
        "Authorization: Bearer \r\n",
        "Authorization: Bearer 0123456789abcdefghiX\r\n",
        "Authorization: Basic 0123456789abcdefghij\r\n",
        "Authorization: 0123456789abcdefghij\r\n",
    ] {
        let answer = ask(address, &format!("Host: localhost\r\n{authorization}")).await;
        refusal(&answer, 401, "denied");
        assert!(
            answer.0.to_lowercase().contains("www-authenticate: bearer"),
            "{}",
            answer.0
        );
        assert!(!answer.1.contains(TOKEN));
    }
    assert!(control.asked().is_empty());
}

#[tokio::test]
async fn with_the_token_the_caller_has_no_uid() {
    let (address, control) = serve().await;
    let (head, _) = ask(
        address,
        &format!("Host: {address}\r\nAuthorization: bearer {TOKEN}\r\n"),
    )
    .await;
    assert!(head.starts_with("HTTP/1.1 201 "), "{head}");
    assert!(matches!(&control.asked()[0], Asked::Call(tool, _, None) if tool == "run"));
}

#[tokio::test]
async fn a_name_of_another_machine_is_refused_even_with_the_token() {
    let (address, control) = serve().await;
    for names in [
        "Host: evil.example\r\n",
        "",
        "Host: localhost\r\nOrigin: https://evil.example\r\n",
        "Host: localhost\r\nOrigin: null\r\n",
    ] {
        let answer = ask(
            address,
            &format!("{names}Authorization: Bearer {TOKEN}\r\n"),
        )
        .await;
        refusal(&answer, 403, "denied");
    }
    assert!(control.asked().is_empty());
}
