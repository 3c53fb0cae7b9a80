//! The end of the process.
#![expect(
    unsafe_code,
    reason = "std can only end a process after the exit handlers of foreign code"
)]

/// Ends the process at once: no exit handler and no destructor of the plugin can hold it up or crash it.
pub(crate) fn now(code: i32) -> ! {
    // SAFETY: it takes any code and never returns.
    unsafe { libc::_exit(code) }
}
