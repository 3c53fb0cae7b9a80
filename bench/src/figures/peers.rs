//! The same run by other programs.

use harness_tests::harness::Harness;

use super::{
    Report,
    run::{run, warm_up},
};
use crate::{
    effort::Effort,
    error::PeerError,
    figure::Figure,
    host,
    peer::{KNOWN, Known},
    sample::{self, by_turns},
    session::Session,
};

pub(super) fn measure(effort: Effort, report: Report<'_>) {
    let hosts = ["sh", "bash"].map(|shell| {
        let harness = host::harness(&format!("[bash]\nshell = \"{shell}\"\n"));
        let mut session = host::session(&harness);
        warm_up(&mut session);
        (shell, harness, session)
    });
    for (shell, harness, mut session) in hosts {
        for known in KNOWN.iter().filter(|known| known.shell == shell) {
            if let Err(error) = compare(known, effort, &harness, &mut session, report) {
                report(Figure::missing(name("run", known), &error));
            }
        }
    }
}

fn name(what: &str, known: &Known) -> String {
    format!("{what} ({}), beside {}", known.shell, known.name)
}

fn compare(
    known: &Known,
    effort: Effort,
    harness: &Harness,
    session: &mut Session,
    report: Report<'_>,
) -> Result<(), PeerError> {
    let scratch = host::scratch();
    let mut peer = (known.start)(scratch.path())?;
    for _ in 0..3 {
        peer.run()?;
    }
    let mut fault = None;
    let [ours, by_command, theirs] = by_turns(
        effort.count(100),
        effort.patience() / 2,
        [
            &mut || sample::seconds(|| drop(run(session, "true"))),
            &mut || {
                if known.by_command {
                    sample::seconds(|| drop(harness.ctl(&["run", "--wait=30", "--", "true"]).ok()))
                } else {
                    0.0
                }
            },
            &mut || {
                sample::seconds(|| {
                    if let Err(error) = peer.run() {
                        fault = Some(error);
                    }
                })
            },
        ],
    );
    if let Some(fault) = fault {
        return Err(fault);
    }
    report(Figure::speed(name("run", known), ours, theirs, known.least));
    if known.by_command {
        report(Figure::speed(
            name("harnessctl run", known),
            by_command,
            theirs,
            1.0,
        ));
    }
    Ok(())
}
