//! The call that a tool is run for.

use std::os::fd::BorrowedFd;

/// The other side of a call: who wants to know of its progress, and whether anybody still does.
pub(crate) trait Caller: Sync {
    /// `total` is NaN when it is not known.
    fn progress(&self, progress: f64, total: f64, message: &str);

    fn is_cancelled(&self) -> bool;

    fn cancel_descriptor(&self) -> Option<BorrowedFd<'_>>;
}

/// Nobody.
struct Nobody;

impl Caller for Nobody {
    fn progress(&self, _progress: f64, _total: f64, _message: &str) {}

    fn is_cancelled(&self) -> bool {
        false
    }

    fn cancel_descriptor(&self) -> Option<BorrowedFd<'_>> {
        None
    }
}

/// One call of a tool of a plugin whose state is an `S`. It can be shared with other threads.
pub struct Call<'a, S = ()> {
    state: &'a S,
    caller: &'a dyn Caller,
}

impl<'a, S> Call<'a, S> {
    pub(crate) fn new(state: &'a S, caller: &'a dyn Caller) -> Self {
        Self { state, caller }
    }

    /// A call that nobody made, for tests of a tool's function.
    pub fn of(state: &'a S) -> Self {
        Self::new(state, &Nobody)
    }

    /// What the plugin made of its settings.
    #[must_use]
    pub fn state(&self) -> &'a S {
        self.state
    }

    /// Says how far the call has come: `progress`, which has to rise, of `total`, with a line for a person.
    pub fn progress(&self, progress: f64, total: Option<f64>, message: &str) {
        self.caller
            .progress(progress, total.unwrap_or(f64::NAN), message);
    }

    /// Whether nobody waits for the result any more. A call that takes long asks now and then, and returns.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.caller.is_cancelled()
    }

    /// A descriptor that becomes readable when nobody waits for the result any more, for `poll(2)` beside
    /// others. It is not to be read. `None` when none can be had.
    #[must_use]
    pub fn cancel_descriptor(&self) -> Option<BorrowedFd<'_>> {
        self.caller.cancel_descriptor()
    }
}
