//! Who a connection belongs to, and what each of its requests must show.

use std::{net::IpAddr, sync::Arc};

use axum::{
    body::Body,
    http::{HeaderMap, HeaderValue, Request, StatusCode, header},
};
use harness_model::{ErrorCode, Refusal};

use super::{request::Caller, response::Rejection};
use crate::config::Token;

/// What was decided of a connection when it was accepted.
#[derive(Clone)]
pub(super) enum Guard {
    /// `control.sock`, a peer that may speak.
    Admitted(Caller),
    /// `control.sock`, a peer that may not: every request is answered with this.
    Refused(Refusal),
    /// TCP: each request shows the token.
    Token {
        caller: Caller,
        token: Arc<Token>,
        /// The address it came in on.
        local: IpAddr,
    },
}

impl Guard {
    /// The caller of a request, if it may be served.
    pub(super) fn check(&self, request: &Request<Body>) -> Result<Caller, Rejection> {
        match self {
            Self::Admitted(caller) => Ok(caller.clone()),
            Self::Refused(refusal) => Err(refusal.clone().into()),
            Self::Token {
                caller,
                token,
                local,
            } => {
                check_host(request.headers(), *local)?;
                check_token(request.headers(), token)?;
                Ok(caller.clone())
            }
        }
    }
}

/// A page of another site that resolved its own name to this machine sends that name as host.
fn check_host(headers: &HeaderMap, local: IpAddr) -> Result<(), Rejection> {
    let host = headers
        .get(header::HOST)
        .and_then(|host| host.to_str().ok())
        .unwrap_or_default();
    let origin = headers
        .get(header::ORIGIN)
        .map(|origin| origin.to_str().unwrap_or_default());
    let origin_host = origin.map(|origin| origin.split_once("://").map_or("", |(_, host)| host));
    for (name, host) in [("Host", Some(host)), ("Origin", origin_host)] {
        if let Some(host) = host
            && !is_here(host, local)
        {
            let message = format!(
                "{name} {host:?} does not name this machine: use localhost or the address it listens on"
            );
            return Err(Rejection::new(
                StatusCode::FORBIDDEN,
                ErrorCode::Denied,
                message,
            ));
        }
    }
    Ok(())
}

fn is_here(host: &str, local: IpAddr) -> bool {
    let name = match host.rsplit_once(':') {
        Some((name, port))
            if port.bytes().all(|byte| byte.is_ascii_digit()) && !name.ends_with(':') =>
        {
            name
        }
        Some(_) | None => host,
    };
    let address = name
        .strip_prefix('[')
        .and_then(|name| name.strip_suffix(']'))
        .unwrap_or(name);
    name.eq_ignore_ascii_case("localhost")
        || address
            .parse::<IpAddr>()
            .is_ok_and(|address| address.is_loopback() || address == local)
}

fn check_token(headers: &HeaderMap, token: &Token) -> Result<(), Rejection> {
    let shown = headers
        .get(header::AUTHORIZATION)
        .map(HeaderValue::as_bytes);
    let shown = shown.and_then(|value| {
        let (scheme, token) = value.split_at_checked(7)?;
        scheme
            .eq_ignore_ascii_case(b"Bearer ")
            .then(|| token.trim_ascii())
    });
    let message = match shown {
        Some(shown) if token.matches(shown) => return Ok(()),
        Some(_) => "the token is wrong: it is in the file that [control] token_file names",
        None => {
            "send the header Authorization: Bearer TOKEN, with the token that [control] token_file names"
        }
    };
    Err(Rejection::new(
        StatusCode::UNAUTHORIZED,
        ErrorCode::Denied,
        message,
    ))
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use super::*;

    #[test]
    fn a_host_is_here_when_it_is_loopback_or_the_address_it_came_in_on() {
        let local = IpAddr::V4(Ipv4Addr::new(192, 0, 2, 7));
        for host in [
            "localhost",
            "LocalHost:7717",
            "127.0.0.1:1",
            "127.9.9.9",
            "[::1]:7717",
            "[::1]",
            "192.0.2.7:80",
        ] {
            assert!(is_here(host, local), "{host}");
        }
        for host in [
            "",
            "evil.example",
            "localhost.evil.example",
            "127.0.0.1.evil.example:80",
            "192.0.2.8",
            "::",
            "localhost:x",
        ] {
            assert!(!is_here(host, local), "{host}");
        }
    }
}
