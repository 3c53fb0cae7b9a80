//! Where a server is, and what it wants to be shown.

use std::fmt;

use hyper::{
    Uri,
    header::{HeaderName, HeaderValue},
};

/// Headers that belong to the protocol.
const RESERVED: [&str; 9] = [
    "accept",
    "content-length",
    "content-type",
    "host",
    "last-event-id",
    "mcp-method",
    "mcp-name",
    "mcp-protocol-version",
    "mcp-session-id",
];

/// Why an address or a header cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TargetError {
    /// It is no address of a web server.
    #[error("{url:?} is not an address as in https://example.org/mcp")]
    Url {
        /// As it was given.
        url: String,
    },
    /// It is no header, or one that the protocol sets itself.
    #[error("a header {name:?} cannot be sent: choose another name")]
    HeaderName {
        /// As it was given.
        name: String,
    },
    /// The value has a line end or another control character in it.
    #[error("the value of the header {name} cannot be sent: it has a control character in it")]
    HeaderValue {
        /// The header; never its value.
        name: String,
    },
}

/// The address of a server, and the headers that each request to it carries.
#[derive(Clone, PartialEq)]
pub struct HttpTarget {
    pub(super) uri: Uri,
    pub(super) headers: Vec<(HeaderName, HeaderValue)>,
}

impl HttpTarget {
    /// An address with its headers. Values are not shown in debug output.
    pub fn new(
        url: &str,
        headers: impl IntoIterator<Item = (String, String)>,
    ) -> Result<Self, TargetError> {
        let uri: Option<Uri> = url.parse().ok();
        let uri = uri.filter(|uri| {
            matches!(uri.scheme_str(), Some("http" | "https")) && uri.host().is_some()
        });
        let uri = uri.ok_or_else(|| TargetError::Url {
            url: url.to_owned(),
        })?;
        let headers = headers
            .into_iter()
            .map(|(name, value)| header(name, &value));
        Ok(Self {
            uri,
            headers: headers.collect::<Result<_, _>>()?,
        })
    }

    pub(super) fn is_tls(&self) -> bool {
        self.uri.scheme_str() == Some("https")
    }
}

fn header(name: String, value: &str) -> Result<(HeaderName, HeaderValue), TargetError> {
    let parsed = HeaderName::from_bytes(name.as_bytes()).ok();
    let parsed = parsed.filter(|name| !RESERVED.contains(&name.as_str()));
    let Some(parsed) = parsed else {
        return Err(TargetError::HeaderName { name });
    };
    let mut value = HeaderValue::from_str(value).map_err(|_| TargetError::HeaderValue { name })?;
    value.set_sensitive(true);
    Ok((parsed, value))
}

impl fmt::Debug for HttpTarget {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self.headers.iter().map(|(name, _)| name.as_str()).collect();
        formatter
            .debug_struct("HttpTarget")
            .field("uri", &self.uri)
            .field("headers", &names)
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn target(url: &str, name: &str, value: &str) -> Result<HttpTarget, TargetError> {
        HttpTarget::new(url, [(name.to_owned(), value.to_owned())])
    }

    #[test]
    fn what_cannot_be_sent_is_refused_and_a_value_is_never_shown() {
        let url = "https://example.org/mcp";
        let target = |url, name, value| target(url, name, value);
        let shown = format!(
            "{:?}",
            target(url, "Authorization", "Bearer s3cret").unwrap()
        );
        assert!(
            shown.contains("authorization") && !shown.contains("s3cret"),
            "{shown}"
        );
        for bad in ["", "ftp://x/", "https://", "/mcp", "example.org"] {
            assert!(
                matches!(target(bad, "A", "b"), Err(TargetError::Url { .. })),
                "{bad}"
            );
        }
        for bad in ["", "a b", "Mcp-Session-Id", "HOST"] {
            assert!(
                matches!(target(url, bad, "b"), Err(TargetError::HeaderName { .. })),
                "{bad}"
            );
        }
        let error = target(url, "A", "s3cret\r\nB: c").unwrap_err();
        assert!(!error.to_string().contains("s3cret"), "{error}");
    }
}
