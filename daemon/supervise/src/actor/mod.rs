//! One task per live unit: it feeds the [`Machine`](crate::state::Machine) with what happens, and does what it asks for.

mod launch;
mod record;
mod run;

pub use launch::Connection;
pub(crate) use run::{Actor, Opening};
