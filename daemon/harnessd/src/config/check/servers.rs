//! `[mcp]`: what belongs to a program, what to an address, and spans.

use std::time::Duration;

use harness_mcp::client::HttpTarget;

use super::Checker;
use crate::config::{path::steps, schema::McpServer};

const HOUR: Duration = Duration::from_hours(1);
const DAY: Duration = Duration::from_hours(24);

impl Checker<'_> {
    pub(super) fn servers(&mut self) {
        let config = self.config;
        for (name, server) in &config.mcp {
            let key = |key: &str| steps!["mcp", name, key].to_vec();
            self.span(&key("timeout_start_sec"), server.timeout_start_sec, HOUR);
            if server.watchdog_sec.finite().is_some() {
                self.span_or_zero(&key("watchdog_sec"), server.watchdog_sec, DAY);
            }
            if let Some(span) = server.idle_stop_sec {
                self.span(&key("idle_stop_sec"), span, 30 * DAY);
            }
            match &server.url {
                Some(url) => self.address(name, server, url),
                None => self.program_of_server(name, server),
            }
            for (variable, credential) in &server.credentials {
                let key = steps!["mcp", name, "credentials", variable];
                if credential.is_empty() || credential.contains('/') || credential.starts_with('.')
                {
                    self.error(
                        &key,
                        "expected the name of a credential, as in LoadCredential=NAME:PATH, not a path",
                    );
                }
            }
        }
    }

    fn program_of_server(&mut self, name: &str, server: &McpServer) {
        for (variable, value) in &server.environment {
            let key = steps!["mcp", name, "environment", variable];
            self.variable(&key, variable, value);
        }
        for variable in server.credentials.keys() {
            let key = steps!["mcp", name, "credentials", variable];
            self.variable(&key, variable, "");
            if server.environment.contains_key(variable) {
                self.error(
                    &key,
                    "the variable is set in `environment`, too: remove one",
                );
            }
        }
        if !server.headers.is_empty() {
            self.key_error(
                &steps!["mcp", name, "headers"],
                "a program on pipes is sent no headers: remove them, or set a url",
            );
        }
    }

    fn address(&mut self, name: &str, server: &McpServer, url: &str) {
        if !server.environment.is_empty() {
            self.key_error(
                &steps!["mcp", name, "environment"],
                "a server at an address has no environment here: headers are in `headers`",
            );
        }
        let given = server
            .headers
            .iter()
            .map(|(header, value)| ("headers", header, value.as_str()));
        let secret = server
            .credentials
            .keys()
            .map(|header| ("credentials", header, ""));
        for (table, header, value) in given.chain(secret) {
            let key = steps!["mcp", name, table, header];
            // The address has its own complaint.
            let pair = [(header.clone(), value.to_owned())];
            let fault = HttpTarget::new("http://localhost/", pair).err();
            if let Some(fault) = fault {
                self.key_error(&key, &fault.to_string());
            } else if table == "credentials"
                && server
                    .headers
                    .keys()
                    .any(|other| other.eq_ignore_ascii_case(header))
            {
                self.error(&key, "the header is set in `headers`, too: remove one");
            }
        }
        if HttpTarget::new(url, []).is_err() {
            self.error(
                &steps!["mcp", name, "url"],
                "expected an address as in \"https://example.org/mcp\"",
            );
        }
    }
}
