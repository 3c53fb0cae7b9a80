//! Many runs after each other, and many at once.

use serde_json::json;

use super::{
    Report,
    run::{run, warm_up},
};
use crate::{
    bare::Bare,
    effort::Effort,
    figure::{Figure, Limit, per_second},
    host,
    sample::{self, by_turns},
    session::Session,
};

/// How many runs one turn has; a thousand in all.
const TURN: usize = 100;
const TURNS: usize = 10;

pub(super) fn measure(effort: Effort, report: Report<'_>) {
    let harness = host::harness("");
    let mut session = host::session(&harness);
    warm_up(&mut session);
    let bare = Bare::new(&harness.path("bare"));
    for together in [1, 64] {
        // Each turn begins and ends with fewer than `together`: a long one shows the steady state.
        let count = TURN.max(together * 4);
        let [spawned, ran] = by_turns(
            effort.count(TURNS),
            effort.patience() * 3,
            [&mut || bare.run_many("true", count, together), &mut || {
                sample::seconds(|| run_many(&mut session, count, together))
            }],
        );
        let rate = |seconds: f64| f64::from(u32::try_from(count).unwrap()) / seconds;
        let name = match together {
            1 => "runs back to back, beside bare ones".to_owned(),
            _ => format!("runs {together} at once, beside bare ones"),
        };
        report(Figure::ratio(
            name,
            rate(ran),
            rate(spawned),
            per_second,
            Limit::AtLeast(0.7),
        ));
    }
}

fn run_many(session: &mut Session, count: usize, together: usize) {
    if together == 1 {
        for _ in 0..count {
            run(session, "true");
        }
        return;
    }
    let input = json!({ "cmd": "true", "wait_seconds": 30 });
    for _ in 0..together {
        session.begin("run", &input).unwrap();
    }
    for done in 1..=count {
        let status = &session.reply().unwrap()["result"]["structuredContent"];
        assert_eq!(status["exit_code"], 0, "{status}");
        if done + together <= count {
            session.begin("run", &input).unwrap();
        }
    }
}
