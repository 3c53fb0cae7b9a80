//! The way to the client.

use std::{
    fs::File,
    io::Write,
    sync::{Mutex, PoisonError},
};

use serde::Serialize;

use crate::exit;

/// Sends whole messages, one at a time.
pub(crate) struct Writer {
    output: Mutex<File>,
}

impl Writer {
    pub(crate) fn new(output: File) -> Self {
        Self {
            output: Mutex::new(output),
        }
    }

    /// Sends one message. When the client has gone there is nothing left to do for this process.
    pub(crate) fn send(&self, message: &impl Serialize) {
        let Ok(mut line) = serde_json::to_vec(message) else {
            return;
        };
        line.push(b'\n');
        let mut output = self.output.lock().unwrap_or_else(PoisonError::into_inner);
        if output.write_all(&line).is_err() {
            exit::now(0);
        }
    }
}
