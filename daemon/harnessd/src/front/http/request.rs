//! Requests: path, query and body become typed values, or a rejection that says what is wrong.

use std::{error::Error, sync::Arc};

use axum::{
    body::{Body, to_bytes},
    extract::{FromRequestParts as _, Query, RawPathParams},
    http::{StatusCode, header, request::Parts},
};
use harness_model::{CallContext, Delivery, ErrorCode, Front, SessionId, UnitId};
use http_body_util::LengthLimitError;
use schemars::{JsonSchema, SchemaGenerator};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::{backend::Control, response::Rejection};

/// The largest body, in bytes.
pub(super) const MAX_BODY: usize = 2 << 20;

/// What every handler works on.
#[derive(Clone)]
pub(super) struct Api {
    pub(super) control: Arc<dyn Control>,
    pub(super) shutdown: CancellationToken,
}

/// Who asks, as their connection tells it.
#[derive(Debug, Clone)]
pub(super) struct Caller {
    pub(super) session: SessionId,
    pub(super) uid: Option<u32>,
}

impl Caller {
    pub(super) fn context(&self) -> CallContext {
        CallContext {
            front: Front::Http,
            session: self.session.clone(),
            uid: self.uid,
            parent: None,
            call: None,
            progress: None,
            meta: None,
            delivery: Delivery::default(),
            elicit: None,
        }
    }
}

/// A request whose every part was understood.
pub(super) struct Asked<P, Q, B> {
    pub(super) control: Arc<dyn Control>,
    pub(super) shutdown: CancellationToken,
    pub(super) caller: Caller,
    pub(super) path: P,
    pub(super) query: Q,
    pub(super) body: B,
    /// `Last-Event-ID`: where an event stream is to be resumed.
    pub(super) last_event_id: Option<String>,
}

impl<P: PathParameter, Q: DeserializeOwned + Send, B: RequestBody> Asked<P, Q, B> {
    pub(super) async fn read(api: Api, mut parts: Parts, body: Body) -> Result<Self, Rejection> {
        let parameters = RawPathParams::from_request_parts(&mut parts, &()).await;
        let parameters = parameters.map_err(|error| no_such_id(format!("path: {error}")))?;
        let path = P::read(&parameters)?;
        drop(parameters);
        let query = Query::<Q>::try_from_uri(&parts.uri)
            .map_err(|error| query_rejection(&error.body_text()))?
            .0;
        let bytes = read_body(&parts, body).await?;
        let caller = parts.extensions.remove::<Caller>().ok_or_else(|| {
            Rejection::new(
                StatusCode::FORBIDDEN,
                ErrorCode::Denied,
                "the connection has no caller",
            )
        })?;
        let last_event_id = parts.headers.get("last-event-id");
        Ok(Self {
            control: api.control,
            shutdown: api.shutdown,
            caller,
            path,
            query,
            body: B::parse(&bytes)?,
            last_event_id: last_event_id
                .and_then(|id| id.to_str().ok())
                .map(ToOwned::to_owned),
        })
    }
}

/// What cannot be an id was never one.
fn no_such_id(message: String) -> Rejection {
    Rejection::new(StatusCode::NOT_FOUND, ErrorCode::UnknownCommand, message)
}

fn query_rejection(text: &str) -> Rejection {
    let reason = text
        .strip_prefix("Failed to deserialize query string: ")
        .unwrap_or(text);
    Rejection::invalid(format!("query parameters: {reason}"))
}

async fn read_body(parts: &Parts, body: Body) -> Result<Vec<u8>, Rejection> {
    let too_large = || {
        let message = format!("the body is larger than {MAX_BODY} bytes");
        Rejection::new(
            StatusCode::PAYLOAD_TOO_LARGE,
            ErrorCode::InvalidInput,
            message,
        )
    };
    let announced = parts.headers.get(header::CONTENT_LENGTH);
    let announced = announced.and_then(|length| length.to_str().ok()?.parse::<u64>().ok());
    if announced.is_some_and(|length| length > MAX_BODY as u64) {
        return Err(too_large());
    }
    match to_bytes(body, MAX_BODY).await {
        Ok(bytes) => Ok(bytes.into()),
        Err(error)
            if error
                .source()
                .is_some_and(<dyn Error>::is::<LengthLimitError>) =>
        {
            Err(too_large())
        }
        Err(error) => Err(Rejection::invalid(format!("the body broke off: {error}"))),
    }
}

/// The variable part of a path.
pub(super) trait PathParameter: Sized + Send + 'static {
    fn read(parameters: &RawPathParams) -> Result<Self, Rejection>;
    /// OpenAPI parameter objects.
    fn document() -> Vec<Value>;
}

impl PathParameter for () {
    fn read(_: &RawPathParams) -> Result<Self, Rejection> {
        Ok(())
    }

    fn document() -> Vec<Value> {
        Vec::new()
    }
}

impl PathParameter for UnitId {
    fn read(parameters: &RawPathParams) -> Result<Self, Rejection> {
        let text = parameters
            .iter()
            .find_map(|(name, text)| (name == "id").then_some(text))
            .unwrap_or_default();
        text.parse()
            .map_err(|error: harness_model::IdError| no_such_id(error.to_string()))
    }

    fn document() -> Vec<Value> {
        vec![json!({
            "name": "id",
            "in": "path",
            "required": true,
            "description": "The unit's id.",
            "schema": { "type": "string", "pattern": "^[a-z0-9][a-z0-9-]{0,63}$" },
        })]
    }
}

/// The body of a request.
pub(super) trait RequestBody: Sized + Send + 'static {
    fn parse(bytes: &[u8]) -> Result<Self, Rejection>;
    /// The OpenAPI request body object.
    fn document(generator: &mut SchemaGenerator) -> Option<Value>;
}

impl RequestBody for () {
    fn parse(bytes: &[u8]) -> Result<Self, Rejection> {
        match bytes.trim_ascii() {
            b"" | b"{}" => Ok(()),
            _ => Err(Rejection::invalid("this endpoint takes no body")),
        }
    }

    fn document(_: &mut SchemaGenerator) -> Option<Value> {
        None
    }
}

/// A JSON body that must be there.
pub(super) struct Sent<T>(pub(super) T);

impl<T: DeserializeOwned + JsonSchema + Send + 'static> RequestBody for Sent<T> {
    fn parse(bytes: &[u8]) -> Result<Self, Rejection> {
        // serde_json says line and column.
        serde_json::from_slice(bytes)
            .map(Self)
            .map_err(|error| Rejection::invalid(format!("body: {error}")))
    }

    fn document(generator: &mut SchemaGenerator) -> Option<Value> {
        Some(json!({
            "required": true,
            "content": { "application/json": { "schema": generator.subschema_for::<T>() } },
        }))
    }
}
