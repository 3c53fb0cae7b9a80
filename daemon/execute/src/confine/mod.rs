//! Under which rules a script runs.
//!
//! The sandbox of the configuration, what the call asks for beside it, and, for a script that an allowlist let
//! through, what it was read to run: it may execute those programs and write in the workspace, so that a
//! script that was read wrongly can still do no more than that.

mod beneath;
mod executable;
mod format;
mod request;
mod site;

use harness_model::{Allowance, SandboxProfile, SandboxRequest, SandboxRules};

use executable::Executable;
pub(crate) use request::prepare;
pub(crate) use site::{Site, variable};

/// The rules of one call.
pub(crate) fn rules(
    profile: &SandboxProfile,
    request: &SandboxRequest,
    allowance: Option<&Allowance>,
    site: &Site<'_>,
) -> SandboxRules {
    let Some(allowance) = allowance else {
        return profile.granted(request, None);
    };
    let limits = profile.allowlisted(&allowance.rule);
    let executable = Executable::of(allowance, site, limits.writable.as_deref());
    SandboxRules {
        executable: executable.into_paths(),
        ..profile.granted(request, Some(&limits))
    }
}
