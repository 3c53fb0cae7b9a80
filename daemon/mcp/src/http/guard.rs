//! What a request must pass before rmcp sees it.

use axum::{
    body::{Body, Bytes},
    extract::Request,
    http::{
        HeaderMap, HeaderValue, Method, StatusCode,
        header::{AUTHORIZATION, CONTENT_LENGTH, CONTENT_TYPE, WWW_AUTHENTICATE},
    },
    response::Response,
};
use http_body_util::{BodyExt, LengthLimitError, Limited};

use std::sync::Arc;

use super::Token;
use crate::{
    message::{self, Fault, Kind, MESSAGE_MAX},
    peer::{Peer, may_answer},
};

/// Whether the request presents the token (RFC 6750 §2.1).
pub(super) fn bearer_is(token: &Token, headers: &HeaderMap) -> bool {
    headers
        .get(AUTHORIZATION)
        .and_then(|value| value.to_str().ok())
        .and_then(|value| value.split_once(' '))
        .is_some_and(|(scheme, presented)| {
            scheme.eq_ignore_ascii_case("Bearer") && token.matches(presented.trim())
        })
}

/// 401, and whether a token was missing or wrong (RFC 6750 §3).
pub(super) fn unauthorized(headers: &HeaderMap) -> Response {
    let (challenge, reason) = if headers.contains_key(AUTHORIZATION) {
        (
            r#"Bearer realm="harnessd", error="invalid_token""#,
            "the token is not the one in [mcp_http] token_file",
        )
    } else {
        (
            r#"Bearer realm="harnessd""#,
            "send the token from [mcp_http] token_file as Authorization: Bearer TOKEN",
        )
    };
    let mut response = fault(StatusCode::UNAUTHORIZED, &Fault::request(None, reason));
    response
        .headers_mut()
        .insert(WWW_AUTHENTICATE, HeaderValue::from_static(challenge));
    response
}

/// A JSON-RPC error as the response.
pub(super) fn fault(status: StatusCode, fault: &Fault) -> Response {
    let mut response = Response::new(Body::from(fault.to_json()));
    *response.status_mut() = status;
    response
        .headers_mut()
        .insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}

/// Reads the body of a JSON request and checks that it is one message: rmcp answers a body it cannot
/// read with 415 and no JSON-RPC error. Other requests pass as they are; rmcp turns them away.
pub(super) async fn with_checked_body(
    request: Request,
    peer: &Arc<dyn Peer>,
) -> Result<Request, Response> {
    if request.method() != Method::POST || !is_json(request.headers()) {
        return Ok(request);
    }
    let (mut head, body) = request.into_parts();
    let body = read(body).await?;
    match message::check(body.trim_ascii()) {
        // All that a client is ever asked is for a person's answer.
        Ok(Kind::Response) if !may_answer(peer).await => {
            let reason = "no process of the agent's own may answer for a person";
            Err(fault(StatusCode::FORBIDDEN, &Fault::request(None, reason)))
        }
        Ok(_) => {
            let body = match message::hide_listing(body.trim_ascii()) {
                Some(hidden) => Body::from(hidden),
                None => Body::from(body),
            };
            head.headers.remove(CONTENT_LENGTH);
            Ok(Request::from_parts(head, body))
        }
        Err(error) => Err(fault(StatusCode::BAD_REQUEST, &error)),
    }
}

fn is_json(headers: &HeaderMap) -> bool {
    headers
        .get(CONTENT_TYPE)
        .and_then(|value| value.to_str().ok())
        .and_then(|value| value.split(';').next())
        .is_some_and(|kind| kind.trim().eq_ignore_ascii_case("application/json"))
}

async fn read(body: Body) -> Result<Bytes, Response> {
    match Limited::new(body, MESSAGE_MAX).collect().await {
        Ok(collected) => Ok(collected.to_bytes()),
        Err(error) if error.is::<LengthLimitError>() => {
            Err(fault(StatusCode::PAYLOAD_TOO_LARGE, &Fault::too_long()))
        }
        Err(error) => {
            let broken = Fault::parse(format!("the body broke off: {error}"));
            Err(fault(StatusCode::BAD_REQUEST, &broken))
        }
    }
}
