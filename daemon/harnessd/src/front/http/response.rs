//! Answers: JSON, streams and refusals.

use std::borrow::Cow;

use axum::{
    Json,
    http::{HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};
use harness_model::{ErrorCode, Refusal};
use schemars::{JsonSchema, SchemaGenerator};
use serde::Serialize;
use serde_json::{Value, json};

/// The HTTP status of a code.
pub(super) fn status_of(code: ErrorCode) -> StatusCode {
    match code {
        ErrorCode::UnknownCommand => StatusCode::NOT_FOUND,
        ErrorCode::InvalidInput => StatusCode::BAD_REQUEST,
        // Not a 5xx: a tool that ran must not be run again by a client's own retry.
        ErrorCode::ToolError => StatusCode::UNPROCESSABLE_ENTITY,
        ErrorCode::Denied => StatusCode::FORBIDDEN,
        ErrorCode::NeedsApproval | ErrorCode::Stopped => StatusCode::CONFLICT,
        ErrorCode::ConnectionRequired => StatusCode::FAILED_DEPENDENCY,
        ErrorCode::CallLimit => StatusCode::TOO_MANY_REQUESTS,
        ErrorCode::Unavailable => StatusCode::SERVICE_UNAVAILABLE,
        ErrorCode::OutcomeUnknown => StatusCode::GATEWAY_TIMEOUT,
    }
}

/// A refusal with the HTTP status it is sent with.
#[derive(Debug)]
pub(super) struct Rejection {
    pub(super) status: StatusCode,
    pub(super) refusal: Refusal,
}

impl Rejection {
    pub(super) fn new(status: StatusCode, code: ErrorCode, message: impl Into<String>) -> Self {
        Self {
            status,
            refusal: Refusal::new(code, message),
        }
    }

    /// `invalid_input`
    pub(super) fn invalid(message: impl Into<String>) -> Self {
        Refusal::new(ErrorCode::InvalidInput, message).into()
    }
}

impl From<Refusal> for Rejection {
    fn from(refusal: Refusal) -> Self {
        Self {
            status: status_of(refusal.code),
            refusal,
        }
    }
}

impl IntoResponse for Rejection {
    fn into_response(self) -> Response {
        (self.status, Json(self.refusal.to_json())).into_response()
    }
}

/// What a handler gives back: how it is sent, and how the document describes it.
pub(super) trait Answer: Send + 'static {
    /// The response.
    fn into_response(self) -> Response;
    /// The status of success and the OpenAPI response object.
    fn document(generator: &mut SchemaGenerator) -> (StatusCode, Value);
}

/// 200 with a JSON body.
pub(super) struct Found<T>(pub(super) T);

impl<T: Serialize + JsonSchema + Send + 'static> Answer for Found<T> {
    fn into_response(self) -> Response {
        Json(self.0).into_response()
    }

    fn document(generator: &mut SchemaGenerator) -> (StatusCode, Value) {
        (StatusCode::OK, json_content::<T>(generator))
    }
}

/// 201 with a JSON body and where to find it again.
pub(super) struct Created<T> {
    pub(super) location: String,
    pub(super) body: T,
}

impl<T: Serialize + JsonSchema + Send + 'static> Answer for Created<T> {
    fn into_response(self) -> Response {
        let location =
            HeaderValue::from_str(&self.location).unwrap_or(HeaderValue::from_static("/"));
        (
            StatusCode::CREATED,
            [(header::LOCATION, location)],
            Json(self.body),
        )
            .into_response()
    }

    fn document(generator: &mut SchemaGenerator) -> (StatusCode, Value) {
        (StatusCode::CREATED, json_content::<T>(generator))
    }
}

fn json_content<T: JsonSchema>(generator: &mut SchemaGenerator) -> Value {
    let schema = generator.subschema_for::<T>();
    json!({
        "description": first_line(schema_description::<T>()),
        "content": { "application/json": { "schema": schema } },
    })
}

fn schema_description<T: JsonSchema>() -> String {
    let schema = SchemaGenerator::default().into_root_schema_for::<T>();
    schema
        .get("description")
        .and_then(Value::as_str)
        .map_or_else(|| T::schema_name().into_owned(), ToOwned::to_owned)
}

fn first_line(text: String) -> String {
    text.lines().next().map(ToOwned::to_owned).unwrap_or(text)
}

/// The error body, for the document.
#[derive(Serialize, JsonSchema)]
pub(super) struct ErrorBody {
    /// What is wrong and what to do next.
    error: Refusal,
}

/// A JSON value whose schema is that of `S`.
pub(super) fn error_content(generator: &mut SchemaGenerator) -> Value {
    json!({
        "description": Cow::from("The harness refused or could not do it."),
        "content": { "application/json": { "schema": generator.subschema_for::<ErrorBody>() } },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_may_succeed_later_or_is_unknown_is_a_server_error() {
        for code in ErrorCode::ALL {
            let expected = matches!(code, ErrorCode::Unavailable | ErrorCode::OutcomeUnknown);
            assert_eq!(status_of(*code).is_server_error(), expected, "{code}");
        }
    }
}
