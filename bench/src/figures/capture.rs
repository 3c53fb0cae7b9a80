//! A flood of output, kept within its budget, beside the same into a plain file.

use std::{cell::RefCell, fs};

use super::{Report, run::run};
use crate::{
    bare::Bare,
    effort::Effort,
    figure::{Figure, Limit, mib_per_second},
    host,
    sample::{self, by_turns},
    session::Session,
};

pub(super) fn measure(effort: Effort, report: Report<'_>) {
    let bytes = effort.bytes(2 << 30);
    let cmd = format!("head -c {bytes} /dev/zero");
    let default = host::harness("");
    let large = host::harness("[bash]\noutput_max = \"8G\"\n");
    let sessions = [&default, &large].map(|harness| RefCell::new(host::session(harness)));
    let bare = Bare::new(&default.path("bare"));
    let [plain, within, whole] = by_turns(
        effort.count(7),
        effort.patience() * 6,
        [
            &mut || {
                let mut file = None;
                let taken = sample::seconds(|| file = Some(bare.run(&cmd)));
                fs::remove_file(file.expect("the command ran")).unwrap();
                taken
            },
            &mut || flood(&mut sessions[0].borrow_mut(), &cmd, bytes),
            &mut || flood(&mut sessions[1].borrow_mut(), &cmd, bytes),
        ],
    );
    #[expect(
        clippy::cast_precision_loss,
        reason = "a few GiB are exact in a double"
    )]
    let rate = |seconds: f64| bytes as f64 / seconds;
    for (name, taken) in [
        ("output beyond output_max", within),
        ("output below output_max", whole),
    ] {
        let name = format!("{name}, beside a plain file");
        report(Figure::ratio(
            name,
            rate(taken),
            rate(plain),
            mib_per_second,
            Limit::AtLeast(0.95),
        ));
    }
}

fn flood(session: &mut Session, cmd: &str, bytes: u64) -> f64 {
    let mut status = serde_json::Value::Null;
    let taken = sample::seconds(|| status = run(session, cmd));
    assert_eq!(status["stdout"]["bytes"], bytes, "{status}");
    // Or the next turn finds less memory for its own pages.
    fs::remove_file(status["stdout"]["path"].as_str().expect("a path")).unwrap();
    taken
}
