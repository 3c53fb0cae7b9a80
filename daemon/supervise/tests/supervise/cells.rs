//! Every cell of a table that a real systemd filled.

use std::time::Duration;

use harness_model::{
    ActiveState, ExitStatus, InvocationId, Signal, SubState, Timestamp, UnitResult, UnitState,
};
use harness_supervise::{
    Moment, Now,
    restart::StartLimit,
    state::{Event, Machine},
};

use crate::support::{report, settings, signaled};

fn end_of(word: &str) -> ExitStatus {
    match word {
        "exit0" | "timeout0" => ExitStatus::Exited(0),
        "exit1" => ExitStatus::Exited(1),
        "term" | "timeout" => signaled(Signal::TERM),
        "kill" => signaled(Signal::KILL),
        "abrt" => signaled(Signal::ABRT),
        "hup" => signaled(Signal::HUP),
        other => panic!("{other}"),
    }
}

fn now(seconds: u64) -> Now {
    Now {
        monotonic: Moment::at(Duration::from_secs(1000 + seconds)),
        wall: Timestamp::from_micros(1_700_000_000_000_000).plus(Duration::from_secs(seconds)),
    }
}

/// Runs the machine until it is at rest; returns how often it was started.
fn run(json: &str, end: &str) -> (u32, UnitState) {
    let policy = settings(json).resolve().unwrap();
    let mut machine = Machine::new(policy, UnitState::new(), StartLimit::default());
    let mut starts = 0;
    machine.handle(Event::Start(InvocationId::generate()), now(0));
    for second in 1.. {
        let now = now(second);
        match machine.state().sub_state {
            SubState::Start => {
                starts += 1;
                let event = Event::Spawned {
                    pid: 1,
                    started_at: now.wall,
                    not_enforced: Vec::new(),
                };
                machine.handle(event, now);
            }
            SubState::Running if end.starts_with("timeout") => {
                let due = machine.timer_event();
                machine.handle(due, now);
            }
            SubState::Running | SubState::StopSigterm => {
                machine.handle(Event::MainExited(report(end_of(end))), now);
                machine.handle(Event::Ended(report(end_of(end))), now);
            }
            SubState::AutoRestart => {
                assert_eq!(machine.state().active_state, ActiveState::Activating);
                let due = machine.timer_event();
                machine.handle(due, now);
            }
            SubState::Dead | SubState::Failed => break,
            other @ (SubState::StopSigkill | SubState::Exited) => panic!("{other}"),
        }
    }
    assert!(machine.state().is_final());
    (starts, machine.state().clone())
}

#[test]
fn every_cell_ends_as_in_systemd() {
    let table = include_str!("systemd-252.txt");
    let mut cells = 0;
    for line in table.lines().filter(|line| !line.starts_with('#')) {
        let words: Vec<_> = line.split(' ').collect();
        let &[
            restart,
            end,
            list,
            burst,
            "|",
            starts,
            result,
            restarts,
            active,
            sub,
        ] = &words[..]
        else {
            panic!("{line}")
        };
        let listed = match end_of(end) {
            ExitStatus::Exited(code) => code.to_string(),
            ExitStatus::Signaled { signal, .. } => signal.to_string(),
        };
        let list = match list {
            "none" => String::new(),
            "success" => format!(r#","success_exit_status":"{listed}""#),
            "prevent" => format!(r#","restart_prevent_exit_status":"{listed}""#),
            "force" => format!(r#","restart_force_exit_status":"{listed}""#),
            other => panic!("{other}"),
        };
        let max = if end.starts_with("timeout") {
            r#","runtime_max_sec":1"#
        } else {
            ""
        };
        let json = format!(
            r#"{{"restart":"{restart}","start_limit_burst":{burst},"start_limit_interval_sec":60{max}{list}}}"#
        );
        let (started, state) = run(&json, end);
        let got = (
            started.to_string(),
            state.result,
            state.restarts.to_string(),
            state.active_state,
            state.sub_state,
        );
        let expected = (
            starts.to_owned(),
            UnitResult::from_word(result).unwrap(),
            restarts.to_owned(),
            ActiveState::from_word(active).unwrap(),
            SubState::from_word(sub).unwrap(),
        );
        assert_eq!(got, expected, "{line}");
        cells += 1;
    }
    assert_eq!(cells, 448);
}
