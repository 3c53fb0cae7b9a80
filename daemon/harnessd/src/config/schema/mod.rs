//! The keys of the configuration, table by table. Their docs are the option page.

mod approval;
mod bash;
mod environment;
mod example;
mod fronts;
mod hook;
mod limits;
mod mcp;
mod plugin;
mod root;
mod sandbox;
mod schedule;
mod tool;
mod turn;

pub use approval::{Approval, ApprovalMode};
pub use bash::Bash;
pub use environment::{Environment, Inherit};
pub use example::Example;
pub use fronts::{Control, McpHttp};
pub use hook::{Hook, HookEvent, OnError};
pub use limits::Limits;
pub use mcp::{Load, McpServer};
pub use plugin::Plugin;
pub use root::{Config, SpawnerKind};
pub use sandbox::Sandbox;
pub use schedule::ScriptSchedule;
pub use tool::{ToolMode, ToolRule};
pub use turn::Turn;
