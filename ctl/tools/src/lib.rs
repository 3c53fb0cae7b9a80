//! What the command `tools` and the daemon say to each other on `tools.sock`.
//!
//! One connection carries one command. `tools` sends what it was called with and does what it is told: it
//! reads standard input when it is asked to, writes what comes, saves images, and ends with the status that it is given.
//! Names, inputs, schemas and errors are the daemon's business, so a `tools` of another version fits.

mod frame;
mod request;

pub use frame::{FRAME_MAX, Frame, Kind, KindError, header, length, read, write};
pub use request::{Request, RequestError, StandardInput};

/// The variable with the path of `tools.sock`.
pub const SOCKET_VARIABLE: &str = "HARNESS_TOOLS_SOCKET";

/// The variable with the token that names the run.
pub const TOKEN_VARIABLE: &str = "HARNESS_RUN_TOKEN";

/// Where images are saved, relative to the working directory.
pub const IMAGE_DIRECTORY: &str = "tool-images";
