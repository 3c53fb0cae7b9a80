//! The same over an empty record of calls and over a long one.

use std::{cell::RefCell, path::Path};

use futures_util::future::try_join_all;
use harness_model::{CallId, CallRecord, CallState, Front, SessionId, Timestamp};
use harness_record::{Record, Result};
use harness_tests::{harness::Harness, mcp::Session};
use serde_json::json;

use super::calls::list;
use crate::{
    effort::Effort,
    figure::{Figure, Limit, seconds},
    figures::Report,
    host,
    sample::{self, by_turns},
};

/// How much slower a long history may make anything.
const LIMIT: Limit = Limit::AtMost(1.2);

/// How many calls the long record has.
const CALLS: usize = 1_000_000;

/// How many of them are on their way to the record at once, so that its commits are large.
const TOGETHER: usize = 250;

const CONFIG: &str = "[tool.run]\nmode = \"ask\"\n[approval]\nhold_sec = 0\n";

/// One harness and what is asked of it.
struct Side {
    harness: Harness,
    session: Session,
    asked: u32,
}

pub(super) fn measure(effort: Effort, report: Report<'_>) {
    let calls = effort.count(CALLS);
    let mut long = host::harness(CONFIG);
    long.stop_daemon();
    fill(&long.state().join("state.db"), calls);
    long.start_daemon();
    let sides = [host::harness(CONFIG), long].map(|harness| {
        let mut session = harness.mcp(Some("bash"));
        for _ in 0..200 {
            list(&mut session);
        }
        RefCell::new(Side {
            harness,
            session,
            asked: 0,
        })
    });
    let mut compare = |name: &str, turns: usize, work: &dyn Fn(&mut Side)| {
        let [short, long] = by_turns(
            effort.count(turns),
            effort.patience(),
            [
                &mut || sample::seconds(|| work(&mut sides[0].borrow_mut())),
                &mut || sample::seconds(|| work(&mut sides[1].borrow_mut())),
            ],
        );
        let name = format!("{name} after {calls} calls");
        report(Figure::ratio(name, long, short, seconds, LIMIT));
    };
    compare("call", 3000, &|side| list(&mut side.session));
    compare("ask and answer", 500, &ask_and_answer);
    compare("first page of the timeline", 1000, &|side| {
        side.harness.get("/v1/calls?limit=100");
    });
}

/// Each time another call, so that each is a question of its own.
fn ask_and_answer(side: &mut Side) {
    side.asked += 1;
    let result = side
        .session
        .call("run", &json!({"cmd": format!("echo {}", side.asked)}));
    let id = &result["structuredContent"]["error"]["details"]["approval"];
    assert!(id.is_number(), "{result}");
    let answer = json!({"ids": [id], "answer": "reject"});
    side.harness.post("/v1/approvals/answer", &answer);
}

/// Writes finished calls into the record that a daemon has left.
fn fill(database: &Path, count: usize) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap();
    runtime.block_on(async {
        let record = Record::open(database).unwrap();
        let session = SessionId::generate();
        let mut left = count;
        while left > 0 {
            let some = left.min(TOGETHER);
            try_join_all((0..some).map(|place| write(&record, &session, left - place)))
                .await
                .unwrap();
            left -= some;
        }
        record.close().await;
    });
}

/// Of several tools, one in ten of them refused.
async fn write(record: &Record, session: &SessionId, number: usize) -> Result<()> {
    const TOOLS: [&str; 4] = ["run", "status", "list", "output"];
    let call = CallRecord {
        id: CallId::generate(),
        parent: None,
        session: session.clone(),
        front: Front::Mcp,
        group: "bash".to_owned(),
        tool: TOOLS[number % TOOLS.len()].to_owned(),
        input: json!({"cmd": format!("echo {number}")}),
        asked: None,
        state: CallState::Open,
        code: None,
        preview: None,
        started_at: Timestamp::from(std::time::SystemTime::now()),
        duration_usec: None,
    };
    let id = call.id.clone();
    record.call_begin(call).await?;
    let state = if number.is_multiple_of(10) {
        CallState::Refused
    } else {
        CallState::Ok
    };
    record.call_finish(
        id,
        state,
        None,
        Some("task done, exit code 0".to_owned()),
        2000,
    );
    Ok(())
}
