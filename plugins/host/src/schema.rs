//! JSON Schemas, compiled once.

use jsonschema::{PatternOptions, ValidationError, Validator};
use serde_json::Value;

use crate::error::{Error, Result};

/// Faults of one value that are told; the rest follows from these, or can wait.
const FAULTS_MAX: usize = 8;

/// Compiles a schema that has to be one of an object. Nothing outside of it is looked up.
pub(crate) fn compile(schema: &Value, whose: &str) -> Result<Validator> {
    let wrong = |fault: String| Error::Description {
        fault: format!("the schema of {whose} {fault}"),
    };
    if !schema.is_object() {
        return Err(wrong("is no object".to_owned()));
    }
    jsonschema::options()
        // Without backtracking a foreign pattern cannot take for ever.
        .with_pattern_options(PatternOptions::regex())
        .build(schema)
        .map_err(|error| wrong(format!("is not valid: {error}")))
}

/// What is wrong with a value, each with its place in it.
pub(crate) fn faults(validator: &Validator, value: &Value) -> Vec<String> {
    if validator.is_valid(value) {
        return Vec::new();
    }
    let errors = validator.iter_errors(value);
    errors.take(FAULTS_MAX).map(|error| fault(&error)).collect()
}

/// The place and the fault, cut so that a huge value does not come back whole.
fn fault(error: &ValidationError<'_>) -> String {
    let place = error.instance_path().to_string();
    let place = place.trim_start_matches('/').replace('/', ".");
    let fault: String = error.to_string().chars().take(300).collect();
    if place.is_empty() {
        fault
    } else {
        format!("{place}: {fault}")
    }
}
