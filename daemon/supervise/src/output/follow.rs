//! Waiting for a file to grow.

use std::{fs::File, io, path::Path, sync::Arc};

use tokio::sync::Notify;

use super::{
    open::reading,
    watcher::{Watch, watch},
};

/// Tells when a file has grown. It costs the writer one inotify event per look, not one per write.
#[derive(Debug)]
pub struct Follow {
    file: File,
    seen: u64,
    grown: Arc<Notify>,
    watch: Watch,
}

impl Follow {
    /// Follows a file from `seen` bytes on.
    ///
    /// # Errors
    /// When it cannot be opened or watched.
    pub fn new(path: &Path, seen: u64) -> io::Result<Self> {
        let file = reading(path)?;
        let grown = Arc::new(Notify::new());
        let notify = Arc::clone(&grown);
        let watch = watch(file.try_clone()?, move || notify.notify_one())?;
        Ok(Self {
            file,
            seen,
            grown,
            watch,
        })
    }

    /// Resolves with the file's size once it differs from what was seen last. Safe to cancel.
    ///
    /// # Errors
    /// When the file cannot be looked at or watched any more.
    pub async fn grown(&mut self) -> io::Result<u64> {
        loop {
            let size = self.file.metadata()?.len();
            if size != self.seen {
                self.seen = size;
                return Ok(size);
            }
            self.watch.arm(size)?;
            self.grown.notified().await;
        }
    }
}
