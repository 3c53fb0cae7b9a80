//! The restart arithmetic.

use std::time::Duration;

use harness_model::{ExitStatus, Restart, Signal, TimeSpan, Timestamp, UnitPolicy, UnitResult};
use harness_supervise::{
    Moment, Now,
    restart::{StartLimit, restart_delay, should_restart},
};
use proptest::prelude::*;

use crate::support::{settings, signaled};

fn policy(json: &str) -> UnitPolicy {
    settings(json).resolve().unwrap()
}

fn now(micros: u64) -> Now {
    Now {
        monotonic: Moment::at(Duration::from_secs(1_000_000) + Duration::from_micros(micros)),
        wall: Timestamp::from_micros(1_700_000_000_000_000).plus(Duration::from_micros(micros)),
    }
}

#[test]
fn the_decision_table_is_that_of_the_manual() {
    // Rows of systemd.service(5), "Exit causes and the effect of the Restart= settings".
    let rows = [
        (UnitResult::Success, "always on-success"),
        (UnitResult::ExitCode, "always on-failure"),
        (UnitResult::Signal, "always on-failure on-abnormal on-abort"),
        (
            UnitResult::CoreDump,
            "always on-failure on-abnormal on-abort",
        ),
        (UnitResult::Timeout, "always on-failure on-abnormal"),
        (UnitResult::OomKill, "always on-failure on-abnormal"),
        (UnitResult::Resources, "always on-failure on-abnormal"),
    ];
    for (result, modes) in rows {
        for mode in Restart::ALL {
            let policy = policy(&format!(r#"{{"restart":"{mode}"}}"#));
            let expected = modes.split(' ').any(|word| word == mode.as_str());
            for status in [None, Some(ExitStatus::Exited(9))] {
                assert_eq!(
                    should_restart(&policy, result, status, false),
                    expected,
                    "{mode} {result}"
                );
                assert!(
                    !should_restart(&policy, result, status, true),
                    "{mode} {result}"
                );
            }
        }
    }
}

#[test]
fn prevent_wins_over_force_and_force_over_the_mode() {
    let both = policy(
        r#"{"restart":"always","restart_force_exit_status":"3 SIGUSR1","restart_prevent_exit_status":"3"}"#,
    );
    let three = Some(ExitStatus::Exited(3));
    assert!(!should_restart(&both, UnitResult::ExitCode, three, false));
    let force = policy(r#"{"restart":"no","restart_force_exit_status":"3 SIGUSR1"}"#);
    assert!(should_restart(&force, UnitResult::ExitCode, three, false));
    let usr1 = Some(signaled("USR1".parse::<Signal>().unwrap()));
    assert!(should_restart(&force, UnitResult::Signal, usr1, false));
    assert!(!should_restart(&force, UnitResult::ExitCode, three, true));
    assert!(!should_restart(&force, UnitResult::Resources, None, false));
}

#[test]
fn the_delay_grows_by_the_same_factor_in_each_step() {
    let growing = policy(r#"{"restart_sec":1,"restart_steps":4,"restart_max_delay_sec":16}"#);
    let delays: Vec<_> = (0..6)
        .map(|restarts| restart_delay(&growing, restarts).unwrap().as_secs())
        .collect();
    assert_eq!(delays, [1, 2, 4, 8, 16, 16]);
    let plain = policy(r#"{"restart_sec":"250ms"}"#);
    assert_eq!(restart_delay(&plain, 99), Some(Duration::from_millis(250)));
    let at_once = policy(r#"{"restart_sec":0,"restart_steps":3,"restart_max_delay_sec":9}"#);
    assert_eq!(restart_delay(&at_once, 7), Some(Duration::ZERO));
    let never = policy(r#"{"restart_sec":"infinity"}"#);
    assert_eq!(restart_delay(&never, 0), None);
}

#[test]
fn the_window_begins_with_a_start_and_is_left_once_the_interval_has_passed() {
    let policy = policy(r#"{"start_limit_interval_sec":10,"start_limit_burst":2}"#);
    let mut limit = StartLimit::default();
    let second = 1_000_000;
    assert!(limit.admit(&policy, now(0)));
    assert!(limit.admit(&policy, now(9 * second)));
    assert!(!limit.admit(&policy, now(10 * second)));
    assert!(limit.admit(&policy, now(10 * second + 1)));
    assert!(limit.admit(&policy, now(11 * second)));
    assert!(!limit.admit(&policy, now(12 * second)));
    assert_eq!(limit.recent().len(), 2);
}

#[test]
fn a_burst_or_an_interval_of_zero_switches_the_limit_off() {
    for json in [
        r#"{"start_limit_burst":0}"#,
        r#"{"start_limit_interval_sec":0,"start_limit_burst":1}"#,
    ] {
        let mut limit = StartLimit::default();
        assert!(
            (0..1000).all(|_| limit.admit(&policy(json), now(0))),
            "{json}"
        );
    }
}

#[test]
fn a_limit_survives_the_daemon_even_when_the_clock_was_set_back() {
    let policy = policy(r#"{"start_limit_interval_sec":10,"start_limit_burst":3}"#);
    let mut limit = StartLimit::default();
    assert!(limit.admit(&policy, now(5_000_000)));
    assert!(limit.admit(&policy, now(6_000_000)));
    let recent = limit.recent().to_vec();
    let mut same = StartLimit::restored(recent.clone(), now(7_000_000));
    assert!(same.admit(&policy, now(7_000_000)));
    assert!(!same.admit(&policy, now(8_000_000)));
    assert!(same.admit(&policy, now(15_000_001)));
    let mut back = StartLimit::restored(recent, now(0));
    assert!(back.admit(&policy, now(0)));
    assert!(!back.admit(&policy, now(1)));
    assert!(back.admit(&policy, now(10_000_001)));
}

proptest! {
    #[test]
    fn a_delay_never_shrinks_and_never_leaves_its_bounds(
        first in 1_u64..10_000_000, more in 1_u64..1_000_000_000, steps in 1_u32..200,
    ) {
        let max = first + more;
        let policy = policy(&format!(
            r#"{{"restart_sec":"{first}us","restart_steps":{steps},"restart_max_delay_sec":"{max}us"}}"#
        ));
        let delays: Vec<_> = (0..=steps + 2).map(|n| restart_delay(&policy, n).unwrap()).collect();
        prop_assert_eq!(delays[0], Duration::from_micros(first));
        prop_assert!(delays.is_sorted());
        prop_assert_eq!(delays[steps as usize], Duration::from_micros(max));
        prop_assert_eq!(delays.last().copied(), Some(Duration::from_micros(max)));
        // Each delay is r0 · (rn / r0)^(i / n), to the microsecond that double precision can tell.
        for (i, delay) in (0_u32..).zip(&delays).take(steps as usize) {
            let exact = Duration::from_micros(first).as_secs_f64()
                * (f64::from(i) / f64::from(steps)
                    * (Duration::from_micros(max).as_secs_f64() / Duration::from_micros(first).as_secs_f64()).ln()).exp();
            prop_assert!((delay.as_secs_f64() - exact).abs() <= 2e-6 + exact * 1e-9, "{i}: {delay:?} {exact}");
        }
    }

    #[test]
    fn a_limit_counts_as_systemds_rate_limiter(
        burst in 1_u32..6, interval in 1_u64..100, gaps in prop::collection::vec(0_u64..60, 1..60),
    ) {
        let policy = policy(&format!(
            r#"{{"start_limit_interval_sec":"{interval}us","start_limit_burst":{burst}}}"#
        ));
        let mut limit = StartLimit::default();
        let (mut begin, mut count, mut at) = (None, 0, 0);
        for gap in gaps {
            at += gap;
            if begin.is_none_or(|begin| at - begin > interval) {
                begin = Some(at);
                count = 0;
            }
            count += 1;
            prop_assert_eq!(limit.admit(&policy, now(at)), count <= burst);
            prop_assert!(limit.recent().len() <= burst as usize);
        }
    }
}

/// systemd cuts off what is below a microsecond, be it the error of its own arithmetic.
#[test]
fn the_delays_are_those_of_systemd_257() {
    let table = include_str!("systemd-257-steps.txt")
        .lines()
        .filter(|line| !line.starts_with('#'));
    let span = |text: &str| text.parse::<TimeSpan>().unwrap().finite().unwrap();
    let mut compared = 0;
    for line in table {
        let (settings, delays) = line.split_once(" | ").unwrap();
        let [first, steps, max] = settings.split(' ').collect::<Vec<_>>()[..] else {
            panic!("{line}")
        };
        let policy = policy(&format!(
            r#"{{"restart_sec":"{first}","restart_steps":{steps},"restart_max_delay_sec":"{max}"}}"#
        ));
        for (restarts, expected) in (0..).zip(delays.split(' ')) {
            let delay = restart_delay(&policy, restarts).unwrap();
            let off = delay.abs_diff(span(expected));
            assert!(
                off <= Duration::from_micros(1),
                "{settings}, restart {restarts}: {delay:?}, not {expected}"
            );
            compared += 1;
        }
    }
    assert!(compared > 100, "{compared}");
}
