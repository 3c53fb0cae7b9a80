//! The service manager: notifications, the watchdog, sockets it passes, credentials.
//!
//! Everything here does nothing outside systemd, so that the daemon need not know where it runs.

mod activation;
mod credentials;
mod error;
mod notify;
mod socket;
mod tcp;
mod watchdog;

#[cfg(test)]
mod tests;

pub use activation::{Activated, SocketName};
pub use credentials::Credentials;
pub use error::{ActivationError, BindError, CredentialError, ListenError};
pub use notify::Notifier;
pub use socket::{BoundSocket, bind, control_mode, set_mode};
pub use tcp::listen_tcp;
pub use watchdog::Watchdog;
