//! Paths and methods that are not there.

use axum::http::{Method, StatusCode, Uri};
use harness_model::ErrorCode;

use super::{response::Rejection, table::routes};

/// 404 that names the nearest path.
pub(super) async fn path(uri: Uri) -> Rejection {
    let asked: String = uri.path().chars().take(200).collect();
    let message = match nearest(&asked) {
        Some(path) => {
            format!("no endpoint {asked:?}: did you mean {path}? All are in /v1/openapi.json")
        }
        None => format!("no endpoint {asked:?}: all are in /v1/openapi.json"),
    };
    Rejection::new(StatusCode::NOT_FOUND, ErrorCode::UnknownCommand, message)
}

/// 405; the router adds `Allow`.
pub(super) async fn method(method: Method, uri: Uri) -> Rejection {
    let message = format!(
        "{} does not take {method}: see the header Allow",
        uri.path()
    );
    Rejection::new(
        StatusCode::METHOD_NOT_ALLOWED,
        ErrorCode::InvalidInput,
        message,
    )
}

/// The path of the table that is fewest edits away, if that is less than half of its length.
/// A variable segment fits whatever stands at its place.
fn nearest(asked: &str) -> Option<&'static str> {
    let distance = |path: &'static str| {
        let mut segments = asked.split('/');
        let filled: Vec<&str> = path
            .split('/')
            .map(|segment| {
                let own = segments.next();
                if segment.starts_with('{') {
                    own.unwrap_or(segment)
                } else {
                    segment
                }
            })
            .collect();
        (strsim::levenshtein(&filled.join("/"), asked), path)
    };
    let (edits, path) = routes()
        .iter()
        .map(|route| distance(route.path))
        .min_by_key(|(edits, _)| *edits)?;
    (edits * 2 <= path.len()).then_some(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_finds_its_path() {
        for (asked, expected) in [
            ("/v1/task", "/v1/tasks"),
            ("/v1/status/", "/v1/status"),
            ("/tasks", "/v1/tasks"),
            ("/v1/tasks/abcd1234/ouput", "/v1/tasks/{id}/output"),
            (
                "/v1/units/some-long-identifier/invocation",
                "/v1/units/{id}/invocations",
            ),
        ] {
            assert_eq!(nearest(asked), Some(expected), "{asked}");
        }
        assert_eq!(nearest("/completely/elsewhere/and/long"), None);
    }
}
