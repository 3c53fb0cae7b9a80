//! JSON Schemas of inputs and results, made from their types.

use schemars::{JsonSchema, generate::SchemaSettings};
use serde_json::Value;

/// The schema of an input: closed, without `$ref`, which not every client follows.
pub(crate) fn input<T: JsonSchema>() -> Value {
    let settings = SchemaSettings::draft2020_12()
        .for_deserialize()
        .with(|settings| settings.inline_subschemas = true);
    without_noise(
        settings
            .into_generator()
            .into_root_schema_for::<T>()
            .to_value(),
    )
}

/// The schema of a structured result, without prose: clients check against it, models do not read it.
pub(crate) fn output<T: JsonSchema>() -> Value {
    let settings = SchemaSettings::draft2020_12()
        .for_serialize()
        .with(|settings| settings.inline_subschemas = true);
    let mut schema = settings
        .into_generator()
        .into_root_schema_for::<T>()
        .to_value();
    strip(&mut schema, &["description", "title", "$schema", "format"]);
    schema
}

fn without_noise(mut schema: Value) -> Value {
    strip(&mut schema, &["title", "$schema", "format"]);
    if let Some(object) = schema.as_object_mut() {
        object.remove("description");
    }
    schema
}

/// Removes keywords everywhere but among the names of properties.
fn strip(schema: &mut Value, keywords: &[&str]) {
    match schema {
        Value::Object(object) => {
            for keyword in keywords {
                object.remove(*keyword);
            }
            for (key, value) in object.iter_mut() {
                match (key.as_str(), value) {
                    ("properties" | "$defs", Value::Object(named)) => {
                        named.values_mut().for_each(|value| strip(value, keywords));
                    }
                    (_, value) => strip(value, keywords),
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| strip(item, keywords)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}
