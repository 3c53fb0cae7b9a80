//! Plugins for harnessd in Rust.
//!
//! A plugin is a library of the crate type `cdylib` that hands a [`Plugin`] to [`export!`]. Each [`Tool`] is
//! a function from its typed input and the [`Call`] it belongs to, to something that is [`IntoOutput`]:
//! a `String`, a [`Json`] of a type with a schema, both, or an [`Output`]. The schemas come from the types.
//!
//! ```
//! use harness_plugin_sdk::{Call, Json, Plugin, Result, Tool, export, schemars, serde};
//!
//! /// The doc comment of a field is its description for the model.
//! #[derive(serde::Deserialize, schemars::JsonSchema)]
//! #[serde(deny_unknown_fields)]
//! struct Input {
//!     /// Whom to greet.
//!     name: String,
//! }
//!
//! #[derive(serde::Serialize, schemars::JsonSchema)]
//! struct Greeting {
//!     text: String,
//! }
//!
//! fn greet(input: Input, _call: &Call) -> Result<Json<Greeting>> {
//!     let text = format!("Hello, {}!", input.name);
//!     Ok(Json(Greeting { text }))
//! }
//!
//! export!(
//!     Plugin::new("greeter", "1.0.0").tool(Tool::new("greet", "Greets someone.", greet).read_only())
//! );
//! ```
//!
//! Tools are called from many threads at once, so state is shared by reference. A panic ends its call and
//! nothing else. What a plugin prints, on standard output too, goes to its log.

mod call;
mod error;
mod export;
mod output;
mod plugin;
mod program;
mod running;
mod schema;
mod tool;

pub use call::Call;
pub use error::{Error, Result};
#[doc(hidden)]
pub use export::{Export, table};
pub use harness_plugin_abi as abi;
pub use output::{IntoOutput, Json, Output};
pub use plugin::Plugin;
pub use program::{Finished, Program};
#[doc(hidden)]
pub use running::Erased;
pub use schemars;
pub use serde;
pub use tool::Tool;
