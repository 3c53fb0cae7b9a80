//! `[control]` and `[mcp_http]`

use std::{net::SocketAddr, path::PathBuf};

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, de};

/// The person's side. `control.sock` is always there.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Control {
    /// A TCP address for the web page, on the loopback interface; it needs `token_file`.
    #[schemars(with = "Option<String>")]
    #[serde(
        skip_serializing_if = "Option::is_none",
        deserialize_with = "some_address"
    )]
    pub listen: Option<SocketAddr>,
    /// The file with the token that TCP clients send: an absolute path, below `~`, or the name of
    /// a credential in `$CREDENTIALS_DIRECTORY`. Others than its owner and group may not read it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub token_file: Option<PathBuf>,
    /// Users who may use `control.sock`, beside root and the daemon's own user.
    pub admins: Vec<String>,
}

/// The agent's side over TCP: streamable HTTP at `/mcp`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct McpHttp {
    /// The TCP address, on the loopback interface.
    #[schemars(with = "String")]
    #[serde(deserialize_with = "address")]
    pub listen: SocketAddr,
    /// The file with the token that clients send, as in `[control]`; the two must differ.
    pub token_file: PathBuf,
}

fn address<'de, D: Deserializer<'de>>(deserializer: D) -> Result<SocketAddr, D::Error> {
    let text = String::deserialize(deserializer)?;
    text.parse().map_err(|_| {
        let start: String = text.chars().take(80).collect();
        de::Error::custom(format!(
            "{start:?} is not an address: expected IP:PORT as in \"127.0.0.1:7717\""
        ))
    })
}

fn some_address<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<SocketAddr>, D::Error> {
    address(deserializer).map(Some)
}
