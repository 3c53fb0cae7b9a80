//! A record that cannot be written.

use std::time::Duration;

use harness_model::{SubState, UnitResult};
use harness_supervise::StartError;
use tokio::time::Instant;

use crate::support::{LONG, Step, fixture, id};

#[tokio::test(start_paused = true)]
async fn nothing_runs_that_is_not_recorded() {
    let mut fixture = fixture();
    fixture.world.fail_records(1);
    let Err(error) = fixture.engine.start(id("a"), fixture.spec("{}")).await else {
        panic!("started")
    };
    assert!(matches!(error, StartError::Journal(_)), "{error}");
    assert!(fixture.nothing_started());
    assert!(fixture.engine.live().is_empty());
    fixture
        .engine
        .start(id("a"), fixture.spec("{}"))
        .await
        .unwrap();
}

#[tokio::test(start_paused = true)]
async fn an_end_is_told_at_once_and_recorded_as_soon_as_it_can_be() {
    let mut fixture = fixture();
    let (handle, waiter) = fixture
        .engine
        .start_awaited(id("a"), fixture.spec("{}"))
        .await
        .unwrap();
    let process = fixture.next().await;
    fixture.world.fail_records(5);
    process.exit(3);
    let state = waiter
        .end(Duration::from_millis(1))
        .await
        .unwrap()
        .delivered();
    assert_eq!(state.result, UnitResult::ExitCode);
    assert_eq!(fixture.world.count(&Step::Acknowledge), 0);
    assert!(fixture.engine.get(&id("a")).is_some());
    let taken = fixture.engine.start(id("a"), fixture.spec("{}")).await;
    assert!(matches!(taken, Err(StartError::Taken { .. })));
    let begin = Instant::now();
    fixture.world.until(&Step::Acknowledge).await;
    assert!(begin.elapsed() >= Duration::from_secs(1 + 2 + 4 + 8 + 16));
    let steps = fixture.world.steps();
    let rest = Step::Changed {
        sub: SubState::Failed,
        awaited: true,
    };
    assert_eq!(
        steps[steps.len() - 3..],
        [rest, Step::Waited(true), Step::Acknowledge]
    );
    assert!(handle.state().is_final());
    assert_eq!(fixture.stored().state, state);
}

#[tokio::test(start_paused = true)]
async fn a_record_that_only_takes_its_time_keeps_nobody_waiting() {
    let mut fixture = fixture();
    fixture.world.hold_rest();
    let (_, waiter) = fixture
        .engine
        .start_awaited(id("a"), fixture.spec("{}"))
        .await
        .unwrap();
    fixture.next().await.exit(0);
    let begin = Instant::now();
    waiter.end(LONG).await.unwrap().delivered();
    assert!(begin.elapsed() <= Duration::from_secs(3));
    assert_eq!(fixture.world.count(&Step::Waited(true)), 0);
    fixture.world.release.notify_one();
    fixture.world.until(&Step::Waited(true)).await;
    assert_eq!(fixture.world.count(&Step::Waited(true)), 1);
    let rest = Step::Changed {
        sub: SubState::Dead,
        awaited: true,
    };
    assert_eq!(fixture.world.count(&rest), 1);
}

#[tokio::test(start_paused = true)]
async fn a_restart_waits_until_the_end_before_it_is_recorded() {
    let mut fixture = fixture();
    let handle = fixture
        .engine
        .start(id("a"), fixture.spec(r#"{"restart":"always"}"#))
        .await
        .unwrap();
    let process = fixture.next().await;
    fixture.world.fail_records_for_good(true);
    process.exit(7);
    handle
        .changes()
        .wait_for(|state| state.sub_state == SubState::AutoRestart)
        .await
        .unwrap();
    assert!(fixture.starts_nothing_for(Duration::from_mins(10)).await);
    assert_eq!(fixture.world.count(&Step::Acknowledge), 0);
    assert_eq!(handle.state().restarts, 0);
    fixture.world.fail_records_for_good(false);
    fixture.next().await;
    let steps = fixture.world.steps();
    let place = |wanted: &Step| steps.iter().position(|step| step == wanted).unwrap();
    let scheduled = place(&Step::Changed {
        sub: SubState::AutoRestart,
        awaited: false,
    });
    assert!(scheduled < place(&Step::Acknowledge));
    assert!(place(&Step::Acknowledge) < place(&Step::Starting));
}

#[tokio::test(start_paused = true)]
async fn a_stop_is_carried_out_even_when_it_cannot_be_recorded() {
    let mut fixture = fixture();
    let handle = fixture
        .engine
        .start(id("a"), fixture.spec(r#"{"restart":"always"}"#))
        .await
        .unwrap();
    let process = fixture.next().await;
    fixture.world.fail_records_for_good(true);
    process
        .events
        .send(harness_supervise::ProcessEvent::FinalKill)
        .unwrap();
    let stopping = tokio::spawn({
        let handle = handle.clone();
        async move { handle.stop().await }
    });
    handle
        .changes()
        .wait_for(|state| state.stop_requested)
        .await
        .unwrap();
    assert_eq!(fixture.world.count(&Step::Stop), 1);
    process.exit(0);
    assert_eq!(stopping.await.unwrap().unwrap().result, UnitResult::Timeout);
}
