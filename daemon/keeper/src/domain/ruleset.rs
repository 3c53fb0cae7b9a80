//! Landlock rulesets (landlock(7)).

use std::os::fd::{AsFd, OwnedFd};

use landlock::{
    ABI, AccessFs, AccessNet, BitFlags, PathBeneath, Ruleset, RulesetAttr, RulesetCreated,
    RulesetCreatedAttr, RulesetError, Scope,
};

/// What a ruleset takes away wherever no rule gives it back.
#[derive(Debug, Clone, Copy)]
pub(super) struct Handled {
    pub(super) files: BitFlags<AccessFs>,
    pub(super) tcp: bool,
    /// Signals to what is outside.
    pub(super) signal: bool,
}

/// A ruleset that is being made. What the kernel does not know is left out of it.
pub(super) struct Rules {
    created: RulesetCreated,
}

/// Reading and running files, as far as Landlock knows it. Listing a directory is not among it: a
/// rule that lets `/home` be listed would let everything in it be listed all the same.
pub(super) fn reading() -> BitFlags<AccessFs> {
    AccessFs::ReadFile | AccessFs::Execute
}

/// Running a file, and with it the loaders and interpreters that the kernel opens for it (execve(2)); what a
/// program maps or reads itself is no execution.
pub(super) fn executing() -> BitFlags<AccessFs> {
    AccessFs::Execute.into()
}

/// Every change of a file or directory. Moving between two directories belongs to it: any ruleset
/// with file rules refuses it, unless a rule gives it back.
pub(super) fn writing() -> BitFlags<AccessFs> {
    AccessFs::from_write(ABI::V5)
}

/// What a rule for a writable directory gives back: all but making device nodes, through which root
/// could write to any disk.
pub(super) fn changes() -> BitFlags<AccessFs> {
    writing() & !(AccessFs::MakeChar | AccessFs::MakeBlock)
}

impl Rules {
    pub(super) fn new(handled: Handled) -> Result<Self, RulesetError> {
        let mut ruleset = Ruleset::default();
        if !handled.files.is_empty() {
            ruleset = ruleset.handle_access(handled.files)?;
        }
        if handled.tcp {
            ruleset = ruleset.handle_access(AccessNet::BindTcp | AccessNet::ConnectTcp)?;
        }
        if handled.signal {
            ruleset = ruleset.scope(Scope::Signal)?;
        }
        Ok(Self {
            created: ruleset.create()?,
        })
    }

    /// Gives access back to a file, or a directory and all below it. What takes no rule (a pipe, a
    /// socket, a file of the kernel's own) needs none or gets none.
    pub(super) fn allow(&mut self, place: impl AsFd, access: BitFlags<AccessFs>) {
        (&mut self.created)
            .add_rule(PathBeneath::new(place.as_fd(), access))
            .ok();
    }

    /// `None` where the kernel has no Landlock.
    pub(super) fn finish(self) -> Option<OwnedFd> {
        self.created.into()
    }
}
