//! `sd_notify(3)`: what the daemon tells the service manager.

use sd_notify::NotifyState;

/// Tells the service manager how the daemon is. A failure is logged and changes nothing: the
/// manager acts on what it does not hear.
#[derive(Debug, Clone, Copy, Default)]
pub struct Notifier {
    /// There is somebody to tell.
    connected: bool,
}

impl Notifier {
    /// To the service manager that `$NOTIFY_SOCKET` names, or to nobody.
    #[must_use]
    pub fn from_environment() -> Self {
        Self {
            connected: std::env::var_os("NOTIFY_SOCKET").is_some(),
        }
    }

    /// `READY=1`: the sockets listen, and the first call would be served.
    pub fn ready(self, status: &str) {
        self.send(&[NotifyState::Ready, NotifyState::Status(&one_line(status))]);
    }

    /// `RELOADING=1` with `MONOTONIC_USEC=`, which `Type=notify-reload` asks for. [`Self::ready`] ends it.
    pub fn reloading(self) {
        match NotifyState::monotonic_usec_now() {
            Ok(now) => self.send(&[NotifyState::Reloading, now]),
            Err(error) => tracing::warn!(%error, "cannot read the monotonic clock"),
        }
    }

    /// `STOPPING=1`.
    pub fn stopping(self, status: &str) {
        self.send(&[
            NotifyState::Stopping,
            NotifyState::Status(&one_line(status)),
        ]);
    }

    /// `STATUS=`, one line for a person.
    pub fn status(self, status: &str) {
        self.send(&[NotifyState::Status(&one_line(status))]);
    }

    /// `EXTEND_TIMEOUT_USEC=`: start or stop takes at most this much longer from now on.
    pub fn extend_timeout(self, more: std::time::Duration) {
        let micros = u32::try_from(more.as_micros()).unwrap_or(u32::MAX);
        self.send(&[NotifyState::ExtendTimeoutUsec(micros)]);
    }

    /// `WATCHDOG=1`; only [`super::Watchdog`] sends it.
    pub(super) fn alive(self) {
        self.send(&[NotifyState::Watchdog]);
    }

    fn send(self, state: &[NotifyState<'_>]) {
        if self.connected
            && let Err(error) = sd_notify::notify(state)
        {
            tracing::warn!(%error, "cannot notify the service manager");
        }
    }
}

/// A line end would start another assignment.
fn one_line(text: &str) -> String {
    text.split(|c: char| c.is_control())
        .collect::<Vec<_>>()
        .join(" ")
}
