//! Saying that wakes are due.

use tokio::sync::watch;

/// Rings when wakes became due. It carries nothing: who hears it asks the record. Many rings while a
/// listener is busy are one for it, so that a hundred tasks that end at once do not flood anybody.
#[derive(Debug, Clone)]
pub struct WakeBell {
    rings: watch::Sender<()>,
}

/// One listener; a ring between two calls of [`WakeListener::rung`] is not lost.
#[derive(Debug)]
pub struct WakeListener {
    rings: watch::Receiver<()>,
}

impl WakeBell {
    /// A bell that has not rung.
    #[must_use]
    pub fn new() -> Self {
        Self {
            rings: watch::Sender::new(()),
        }
    }

    /// Rings, for everyone who listens.
    pub fn ring(&self) {
        self.rings.send_replace(());
    }

    /// A listener for all rings from now on.
    #[must_use]
    pub fn listen(&self) -> WakeListener {
        WakeListener {
            rings: self.rings.subscribe(),
        }
    }

    /// Resolves at the first ring after this call (not after its first poll): call it, look for due
    /// wakes, and wait for it if there were none.
    pub fn rung(&self) -> impl Future<Output = ()> + Send + use<> {
        let mut listener = self.listen();
        async move { listener.rung().await }
    }
}

impl Default for WakeBell {
    fn default() -> Self {
        Self::new()
    }
}

impl WakeListener {
    /// Resolves when the bell has rung since the last time; never, once the bell is gone.
    pub async fn rung(&mut self) {
        if self.rings.changed().await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}
