//! What a call lends to the plugin: a way for progress, and whether anyone still waits.
#![expect(unsafe_code, reason = "the plugin calls it back from C")]

use std::{
    ffi::c_void,
    os::fd::{AsFd, AsRawFd as _, BorrowedFd, OwnedFd},
    slice,
    sync::{
        Arc, Mutex, OnceLock, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
};

use harness_plugin_abi::{HarnessCall, HarnessSlice};
use rustix::event::{EventfdFlags, eventfd};
use serde_json::{Value, json};

use crate::writer::Writer;

/// The longest message of progress that is passed on, in bytes.
const MESSAGE_MAX: usize = 1024;

/// One call as the plugin can get at it.
pub(crate) struct Lent {
    cancelled: AtomicBool,
    descriptor: OnceLock<Option<OwnedFd>>,
    progress: Option<Progress>,
}

struct Progress {
    token: Value,
    last: Mutex<f64>,
    writer: Arc<Writer>,
}

impl Lent {
    /// For a call; a client that wants progress gave a token for it.
    pub(crate) fn new(token: Option<Value>, writer: &Arc<Writer>) -> Self {
        Self {
            cancelled: AtomicBool::new(false),
            descriptor: OnceLock::new(),
            progress: token.map(|token| Progress {
                token,
                last: Mutex::new(f64::NEG_INFINITY),
                writer: Arc::clone(writer),
            }),
        }
    }

    /// Nobody waits for it any more.
    pub(crate) fn cancel(&self) {
        self.cancelled.store(true, Ordering::SeqCst);
        self.signal();
    }

    /// Makes the descriptor readable, if it is there; once is as good as twice.
    fn signal(&self) {
        if let Some(Some(descriptor)) = self.descriptor.get() {
            rustix::io::write(descriptor, &1_u64.to_ne_bytes()).unwrap_or_default();
        }
    }

    /// A descriptor that becomes readable when the call is cancelled; made when it is first asked for.
    fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        let made = self
            .descriptor
            .get_or_init(|| eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK).ok());
        // It may have been cancelled before there was one.
        if self.is_cancelled() {
            self.signal();
        }
        made.as_ref().map(AsFd::as_fd)
    }

    pub(crate) fn is_cancelled(&self) -> bool {
        self.cancelled.load(Ordering::SeqCst)
    }

    /// The part of a call that leads back here; valid for as long as `self` is.
    pub(crate) fn functions(&self) -> HarnessCall {
        HarnessCall {
            size: 0,
            tool: HarnessSlice::lend(""),
            input: HarnessSlice::lend(""),
            context: (&raw const *self).cast_mut().cast(),
            progress: Some(progress),
            cancelled: Some(cancelled),
            cancel_descriptor: Some(cancel_descriptor),
        }
    }

    fn report(&self, progress: f64, total: f64, message: &[u8]) {
        let Some(to) = &self.progress else { return };
        let mut last = to.last.lock().unwrap_or_else(PoisonError::into_inner);
        // "The progress value MUST increase with each notification"; JSON has no NaN or infinity.
        if self.is_cancelled() || !progress.is_finite() || progress <= *last {
            return;
        }
        *last = progress;
        let mut params = json!({"progressToken": to.token, "progress": progress});
        if total.is_finite() {
            params["total"] = total.into();
        }
        if !message.is_empty() {
            let message = message.get(..MESSAGE_MAX).unwrap_or(message);
            params["message"] = String::from_utf8_lossy(message).into();
        }
        to.writer.send(&json!({
            "jsonrpc": "2.0", "method": "notifications/progress", "params": params,
        }));
    }
}

unsafe extern "C" fn progress(
    context: *mut c_void,
    progress: f64,
    total: f64,
    message: HarnessSlice,
) {
    // SAFETY: it is what `functions` gave, and the call still runs.
    let lent = unsafe { &*context.cast_const().cast::<Lent>() };
    let message = if message.data.is_null() {
        &[]
    } else {
        // SAFETY: the plugin lends it for this call.
        unsafe { slice::from_raw_parts(message.data, message.length) }
    };
    lent.report(progress, total, message);
}

unsafe extern "C" fn cancelled(context: *mut c_void) -> bool {
    // SAFETY: it is what `functions` gave, and the call still runs.
    unsafe { &*context.cast_const().cast::<Lent>() }.is_cancelled()
}

unsafe extern "C" fn cancel_descriptor(context: *mut c_void) -> i32 {
    // SAFETY: it is what `functions` gave, and the call still runs.
    let lent = unsafe { &*context.cast_const().cast::<Lent>() };
    lent.descriptor()
        .map_or(-1, |descriptor| descriptor.as_raw_fd())
}
