//! The gate: which calls run, which are asked about, and by whom they are answered.

mod approval;
mod elicitation;
mod mode;
mod stateless;

use libtest_mimic::Trial;

pub(crate) fn trials() -> Vec<Trial> {
    [
        mode::trials(),
        approval::trials(),
        elicitation::trials(),
        stateless::trials(),
    ]
    .into_iter()
    .flatten()
    .collect()
}
