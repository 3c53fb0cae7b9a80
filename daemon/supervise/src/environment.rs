//! Variables that belong to one run.

use harness_model::{InvocationId, UnitId};

use crate::UnitSpec;

/// Gives each run what must not be recorded or does not outlive it: credentials, run tokens.
pub trait RunEnvironment: Send + Sync + 'static {
    /// The variables of this run; they replace those of the same name. Asked before every spawn,
    /// automatic restarts and those after a restart of the daemon included.
    fn variables(
        &self,
        unit: &UnitId,
        invocation: &InvocationId,
        spec: &UnitSpec,
    ) -> Vec<(String, String)>;
}

/// The environment of one run: the spec's, `INVOCATION_ID` as in systemd.exec(5), then the run's own.
pub(crate) fn environment(
    spec: &UnitSpec,
    invocation: &InvocationId,
    own: Vec<(String, String)>,
) -> Vec<(String, String)> {
    let mut all = spec.environment.clone();
    let id = ("INVOCATION_ID".to_owned(), invocation.to_string());
    for (name, value) in std::iter::once(id).chain(own) {
        match all.iter_mut().find(|(known, _)| *known == name) {
            Some((_, old)) => *old = value,
            None => all.push((name, value)),
        }
    }
    all
}
