//! Background tasks, from an MCP client's side.

mod end;
mod input;
mod life;
mod output;
mod process;
mod run;
mod unprivileged;

use libtest_mimic::Trial;

pub(crate) fn trials() -> Vec<Trial> {
    [
        run::trials(),
        end::trials(),
        input::trials(),
        output::trials(),
        process::trials(),
        life::trials(),
        unprivileged::trials(),
    ]
    .into_iter()
    .flatten()
    .collect()
}
