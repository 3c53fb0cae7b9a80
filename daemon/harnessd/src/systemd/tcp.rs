//! Listening on the loopback interface, with a hint where the unit does not allow it.

use std::net::{SocketAddr, TcpListener};

use rustix::io::Errno;

use super::error::ListenError;

/// Listens on an address, non-blocking.
pub fn listen_tcp(address: SocketAddr) -> Result<TcpListener, ListenError> {
    let listener = TcpListener::bind(address).map_err(|source| {
        // RestrictAddressFamilies= (systemd.exec(5)) makes socket(2) fail so.
        if Errno::from_io_error(&source) == Some(Errno::AFNOSUPPORT) {
            ListenError::FamilyNotAllowed { address, source }
        } else {
            ListenError::Io { address, source }
        }
    })?;
    listener
        .set_nonblocking(true)
        .map_err(|source| ListenError::Io { address, source })?;
    Ok(listener)
}
