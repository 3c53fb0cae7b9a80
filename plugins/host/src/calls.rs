//! The calls that run, each on a thread of its own.

use std::{
    collections::HashMap,
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use serde_json::Value;

use crate::lent::Lent;

/// Calls that may run at once. A plugin that hangs cannot take more threads than these.
pub(crate) const RUNNING_MAX: usize = 64;

/// Why a call is not begun.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Refused {
    /// As many as may run do.
    Full,
    /// A call with that id runs.
    InUse,
}

/// All of them.
#[derive(Default)]
pub(crate) struct Calls {
    running: Mutex<Running>,
    changed: Condvar,
}

#[derive(Default)]
struct Running {
    /// Those in the plugin, by the id of their request.
    by_id: HashMap<String, Arc<Lent>>,
    /// Those, and those whose answer is on its way.
    threads: usize,
}

impl Calls {
    /// A call begins.
    pub(crate) fn begin(&self, id: &Value, lent: &Arc<Lent>) -> Result<(), Refused> {
        let mut running = self.running();
        if running.threads >= RUNNING_MAX {
            return Err(Refused::Full);
        }
        if running.by_id.contains_key(&key(id)) {
            return Err(Refused::InUse);
        }
        running.by_id.insert(key(id), Arc::clone(lent));
        running.threads += 1;
        Ok(())
    }

    /// The plugin has returned from a call.
    pub(crate) fn ended(&self, id: &Value) {
        self.running().by_id.remove(&key(id));
    }

    /// The answer to a call that has ended got out.
    pub(crate) fn answered(&self) {
        self.running().threads -= 1;
        self.changed.notify_all();
    }

    /// Its client has taken a call back.
    pub(crate) fn cancel(&self, id: &Value) {
        if let Some(lent) = self.running().by_id.get(&key(id)) {
            lent.cancel();
        }
    }

    /// The client has taken all of them back.
    pub(crate) fn cancel_all(&self) {
        self.running().by_id.values().for_each(|lent| lent.cancel());
    }

    /// Waits until none runs; says whether that came about within the limit.
    pub(crate) fn wait(&self, limit: Duration) -> bool {
        let running = self.running();
        let waited = self
            .changed
            .wait_timeout_while(running, limit, |running| running.threads > 0);
        let (running, _) = waited.unwrap_or_else(PoisonError::into_inner);
        running.threads == 0
    }

    fn running(&self) -> MutexGuard<'_, Running> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The number 1 and the text "1" are two ids.
fn key(id: &Value) -> String {
    id.to_string()
}
