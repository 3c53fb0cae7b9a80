//! One task per live unit: it feeds the [`Machine`](crate::state::Machine) with what happens, and does what it asks for.

mod launch;
mod record;
mod run;

pub use launch::Connection;
pub(crate) use run::{Actor, Opening};

#[cfg(test)]
mod tests {
    #[test]
    fn a_unit_that_only_runs_is_small() {
        assert!(size_of::<super::Actor>() <= 1536);
    }
}
