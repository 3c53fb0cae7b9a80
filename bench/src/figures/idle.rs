//! What the harness costs while nothing happens.

use std::time::Duration;

use harness_tests::harness::Harness;
use serde_json::json;

use super::{Report, run::warm_up};
use crate::{
    effort::Effort,
    figure::{Figure, count, kib},
    host,
    process::Process,
};

/// How many idle tasks there are.
const TASKS: u32 = 200;
/// How long nothing is done before it is looked.
const SETTLE: Duration = Duration::from_secs(2);
/// How long the runtime keeps a thread that has done something blocking.
const THREADS: Duration = Duration::from_secs(12);
/// How long wakeups are counted.
const WINDOW: Duration = Duration::from_secs(5);

const KIB: f64 = 1024.0;
const MIB: f64 = 1024.0 * KIB;

pub(super) fn measure(_effort: Effort, report: Report<'_>) {
    let harness = host::harness("");
    let mut session = host::session(&harness);
    // The events of so many fill what is kept of them for readers that come back.
    for _ in 0..20 {
        warm_up(&mut session);
    }
    let (daemon, keeper) = processes(&harness);
    pass(SETTLE);
    let before = [memory(daemon), memory(keeper)];
    report(Figure::share(
        "harnessd's memory (PSS), idle",
        before[0],
        16.0 * MIB,
        kib,
    ));
    report(Figure::share(
        "harness-keeper's memory (PSS), idle",
        before[1],
        2.0 * MIB,
        kib,
    ));

    for _ in 0..TASKS {
        session
            .call("run", &json!({ "cmd": "sleep 1000", "wait_seconds": 0 }))
            .unwrap();
    }
    pass(SETTLE);
    let grown = memory(daemon) + memory(keeper) - before[0] - before[1];
    let name = format!("memory of each of {TASKS} idle tasks, both");
    report(Figure::share(
        name,
        grown / f64::from(TASKS),
        16.0 * KIB,
        kib,
    ));

    pass(THREADS);
    let [daemon_before, keeper_before] = [daemon, keeper].map(Process::wakeups);
    pass(WINDOW);
    let woken = daemon.wakeups().since(&daemon_before) + keeper.wakeups().since(&keeper_before);
    let name = format!("wakeups in {} s with {TASKS} tasks, both", WINDOW.as_secs());
    // None is asked for: one is twice too many.
    let woken = u32::try_from(woken).expect("few");
    report(Figure::share(name, f64::from(woken), 0.5, count));
}

fn processes(harness: &Harness) -> (Process, Process) {
    (Process(harness.daemon_pid()), Process(harness.keeper_pid()))
}

#[expect(
    clippy::cast_precision_loss,
    reason = "sizes of memory are exact in a double"
)]
fn memory(process: Process) -> f64 {
    process.pss() as f64
}

#[expect(
    clippy::disallowed_methods,
    reason = "idleness is measured over a span of time in which nothing is awaited"
)]
fn pass(span: Duration) {
    std::thread::sleep(span);
}
