//! One `run` of `true` to its full status.

use serde_json::{Value, json};

use super::Report;
use crate::{
    bare::Bare,
    effort::Effort,
    figure::{Figure, Limit, seconds},
    host,
    sample::{self, by_turns},
    session::Session,
};

/// Runs a command to its end; gives the full status.
pub(crate) fn run(session: &mut Session, cmd: &str) -> Value {
    let mut status = session
        .call("run", &json!({ "cmd": cmd, "wait_seconds": 30 }))
        .unwrap()["structuredContent"]
        .take();
    while status["status"] == "running" || status["status"] == "pending" {
        status = self::status(session, &status["id"], 30);
    }
    assert_eq!(status["exit_code"], 0, "{status}");
    status
}

/// The status of a task.
pub(crate) fn status(session: &mut Session, id: &Value, wait_seconds: u32) -> Value {
    let input = json!({ "id": id, "wait_seconds": wait_seconds });
    session.call("status", &input).unwrap()["structuredContent"].take()
}

/// Runs a few, so that nothing is done for the first time later.
pub(crate) fn warm_up(session: &mut Session) -> Value {
    for _ in 0..20 {
        run(session, "true");
    }
    run(session, "true")
}

pub(super) fn measure(effort: Effort, report: Report<'_>) {
    let harness = host::harness("");
    let mut session = host::session(&harness);
    let finished = warm_up(&mut session);
    let bare = Bare::new(&harness.path("bare"));
    let session = std::cell::RefCell::new(session);
    let [spawned, looked, ran] = by_turns(
        effort.count(400),
        effort.patience(),
        [
            &mut || sample::seconds(|| drop(bare.run("true"))),
            &mut || sample::seconds(|| drop(status(&mut session.borrow_mut(), &finished["id"], 0))),
            &mut || sample::seconds(|| drop(run(&mut session.borrow_mut(), "true"))),
        ],
    );
    let floor = spawned + looked;
    report(Figure::ratio(
        "status, beside a bare spawn",
        looked,
        spawned,
        seconds,
        Limit::Shown,
    ));
    report(Figure::ratio(
        "run, beside a bare spawn and a status",
        ran,
        floor,
        seconds,
        Limit::AtMost(1.5),
    ));
}
