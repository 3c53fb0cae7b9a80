//! What the harness costs.
//!
//! Every figure is a ratio to something measured in the same run, by turns with it, and each side is
//! the median of its turns: the machine may be slow or busy, and the ratio still holds. A figure
//! that misses its limit makes the exit code 1.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a figure that cannot be measured ends the run by panicking; what a peer does wrong is a value"
)]

mod bare;
mod effort;
mod error;
mod figure;
mod figures;
mod fill;
mod host;
mod peer;
mod process;
mod sample;
mod session;
mod table;

use std::process::ExitCode;

use clap::Parser;

use crate::{effort::Effort, figure::Figure, table::Table};

/// Measure the harness against limits and peers, on this machine, now
#[derive(Debug, Parser)]
#[command(
    name = "harness-bench",
    after_help = "Exit code: 0 when every limit holds, 1 when one is missed."
)]
struct Arguments {
    /// Measure only the groups of this name (can be given more than once)
    #[arg(long, value_name = "NAME", value_parser = figures::names())]
    only: Vec<String>,
    /// Fewer and shorter turns: less exact
    #[arg(long)]
    quick: bool,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let effort = Effort::new(arguments.quick);
    let _directory = host::begin();
    let table = Table::begin();
    let mut missed = 0;
    for group in figures::GROUPS {
        if !arguments.only.is_empty() && !arguments.only.iter().any(|name| name == group.name) {
            continue;
        }
        (group.measure)(effort, &mut |figure: Figure| {
            missed += u32::from(figure.is_missed());
            table.row(&figure);
        });
    }
    table.end(missed);
    if missed == 0 {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}
