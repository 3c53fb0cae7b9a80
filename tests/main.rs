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
mod examples;
mod gate;
mod hooks;
mod http;
mod install;
mod mcp;
mod nested;
mod nix;
mod plugins;
mod sandbox;
mod servers;
mod shell;
mod systemd;
mod wakes;

use libtest_mimic::Arguments;

fn main() {
    let arguments = Arguments::from_args();
    let trials = [
        bash::trials(),
        calls::trials(),
        crash::trials(),
        ctl::trials(),
        examples::trials(),
        gate::trials(),
        hooks::trials(),
        http::trials(),
        install::trials(),
        mcp::trials(),
        nested::trials(),
        nix::trials(),
        plugins::trials(),
        sandbox::trials(),
        servers::trials(),
        systemd::trials(),
        shell::trials(),
        wakes::trials(),
    ];
    let conclusion = libtest_mimic::run(&arguments, trials.into_iter().flatten().collect());
    harness_tests::systemd::SystemdBox::end_shared();
    conclusion.exit();
}
