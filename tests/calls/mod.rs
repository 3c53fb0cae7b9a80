//! Calls of any tool: how they are made, counted, and written down.

mod repetition;
mod secrets;
mod tools;
mod trace;

use libtest_mimic::Trial;

pub(crate) fn trials() -> Vec<Trial> {
    [
        tools::trials(),
        repetition::trials(),
        trace::trials(),
        secrets::trials(),
    ]
    .into_iter()
    .flatten()
    .collect()
}
