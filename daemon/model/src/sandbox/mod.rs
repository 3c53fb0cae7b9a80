//! What a process may do with files, programs and the network.

mod profile;
mod request;
mod rules;

pub use profile::{Filesystem, SandboxProfile};
pub use request::SandboxRequest;
pub use rules::SandboxRules;
