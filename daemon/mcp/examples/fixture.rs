//! A server with a few trivial tools, for the MCP conformance suite, SDKs and the Inspector:
//!
//! ```text
//! fixture stdio
//! fixture unix PATH
//! fixture http ADDRESS TOKEN|--open
//! ```
//!
//! `--open` lets requests without a token in, for clients that cannot send one. What listens on
//! ADDRESS says so in one line on stdout: the port of `127.0.0.1:0` is in it.

#[path = "../tests/front/backend.rs"]
#[expect(dead_code, reason = "the tests use all of it")]
mod backend;

use std::sync::Arc;

use axum::{extract::Request, http::HeaderValue, middleware::Next};
use harness_mcp::{PeerOf, Server, Token, UnknownPeer};

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let (fake, _seen) = backend::Fake::new();
    let server = Server::new(fake);
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments.as_slice() {
        ["stdio"] => {
            let stdio = tokio::io::join(tokio::io::stdin(), tokio::io::stdout());
            server
                .serve_stream(stdio, Arc::new(UnknownPeer(None)))
                .await;
        }
        ["unix", path] => {
            let listener = tokio::net::UnixListener::bind(path)?;
            loop {
                let (stream, _) = listener.accept().await?;
                let server = server.clone();
                let peer = UnknownPeer(Some(stream.peer_cred()?.uid()));
                tokio::spawn(async move { server.serve_stream(stream, Arc::new(peer)).await });
            }
        }
        ["http", address, "--open"] => {
            let router = server.router(Token::new("open")?, unknown());
            let open = async |mut request: Request, next: Next| {
                let bearer = HeaderValue::from_static("Bearer open");
                request.headers_mut().insert("authorization", bearer);
                next.run(request).await
            };
            let listener = listen(address).await?;
            axum::serve(listener, router.layer(axum::middleware::from_fn(open))).await?;
        }
        ["http", address, token] => {
            let listener = listen(address).await?;
            axum::serve(listener, server.router(Token::new(token)?, unknown())).await?;
        }
        _ => return Err("usage: fixture stdio | unix PATH | http ADDRESS TOKEN|--open".into()),
    }
    Ok(())
}

#[expect(
    clippy::print_stdout,
    reason = "whoever started it reads the port there"
)]
async fn listen(address: &str) -> std::io::Result<tokio::net::TcpListener> {
    let listener = tokio::net::TcpListener::bind(address).await?;
    println!("{}", listener.local_addr()?);
    Ok(listener)
}

fn unknown() -> PeerOf {
    Arc::new(|_| Arc::new(UnknownPeer(None)))
}
