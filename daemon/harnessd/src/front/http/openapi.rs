//! The OpenAPI document, from the table and the types of its handlers.

use schemars::generate::SchemaSettings;
use serde_json::{Map, Value, json};

use super::table::routes;

/// The document of every endpoint, OpenAPI 3.1.
#[must_use]
pub fn document() -> Value {
    let mut settings = SchemaSettings::draft2020_12();
    settings.definitions_path = "/components/schemas".into();
    let mut generator = settings.into_generator();
    let mut paths = Map::new();
    for route in routes() {
        let operation = (route.document)(&mut generator, route.operation);
        let path = paths.entry(route.path).or_insert_with(|| json!({}));
        path[route.method.as_str().to_ascii_lowercase()] = operation;
    }
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "harnessd",
            "summary": "The person's side of a harness, on control.sock",
            "version": env!("CARGO_PKG_VERSION"),
            "license": { "name": "MIT OR Apache-2.0", "identifier": "MIT OR Apache-2.0" },
        },
        "paths": paths,
        "components": {
            "schemas": generator.take_definitions(true),
            "securitySchemes": { "token": { "type": "http", "scheme": "bearer", "description": "On TCP alone." } },
        },
        "security": [{}, { "token": [] }],
    })
}

#[cfg(test)]
mod tests {
    use std::{fs, path::Path};

    use super::*;

    #[test]
    fn the_committed_document_is_the_one_the_code_gives() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/openapi.json");
        let document = document();
        if std::env::var_os("UPDATE").is_some() {
            fs::write(&path, format!("{document:#}\n")).unwrap();
        }
        let committed = fs::read_to_string(&path).unwrap();
        let committed: Value = serde_json::from_str(&committed).unwrap();
        assert!(
            committed == document,
            "docs/openapi.json is stale: run the test with UPDATE=1"
        );
    }

    #[test]
    fn every_reference_of_the_document_resolves() {
        fn references<'a>(value: &'a Value, found: &mut Vec<&'a str>) {
            match value {
                Value::Object(object) => {
                    found.extend(object.get("$ref").and_then(Value::as_str));
                    object.values().for_each(|value| references(value, found));
                }
                Value::Array(items) => items.iter().for_each(|value| references(value, found)),
                Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
            }
        }
        let document = document();
        let mut found = Vec::new();
        references(&document, &mut found);
        assert!(found.len() > 20, "{}", found.len());
        for reference in found {
            let pointer = reference.strip_prefix('#').unwrap();
            assert!(document.pointer(pointer).is_some(), "{reference}");
        }
    }
}
