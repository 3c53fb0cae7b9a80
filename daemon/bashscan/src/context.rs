//! Where in a script a command stands.

use std::sync::Arc;

/// A construct that decides whether, how often and with which input a command runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u16)]
pub enum Place {
    /// In `$(…)` or backticks.
    Substitution = 1,
    /// In `<(…)` or `>(…)`.
    ProcessSubstitution = 1 << 1,
    /// One side of a `|`.
    Pipeline = 1 << 2,
    /// In an asynchronous list (`&`).
    Background = 1 << 3,
    /// In `( … )`.
    Subshell = 1 << 4,
    /// In the body or condition of a `for`, `while`, `until` or `select`.
    Loop = 1 << 5,
    /// In a branch of `if` or `case`, or to the right of `&&` or `||`.
    Conditional = 1 << 6,
    /// In the body of a here-document.
    HereDocument = 1 << 7,
    /// In a coprocess.
    Coprocess = 1 << 8,
    /// In a text that a command gets to run: `eval`, `trap`, `sh -c`.
    Code = 1 << 9,
    /// In the body of a function.
    Function = 1 << 10,
    /// An argument of a command that runs its arguments: `env`, `xargs`, `find -exec`.
    Wrapper = 1 << 11,
}

/// All the places a command is in, with the names of the function and the wrapper.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Context {
    places: u16,
    function: Option<Arc<str>>,
    wrapper: Option<Arc<str>>,
}

impl Context {
    /// Whether the command is in such a place, at any distance.
    #[must_use]
    pub fn is_in(&self, place: Place) -> bool {
        self.places & place as u16 != 0
    }

    /// In no place at all: the shell itself runs it exactly once, unless it exits before.
    #[must_use]
    pub fn is_script_level(&self) -> bool {
        self.places == 0
    }

    /// The innermost function whose body it is in.
    #[must_use]
    pub fn function(&self) -> Option<&str> {
        self.function.as_deref()
    }

    /// The command that runs it as its argument.
    #[must_use]
    pub fn wrapper(&self) -> Option<&str> {
        self.wrapper.as_deref()
    }

    pub(crate) fn add(&mut self, place: Place) {
        self.places |= place as u16;
    }

    pub(crate) fn within(&self, place: Place) -> Self {
        let mut inner = self.clone();
        inner.add(place);
        inner
    }

    pub(crate) fn in_function(&self, name: &str) -> Self {
        let mut inner = self.within(Place::Function);
        inner.function = Some(name.into());
        inner
    }

    pub(crate) fn in_wrapper(&self, name: &str) -> Self {
        let mut inner = self.within(Place::Wrapper);
        inner.wrapper = Some(name.into());
        inner
    }

    pub(crate) fn in_code(&self, name: &str) -> Self {
        let mut inner = self.within(Place::Code);
        inner.wrapper = Some(name.into());
        inner
    }
}
