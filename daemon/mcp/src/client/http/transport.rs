//! HTTP/1.1, with TLS where the address asks for it.

use std::{error::Error as _, io, sync::Arc, time::Duration};

use http_body_util::Full;
use hyper::{
    Request, Response,
    body::{Bytes, Incoming},
};
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::{
    client::legacy::{Client, Error, connect::HttpConnector},
    rt::TokioExecutor,
};

use super::HttpTarget;
use crate::client::error::{Cause, ClientError};

/// How long the address may take to answer at all.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// One pool of connections.
pub(super) enum Transport {
    Plain(Client<HttpConnector, Full<Bytes>>),
    Tls(Client<HttpsConnector<HttpConnector>, Full<Bytes>>),
}

impl Transport {
    /// For this address; the system's certificates are read if it asks for TLS.
    pub(super) fn to(target: &HttpTarget) -> Result<Self, ClientError> {
        let builder = Client::builder(TokioExecutor::new());
        let mut connector = HttpConnector::new();
        connector.set_connect_timeout(Some(CONNECT_TIMEOUT));
        connector.set_nodelay(true);
        if !target.is_tls() {
            return Ok(Self::Plain(builder.build(connector)));
        }
        connector.enforce_http(false);
        let roots = HttpsConnectorBuilder::new().with_native_roots();
        let roots = roots.map_err(|error| {
            let reason = format!("the system's certificates cannot be read: {error}");
            ClientError::NotSent(Cause::Unreachable(reason))
        })?;
        let connector = roots.https_only().enable_http1().wrap_connector(connector);
        Ok(Self::Tls(builder.build(connector)))
    }

    /// Sends a request; resolves with the head of its response.
    pub(super) async fn send(
        &self,
        request: Request<Full<Bytes>>,
    ) -> Result<Response<Incoming>, ClientError> {
        let sent = match self {
            Self::Plain(client) => client.request(request).await,
            Self::Tls(client) => client.request(request).await,
        };
        sent.map_err(|error| {
            if error.is_connect() {
                ClientError::NotSent(Cause::Unreachable(reason(&error)))
            } else {
                let broken = io::Error::other(reason(&error));
                ClientError::Lost(Cause::Io(Arc::new(broken)))
            }
        })
    }
}

/// The last words of an error's chain say what happened.
fn reason(error: &Error) -> String {
    let mut reason = error.to_string();
    let mut source = error.source();
    while let Some(error) = source {
        reason = error.to_string();
        source = error.source();
    }
    reason
}
