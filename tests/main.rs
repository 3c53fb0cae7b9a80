//! Process-level tests: the built programs, over their real sockets, with real processes.
//!
//! One folder a subject, one behaviour a function; the names are sentences.
#![expect(
    clippy::unwrap_used,
    reason = "a test that cannot go on fails by panicking"
)]

mod bash;
mod calls;
mod crash;
mod ctl;
mod gate;
mod http;
mod mcp;
mod shell;
mod wakes;

use libtest_mimic::Arguments;

fn main() {
    let arguments = Arguments::from_args();
    let trials = [
        bash::trials(),
        calls::trials(),
        crash::trials(),
        ctl::trials(),
        gate::trials(),
        http::trials(),
        mcp::trials(),
        shell::trials(),
        wakes::trials(),
    ];
    libtest_mimic::run(&arguments, trials.into_iter().flatten().collect()).exit();
}
