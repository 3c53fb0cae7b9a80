//! The C side of a plugin: its table and the functions in it.
#![expect(
    unsafe_code,
    reason = "the other side is C; what it promises is written in harness_plugin.h"
)]

use std::{
    any::Any,
    ffi::c_void,
    mem,
    os::fd::BorrowedFd,
    panic::{self, AssertUnwindSafe},
    ptr, slice,
};

use harness_plugin_abi::{
    HARNESS_FAILED, HARNESS_OK, HarnessBuffer, HarnessCall, HarnessInit, HarnessPlugin,
    HarnessSlice, HarnessStatus,
};
use serde_json::Value;

use crate::{
    Error, Output, Result,
    call::Caller,
    running::{Erased, Running},
};

/// What [`export!`](crate::export!) makes of its argument.
pub trait Export {
    /// The plugin.
    fn plugin() -> Box<dyn Erased>;
}

/// The table of an exported plugin.
#[must_use]
pub const fn table<E: Export>() -> HarnessPlugin {
    HarnessPlugin {
        size: size_of::<HarnessPlugin>(),
        describe: Some(describe::<E>),
        init: Some(init::<E>),
        call: Some(call),
        free: Some(free),
        shutdown: Some(shutdown),
    }
}

/// Exports a [`Plugin`](crate::Plugin): the last line of a library of the crate type `cdylib`.
#[macro_export]
macro_rules! export {
    ($plugin:expr $(,)?) => {
        const _: () = {
            struct Exported;

            impl $crate::Export for Exported {
                fn plugin() -> ::std::boxed::Box<dyn $crate::Erased> {
                    ::std::boxed::Box::new($plugin)
                }
            }

            static TABLE: $crate::abi::HarnessPlugin = $crate::table::<Exported>();

            #[unsafe(export_name = "harness_plugin_abi_version")]
            static VERSION: u32 = $crate::abi::HARNESS_PLUGIN_ABI_VERSION;

            #[unsafe(export_name = "harness_plugin")]
            extern "C" fn table() -> *const $crate::abi::HarnessPlugin {
                &raw const TABLE
            }
        };
    };
}

/// The state that goes across: a pointer to one of these.
type State = Box<dyn Running>;

unsafe extern "C" fn describe<E: Export>(description: *mut HarnessBuffer) -> HarnessStatus {
    // SAFETY: the host lends a place for the buffer.
    unsafe {
        answer(description, || {
            Ok(serde_json::to_vec(&E::plugin().describe())?)
        })
    }
}

unsafe extern "C" fn init<E: Export>(
    given: *const HarnessInit,
    state: *mut *mut c_void,
    error: *mut HarnessBuffer,
) -> HarnessStatus {
    let begin = || {
        // SAFETY: the host lends the structure and the text in it; version 1 of it has settings.
        let settings = unsafe { bytes((*given).settings) };
        let settings: Value = serde_json::from_slice(settings)?;
        let running: State = E::plugin().begin(settings)?;
        // SAFETY: the host lends a place for the pointer.
        unsafe { state.write(Box::into_raw(Box::new(running)).cast()) };
        Ok(Vec::new())
    };
    // SAFETY: the host lends a place for the buffer.
    unsafe { answer(error, begin) }
}

unsafe extern "C" fn call(
    state: *mut c_void,
    call: *const HarnessCall,
    result: *mut HarnessBuffer,
) -> HarnessStatus {
    let run = || {
        // SAFETY: it is what `init` wrote, until `shutdown`; `dyn Running` is Sync.
        let running: &State = unsafe { &*state.cast::<State>() };
        // SAFETY: the host lends the structure for this call.
        let caller = Lent(unsafe { &*call });
        // SAFETY: the host lends both texts for this call.
        let (tool, input) = unsafe { (bytes(caller.0.tool), bytes(caller.0.input)) };
        let tool = str::from_utf8(tool)?;
        let input = serde_json::from_slice(input)?;
        // A tool that has failed is a result.
        let output = running
            .call(tool, input, &caller)
            .unwrap_or_else(|error| Output::text(error.to_string()).as_error());
        Ok(serde_json::to_vec(&output.into_json())?)
    };
    // SAFETY: the host lends a place for the buffer.
    unsafe { answer(result, run) }
}

unsafe extern "C" fn free(buffer: HarnessBuffer) {
    if !buffer.data.is_null() {
        // SAFETY: `lend` made it of a boxed slice, and the host gives it back once.
        drop(unsafe { Box::from_raw(ptr::slice_from_raw_parts_mut(buffer.data, buffer.length)) });
    }
}

unsafe extern "C" fn shutdown(state: *mut c_void) {
    // SAFETY: it is what `init` wrote, no call runs, and none will.
    let running = unsafe { Box::from_raw(state.cast::<State>()) };
    if let Err(panicked) = panic::catch_unwind(AssertUnwindSafe(|| drop(running))) {
        mem::forget(panicked);
    }
}

/// Puts into the buffer what the work gives, or why it does not; a panic ends here.
///
/// # Safety
/// `buffer` points to a place for a buffer.
unsafe fn answer(
    buffer: *mut HarnessBuffer,
    work: impl FnOnce() -> Result<Vec<u8>>,
) -> HarnessStatus {
    let outcome = panic::catch_unwind(AssertUnwindSafe(work))
        .unwrap_or_else(|panicked| Err(Error::new(words(panicked))));
    let (status, text) = match outcome {
        Ok(text) => (HARNESS_OK, text),
        Err(error) => (HARNESS_FAILED, error.to_string().into_bytes()),
    };
    // SAFETY: see above.
    unsafe { buffer.write(lend(text)) };
    status
}

/// What a panic said. Dropping its payload could panic again, so it stays.
fn words(panicked: Box<dyn Any + Send>) -> String {
    let words = panicked
        .downcast_ref::<&str>()
        .map(|text| (*text).to_owned())
        .or_else(|| panicked.downcast_ref::<String>().cloned());
    mem::forget(panicked);
    format!(
        "it panicked: {}",
        words.as_deref().unwrap_or("without a word")
    )
}

fn lend(text: Vec<u8>) -> HarnessBuffer {
    if text.is_empty() {
        return HarnessBuffer::EMPTY;
    }
    let text = text.into_boxed_slice();
    HarnessBuffer {
        length: text.len(),
        data: Box::into_raw(text).cast(),
    }
}

/// # Safety
/// The text is lent for at least `'a`.
unsafe fn bytes<'a>(text: HarnessSlice) -> &'a [u8] {
    if text.length == 0 {
        return &[];
    }
    // SAFETY: see above.
    unsafe { slice::from_raw_parts(text.data, text.length) }
}

/// The host's side of a call.
struct Lent<'a>(&'a HarnessCall);

// SAFETY: what the host lends for progress and cancellation may be called from any thread.
unsafe impl Sync for Lent<'_> {}

impl Caller for Lent<'_> {
    fn progress(&self, progress: f64, total: f64, message: &str) {
        if let Some(report) = self.0.progress {
            // SAFETY: the call still runs, or there would be no `self`.
            unsafe { report(self.0.context, progress, total, HarnessSlice::lend(message)) };
        }
    }

    fn is_cancelled(&self) -> bool {
        // SAFETY: as above.
        self.0
            .cancelled
            .is_some_and(|cancelled| unsafe { cancelled(self.0.context) })
    }

    fn cancel_descriptor(&self) -> Option<BorrowedFd<'_>> {
        let give = self.0.cancel_descriptor?;
        // SAFETY: the call still runs; the descriptor is the host's until it ends.
        unsafe {
            let descriptor = give(self.0.context);
            (descriptor >= 0).then(|| BorrowedFd::borrow_raw(descriptor))
        }
    }
}
