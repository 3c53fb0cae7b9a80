//! What the daemon and the keeper say to each other.
//!
//! A stream socket (`keeper.sock` in the runtime directory) carries frames: a length of four bytes,
//! little endian, then so many bytes of JSON. Descriptors travel as `SCM_RIGHTS` with the first byte
//! of the frame that says how many there are (`fds`).
//!
//! The daemon sends [`RequestFrame`]s and gets one [`ReplyFrame`] for each, in any order, with
//! [`Event`]s in between. The first request is [`Request::Hello`]. Unknown fields are ignored, an
//! unknown request is answered with [`Failure::Unsupported`], so a newer daemon can talk to the
//! keeper that an older one has left running.

mod error;
mod frame;
mod outbox;
mod reply;
mod request;
mod transport;
mod version;

pub use error::FrameError;
pub use frame::{Decoder, FRAME_MAX, encode};
pub use outbox::Outbox;
pub use reply::{Event, Failure, ListedUnit, Location, Message, Reply, ReplyFrame, Welcome};
pub use request::{Hello, Limits, Request, RequestFrame, Spawn, Stdio, StopSequence};
pub use transport::{FDS_MAX, Received, receive, send};
pub use version::{
    FEATURE_EXECUTE, FEATURE_LOCATE, FEATURE_OOM_EVENT, FEATURE_SANDBOX, FEATURES, PROTOCOL_MAX,
    PROTOCOL_MIN, negotiate,
};

/// The file name of the socket in the runtime directory.
pub const SOCKET_NAME: &str = "keeper.sock";
