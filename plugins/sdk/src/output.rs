//! What tools give back.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};

use crate::{Error, Result, schema};

/// A result in MCP's words.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Output {
    content: Vec<Value>,
    structured: Option<Value>,
    is_error: bool,
}

impl Output {
    /// A text for the model.
    #[must_use]
    pub fn text(text: impl Into<String>) -> Self {
        Self::default().and_text(text)
    }

    /// The same with a further text.
    #[must_use]
    pub fn and_text(self, text: impl Into<String>) -> Self {
        let text: String = text.into();
        self.and_content(json!({"type": "text", "text": text}))
    }

    /// The same with a further MCP `ContentBlock`, such as an image.
    #[must_use]
    pub fn and_content(mut self, block: Value) -> Self {
        self.content.push(block);
        self
    }

    /// The same with structured content: an object.
    #[must_use]
    pub fn and_structured(mut self, structured: Value) -> Self {
        self.structured = Some(structured);
        self
    }

    /// The same as the result of a tool that ran and failed.
    #[must_use]
    pub fn as_error(mut self) -> Self {
        self.is_error = true;
        self
    }

    /// The MCP `CallToolResult`.
    pub(crate) fn into_json(self) -> Value {
        let mut result = json!({"content": self.content, "isError": self.is_error});
        if let Some(structured) = self.structured {
            result["structuredContent"] = structured;
        }
        result
    }
}

/// A structured result; the model reads it as JSON. It has to be an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Json<T>(pub T);

/// What a tool may give back.
pub trait IntoOutput {
    /// The JSON Schema of its structured content, if it has one.
    #[must_use]
    fn output_schema() -> Option<Value> {
        None
    }

    /// The result.
    ///
    /// # Errors
    /// It cannot be written as JSON.
    fn into_output(self) -> Result<Output>;
}

impl IntoOutput for Output {
    fn into_output(self) -> Result<Output> {
        Ok(self)
    }
}

impl IntoOutput for String {
    fn into_output(self) -> Result<Output> {
        Ok(Output::text(self))
    }
}

impl<T: Serialize + JsonSchema> IntoOutput for Json<T> {
    fn output_schema() -> Option<Value> {
        Some(schema::of_output::<T>())
    }

    fn into_output(self) -> Result<Output> {
        let structured = object(&self.0)?;
        Ok(Output::text(structured.to_string()).and_structured(structured))
    }
}

/// A text for the model, and a structured result for programs.
impl<T: Serialize + JsonSchema> IntoOutput for (String, Json<T>) {
    fn output_schema() -> Option<Value> {
        Some(schema::of_output::<T>())
    }

    fn into_output(self) -> Result<Output> {
        let (text, Json(structured)) = self;
        Ok(Output::text(text).and_structured(object(&structured)?))
    }
}

fn object(value: &impl Serialize) -> Result<Value> {
    let value = serde_json::to_value(value)?;
    if value.is_object() {
        Ok(value)
    } else {
        Err(Error::new(
            "a structured result has to be a JSON object: wrap it in a structure",
        ))
    }
}
