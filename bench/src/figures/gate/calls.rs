//! What the gate adds to a warm call.
//!
//! A call that its rule refuses goes through all of the gate and runs nothing: resolved, validated, counted, judged,
//! recorded and committed before it is refused, closed and announced. A `ping` is the least that a request costs on the same
//! connection, in the same front: what lies between them is the gate, and what MCP does for a call and not for a ping.

use std::cell::RefCell;

use harness_tests::mcp::Session;
use serde_json::json;

use crate::{
    effort::Effort,
    figure::{Figure, Limit, seconds},
    figures::Report,
    host,
    sample::{self, by_turns},
};

/// What the gate may add, in seconds.
const MOST: f64 = 60e-6;

pub(super) fn measure(effort: Effort, report: Report<'_>) {
    let harness = host::harness("[tool.stop]\nmode = \"off\"\n");
    let mut session = harness.mcp(Some("bash"));
    for _ in 0..200 {
        refused(&mut session);
        list(&mut session);
    }
    let session = RefCell::new(session);
    let [pinged, gated, listed] = by_turns(
        effort.count(3000),
        effort.patience(),
        [
            &mut || sample::seconds(|| ping(&mut session.borrow_mut())),
            &mut || sample::seconds(|| refused(&mut session.borrow_mut())),
            &mut || sample::seconds(|| list(&mut session.borrow_mut())),
        ],
    );
    report(Figure::share(
        "what the gate adds to a warm call",
        gated - pinged,
        MOST,
        seconds,
    ));
    report(Figure::ratio(
        "list of no tasks, beside a ping",
        listed,
        pinged,
        seconds,
        Limit::Shown,
    ));
}

fn ping(session: &mut Session) {
    session.request("ping", &json!({}));
}

fn refused(session: &mut Session) {
    let result = session.call("stop", &json!({"id": "7k2m9qxd"}));
    assert_eq!(
        result["structuredContent"]["error"]["code"], "denied",
        "{result}"
    );
}

pub(super) fn list(session: &mut Session) {
    session.ok("list", &json!({"limit": 1}));
}
