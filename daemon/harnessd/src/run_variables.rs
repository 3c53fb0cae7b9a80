//! Variables that belong to one run, from everybody who has some: run tokens, credentials.

use std::sync::Arc;

use harness_model::{InvocationId, UnitId};
use harness_supervise::{RunEnvironment, UnitSpec};

/// All of them, in this order: the later ones win.
pub(crate) struct RunVariables(pub(crate) Vec<Arc<dyn RunEnvironment>>);

impl RunEnvironment for RunVariables {
    fn variables(
        &self,
        unit: &UnitId,
        invocation: &InvocationId,
        spec: &UnitSpec,
    ) -> Vec<(String, String)> {
        let sources = self.0.iter();
        sources
            .flat_map(|source| source.variables(unit, invocation, spec))
            .collect()
    }
}
