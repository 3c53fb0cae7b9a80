//! Why a hook is of no use for a call.

use crate::program::ProgramError;

/// What `on_error` is about.
#[derive(Debug, thiserror::Error)]
pub(crate) enum HookError {
    /// It gave no answer.
    #[error(transparent)]
    Program(#[from] ProgramError),
    /// Its answer cannot be understood.
    #[error("its answer is not understood: {0}")]
    Answer(String),
    /// The input it wrote is none for this tool.
    #[error("the input it wrote does not fit: {0}")]
    Input(String),
    /// The result it wrote is none of this tool.
    #[error("the result it wrote does not fit the tool's output schema: {0}")]
    Result(String),
}
