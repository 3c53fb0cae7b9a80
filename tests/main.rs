//! Process-level tests: the built programs, over their real sockets, with real processes.
//!
//! One folder a subject, one behaviour a function; the names are sentences.
#![expect(
    clippy::unwrap_used,
    reason = "a test that cannot go on fails by panicking"
)]

mod bash;
mod crash;
mod ctl;
mod gate;
mod http;
mod mcp;
mod wakes;

use libtest_mimic::Arguments;

fn main() {
    let arguments = Arguments::from_args();
    let trials = [
        bash::trials(),
        crash::trials(),
        ctl::trials(),
        gate::trials(),
        http::trials(),
        mcp::trials(),
        wakes::trials(),
    ];
    libtest_mimic::run(&arguments, trials.into_iter().flatten().collect()).exit();
}
