//! `control.sock`, the person's front: HTTP/1.1 and JSON, with an OpenAPI document.
//!
//! [`backend::Control`] is all it needs from the harness. One table ([`table`]) drives the router and
//! the document, and the types of a handler are the types of its entry, so that they cannot differ.
//! Errors are `{"error":{"code","message","retryable"}}` everywhere.

mod approvals;
pub mod backend;
mod calls;
mod events;
mod guard;
mod harness;
mod openapi;
mod parameters;
mod plugins;
mod request;
mod response;
mod route;
mod server;
mod sse;
mod table;
mod tasks;
mod tools;
mod units;
mod unknown;
mod wakes;

pub use openapi::document;
pub use server::{ControlServer, DRAIN};
