//! One request on one connection.

use std::path::Path;

use harness_model::Refusal;
use http_body_util::{BodyExt as _, Full, Limited};
use hyper::{
    Method, Request, Response,
    body::{Bytes, Incoming},
    client::conn::http1,
    header::{self, HeaderName},
};
use hyper_util::rt::TokioIo;
use serde::{Deserialize, de::DeserializeOwned};
use tokio::net::UnixStream;

use crate::{Error, Result};

/// An answer is no longer than this, in bytes.
const MAX_ANSWER: usize = 64 << 20;

/// What is asked.
pub(crate) struct Ask {
    pub(crate) method: Method,
    /// Path and query.
    pub(crate) target: String,
    pub(crate) body: Option<Vec<u8>>,
    pub(crate) last_event_id: Option<String>,
}

impl Ask {
    pub(crate) fn get(target: impl Into<String>) -> Self {
        Self {
            method: Method::GET,
            target: target.into(),
            body: None,
            last_event_id: None,
        }
    }

    pub(crate) fn post(target: impl Into<String>, body: Option<Vec<u8>>) -> Self {
        Self {
            method: Method::POST,
            target: target.into(),
            body,
            last_event_id: None,
        }
    }

    fn endpoint(&self) -> String {
        format!("{} {}", self.method, self.target)
    }
}

/// Sends `ask`; the answer's body is still to be read. A refusal is an error.
pub(crate) async fn open(socket: &Path, ask: &Ask) -> Result<Response<Incoming>> {
    let stream = UnixStream::connect(socket)
        .await
        .map_err(|error| Error::of_connecting(socket.to_owned(), error))?;
    let broken = |source| Error::Broken { source };
    let (mut sender, connection) = http1::handshake(TokioIo::new(stream))
        .await
        .map_err(broken)?;
    // Its error reaches the request and the body too.
    tokio::spawn(connection);
    let mut request = Request::builder()
        .method(&ask.method)
        .uri(&ask.target)
        .header(header::HOST, "localhost");
    if ask.body.is_some() {
        request = request.header(header::CONTENT_TYPE, "application/json");
    }
    if let Some(id) = &ask.last_event_id {
        request = request.header(HeaderName::from_static("last-event-id"), id);
    }
    let unexpected = || Error::Unexpected {
        endpoint: ask.endpoint(),
        status: 0,
    };
    let body = Full::new(Bytes::from(ask.body.clone().unwrap_or_default()));
    let request = request.body(body).map_err(|_| unexpected())?;
    let response = sender.send_request(request).await.map_err(broken)?;
    if response.status().is_success() {
        return Ok(response);
    }
    let status = response.status().as_u16();
    let text = read(ask, response).await?;
    Err(match serde_json::from_slice::<ErrorBody>(&text) {
        Ok(body) => Error::Refused(body.error),
        Err(_) => Error::Unexpected {
            endpoint: ask.endpoint(),
            status,
        },
    })
}

/// Sends `ask` and reads its JSON answer.
pub(crate) async fn send<T: DeserializeOwned>(socket: &Path, ask: Ask) -> Result<T> {
    let response = open(socket, &ask).await?;
    let text = read(&ask, response).await?;
    serde_json::from_slice(&text).map_err(|source| Error::Decode {
        endpoint: ask.endpoint(),
        source,
    })
}

#[derive(Deserialize)]
struct ErrorBody {
    error: Refusal,
}

async fn read(ask: &Ask, response: Response<Incoming>) -> Result<Bytes> {
    let status = response.status().as_u16();
    match Limited::new(response.into_body(), MAX_ANSWER)
        .collect()
        .await
    {
        Ok(body) => Ok(body.to_bytes()),
        Err(error) => Err(match error.downcast::<hyper::Error>() {
            Ok(source) => Error::Broken { source: *source },
            Err(_) => Error::Unexpected {
                endpoint: ask.endpoint(),
                status,
            },
        }),
    }
}

/// A target with the fields of `query` as its parameters.
pub(crate) fn target(path: &str, query: &impl serde::Serialize) -> String {
    let fields = serde_json::to_value(query).unwrap_or_default();
    let mut target = path.to_owned();
    for (name, value) in fields.as_object().into_iter().flatten() {
        let text = value.as_str().map_or_else(|| value.to_string(), encode);
        target.push(if target.contains('?') { '&' } else { '?' });
        target.push_str(name);
        target.push('=');
        target.push_str(&text);
    }
    target
}

/// Percent-encoding of everything but RFC 3986's unreserved characters.
pub(crate) fn encode(text: &str) -> String {
    let mut encoded = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            encoded.push(char::from(byte));
        } else {
            encoded.push('%');
            encoded.extend(
                [byte >> 4, byte & 15]
                    .map(|digit| char::from(b"0123456789ABCDEF"[usize::from(digit)])),
            );
        }
    }
    encoded
}

#[cfg(test)]
mod tests {
    use harness_model::{CallQuery, CallState};

    use super::*;

    #[test]
    fn a_query_is_written_with_what_was_set_and_nothing_leaks_out_of_its_place() {
        let query = CallQuery {
            limit: Some(5),
            tool: Some("a&state=ok #ä".into()),
            state: Some(CallState::OutcomeUnknown),
            ..CallQuery::default()
        };
        let text = target("/v1/calls", &query);
        assert_eq!(
            text,
            "/v1/calls?limit=5&state=outcome_unknown&tool=a%26state%3Dok%20%23%C3%A4"
        );
    }
}
