//! A plugin: its tools, and what it makes of its settings.

use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::{Result, Tool, schema};

type Begin<S> = Box<dyn FnOnce(Value) -> Result<S> + Send>;

/// A plugin whose tools share an `S`. Hand it to [`crate::export!`].
pub struct Plugin<S = ()> {
    pub(crate) name: String,
    pub(crate) version: String,
    pub(crate) instructions: Option<String>,
    pub(crate) settings_schema: Option<Value>,
    pub(crate) begin: Begin<S>,
    pub(crate) tools: Vec<Tool<S>>,
}

impl Plugin {
    /// A plugin without settings and state.
    #[must_use]
    pub fn new(name: &str, version: &str) -> Self {
        Self::made(name, version, None, Box::new(|_| Ok(())))
    }
}

impl<S: Send + Sync + 'static> Plugin<S> {
    /// A plugin with settings, and state that is made of them when it begins. The settings come from
    /// `[plugin.NAME] settings`; what their schema does not allow is refused before. All of them need a
    /// default where the plugin is to work without any.
    pub fn with_settings<T: DeserializeOwned + JsonSchema>(
        name: &str,
        version: &str,
        begin: impl FnOnce(T) -> Result<S> + Send + 'static,
    ) -> Self {
        let begin = move |settings| begin(serde_json::from_value(settings)?);
        let schema = schema::of_input::<T>();
        Self::made(name, version, Some(schema), Box::new(begin))
    }

    fn made(name: &str, version: &str, settings_schema: Option<Value>, begin: Begin<S>) -> Self {
        Self {
            name: name.to_owned(),
            version: version.to_owned(),
            instructions: None,
            settings_schema,
            begin,
            tools: Vec::new(),
        }
    }

    /// With what a model should know before it uses the tools.
    #[must_use]
    pub fn instructions(mut self, text: &str) -> Self {
        self.instructions = Some(text.to_owned());
        self
    }

    /// With a further tool.
    #[must_use]
    pub fn tool(mut self, tool: Tool<S>) -> Self {
        self.tools.push(tool);
        self
    }
}
