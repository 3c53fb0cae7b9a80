//! Calls that ask for more than the sandbox gives.

use harness_model::{Allowance, Call, Filesystem, SandboxProfile, SandboxRequest, Scope};

/// What the call opens of the sandbox that it would have without its request.
pub(crate) fn opened(
    profile: &SandboxProfile,
    allowance: Option<&Allowance>,
    call: &Call,
) -> SandboxRequest {
    let Some(given) = call.input.get("sandbox").filter(|given| !given.is_null()) else {
        return SandboxRequest::default();
    };
    let base = match allowance {
        Some(allowance) => profile.allowlisted(&allowance.rule),
        None => profile.rules.clone(),
    };
    match serde_json::from_value::<SandboxRequest>(given.clone()) {
        Ok(request) => profile.opened(&base, &request),
        // No schema lets this through; a person would see it.
        Err(_) => SandboxRequest {
            filesystem: Some(Filesystem::Open),
            network: Some(true),
            execute: true,
            ..SandboxRequest::default()
        },
    }
}

/// The scope of an answer for good: what opens something is remembered for what opens just that.
pub(crate) fn within(scope: Scope, opened: &SandboxRequest) -> Scope {
    if opened.is_empty() {
        return scope;
    }
    Scope::Sandbox {
        opened: opened.clone(),
        scope: Box::new(scope),
    }
}

/// The scope that a yes has for a call that opens so much: none, unless it was given for just as much.
pub(crate) fn approved<'a>(scope: &'a Scope, opened: &SandboxRequest) -> Option<&'a Scope> {
    match scope {
        Scope::Sandbox {
            opened: given,
            scope,
        } => (given == opened).then_some(scope),
        Scope::Tool | Scope::Commands(_) | Scope::Text(_) => opened.is_empty().then_some(scope),
    }
}

/// The scope that a no has for such a call: one that opens more than what was rejected is rejected, too.
pub(crate) fn rejected<'a>(scope: &'a Scope, opened: &SandboxRequest) -> Option<&'a Scope> {
    match scope {
        Scope::Sandbox {
            opened: given,
            scope,
        } => opened.includes(given).then_some(scope),
        Scope::Tool | Scope::Commands(_) | Scope::Text(_) => Some(scope),
    }
}

#[cfg(test)]
#[path = "sandbox_tests.rs"]
mod tests;
