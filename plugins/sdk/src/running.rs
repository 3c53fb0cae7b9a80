//! Plugins without the type of their state.

use harness_plugin_abi::Description;
use serde_json::Value;

use crate::{Call, Error, Output, Plugin, Result, Tool, call::Caller};

/// Any plugin.
pub trait Erased {
    /// What it is.
    fn describe(&self) -> Description;

    /// Begins with these settings.
    ///
    /// # Errors
    /// They cannot be read, or the plugin does not begin with them.
    fn begin(self: Box<Self>, settings: Value) -> Result<Box<dyn Running>>;
}

/// A plugin that has begun.
#[expect(
    private_interfaces,
    reason = "only the functions of `export` call it, and they are here"
)]
pub trait Running: Send + Sync {
    /// Runs a tool.
    ///
    /// # Errors
    /// There is no such tool, or it has failed.
    fn call(&self, tool: &str, input: Value, caller: &dyn Caller) -> Result<Output>;
}

struct Begun<S> {
    state: S,
    tools: Vec<Tool<S>>,
}

impl<S: Send + Sync + 'static> Erased for Plugin<S> {
    fn describe(&self) -> Description {
        Description {
            name: self.name.clone(),
            version: self.version.clone(),
            instructions: self.instructions.clone(),
            settings_schema: self.settings_schema.clone(),
            tools: self
                .tools
                .iter()
                .map(|tool| tool.description.clone())
                .collect(),
        }
    }

    fn begin(self: Box<Self>, settings: Value) -> Result<Box<dyn Running>> {
        let state = (self.begin)(settings)?;
        let tools = self.tools;
        Ok(Box::new(Begun { state, tools }))
    }
}

impl<S: Send + Sync> Running for Begun<S> {
    fn call(&self, tool: &str, input: Value, caller: &dyn Caller) -> Result<Output> {
        let found = self
            .tools
            .iter()
            .find(|candidate| candidate.description.name == tool)
            .ok_or_else(|| Error::new(format!("this plugin has no tool {tool:?}")))?;
        (found.run)(input, &Call::new(&self.state, caller))
    }
}
