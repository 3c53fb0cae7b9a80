//! What the table of cells does not hold; each line was seen on systemd 252.

use std::time::Duration;

use harness_model::{
    ActiveState, ExitReport, ExitStatus, InvocationId, Signal, SubState, TaskState, Timestamp,
    UnitResult, UnitState,
};
use harness_supervise::{
    Moment, Now,
    restart::StartLimit,
    state::{Action, Event, Machine},
};

use crate::support::{report, settings, signaled};

fn now() -> Now {
    Now {
        monotonic: Moment::at(Duration::from_secs(1000)),
        wall: Timestamp::from_micros(1_700_000_000_000_000),
    }
}

fn start(json: &str) -> Machine {
    let policy = settings(json).resolve().unwrap();
    let mut machine = Machine::new(policy, UnitState::new(), StartLimit::default());
    machine.handle(Event::Start(InvocationId::generate()), now());
    machine
}

fn spawned() -> Event {
    Event::Spawned {
        pid: 7,
        started_at: now().wall,
        not_enforced: Vec::new(),
    }
}

fn running(json: &str) -> Machine {
    let mut machine = start(json);
    machine.handle(spawned(), now());
    assert_eq!(machine.state().sub_state, SubState::Running);
    machine
}

fn left_over(code: u8) -> ExitReport {
    ExitReport {
        left_over: 1,
        ..report(ExitStatus::Exited(code))
    }
}

fn after(
    machine: &mut Machine,
    events: impl IntoIterator<Item = Event>,
) -> (UnitResult, ActiveState, SubState) {
    for event in events {
        machine.handle(event, now());
    }
    let state = machine.state();
    (state.result, state.active_state, state.sub_state)
}

const CLEAN: (UnitResult, ActiveState, SubState) =
    (UnitResult::Success, ActiveState::Inactive, SubState::Dead);

fn failed(result: UnitResult) -> (UnitResult, ActiveState, SubState) {
    (result, ActiveState::Failed, SubState::Failed)
}

#[test]
fn a_stop_that_ends_by_its_signal_is_clean() {
    let mut machine = running(r#"{"restart":"always","restart_force_exit_status":"SIGTERM"}"#);
    let actions = machine.handle(Event::StopRequested, now());
    assert_eq!(actions, [Action::Record, Action::Stop]);
    let end = report(signaled(Signal::TERM));
    assert_eq!(
        after(
            &mut machine,
            [Event::MainExited(end.clone()), Event::Ended(end)]
        ),
        CLEAN
    );
    assert!(machine.state().stop_requested);
}

#[test]
fn a_stop_that_needs_the_last_signal_is_a_timeout() {
    let mut machine = running(r#"{"restart":"always"}"#);
    let end = report(signaled(Signal::KILL));
    let events = [
        Event::StopRequested,
        Event::FinalKill,
        Event::MainExited(end.clone()),
        Event::Ended(end),
    ];
    assert_eq!(after(&mut machine, events), failed(UnitResult::Timeout));
}

#[test]
fn a_stop_that_ends_with_a_code_or_another_signal_fails() {
    for (status, result) in [
        (ExitStatus::Exited(1), UnitResult::ExitCode),
        (signaled("USR1".parse().unwrap()), UnitResult::Signal),
    ] {
        let mut machine = running(r#"{"restart":"always"}"#);
        let events = [Event::StopRequested, Event::Ended(report(status))];
        assert_eq!(after(&mut machine, events), failed(result));
    }
}

#[test]
fn left_over_processes_that_need_the_last_signal_make_a_timeout_of_a_clean_exit_alone() {
    for (code, result) in [(0, UnitResult::Timeout), (3, UnitResult::ExitCode)] {
        let mut machine = running("{}");
        let exited = after(&mut machine, [Event::MainExited(left_over(code))]);
        assert_eq!(
            (exited.1, exited.2),
            (ActiveState::Deactivating, SubState::StopSigterm)
        );
        assert_eq!(machine.state().pid, None);
        let killed = after(&mut machine, [Event::FinalKill]);
        assert_eq!(
            (killed.1, killed.2),
            (ActiveState::Deactivating, SubState::StopSigkill)
        );
        assert_eq!(
            after(&mut machine, [Event::Ended(left_over(code))]),
            failed(result)
        );
        assert!(!machine.state().runtime_exceeded, "its own end came first");
        assert_eq!(TaskState::of(machine.state()), TaskState::Done);
    }
}

#[test]
fn in_mixed_mode_the_rest_is_killed_at_once_and_that_is_clean() {
    let mut machine = running(r#"{"kill_mode":"mixed"}"#);
    let events = [
        Event::MainExited(left_over(0)),
        Event::FinalKill,
        Event::Ended(left_over(0)),
    ];
    assert_eq!(after(&mut machine, events), CLEAN);
    let mut machine = running(r#"{"kill_mode":"mixed"}"#);
    let end = report(signaled(Signal::KILL));
    let events = [Event::StopRequested, Event::FinalKill, Event::Ended(end)];
    assert_eq!(after(&mut machine, events), failed(UnitResult::Timeout));
}

#[test]
fn what_is_left_on_purpose_does_not_keep_the_unit_from_rest() {
    let mut machine = running(r#"{"kill_mode":"process"}"#);
    let events = [Event::MainExited(left_over(0)), Event::Ended(left_over(0))];
    assert_eq!(after(&mut machine, events), CLEAN);
}

#[test]
fn a_run_that_takes_too_long_is_a_timeout_even_when_it_then_exits_with_zero() {
    let mut machine = running(r#"{"runtime_max_sec":5}"#);
    assert_eq!(
        machine.deadline(),
        Some(now().monotonic.plus(Duration::from_secs(5)))
    );
    let due = machine.timer_event();
    assert_eq!(machine.handle(due, now()), [Action::Note, Action::Stop]);
    assert_eq!(machine.deadline(), None);
    let end = report(ExitStatus::Exited(0));
    assert_eq!(
        after(&mut machine, [Event::Ended(end)]),
        failed(UnitResult::Timeout)
    );
    assert_eq!(TaskState::of(machine.state()), TaskState::TimedOut);
}

#[test]
fn a_run_that_took_too_long_does_not_count_against_the_next() {
    let mut machine = running(r#"{"runtime_max_sec":5,"restart":"on-failure"}"#);
    let due = machine.timer_event();
    let end = report(signaled(Signal::TERM));
    after(&mut machine, [due, Event::Ended(end)]);
    assert!(machine.state().runtime_exceeded);
    let again = machine.timer_event();
    assert!(matches!(again, Event::RestartDue(_)));
    machine.handle(again, now());
    assert!(!machine.state().runtime_exceeded);
}

#[test]
fn a_stop_while_it_waits_for_its_restart_leaves_the_result_and_is_no_failure() {
    let mut machine = running(r#"{"restart":"on-failure"}"#);
    let waiting = after(&mut machine, [Event::Ended(report(ExitStatus::Exited(1)))]);
    assert_eq!(
        waiting,
        (
            UnitResult::ExitCode,
            ActiveState::Activating,
            SubState::AutoRestart
        )
    );
    assert!(machine.state().restart_at.is_some());
    let stopped = after(&mut machine, [Event::StopRequested]);
    assert_eq!(
        stopped,
        (UnitResult::ExitCode, ActiveState::Inactive, SubState::Dead)
    );
    assert_eq!(machine.state().restart_at, None);
    assert_eq!(machine.state().restarts, 0);
    assert_eq!(machine.deadline(), None);
}

#[test]
fn somebodys_restart_counts_from_zero_unless_it_cuts_a_wait_short() {
    let mut machine = running(r#"{"restart":"always"}"#);
    after(&mut machine, [Event::Ended(report(ExitStatus::Exited(0)))]);
    let due = machine.timer_event();
    after(&mut machine, [due, spawned()]);
    assert_eq!(machine.state().restarts, 1);
    after(&mut machine, [Event::Ended(report(ExitStatus::Exited(0)))]);
    assert_eq!(
        machine.handle(Event::RestartRequested, now()),
        [Action::Start]
    );
    after(
        &mut machine,
        [Event::Start(InvocationId::generate()), spawned()],
    );
    assert_eq!(machine.state().restarts, 1);
    assert_eq!(
        machine.handle(Event::RestartRequested, now()),
        [Action::Note, Action::Stop]
    );
    let run = machine.state().invocation.clone().unwrap();
    let actions = machine.handle(Event::Ended(report(signaled(Signal::TERM))), now());
    assert_eq!(
        actions,
        [Action::Record, Action::Acknowledge(run), Action::Start]
    );
    assert!(!machine.state().is_final());
    after(
        &mut machine,
        [Event::Start(InvocationId::generate()), spawned()],
    );
    assert_eq!(machine.state().restarts, 0);
    assert_eq!(machine.state().sub_state, SubState::Running);
}

#[test]
fn the_limit_refuses_somebodys_restart_too() {
    let mut machine = running(r#"{"start_limit_burst":1,"start_limit_interval_sec":60}"#);
    after(
        &mut machine,
        [
            Event::RestartRequested,
            Event::Ended(report(signaled(Signal::TERM))),
        ],
    );
    let refused = after(&mut machine, [Event::Start(InvocationId::generate())]);
    assert_eq!(refused, failed(UnitResult::StartLimitHit));
    assert!(machine.refused());
}

#[test]
fn a_stop_wins_over_a_restart_and_a_restart_over_a_stop() {
    let mut machine = running("{}");
    after(
        &mut machine,
        [Event::RestartRequested, Event::StopRequested],
    );
    let end = report(signaled(Signal::TERM));
    assert_eq!(after(&mut machine, [Event::Ended(end.clone())]), CLEAN);
    let mut machine = running("{}");
    after(
        &mut machine,
        [Event::StopRequested, Event::RestartRequested],
    );
    assert!(
        machine
            .handle(Event::Ended(end), now())
            .contains(&Action::Start)
    );
}

#[test]
fn a_stop_while_it_starts_is_carried_out_as_soon_as_there_is_a_process() {
    let mut machine = start(r#"{"restart":"always"}"#);
    assert_eq!(
        machine.handle(Event::StopRequested, now()),
        [Action::Record]
    );
    assert_eq!(
        machine.handle(spawned(), now()),
        [Action::Note, Action::Stop]
    );
    let end = report(signaled(Signal::TERM));
    assert_eq!(after(&mut machine, [Event::Ended(end)]), CLEAN);
    let mut machine = start(r#"{"restart":"always"}"#);
    let failure = Event::SpawnFailed("no such program".to_owned());
    assert_eq!(
        after(&mut machine, [Event::StopRequested, failure]),
        failed(UnitResult::Resources)
    );
}

#[test]
fn what_cannot_be_started_is_restarted_by_policy_up_to_the_limit() {
    let mut machine = start(r#"{"restart":"on-failure","start_limit_burst":3}"#);
    for _ in 0..3 {
        let failure = Event::SpawnFailed("no such program".to_owned());
        let waiting = after(&mut machine, [failure]);
        assert_eq!(
            waiting,
            (
                UnitResult::Resources,
                ActiveState::Activating,
                SubState::AutoRestart
            )
        );
        assert_eq!(machine.state().note.as_deref(), Some("no such program"));
        let due = machine.timer_event();
        machine.handle(due, now());
    }
    assert_eq!(after(&mut machine, []), failed(UnitResult::Resources));
    assert_eq!(machine.state().restarts, 3);
}

#[test]
fn the_policy_says_what_a_kill_for_want_of_memory_means() {
    let killed = ExitReport {
        oom_killed: true,
        ..report(signaled(Signal::KILL))
    };
    for (policy, result) in [
        ("stop", UnitResult::OomKill),
        ("kill", UnitResult::OomKill),
        ("continue", UnitResult::Signal),
    ] {
        let json = format!(r#"{{"oom_policy":"{policy}"}}"#);
        let mut machine = running(&json);
        let events = [
            Event::MainExited(killed.clone()),
            Event::Ended(killed.clone()),
        ];
        assert_eq!(after(&mut machine, events), failed(result), "{policy}");
        // A child of it, while the main process goes on.
        let mut machine = running(&json);
        let actions = machine.handle(Event::OomKilled, now());
        assert_eq!(
            actions.contains(&Action::Stop),
            policy == "stop",
            "{policy}"
        );
        let end = report(signaled(Signal::TERM));
        let ended = after(&mut machine, [Event::Ended(end)]);
        let expected = if policy == "continue" {
            CLEAN
        } else {
            failed(UnitResult::OomKill)
        };
        assert_eq!(ended, expected, "{policy}");
    }
}

#[test]
fn a_core_dump_has_a_result_of_its_own() {
    let mut machine = running(r#"{"success_exit_status":"SIGABRT"}"#);
    let status = ExitStatus::Signaled {
        signal: Signal::ABRT,
        core_dump: true,
    };
    assert_eq!(
        after(&mut machine, [Event::Ended(report(status))]),
        failed(UnitResult::CoreDump)
    );
}

#[test]
fn a_lost_process_is_interrupted_and_never_restarted() {
    let mut machine = running(r#"{"restart":"always"}"#);
    assert_eq!(
        after(&mut machine, [Event::Lost]),
        failed(UnitResult::Signal)
    );
    assert!(machine.state().interrupted);
    assert_eq!(machine.state().exit, None);
    let mut machine = running("{}");
    assert_eq!(
        after(&mut machine, [Event::RestartRequested, Event::Lost]),
        failed(UnitResult::Signal)
    );
}

#[test]
fn a_new_run_forgets_how_the_last_one_ended() {
    let mut machine = running(r#"{"restart":"always"}"#);
    let end = Event::Ended(report(ExitStatus::Exited(1)));
    after(&mut machine, [Event::Noted("slow disk".to_owned()), end]);
    let due = machine.timer_event();
    after(&mut machine, [due]);
    let state = machine.state();
    assert_eq!(
        (state.result, &state.exit, &state.note),
        (UnitResult::Success, &None, &None)
    );
}

#[test]
fn events_that_come_at_the_wrong_time_change_nothing() {
    let mut machine = running("{}");
    after(&mut machine, [Event::Ended(report(ExitStatus::Exited(0)))]);
    let state = machine.state().clone();
    let late = [
        Event::MainExited(report(ExitStatus::Exited(9))),
        Event::Ended(report(ExitStatus::Exited(9))),
        Event::FinalKill,
        Event::OomKilled,
        Event::Lost,
        Event::RuntimeMaxPassed,
        Event::RestartDue(InvocationId::generate()),
        Event::StopRequested,
        Event::RestartRequested,
    ];
    for event in late {
        assert_eq!(machine.handle(event.clone(), now()), [], "{event:?}");
        assert_eq!(machine.state(), &state, "{event:?}");
    }
}
