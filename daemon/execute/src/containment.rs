//! Telling the model which rules a command may have met.

use harness_model::SandboxRules;

/// How programs say that the kernel refused an access (`EACCES`, `EPERM`, `EXDEV`).
const REFUSED: [&str; 3] = [
    "Permission denied",
    "Operation not permitted",
    "cross-device link",
];

/// What can be done about it.
const REMEDY: &str = "a call with the input `sandbox` asks a person for more";

/// The rules in words, when there are any and the command failed or complains of a refused access.
pub(crate) fn met(rules: &SandboxRules, failed: bool, stderr: &str) -> Option<String> {
    let refused = failed || REFUSED.iter().any(|text| stderr.contains(text));
    let rules = refused.then(|| rules.containment()).flatten()?;
    Some(format!("{rules}; {REMEDY}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_are_told_to_whoever_may_have_met_them() {
        let rules = SandboxRules {
            no_network: true,
            ..SandboxRules::default()
        };
        let told = Some(format!("no network; {REMEDY}"));
        assert_eq!(met(&rules, true, ""), told);
        assert_eq!(met(&rules, false, "cat: x: Permission denied\n"), told);
        assert_eq!(met(&rules, false, "warning: unused\n"), None);
        assert_eq!(
            met(&SandboxRules::default(), true, "Permission denied"),
            None
        );
    }
}
