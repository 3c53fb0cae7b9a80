//! What can be wrong with a frame.

use super::FRAME_MAX;

/// The bytes that came are not a frame; the connection cannot go on.
#[derive(Debug, thiserror::Error)]
pub enum FrameError {
    /// Longer than [`FRAME_MAX`].
    #[error("a frame of {length} bytes is longer than {FRAME_MAX}: put large contents in a file")]
    TooLong {
        /// The length it would have, in bytes.
        length: u64,
    },
    /// The value cannot be written as JSON.
    #[error("the frame cannot be written as JSON")]
    Encode(#[source] serde_json::Error),
    /// A descriptor did not arrive, because the receiver has no free one.
    #[error(
        "{expected} descriptors were announced and {arrived} arrived: raise the limit of open files"
    )]
    FdsLost {
        /// As many the frame announced.
        expected: usize,
        /// As many came.
        arrived: usize,
    },
}
