//! JSON Schemas of types, as tools list them.

use schemars::{JsonSchema, generate::SchemaSettings};
use serde_json::Value;

/// What `T` is read from.
pub(crate) fn of_input<T: JsonSchema>() -> Value {
    bare::<T>(SchemaSettings::draft2020_12().for_deserialize())
}

/// What `T` is written as.
pub(crate) fn of_output<T: JsonSchema>() -> Value {
    bare::<T>(SchemaSettings::draft2020_12().for_serialize())
}

/// Without what only costs the model context: the name of the type and of the dialect.
fn bare<T: JsonSchema>(settings: SchemaSettings) -> Value {
    let mut schema = settings.into_generator().into_root_schema_for::<T>();
    schema.remove("$schema");
    schema.remove("title");
    // An empty Rust structure says nothing of its properties; MCP wants an object all the same.
    if schema.get("type").is_none() && schema.get("$ref").is_none() {
        schema.insert("type".to_owned(), "object".into());
    }
    schema.to_value()
}
