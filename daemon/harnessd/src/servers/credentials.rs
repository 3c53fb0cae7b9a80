//! Credentials on their way to one server each. They are in no unit's specification, and so in no record.

use std::{
    collections::HashMap,
    sync::{PoisonError, RwLock},
};

use harness_model::{InvocationId, UnitId, UnitKind};
use harness_supervise::{RunEnvironment, UnitSpec};

/// The variables that hold a credential, by the server that gets them.
#[derive(Default)]
pub(crate) struct ServerCredentials(RwLock<HashMap<String, Vec<(String, String)>>>);

impl ServerCredentials {
    pub(super) fn set(&self, server: &str, variables: Vec<(String, String)>) {
        let mut all = self.0.write().unwrap_or_else(PoisonError::into_inner);
        all.insert(server.to_owned(), variables);
    }

    pub(super) fn forget(&self, server: &str) {
        let mut all = self.0.write().unwrap_or_else(PoisonError::into_inner);
        all.remove(server);
    }
}

impl RunEnvironment for ServerCredentials {
    fn variables(&self, _: &UnitId, _: &InvocationId, spec: &UnitSpec) -> Vec<(String, String)> {
        let Some(server) = spec
            .name
            .as_ref()
            .filter(|_| spec.kind == UnitKind::McpServer)
        else {
            return Vec::new();
        };
        let all = self.0.read().unwrap_or_else(PoisonError::into_inner);
        all.get(server).cloned().unwrap_or_default()
    }
}
