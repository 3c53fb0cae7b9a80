//! Landlock domains (landlock(7)).

use std::os::fd::OwnedFd;

use landlock::{CompatLevel, Compatible, Ruleset, RulesetAttr, RulesetCreated, Scope};

/// The ruleset that scopes signals alone. It is made once: every child that enters it gets a domain
/// of its own, from which it can signal and trace only what is in the same domain or a nested one.
pub(crate) struct Domain {
    ruleset: Option<OwnedFd>,
}

impl Domain {
    /// Without a ruleset where the kernel has no signal scope (Linux before 6.12, or Landlock switched off).
    pub(crate) fn new() -> Self {
        let ruleset = Ruleset::default()
            .set_compatibility(CompatLevel::HardRequirement)
            .scope(Scope::Signal)
            .and_then(Ruleset::create)
            .ok()
            .and_then(<RulesetCreated as Into<Option<OwnedFd>>>::into);
        Self { ruleset }
    }

    /// What a child enters.
    pub(crate) fn ruleset(&self) -> Option<&OwnedFd> {
        self.ruleset.as_ref()
    }
}
