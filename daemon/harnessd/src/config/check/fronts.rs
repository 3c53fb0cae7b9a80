//! Addresses, tokens and admins.

use std::{net::SocketAddr, path::Path};

use nix::unistd::User;

use super::Checker;
use crate::config::{
    path::{Step, steps},
    token::{Token, TokenError},
};

/// The tokens of the TCP fronts, where they are on.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tokens {
    /// The person's.
    pub control: Option<Token>,
    /// The agent's.
    pub mcp_http: Option<Token>,
}

impl Checker<'_> {
    pub(super) fn fronts(&mut self) -> Tokens {
        let config = self.config;
        let mut tokens = Tokens::default();
        let control = &config.control;
        if let Some(address) = control.listen {
            self.loopback(&steps!["control", "listen"], address);
        }
        match (control.listen, &control.token_file) {
            (Some(_), Some(file)) => {
                tokens.control = self.token(&steps!["control", "token_file"], file);
            }
            (Some(_), None) => self.error(
                &steps!["control", "listen"],
                "it needs a token: set token_file in [control]",
            ),
            (None, Some(_)) => self.warning(
                &steps!["control", "token_file"],
                "it has no effect without listen in [control]",
            ),
            (None, None) => {}
        }
        if let Some(mcp) = &config.mcp_http {
            self.loopback(&steps!["mcp_http", "listen"], mcp.listen);
            tokens.mcp_http = self.token(&steps!["mcp_http", "token_file"], &mcp.token_file);
            if control.listen == Some(mcp.listen) && mcp.listen.port() != 0 {
                self.error(
                    &steps!["mcp_http", "listen"],
                    "[control] has the same address: choose another port",
                );
            }
            let same_file =
                control.listen.is_some() && control.token_file.as_ref() == Some(&mcp.token_file);
            let same_text = tokens.control.is_some() && tokens.control == tokens.mcp_http;
            if same_file || same_text {
                self.error(
                    &steps!["mcp_http", "token_file"],
                    "it is the token of [control]: the agent could act as the person; use two",
                );
            }
        }
        tokens
    }

    fn loopback(&mut self, path: &[Step], address: SocketAddr) {
        if !address.ip().is_loopback() {
            let text = format!(
                "{} is not an address of the loopback interface: use 127.0.0.1 or [::1], and a tunnel to reach it from elsewhere",
                address.ip()
            );
            self.error(path, &text);
        }
    }

    fn token(&mut self, path: &[Step], file: &Path) -> Option<Token> {
        let directory = self.host.variable("CREDENTIALS_DIRECTORY").map(Path::new);
        let is_name = file.components().count() == 1 && !file.starts_with("~") && !file.has_root();
        let full = match (is_name, directory) {
            (true, Some(directory)) => Some(directory.join(file)),
            (true, None) => {
                if !self.host.offline {
                    self.error(
                        path,
                        "there is no $CREDENTIALS_DIRECTORY: add LoadCredential= to the unit, or give an absolute path",
                    );
                }
                return None;
            }
            (false, _) => self.host.expand(file),
        };
        let Some(full) = full else {
            self.error(
                path,
                "expected an absolute path, one below ~, or the name of a credential",
            );
            return None;
        };
        match Token::read(&full) {
            Ok(token) => Some(token),
            // The secrets of another machine are not here.
            Err(TokenError::Io { .. }) if self.host.offline => None,
            Err(error) => {
                let source = std::error::Error::source(&error);
                let cause = source
                    .map(|source| format!(": {source}"))
                    .unwrap_or_default();
                self.error(path, &format!("{error}{cause}"));
                None
            }
        }
    }

    /// The uids of the admins; each must be a user of this machine.
    pub(super) fn admins(&mut self) -> Vec<u32> {
        let config = self.config;
        let mut uids = Vec::new();
        for (index, name) in config.control.admins.iter().enumerate() {
            let key = steps!["control", "admins", index];
            match User::from_name(name) {
                Ok(Some(user)) => uids.push(user.uid.as_raw()),
                _ if self.host.offline => {}
                Ok(None) => self.error(&key, &format!("there is no user {name:?}")),
                Err(error) => {
                    self.error(&key, &format!("cannot look up the user {name:?}: {error}"));
                }
            }
        }
        uids
    }
}
