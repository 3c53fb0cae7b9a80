//! The C interface between `harness-plugin-host` and a plugin: `include/harness_plugin.h` is made from it.
//!
//! A plugin exports two symbols. [`VERSION_SYMBOL`] is a number and is read before anything else of the
//! plugin is used; [`TABLE_SYMBOL`] is a function that gives its [`HarnessPlugin`]. Text is UTF-8, and what
//! goes across is JSON: a [`Description`] comes out of `describe`, the settings go into `init`, the input of
//! a tool goes into `call`, and an MCP `CallToolResult` comes out of it.
//!
//! Compatible growth: every structure begins with its own size, as the side that made it was built. A later
//! version adds fields at the end and reads those of the other side only when that size covers them. What
//! cannot be grown like that takes a new [`HARNESS_PLUGIN_ABI_VERSION`].

mod description;
mod table;

pub use description::{Annotations, DIRECT_META, Description, ToolDescription};
pub use table::{
    HARNESS_FAILED, HARNESS_OK, HARNESS_PLUGIN_ABI_VERSION, HarnessBuffer, HarnessCall,
    HarnessInit, HarnessPlugin, HarnessSlice, HarnessStatus, TABLE_SYMBOL, TableFunction,
    VERSION_SYMBOL,
};
