//! What a restart of the daemon leaves.

use std::time::Duration;

use harness_model::{
    ActiveState, ExitStatus, InvocationId, Signal, StoredUnit, SubState, UnitResult,
};
use harness_supervise::{Adopted, Engine, ProcessEvent, UnitHandle};
use tokio::{sync::mpsc, time::Instant};

use crate::support::{Fixture, LONG, Step, fixture, id, report, signaled, spawned};

/// Starts a unit, then lets a second daemon read what the first one recorded of it.
async fn left_behind(
    json: &str,
    then: impl AsyncFnOnce(&mut Fixture, &UnitHandle),
) -> (Fixture, StoredUnit) {
    let mut fixture = fixture();
    let handle = fixture
        .engine
        .start(id("a"), fixture.spec(json))
        .await
        .unwrap();
    then(&mut fixture, &handle).await;
    let stored = fixture.stored();
    fixture.engine = Engine::new(fixture.world.clone(), fixture.world.clone());
    (fixture, stored)
}

fn adopted(
    stored: &StoredUnit,
    running_for: Duration,
) -> (mpsc::UnboundedSender<ProcessEvent>, Adopted) {
    let (events, receiver) = mpsc::unbounded_channel();
    let adopted = Adopted {
        unit: stored.unit.id.clone(),
        invocation: stored.state.invocation.clone().unwrap(),
        running_for,
        spawned: spawned(receiver),
    };
    (events, adopted)
}

#[tokio::test(start_paused = true)]
async fn a_running_unit_goes_on_with_what_is_left_of_its_time_and_its_policy() {
    let json = r#"{"restart":"on-failure","runtime_max_sec":100,"restart_sec":9}"#;
    let (mut fixture, stored) =
        left_behind(json, async |fixture, _| fixture.keep_next().await).await;
    let (events, adopted) = adopted(&stored, Duration::from_secs(70));
    let begin = Instant::now();
    let handle = fixture.engine.adopt(stored, Some(adopted));
    handle
        .changes()
        .wait_for(|state| state.sub_state == SubState::StopSigterm)
        .await
        .unwrap();
    assert_eq!(begin.elapsed().as_secs(), 30);
    events
        .send(ProcessEvent::Ended(report(signaled(Signal::TERM))))
        .unwrap();
    fixture.next().await;
    assert_eq!(begin.elapsed().as_secs(), 39);
    handle
        .changes()
        .wait_for(|state| state.pid.is_some())
        .await
        .unwrap();
    assert_eq!(handle.state().restarts, 1);
}

#[tokio::test(start_paused = true)]
async fn a_unit_that_ended_meanwhile_has_its_true_exit_status() {
    let (fixture, stored) = left_behind("{}", async |fixture, _| fixture.keep_next().await).await;
    let (events, adopted) = adopted(&stored, LONG);
    events
        .send(ProcessEvent::MainExited(report(ExitStatus::Exited(42))))
        .unwrap();
    events
        .send(ProcessEvent::Ended(report(ExitStatus::Exited(42))))
        .unwrap();
    let handle = fixture.engine.adopt(stored, Some(adopted));
    let state = handle.wait_end().await;
    assert_eq!(state.exit.unwrap().status, ExitStatus::Exited(42));
    assert_eq!(
        (state.result, state.interrupted),
        (UnitResult::ExitCode, false)
    );
    assert_eq!(fixture.world.steps().last(), Some(&Step::Acknowledge));
}

#[tokio::test(start_paused = true)]
async fn a_unit_that_nobody_knows_is_interrupted() {
    let json = r#"{"restart":"always"}"#;
    let (mut fixture, stored) =
        left_behind(json, async |fixture, _| fixture.keep_next().await).await;
    let handle = fixture.engine.adopt(stored, None);
    // Not before it is recorded.
    assert!(!handle.state().is_final());
    let state = handle.wait_end().await;
    assert!(state.interrupted);
    assert_eq!(
        (state.active_state, state.result),
        (ActiveState::Failed, UnitResult::Signal)
    );
    assert_eq!(state.exit, None);
    let rest = Step::Changed {
        sub: SubState::Failed,
        awaited: false,
    };
    assert_eq!(fixture.world.count(&rest), 1);
    assert!(fixture.nothing_started());
    assert!(fixture.engine.live().is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_scheduled_restart_waits_for_what_is_left() {
    let json = r#"{"restart":"always","restart_sec":"1h"}"#;
    let (mut fixture, mut stored) = left_behind(json, async |fixture, handle| {
        fixture.next().await.exit(1);
        handle
            .changes()
            .wait_for(|state| state.sub_state == SubState::AutoRestart)
            .await
            .unwrap();
    })
    .await;
    let now = stored.state.exit.as_ref().unwrap().ended_at;
    stored.state.restart_at = Some(now.plus(Duration::from_mins(10)));
    // The first daemon may have died before it could say that the end is recorded.
    let (_, adopted) = adopted(&stored, LONG);
    let before = fixture.world.count(&Step::Acknowledge);
    let begin = Instant::now();
    fixture.engine.adopt(stored, Some(adopted));
    fixture.next().await;
    let waited = begin.elapsed();
    assert!(
        waited > Duration::from_secs(590) && waited <= Duration::from_mins(10),
        "{waited:?}"
    );
    assert_eq!(fixture.world.count(&Step::Acknowledge), before + 1);
}

#[tokio::test(start_paused = true)]
async fn a_clock_that_was_set_back_makes_no_restart_wait_longer_than_its_delay() {
    let json = r#"{"restart":"always","restart_sec":60}"#;
    let (mut fixture, mut stored) = left_behind(json, async |fixture, handle| {
        fixture.next().await.exit(1);
        handle
            .changes()
            .wait_for(|state| state.sub_state == SubState::AutoRestart)
            .await
            .unwrap();
    })
    .await;
    stored.state.restart_at = stored.state.restart_at.map(|at| at.plus(LONG * 365));
    let begin = Instant::now();
    fixture.engine.adopt(stored, None);
    fixture.next().await;
    assert_eq!(begin.elapsed().as_secs(), 60);
}

#[tokio::test(start_paused = true)]
async fn a_stop_that_was_asked_for_goes_on() {
    let json = r#"{"restart":"always"}"#;
    let (mut fixture, stored) = left_behind(json, async |fixture, handle| {
        fixture.keep_next().await;
        let mut changes = handle.changes();
        let handle = handle.clone();
        tokio::spawn(async move { handle.stop().await });
        changes
            .wait_for(|state| state.stop_requested)
            .await
            .unwrap();
    })
    .await;
    assert!(stored.state.stop_requested);
    let stops = fixture.world.count(&Step::Stop);
    let (events, adopted) = adopted(&stored, LONG);
    let handle = fixture.engine.adopt(stored, Some(adopted));
    events
        .send(ProcessEvent::Ended(report(signaled(Signal::TERM))))
        .unwrap();
    let state = handle.wait_end().await;
    assert_eq!(
        (state.active_state, state.sub_state),
        (ActiveState::Inactive, SubState::Dead)
    );
    assert_eq!(fixture.world.count(&Step::Stop), stops + 1);
    assert!(fixture.nothing_started());
}

#[tokio::test(start_paused = true)]
async fn a_run_that_was_only_recorded_as_starting_is_running_if_its_owner_knows_it() {
    let (fixture, mut stored) =
        left_behind("{}", async |fixture, _| fixture.keep_next().await).await;
    stored.state.active_state = ActiveState::Activating;
    stored.state.sub_state = SubState::Start;
    stored.state.pid = None;
    let (_events, adopted) = adopted(&stored, Duration::ZERO);
    let handle = fixture.engine.adopt(stored, Some(adopted));
    handle
        .changes()
        .wait_for(|state| state.sub_state == SubState::Running)
        .await
        .unwrap();
    assert_eq!(handle.state().pid, Some(4242));
}

#[tokio::test(start_paused = true)]
async fn a_unit_at_rest_is_not_live_and_its_run_is_forgotten() {
    let (fixture, stored) = left_behind("{}", async |fixture, handle| {
        fixture.next().await.exit(0);
        handle.wait_end().await;
    })
    .await;
    let (_, adopted) = adopted(&stored, LONG);
    let handle = fixture.engine.adopt(stored, Some(adopted));
    assert!(handle.state().is_final());
    assert!(handle.stop().await.is_ok());
    assert!(fixture.engine.live().is_empty());
    assert_eq!(fixture.world.count(&Step::Acknowledge), 2);
}

#[tokio::test(start_paused = true)]
async fn a_run_that_the_record_does_not_know_is_ended() {
    let (mut fixture, stored) =
        left_behind("{}", async |fixture, _| fixture.keep_next().await).await;
    let (_events, mut adopted) = adopted(&stored, LONG);
    adopted.invocation = InvocationId::generate();
    let handle = fixture.engine.adopt(stored, Some(adopted));
    assert!(handle.wait_end().await.interrupted);
    assert_eq!(fixture.world.count(&Step::Stop), 1);
    assert!(fixture.nothing_started());
}

#[tokio::test(start_paused = true)]
async fn a_recorded_form_that_cannot_be_read_still_names_a_unit_that_can_be_stopped() {
    let (fixture, mut stored) =
        left_behind("{}", async |fixture, _| fixture.keep_next().await).await;
    stored.unit.spec = r#"{"from":"the future"}"#.to_owned();
    let (events, adopted) = adopted(&stored, LONG);
    let handle = fixture.engine.adopt(stored, Some(adopted));
    assert_eq!(handle.spec().command, "true");
    events
        .send(ProcessEvent::Ended(report(ExitStatus::Exited(0))))
        .unwrap();
    assert_eq!(handle.wait_end().await.result, UnitResult::Success);
}

#[tokio::test(start_paused = true)]
async fn a_unit_is_adopted_once() {
    let (fixture, stored) = left_behind("{}", async |fixture, _| fixture.keep_next().await).await;
    let (_events, first) = adopted(&stored, LONG);
    fixture.engine.adopt(stored.clone(), Some(first));
    fixture.engine.adopt(stored, None);
    assert_eq!(fixture.engine.live().len(), 1);
    assert!(!fixture.engine.live()[0].state().interrupted);
}
