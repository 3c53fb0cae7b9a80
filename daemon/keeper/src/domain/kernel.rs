//! What this kernel can enforce.

use harness_model::SandboxRules;
use landlock::{AccessFs, AccessNet, CompatLevel, Compatible, Ruleset, RulesetAttr, Scope};

use super::socket_filter;

/// In words, for a run that asked for a domain.
pub(crate) const NO_SIGNAL_SCOPE: &str = "signal_scope is not enforced: the kernel has no Landlock signal scope; it takes Linux 6.12 with landlock among its security modules";

const NO_LANDLOCK: &str =
    "the kernel has no Landlock; it takes Linux 5.13 with landlock among its security modules";
const NO_TRUNCATE: &str =
    "truncate(2) of a file that may not be written is not refused; that takes Linux 6.2";
const NO_IOCTL: &str =
    "ioctl(2) on a device that may not be written is not refused; that takes Linux 6.10";
const NO_SECCOMP_TCP: &str =
    "only TCP is refused, because sockets cannot be filtered on this kernel or architecture";
const NO_SECCOMP: &str = "sockets cannot be filtered on this kernel or architecture, and Landlock refuses TCP from Linux 6.7 on";

/// The kernel's means. Each version of Landlock has those of the ones before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is one means that is there or not"
)]
pub(crate) struct Kernel {
    /// Landlock's file rules (Linux 5.13).
    pub(super) files: bool,
    /// With truncation (Linux 6.2).
    pub(super) truncate: bool,
    /// TCP (Linux 6.7).
    pub(super) tcp: bool,
    /// With ioctl on devices (Linux 6.10).
    pub(super) ioctl: bool,
    /// The scope of signals (Linux 6.12).
    pub(super) signal: bool,
    /// seccomp(2) filters.
    pub(super) filter: bool,
}

impl Kernel {
    pub(super) fn probe() -> Self {
        let ruleset = || Ruleset::default().set_compatibility(CompatLevel::HardRequirement);
        Self {
            files: ruleset().handle_access(AccessFs::ReadFile).is_ok(),
            truncate: ruleset().handle_access(AccessFs::Truncate).is_ok(),
            tcp: ruleset().handle_access(AccessNet::ConnectTcp).is_ok(),
            ioctl: ruleset().handle_access(AccessFs::IoctlDev).is_ok(),
            signal: ruleset().scope(Scope::Signal).is_ok(),
            filter: socket_filter::is_supported(),
        }
    }

    /// What of the rules is not enforced, in words.
    pub(super) fn missing(self, rules: &SandboxRules) -> Vec<String> {
        let mut missing = Vec::new();
        if !self.signal {
            missing.push(NO_SIGNAL_SCOPE.to_owned());
        }
        let asked = [
            ("filesystem", rules.writable.is_some(), self.filesystem()),
            ("execute", rules.executable.is_some(), self.execute()),
            ("hidden", !rules.hidden.is_empty(), self.hidden()),
            ("network", rules.no_network, self.network()),
        ];
        for (name, _, state) in asked.into_iter().filter(|(_, asked, _)| *asked) {
            if let Err(reason) = state {
                missing.push(format!("{name} is not enforced: {reason}"));
            }
        }
        missing
    }

    /// Whether a child can be kept from signalling what is outside its domain.
    pub(crate) fn signal_scope(self) -> bool {
        self.signal
    }

    /// Whether writing can be limited, and what not.
    pub(crate) fn filesystem(self) -> Result<(), String> {
        let lacks = [(self.truncate, NO_TRUNCATE), (self.ioctl, NO_IOCTL)];
        match lacks.iter().find(|(there, _)| !there) {
            _ if !self.files => Err(NO_LANDLOCK.to_owned()),
            Some((_, reason)) => Err((*reason).to_owned()),
            None => Ok(()),
        }
    }

    /// Whether what is executed can be limited.
    pub(crate) fn execute(self) -> Result<(), String> {
        if self.files {
            Ok(())
        } else {
            Err(NO_LANDLOCK.to_owned())
        }
    }

    /// Whether files can be hidden.
    pub(crate) fn hidden(self) -> Result<(), String> {
        if !self.files {
            Err(NO_LANDLOCK.to_owned())
        } else if !self.truncate {
            Err(NO_TRUNCATE.to_owned())
        } else {
            Ok(())
        }
    }

    /// Whether the network can be switched off.
    pub(crate) fn network(self) -> Result<(), String> {
        match (self.filter, self.tcp) {
            (true, _) => Ok(()),
            (false, true) => Err(NO_SECCOMP_TCP.to_owned()),
            (false, false) => Err(NO_SECCOMP.to_owned()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: Kernel = Kernel {
        files: true,
        truncate: true,
        tcp: true,
        ioctl: true,
        signal: true,
        filter: true,
    };

    fn rules() -> SandboxRules {
        SandboxRules {
            writable: Some(Vec::new()),
            executable: Some(Vec::new()),
            hidden: vec!["/x".to_owned()],
            no_network: true,
            ..SandboxRules::default()
        }
    }

    #[test]
    fn a_kernel_that_has_all_misses_nothing() {
        assert_eq!(ALL.missing(&rules()), Vec::<String>::new());
    }

    #[test]
    fn what_an_older_kernel_lacks_is_named_with_the_version_that_has_it() {
        let none = Kernel {
            files: false,
            truncate: false,
            tcp: false,
            ioctl: false,
            signal: false,
            filter: false,
        };
        let missing = none.missing(&rules());
        for (text, parts) in missing.iter().zip([
            ["signal_scope", "6.12"],
            ["filesystem", "5.13"],
            ["execute", "5.13"],
            ["hidden", "5.13"],
            ["network", "6.7"],
        ]) {
            assert!(parts.iter().all(|part| text.contains(part)), "{text}");
        }
        assert_eq!(missing.len(), 5);
        let one = |kernel: Kernel| {
            let missing = kernel.missing(&rules());
            assert_eq!(missing.len(), 1, "{missing:?}");
            missing.into_iter().next().unwrap()
        };
        assert!(
            one(Kernel {
                ioctl: false,
                ..ALL
            })
            .contains("6.10")
        );
        let filter = one(Kernel {
            filter: false,
            ..ALL
        });
        assert!(filter.contains("only TCP"), "{filter}");
        let old = Kernel {
            truncate: false,
            ioctl: false,
            ..ALL
        };
        assert!(
            old.missing(&rules())
                .iter()
                .all(|text| text.contains("6.2"))
        );
    }

    #[test]
    fn only_what_is_asked_for_is_missing() {
        let old = Kernel {
            files: false,
            tcp: false,
            filter: false,
            ..ALL
        };
        assert_eq!(old.missing(&SandboxRules::default()), Vec::<String>::new());
    }
}
