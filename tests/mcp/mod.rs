//! MCP as clients speak it: on the socket, over stdio with a client nobody here wrote, and over HTTP.

mod clients;
mod conformance;
pub(crate) mod http;
pub(crate) mod protocol;

use libtest_mimic::Trial;

pub(crate) fn trials() -> Vec<Trial> {
    [
        protocol::trials(),
        clients::trials(),
        conformance::trials(),
        http::trials(),
    ]
    .into_iter()
    .flatten()
    .collect()
}
