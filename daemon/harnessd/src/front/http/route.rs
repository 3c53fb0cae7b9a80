//! One endpoint: how it is routed and how it is described, from the same types.

use axum::{
    body::Body,
    extract::{Request, State},
    http::{Method, StatusCode},
    response::{IntoResponse as _, Response},
    routing::{MethodFilter, MethodRouter, on},
};
use schemars::{JsonSchema, SchemaGenerator};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

use super::{
    request::{Api, Asked, PathParameter, RequestBody},
    response::{Answer, Rejection, error_content},
};

/// Name and words of an endpoint.
#[derive(Debug, Clone, Copy)]
pub(super) struct Operation {
    /// The OpenAPI `operationId`.
    pub(super) id: &'static str,
    /// One line.
    pub(super) summary: &'static str,
}

/// An entry of the table.
pub(super) struct Route {
    pub(super) method: Method,
    pub(super) path: &'static str,
    pub(super) router: MethodRouter<Api>,
    /// The OpenAPI operation object.
    pub(super) document: fn(&mut SchemaGenerator, Operation) -> Value,
    pub(super) operation: Operation,
}

/// A reading endpoint. `HEAD` comes with it.
pub(super) fn get<P, Q, B, A, F>(
    path: &'static str,
    operation: Operation,
    handler: fn(Asked<P, Q, B>) -> F,
) -> Route
where
    P: PathParameter,
    Q: DeserializeOwned + JsonSchema + Send + 'static,
    B: RequestBody,
    A: Answer,
    F: Future<Output = Result<A, Rejection>> + Send + 'static,
{
    Route {
        method: Method::GET,
        path,
        router: on(MethodFilter::GET, move |state, request| {
            serve(state, request, handler)
        }),
        document: document::<P, Q, B, A>,
        operation,
    }
}

/// An acting endpoint.
pub(super) fn post<P, Q, B, A, F>(
    path: &'static str,
    operation: Operation,
    handler: fn(Asked<P, Q, B>) -> F,
) -> Route
where
    P: PathParameter,
    Q: DeserializeOwned + JsonSchema + Send + 'static,
    B: RequestBody,
    A: Answer,
    F: Future<Output = Result<A, Rejection>> + Send + 'static,
{
    Route {
        method: Method::POST,
        path,
        router: on(MethodFilter::POST, move |state, request| {
            serve(state, request, handler)
        }),
        document: document::<P, Q, B, A>,
        operation,
    }
}

async fn serve<P, Q, B, A, F>(
    State(api): State<Api>,
    request: Request<Body>,
    handler: fn(Asked<P, Q, B>) -> F,
) -> Response
where
    P: PathParameter,
    Q: DeserializeOwned + Send,
    B: RequestBody,
    A: Answer,
    F: Future<Output = Result<A, Rejection>> + Send,
{
    let (parts, body) = request.into_parts();
    let answer = match Asked::read(api, parts, body).await {
        Ok(asked) => handler(asked).await,
        Err(rejection) => Err(rejection),
    };
    match answer {
        Ok(answer) => answer.into_response(),
        Err(rejection) => rejection.into_response(),
    }
}

fn document<P: PathParameter, Q: JsonSchema, B: RequestBody, A: Answer>(
    generator: &mut SchemaGenerator,
    operation: Operation,
) -> Value {
    let mut parameters = P::document();
    parameters.extend(query_parameters(&Q::json_schema(generator).to_value()));
    let (status, success): (StatusCode, Value) = A::document(generator);
    let mut responses = Map::new();
    responses.insert(status.as_str().to_owned(), success);
    responses.insert("default".to_owned(), error_content(generator));
    let mut object = json!({ "operationId": operation.id, "summary": operation.summary, "responses": responses });
    if !parameters.is_empty() {
        object["parameters"] = parameters.into();
    }
    if let Some(body) = B::document(generator) {
        object["requestBody"] = body;
    }
    object
}

/// Each property of the query's schema is a parameter.
fn query_parameters(schema: &Value) -> Vec<Value> {
    let properties = schema["properties"].as_object();
    let parameter = |(name, schema): (&String, &Value)| {
        let mut schema = schema.clone();
        let description = schema
            .as_object_mut()
            .and_then(|schema| schema.remove("description"));
        let mut parameter =
            json!({ "name": name, "in": "query", "required": false, "schema": schema });
        if let Some(description) = description {
            parameter["description"] = description;
        }
        parameter
    };
    properties.into_iter().flatten().map(parameter).collect()
}
