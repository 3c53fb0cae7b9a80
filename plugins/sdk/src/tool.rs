//! One tool: its description and the function behind it.

use harness_plugin_abi::ToolDescription;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::{Call, IntoOutput, Output, Result, schema};

type Run<S> = Box<dyn Fn(Value, &Call<'_, S>) -> Result<Output> + Send + Sync>;

/// A tool of a plugin whose state is an `S`.
pub struct Tool<S = ()> {
    pub(crate) description: ToolDescription,
    pub(crate) run: Run<S>,
}

impl<S> Tool<S> {
    /// A tool with the schemas of the function's types. The description is for the model: what the tool does,
    /// and when to take it.
    pub fn new<I, O>(
        name: &str,
        description: &str,
        run: impl Fn(I, &Call<'_, S>) -> Result<O> + Send + Sync + 'static,
    ) -> Self
    where
        I: DeserializeOwned + JsonSchema,
        O: IntoOutput,
    {
        let mut input_schema = schema::of_input::<I>();
        // The tool has a description of its own.
        if let Some(schema) = input_schema.as_object_mut() {
            schema.remove("description");
        }
        Self {
            description: ToolDescription {
                name: name.to_owned(),
                title: None,
                description: description.to_owned(),
                input_schema,
                output_schema: O::output_schema(),
                annotations: harness_plugin_abi::Annotations::default(),
                direct: false,
            },
            run: Box::new(move |input, call| {
                run(serde_json::from_value(input)?, call)?.into_output()
            }),
        }
    }

    /// With a name for people.
    #[must_use]
    pub fn title(mut self, title: &str) -> Self {
        self.description.title = Some(title.to_owned());
        self
    }

    /// It changes nothing.
    #[must_use]
    pub fn read_only(mut self) -> Self {
        self.description.annotations.read_only_hint = Some(true);
        self
    }

    /// It changes something, and may destroy something by it.
    #[must_use]
    pub fn destructive(self) -> Self {
        self.changes(true)
    }

    /// It changes something, and only ever adds to what is there.
    #[must_use]
    pub fn additive(self) -> Self {
        self.changes(false)
    }

    fn changes(mut self, destructive: bool) -> Self {
        let annotations = &mut self.description.annotations;
        annotations.read_only_hint = Some(false);
        annotations.destructive_hint = Some(destructive);
        self
    }

    /// Calling it twice is calling it once.
    #[must_use]
    pub fn idempotent(mut self) -> Self {
        self.description.annotations.idempotent_hint = Some(true);
        self
    }

    /// Whether it reaches beyond this machine.
    #[must_use]
    pub fn open_world(mut self, open: bool) -> Self {
        self.description.annotations.open_world_hint = Some(open);
        self
    }

    /// It stays a direct call of the model where others move behind the command `tools`.
    #[must_use]
    pub fn direct(mut self) -> Self {
        self.description.direct = true;
        self
    }
}
