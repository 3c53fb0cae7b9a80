//! Who waits, and whether a wake is due.

use std::time::Duration;

use harness_model::SubState;

use crate::support::{LONG, Step, fixture, id};

fn rested(awaited: bool) -> Step {
    Step::Changed {
        sub: SubState::Dead,
        awaited,
    }
}

#[tokio::test(start_paused = true)]
async fn an_end_that_nobody_waits_for_is_not_awaited() {
    let mut fixture = fixture();
    let handle = fixture
        .engine
        .start(id("a"), fixture.spec("{}"))
        .await
        .unwrap();
    assert!(handle.wait(Duration::from_secs(3)).await.is_none());
    fixture.next().await.exit(0);
    handle.wait_end().await;
    assert_eq!(fixture.world.count(&rested(false)), 1);
    assert_eq!(fixture.world.count(&Step::Waited(true)), 0);
    assert_eq!(fixture.world.count(&Step::Waited(false)), 0);
}

#[tokio::test(start_paused = true)]
async fn an_end_that_is_delivered_needs_no_wake() {
    let mut fixture = fixture();
    let (handle, waiter) = fixture
        .engine
        .start_awaited(id("a"), fixture.spec("{}"))
        .await
        .unwrap();
    fixture.next().await.exit(0);
    // However early it ended, the waiter was there before.
    handle.wait_end().await;
    let ending = waiter.end(Duration::ZERO).await.unwrap();
    assert!(ending.state.is_final());
    ending.delivered();
    assert_eq!(fixture.world.count(&rested(true)), 1);
    assert_eq!(fixture.world.steps().last(), Some(&Step::Waited(true)));
}

#[tokio::test(start_paused = true)]
async fn an_end_that_is_lost_on_the_way_is_told_after_all() {
    let mut fixture = fixture();
    let (_, waiter) = fixture
        .engine
        .start_awaited(id("a"), fixture.spec("{}"))
        .await
        .unwrap();
    fixture.next().await.exit(0);
    drop(waiter.end(LONG).await.unwrap());
    assert_eq!(fixture.world.steps().last(), Some(&Step::Waited(false)));
}

#[tokio::test(start_paused = true)]
async fn one_of_several_waiters_is_enough_and_settles_it_once() {
    let mut fixture = fixture();
    let handle = fixture
        .engine
        .start(id("a"), fixture.spec("{}"))
        .await
        .unwrap();
    let (first, second, third) = (handle.waiter(), handle.waiter(), handle.waiter());
    fixture.next().await.exit(0);
    drop(first.end(LONG).await);
    assert_eq!(fixture.world.count(&Step::Waited(false)), 0);
    second.end(LONG).await.unwrap().delivered();
    third.end(LONG).await.unwrap().delivered();
    assert_eq!(fixture.world.count(&Step::Waited(true)), 1);
    assert_eq!(fixture.world.count(&Step::Waited(false)), 0);
}

#[tokio::test(start_paused = true)]
async fn a_waiter_whose_time_passes_while_the_end_is_recorded_leaves_the_wake_due() {
    let mut fixture = fixture();
    fixture.world.hold_rest();
    let (handle, waiter) = fixture
        .engine
        .start_awaited(id("a"), fixture.spec("{}"))
        .await
        .unwrap();
    fixture.next().await.exit(0);
    fixture.world.held.notified().await;
    assert!(waiter.end(Duration::from_millis(1)).await.is_none());
    // Not before the end itself is in the record, or it would settle nothing.
    assert_eq!(fixture.world.count(&Step::Waited(false)), 0);
    fixture.world.release.notify_one();
    handle.wait_end().await;
    let steps = fixture.world.steps();
    let rested = steps.iter().position(|step| *step == rested(true)).unwrap();
    let waited = steps
        .iter()
        .position(|step| *step == Step::Waited(false))
        .unwrap();
    assert!(rested < waited);
}

#[tokio::test(start_paused = true)]
async fn a_waiter_that_comes_when_the_wake_is_on_its_way_has_no_say_in_it() {
    let mut fixture = fixture();
    fixture.world.hold_rest();
    let handle = fixture
        .engine
        .start(id("a"), fixture.spec("{}"))
        .await
        .unwrap();
    fixture.next().await.exit(0);
    fixture.world.held.notified().await;
    let late = handle.waiter();
    fixture.world.release.notify_one();
    late.end(LONG).await.unwrap().delivered();
    assert_eq!(fixture.world.count(&rested(false)), 1);
    assert_eq!(fixture.world.count(&Step::Waited(true)), 0);
}

#[tokio::test(start_paused = true)]
async fn a_wait_goes_on_over_restarts() {
    let mut fixture = fixture();
    let spec = fixture.spec(r#"{"restart":"on-failure"}"#);
    let (_, waiter) = fixture.engine.start_awaited(id("a"), spec).await.unwrap();
    fixture.next().await.exit(1);
    fixture.next().await.exit(0);
    let state = waiter.end(LONG).await.unwrap().delivered();
    assert_eq!(state.restarts, 1);
}
