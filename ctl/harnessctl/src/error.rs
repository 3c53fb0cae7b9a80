//! Why a command did not do what it was asked to.

use std::{io, path::PathBuf};

use harness_model::{ErrorCode, Refusal, SettingsError};

use crate::exit::Exit;

pub(crate) type Result<T, E = Error> = std::result::Result<T, E>;

#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    #[error(transparent)]
    Client(#[from] harness_client::Error),
    #[error("cannot write the output")]
    Output(#[from] io::Error),
    #[error("cannot start the runtime")]
    Runtime { source: io::Error },
    #[error("--unit {argument}: expected KEY=VALUE, as in restart=on-failure")]
    UnitSyntax { argument: String },
    #[error("--unit: {source}")]
    UnitKeys { source: serde_json::Error },
    #[error("--unit: {0}")]
    UnitPolicy(#[from] SettingsError),
    #[error("the input is not a JSON object: {source}")]
    Input { source: serde_json::Error },
    #[error("--env {name}: there is no such variable here to pass on; set one with {name}=VALUE")]
    NoVariable { name: String },
    #[error(
        "{word:?} is no input: expected a JSON object, - for one on standard input, or KEY=VALUE"
    )]
    InputSyntax { word: String },
    #[error("the input is no JSON object: {source}")]
    InputJson { source: serde_json::Error },
    #[error("{path:?} is not UTF-8, which the harness needs")]
    NotUtf8 { path: PathBuf },
    #[error("the path of this program is unknown, and the client needs it")]
    OwnPath { source: io::Error },
}

impl Error {
    /// The exit code that goes with it.
    pub(crate) fn exit(&self) -> Exit {
        match self {
            Self::Client(harness_client::Error::InvalidAgent { .. })
            | Self::UnitSyntax { .. }
            | Self::UnitKeys { .. }
            | Self::UnitPolicy(_)
            | Self::Input { .. }
            | Self::NoVariable { .. }
            | Self::InputSyntax { .. }
            | Self::InputJson { .. }
            | Self::NotUtf8 { .. } => Exit::USAGE,
            Self::Client(error) if error.is_unreachable() => Exit::UNREACHABLE,
            // The reader has seen enough: `harnessctl list | head`.
            Self::Output(error) if error.kind() == io::ErrorKind::BrokenPipe => Exit::DONE,
            Self::Client(_) | Self::Output(_) | Self::Runtime { .. } | Self::OwnPath { .. } => {
                Exit::FAILED
            }
        }
    }

    /// The form of every front.
    pub(crate) fn refusal(&self) -> Refusal {
        if let Self::Client(harness_client::Error::Refused(refusal)) = self {
            return refusal.clone();
        }
        let code = if self.exit() == Exit::USAGE {
            ErrorCode::InvalidInput
        } else {
            ErrorCode::Unavailable
        };
        let refusal = Refusal::new(code, self.chain());
        if matches!(self, Self::Client(error) if error.is_passing()) {
            refusal.retryable()
        } else {
            refusal
        }
    }

    /// The message and what caused it, in one line.
    pub(crate) fn chain(&self) -> String {
        let mut text = self.to_string();
        let mut source = std::error::Error::source(self);
        while let Some(error) = source {
            let cause = error.to_string();
            if !text.ends_with(&cause) {
                text = format!("{text}: {cause}");
            }
            source = error.source();
        }
        text
    }
}
