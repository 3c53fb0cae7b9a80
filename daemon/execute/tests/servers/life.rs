//! Delays, limits and patience.

use std::{
    sync::{Arc, atomic::Ordering},
    time::Duration,
};

use harness_model::{ActiveState, PluginStatus};

use crate::world::{World, world};

/// Delays of 1, 2 and 4 s, and as many starts as anybody likes.
const GROWING: &str = r#"{"restart":"on-failure","restart_sec":1,"restart_steps":2,"restart_max_delay_sec":4,
    "start_limit_burst":0}"#;

const FIVE: &str = r#"{"restart":"on-failure","restart_sec":1,"start_limit_burst":5,"start_limit_interval_sec":10}"#;

fn is(state: ActiveState) -> impl Fn(&PluginStatus) -> bool {
    move |status| status.active_state == state
}

/// The time between the last two starts, once there are so many.
async fn delay(world: &Arc<World>, starts: usize) -> Duration {
    world
        .until(|status| {
            status.active_state == ActiveState::Active
                && world.starts.lock().unwrap().len() == starts
        })
        .await;
    let times = world.starts.lock().unwrap();
    times[times.len() - 1] - times[times.len() - 2]
}

/// Pain 20: the backoff resets after stable uptime.
#[tokio::test(start_paused = true)]
async fn a_server_that_was_ready_for_a_while_is_started_again_as_quickly_as_the_first_time() {
    let world = world();
    let _server = world.server(GROWING, |_| {});
    world.until(is(ActiveState::Active)).await;
    world.crash();
    assert_eq!(delay(&world, 2).await, Duration::from_secs(1));
    world.crash();
    assert_eq!(delay(&world, 3).await, Duration::from_secs(2));
    // Not long enough to count.
    assert!(world.is_quiet_for(Duration::from_secs(30)).await);
    world.crash();
    assert_eq!(delay(&world, 4).await, Duration::from_secs(30 + 4));
    assert!(world.is_quiet_for(Duration::from_secs(90)).await);
    world.crash();
    assert_eq!(delay(&world, 5).await, Duration::from_secs(90 + 1));
}

/// Pain 20: however slowly it fails, a server that never says hello is given up.
#[tokio::test(start_paused = true)]
async fn a_server_that_never_says_hello_is_killed_and_then_parked() {
    let world = world();
    world.silent.store(true, Ordering::Relaxed);
    let server = world.server(FIVE, |_| {});
    world.until(is(ActiveState::Failed)).await;
    assert_eq!(world.starts.lock().unwrap().len(), 5);
    assert_eq!(*world.kills.lock().unwrap(), 4);
    let why = server.status().last_error.unwrap();
    assert!(why.contains("did not say hello"), "{why}");
    // A person can try again.
    world.silent.store(false, Ordering::Relaxed);
    server.start().await.unwrap();
    assert_eq!(server.status().active_state, ActiveState::Active);
}

/// Pain 21: a server that is up but dead is noticed, and counts as failed.
#[tokio::test(start_paused = true)]
async fn a_server_that_answers_no_ping_is_killed_and_started_again() {
    let world = world();
    world.deaf.store(true, Ordering::Relaxed);
    let _server = world.server(GROWING, |settings| {
        settings.watchdog = Some(Duration::from_secs(10));
    });
    world.until(is(ActiveState::Active)).await;
    world.deaf.store(false, Ordering::Relaxed);
    // Asked after ten seconds, given up after ten more, started again after one.
    assert_eq!(delay(&world, 2).await, Duration::from_secs(21));
    assert_eq!(*world.kills.lock().unwrap(), 1);
    assert!(world.is_quiet_for(Duration::from_secs(1000)).await);
    assert_eq!(world.starts.lock().unwrap().len(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_server_that_is_not_wanted_any_more_is_not_started_again() {
    let world = world();
    let server = world.server(GROWING, |_| {});
    world.until(is(ActiveState::Active)).await;
    world.crash();
    world.until(is(ActiveState::Activating)).await;
    assert_eq!(server.stop().await.active_state, ActiveState::Inactive);
    assert!(world.is_quiet_for(Duration::from_secs(1000)).await);
    assert_eq!(world.starts.lock().unwrap().len(), 1);
    let refused = server.absence().unwrap();
    assert!(
        !refused.retryable && refused.message.contains("by a person"),
        "{refused}"
    );
    server.restart().await.unwrap();
    server.end().await;
    assert_eq!(world.starts.lock().unwrap().len(), 2);
}
