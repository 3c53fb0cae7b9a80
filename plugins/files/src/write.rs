//! `write`

use harness_plugin_sdk::{Call, Json, Result};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    replace::Place,
    workspace::{Workspace, shown},
};

/// What to write where.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Write {
    /// The file; directories that are missing are made.
    pub path: String,
    /// All of its text.
    pub content: String,
}

/// What was written.
#[derive(Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Written {
    /// The file.
    pub path: String,
    /// It was not there before.
    pub created: bool,
    /// Its size in bytes.
    pub size: usize,
}

/// Writes a whole file; its mode stays.
///
/// # Errors
/// It is outside, or no regular file, or cannot be written; then what was there is still there.
pub fn write(input: Write, call: &Call<Workspace>) -> Result<(String, Json<Written>)> {
    let path = call.state().below(&input.path)?;
    let place = Place::of(call.state(), &path, true)?;
    let _changing = call.state().changing();
    let before = place.status()?;
    place.replace(input.content.as_bytes(), before.as_ref())?;
    let size = input.content.len();
    let done = if before.is_some() {
        "replaced"
    } else {
        "created"
    };
    let text = format!("{done} {} ({size} bytes)", shown(&path));
    let created = before.is_none();
    Ok((
        text,
        Json(Written {
            path,
            created,
            size,
        }),
    ))
}
