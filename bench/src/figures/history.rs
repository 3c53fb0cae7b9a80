//! The same operations over an empty record and over a long one.

use std::cell::RefCell;

use harness_tests::harness::Harness;
use serde_json::{Value, json};

use super::{
    Report,
    run::{run, status, warm_up},
};
use crate::{
    effort::Effort,
    figure::{Figure, Limit, seconds},
    fill::fill,
    host,
    sample::{self, by_turns},
    session::Session,
};

/// How much slower a long history may make anything.
const LIMIT: Limit = Limit::AtMost(1.2);

/// How many finished tasks the long record has.
const TASKS: usize = 100_000;

pub(super) fn measure(effort: Effort, report: Report<'_>) {
    let mut short = host::harness("");
    let mut long = host::harness("");
    let tasks = effort.count(TASKS);
    lengthen(&mut long, tasks);
    measure_calls(effort, &short, &long, tasks, report);

    let [small, big] = by_turns(
        effort.count(15),
        effort.patience(),
        [&mut || restart(&mut short), &mut || restart(&mut long)],
    );
    report(Figure::ratio(
        format!("start-up after {tasks} tasks"),
        big,
        small,
        seconds,
        LIMIT,
    ));
}

fn measure_calls(
    effort: Effort,
    short: &Harness,
    long: &Harness,
    tasks: usize,
    report: Report<'_>,
) {
    let mut sessions = [short, long].map(host::session);
    let finished = sessions.each_mut().map(warm_up);
    let sessions = sessions.map(RefCell::new);
    let mut compare = |name: &str, turns: usize, work: &dyn Fn(&mut Session, &Value)| {
        let [small, big] = by_turns(
            effort.count(turns),
            effort.patience(),
            [
                &mut || sample::seconds(|| work(&mut sessions[0].borrow_mut(), &finished[0]["id"])),
                &mut || sample::seconds(|| work(&mut sessions[1].borrow_mut(), &finished[1]["id"])),
            ],
        );
        report(Figure::ratio(
            format!("{name} after {tasks} tasks"),
            big,
            small,
            seconds,
            LIMIT,
        ));
    };
    compare("run", 400, &|session, _| drop(run(session, "true")));
    compare("status", 1000, &|session, id| drop(status(session, id, 0)));
    compare("first page of list", 1000, &|session, _| {
        drop(session.call("list", &json!({})).unwrap());
    });
}

/// Copies a finished task so many times into the record.
fn lengthen(harness: &mut Harness, tasks: usize) {
    let model = run(&mut host::session(harness), "true");
    harness.stop_daemon();
    fill(
        &harness.state().join("state.db"),
        model["id"].as_str().expect("an id"),
        tasks,
    );
    harness.start_daemon();
}

fn restart(harness: &mut Harness) -> f64 {
    harness.stop_daemon();
    sample::seconds(|| harness.start_daemon())
}
