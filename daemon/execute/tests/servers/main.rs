//! The supervision of MCP servers against a scripted owner of processes and scripted connections, on a paused clock.

#![expect(clippy::unwrap_used, reason = "what is not there fails the test")]

mod life;
mod world;
