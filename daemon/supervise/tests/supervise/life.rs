//! Units from start to end.

use std::{
    fs,
    io::Read,
    sync::Arc,
    time::{Duration, SystemTime},
};

use harness_model::{ActiveState, InvocationId, Signal, SubState, UnitId, UnitKind, UnitResult};
use harness_supervise::{
    Engine, ProcessEvent, RunEnvironment, SpawnError, StartError, Stdio, UnitError, UnitSpec,
};
use tokio::time::Instant;

use crate::support::{LONG, Step, fixture, id, report, signaled};

#[tokio::test(start_paused = true)]
async fn a_run_is_recorded_before_it_exists_and_its_end_before_it_is_forgotten() {
    let mut fixture = fixture();
    let spec = fixture.spec("{}");
    let handle = fixture.engine.start(id("a"), spec.clone()).await.unwrap();
    let state = handle.state();
    assert_eq!(
        (state.active_state, state.sub_state),
        (ActiveState::Active, SubState::Running)
    );
    assert_eq!(state.pid, Some(4242));
    fixture.next().await.exit(0);
    let state = handle.wait_end().await;
    assert_eq!(
        (state.active_state, state.sub_state),
        (ActiveState::Inactive, SubState::Dead)
    );
    assert_eq!(state.result, UnitResult::Success);
    assert_eq!(
        fixture.world.steps(),
        [
            Step::Created,
            Step::Spawn,
            Step::Noted(SubState::Running),
            Step::Changed {
                sub: SubState::Dead,
                awaited: false
            },
            Step::Acknowledge,
        ]
    );
    assert!(fixture.engine.get(&id("a")).is_none());
    let kept: UnitSpec = serde_json::from_str(&fixture.stored().unit.spec).unwrap();
    assert_eq!(kept, spec);
}

#[tokio::test(start_paused = true)]
async fn a_chain_of_restarts_keeps_its_delays_and_ends_at_the_limit() {
    let mut fixture = fixture();
    let spec = fixture.spec(
        r#"{"restart":"on-failure","restart_sec":1,"restart_steps":2,"restart_max_delay_sec":4,
            "start_limit_burst":4,"start_limit_interval_sec":"infinity"}"#,
    );
    let handle = fixture.engine.start(id("a"), spec).await.unwrap();
    let mut gaps = Vec::new();
    let mut last = Instant::now();
    for run in 0..4 {
        let process = fixture.next().await;
        if run > 0 {
            gaps.push(last.elapsed().as_secs());
        }
        assert_eq!(fs::read(&handle.spec().output.stdout).unwrap(), b"");
        last = Instant::now();
        process.exit(1);
    }
    let state = handle.wait_end().await;
    assert_eq!(gaps, [1, 2, 4]);
    assert_eq!((state.result, state.restarts), (UnitResult::ExitCode, 4));
    assert!(fixture.nothing_started());
    assert_eq!(fixture.world.count(&Step::Acknowledge), 4);
}

#[tokio::test(start_paused = true)]
async fn a_reset_begins_with_the_first_delay_and_an_unused_start_limit() {
    let mut fixture = fixture();
    let settings = r#"{"restart":"always","restart_sec":1,"restart_steps":2,"restart_max_delay_sec":4,
        "start_limit_burst":3,"start_limit_interval_sec":1000}"#;
    let handle = fixture
        .engine
        .start(id("a"), fixture.spec(settings))
        .await
        .unwrap();
    for _ in 0..2 {
        fixture.next().await.exit(1);
    }
    let third = fixture.next().await;
    handle.reset_failed();
    let mut changes = handle.changes();
    changes.wait_for(|state| state.restarts == 0).await.unwrap();
    let begin = Instant::now();
    third.exit(1);
    fixture.keep_next().await;
    assert_eq!(begin.elapsed(), Duration::from_secs(1));
}

#[tokio::test(start_paused = true)]
async fn a_unit_that_is_killed_gets_no_other_signal_and_is_not_restarted() {
    let mut fixture = fixture();
    let spec = fixture.spec(r#"{"restart":"always","restart_sec":0,"timeout_stop_sec":100}"#);
    let handle = fixture.engine.start(id("a"), spec).await.unwrap();
    let process = fixture.next().await;
    let killing = tokio::spawn({
        let handle = handle.clone();
        async move { handle.kill().await.unwrap() }
    });
    let mut changes = handle.changes();
    changes
        .wait_for(|state| state.stop_requested)
        .await
        .unwrap();
    assert_eq!(fixture.world.sequence().kill_signal, Signal::KILL);
    process.end(signaled(Signal::KILL));
    let state = killing.await.unwrap();
    assert_eq!((state.result, state.restarts), (UnitResult::Signal, 0));
    assert!(state.is_final() && state.stop_requested);
    assert_eq!(fixture.world.count(&Step::Spawn), 1);
    assert!(handle.kill().await.unwrap().is_final());
}

#[tokio::test(start_paused = true)]
async fn a_wall_clock_that_is_set_moves_no_timer() {
    fn back() -> SystemTime {
        SystemTime::UNIX_EPOCH
    }
    let mut fixture = fixture();
    fixture.engine = fixture.engine.clone().with_wall_clock(back);
    let spec = fixture.spec(r#"{"restart":"always","restart_sec":30,"runtime_max_sec":60}"#);
    let handle = fixture.engine.start(id("a"), spec).await.unwrap();
    let begin = Instant::now();
    fixture.next().await.exit(0);
    let second = fixture.next().await;
    assert_eq!(begin.elapsed().as_secs(), 30);
    handle
        .changes()
        .wait_for(|state| state.sub_state == SubState::StopSigterm)
        .await
        .unwrap();
    assert_eq!(begin.elapsed().as_secs(), 90);
    second.end(signaled(Signal::TERM));
    handle.stop().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_stop_resolves_when_nothing_is_left() {
    let mut fixture = fixture();
    let handle = fixture
        .engine
        .start(id("a"), fixture.spec(r#"{"restart":"always"}"#))
        .await
        .unwrap();
    let process = fixture.next().await;
    let stopping = tokio::spawn({
        let handle = handle.clone();
        async move { handle.stop().await }
    });
    handle
        .changes()
        .wait_for(|state| state.stop_requested)
        .await
        .unwrap();
    assert_eq!(handle.state().sub_state, SubState::StopSigterm);
    process
        .events
        .send(ProcessEvent::MainExited(report(signaled(Signal::TERM))))
        .unwrap();
    handle
        .changes()
        .wait_for(|state| state.pid.is_none())
        .await
        .unwrap();
    assert!(!stopping.is_finished());
    process
        .events
        .send(ProcessEvent::Ended(report(signaled(Signal::TERM))))
        .unwrap();
    let state = stopping.await.unwrap().unwrap();
    assert_eq!(
        (state.result, state.active_state),
        (UnitResult::Success, ActiveState::Inactive)
    );
    // The stop is in the record before it is carried out.
    let steps = fixture.world.steps();
    let recorded = steps.iter().position(|step| {
        *step
            == Step::Changed {
                sub: SubState::StopSigterm,
                awaited: false,
            }
    });
    let carried_out = steps.iter().position(|step| *step == Step::Stop);
    assert!(recorded.unwrap() < carried_out.unwrap());
    assert_eq!(handle.stop().await.unwrap(), state);
}

#[tokio::test(start_paused = true)]
async fn a_stop_while_it_waits_for_its_restart_cancels_it() {
    let mut fixture = fixture();
    let spec = fixture.spec(r#"{"restart":"always","restart_sec":"1h"}"#);
    let handle = fixture.engine.start(id("a"), spec).await.unwrap();
    fixture.next().await.exit(0);
    handle
        .changes()
        .wait_for(|state| state.sub_state == SubState::AutoRestart)
        .await
        .unwrap();
    let state = handle.stop().await.unwrap();
    assert_eq!(
        (state.active_state, state.sub_state),
        (ActiveState::Inactive, SubState::Dead)
    );
    assert!(fixture.starts_nothing_for(LONG).await);
}

#[tokio::test(start_paused = true)]
async fn a_restart_never_has_two_instances() {
    let mut fixture = fixture();
    let handle = fixture
        .engine
        .start(id("a"), fixture.spec("{}"))
        .await
        .unwrap();
    let first = fixture.next().await;
    let restarting = tokio::spawn({
        let handle = handle.clone();
        async move { handle.restart().await }
    });
    handle
        .changes()
        .wait_for(|state| state.sub_state == SubState::StopSigterm)
        .await
        .unwrap();
    assert!(fixture.nothing_started());
    first.end(signaled(Signal::TERM));
    let second = fixture.next().await;
    restarting.await.unwrap().unwrap();
    assert_ne!(first.request.invocation, second.request.invocation);
    let state = handle.state();
    assert_eq!((state.sub_state, state.restarts), (SubState::Running, 0));
    assert_eq!(fixture.engine.live().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_restart_while_it_stops_supersedes_the_stop() {
    let mut fixture = fixture();
    let handle = fixture
        .engine
        .start(id("a"), fixture.spec("{}"))
        .await
        .unwrap();
    let first = fixture.next().await;
    let spawn =
        |work: futures_util::future::BoxFuture<'static, Result<(), UnitError>>| tokio::spawn(work);
    let stopping = spawn(Box::pin({
        let handle = handle.clone();
        async move { handle.stop().await.map(drop) }
    }));
    handle
        .changes()
        .wait_for(|state| state.stop_requested)
        .await
        .unwrap();
    let restarting = spawn(Box::pin({
        let handle = handle.clone();
        async move { handle.restart().await }
    }));
    handle
        .changes()
        .wait_for(|state| !state.stop_requested)
        .await
        .unwrap();
    first.end(signaled(Signal::TERM));
    restarting.await.unwrap().unwrap();
    let superseded = UnitError::Superseded {
        unit: id("a"),
        what: "started",
    };
    assert_eq!(stopping.await.unwrap(), Err(superseded));
    assert_eq!(handle.state().sub_state, SubState::Running);
}

#[tokio::test(start_paused = true)]
async fn a_restart_that_hits_the_limit_says_so() {
    let mut fixture = fixture();
    let spec = fixture.spec(r#"{"start_limit_burst":1,"start_limit_interval_sec":60}"#);
    let handle = fixture.engine.start(id("a"), spec).await.unwrap();
    let first = fixture.next().await;
    let restarting = tokio::spawn({
        let handle = handle.clone();
        async move { handle.restart().await }
    });
    handle
        .changes()
        .wait_for(|state| state.sub_state == SubState::StopSigterm)
        .await
        .unwrap();
    first.end(signaled(Signal::TERM));
    let error = restarting.await.unwrap().unwrap_err();
    assert!(matches!(error, UnitError::NotStarted { .. }), "{error}");
    assert_eq!(handle.wait_end().await.result, UnitResult::StartLimitHit);
    assert!(matches!(
        handle.restart().await,
        Err(UnitError::AtRest { .. })
    ));
}

#[tokio::test(start_paused = true)]
async fn what_cannot_be_started_is_a_unit_at_rest_and_says_why() {
    let fixture = fixture();
    fixture.world.refuse_spawn(SpawnError::NoSuchProgram {
        program: "nope".to_owned(),
    });
    let handle = fixture
        .engine
        .start(id("a"), fixture.spec("{}"))
        .await
        .unwrap();
    let state = handle.state();
    assert!(state.is_final());
    assert_eq!(state.result, UnitResult::Resources);
    assert!(state.note.unwrap().contains("nope"));
    assert_eq!(fixture.world.count(&Step::Spawn), 0);
}

#[tokio::test(start_paused = true)]
async fn a_start_that_fails_for_want_of_something_is_tried_again_by_policy() {
    let mut fixture = fixture();
    fixture.world.refuse_spawn(SpawnError::System {
        step: "clone3".to_owned(),
        error: "EAGAIN".to_owned(),
        retryable: true,
    });
    let handle = fixture
        .engine
        .start(id("a"), fixture.spec(r#"{"restart":"on-failure"}"#))
        .await
        .unwrap();
    assert_eq!(handle.state().sub_state, SubState::AutoRestart);
    fixture.next().await;
    handle
        .changes()
        .wait_for(|state| state.sub_state == SubState::Running)
        .await
        .unwrap();
    assert_eq!(handle.state().restarts, 1);
}

#[tokio::test(start_paused = true)]
async fn a_stop_that_cannot_be_carried_out_says_so_and_can_be_asked_for_again() {
    let mut fixture = fixture();
    let handle = fixture
        .engine
        .start(id("a"), fixture.spec(r#"{"restart":"always"}"#))
        .await
        .unwrap();
    let process = fixture.next().await;
    fixture.world.fail_stops(Some(SpawnError::Unavailable));
    assert_eq!(
        handle.stop().await,
        Err(UnitError::Spawner(SpawnError::Unavailable))
    );
    fixture.world.fail_stops(None);
    process.end(signaled(Signal::TERM));
    assert_eq!(
        handle.stop().await.unwrap().active_state,
        ActiveState::Inactive
    );
    assert!(fixture.nothing_started());
}

#[tokio::test(start_paused = true)]
async fn a_signal_reaches_the_process_or_says_that_there_is_none() {
    let mut fixture = fixture();
    let handle = fixture
        .engine
        .start(id("a"), fixture.spec("{}"))
        .await
        .unwrap();
    let process = fixture.next().await;
    handle.signal(Signal::HUP, true).await.unwrap();
    assert_eq!(fixture.world.count(&Step::Signal(Signal::HUP, true)), 1);
    process.exit(0);
    handle.wait_end().await;
    let error = handle.signal(Signal::HUP, false).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "unit a has no process (dead): start it first"
    );
}

#[tokio::test(start_paused = true)]
async fn a_unit_is_started_again_under_its_id_and_the_limit_counts_it() {
    let mut fixture = fixture();
    let spec = fixture.spec(r#"{"start_limit_burst":2,"start_limit_interval_sec":"infinity"}"#);
    let handle = fixture.engine.start(id("a"), spec.clone()).await.unwrap();
    let taken = fixture.engine.start(id("a"), spec).await;
    assert!(matches!(taken, Err(StartError::Taken { .. })));
    let first = handle.state();
    fixture.next().await.exit(3);
    handle.wait_end().await;
    let again = fixture.engine.start_again(fixture.stored()).await.unwrap();
    assert_eq!(again.state().started_at, first.started_at);
    assert_eq!(again.state().result, UnitResult::Success);
    fixture.next().await.exit(0);
    again.wait_end().await;
    let refused = fixture.engine.start_again(fixture.stored()).await;
    let Err(error) = refused else {
        panic!("not refused")
    };
    assert!(error.to_string().contains("start_limit_burst"), "{error}");
    let last = fixture.world.last();
    assert_eq!(last.state.result, UnitResult::StartLimitHit);
    // Who asked was told: nobody is woken for it.
    assert!(last.awaited);
    assert_eq!(fixture.world.steps().last(), Some(&Step::Waited(true)));
    assert!(fixture.engine.live().is_empty());
}

fn variable(name: &str, value: &str) -> (String, String) {
    (name.to_owned(), value.to_owned())
}

type Break = Box<dyn Fn(&mut UnitSpec)>;

#[tokio::test(start_paused = true)]
async fn what_no_process_could_take_is_refused_and_leaves_nothing() {
    let fixture = fixture();
    let broken: [(&str, Break); 6] = [
        ("is empty", Box::new(|spec| spec.argv.clear())),
        ("NUL", Box::new(|spec| spec.argv.push("a\0b".to_owned()))),
        ("NUL", Box::new(|spec| spec.cwd = "/a\0b".into())),
        (
            "NUL",
            Box::new(|spec| spec.environment = vec![variable("A", "\0")]),
        ),
        (
            "name",
            Box::new(|spec| spec.environment = vec![variable("A=B", "")]),
        ),
        (
            "restart_max_delay_sec",
            Box::new(|spec| spec.settings.restart_steps = Some(3)),
        ),
    ];
    for (part, breaks) in broken {
        let mut spec = fixture.spec("{}");
        breaks(&mut spec);
        let Err(error) = fixture.engine.start(id("a"), spec).await else {
            panic!("{part}")
        };
        assert!(error.to_string().contains(part), "{error}");
    }
    assert_eq!(fixture.world.steps(), []);
    assert!(fixture.engine.live().is_empty());
}

#[tokio::test(start_paused = true)]
async fn an_output_file_that_is_a_link_or_cannot_be_made_is_refused() {
    let fixture = fixture();
    let spec = fixture.spec("{}");
    let victim = fixture.directory.path().join("victim");
    fs::write(&victim, "precious").unwrap();
    fs::create_dir(fixture.directory.path().join("tasks")).unwrap();
    std::os::unix::fs::symlink(&victim, &spec.output.stdout).unwrap();
    let Err(error) = fixture.engine.start(id("a"), spec).await else {
        panic!("followed")
    };
    assert!(matches!(error, StartError::Output { .. }), "{error}");
    assert_eq!(fs::read_to_string(victim).unwrap(), "precious");
    assert_eq!(fixture.world.steps(), []);
}

struct Token;

impl RunEnvironment for Token {
    fn variables(&self, unit: &UnitId, run: &InvocationId, _: &UnitSpec) -> Vec<(String, String)> {
        vec![
            ("TOKEN".to_owned(), format!("{unit}-{run}")),
            ("PATH".to_owned(), "/own".to_owned()),
        ]
    }
}

#[tokio::test(start_paused = true)]
async fn what_belongs_to_one_run_is_given_to_it_and_not_recorded() {
    let mut fixture = fixture();
    fixture.engine =
        Engine::new(fixture.world.clone(), fixture.world.clone()).with_environment(Arc::new(Token));
    let mut spec = fixture.spec(r#"{"restart":"always"}"#);
    spec.stdin = Some("input\n".to_owned());
    fixture.engine.start(id("a"), spec).await.unwrap();
    let mut tokens = Vec::new();
    for _ in 0..2 {
        let process = fixture.next().await;
        let environment = &process.request.environment;
        let get = |name: &str| {
            environment
                .iter()
                .find(|(known, _)| known == name)
                .unwrap()
                .1
                .clone()
        };
        assert_eq!(get("INVOCATION_ID"), process.request.invocation.as_str());
        assert_eq!(get("PATH"), "/own");
        tokens.push(get("TOKEN"));
        process.exit(0);
        let Stdio::Fd(stdin) = process.request.stdin else {
            panic!("no stdin")
        };
        let mut text = String::new();
        fs::File::from(stdin).read_to_string(&mut text).unwrap();
        assert_eq!(text, "input\n");
    }
    assert_ne!(tokens[0], tokens[1]);
    assert!(!fixture.stored().unit.spec.contains("TOKEN"));
}

#[tokio::test(start_paused = true)]
async fn a_connected_unit_gives_the_ends_of_its_pipes_for_every_run() {
    let mut fixture = fixture();
    let (sender, mut connections) = tokio::sync::mpsc::unbounded_channel();
    let mut spec = fixture.spec(r#"{"restart":"always"}"#);
    spec.kind = UnitKind::McpServer;
    fixture
        .engine
        .start_connected(id("a"), spec, sender)
        .await
        .unwrap();
    for _ in 0..2 {
        let process = fixture.next().await;
        let connection = connections.recv().await.unwrap();
        assert_eq!(connection.invocation, process.request.invocation);
        process.exit(0);
        let Stdio::Fd(stdin) = process.request.stdin else {
            panic!("no stdin")
        };
        rustix::io::write(&connection.stdin, b"ping").unwrap();
        let mut buffer = [0; 8];
        assert_eq!(rustix::io::read(stdin, &mut buffer).unwrap(), 4);
        let Stdio::Fd(stdout) = process.request.stdout else {
            panic!("no stdout")
        };
        rustix::io::write(stdout, b"pong!").unwrap();
        assert_eq!(
            rustix::io::read(&connection.stdout, &mut buffer).unwrap(),
            5
        );
    }
}

#[tokio::test(start_paused = true)]
async fn everything_stops_within_its_own_time() {
    let mut fixture = fixture();
    for name in ["a", "b", "hangs"] {
        let spec = fixture.spec(r#"{"timeout_stop_sec":5}"#);
        fixture.engine.start(id(name), spec).await.unwrap();
    }
    let mut kept = Vec::new();
    for _ in 0..3 {
        let process = fixture.next().await;
        if process.request.unit != id("hangs") {
            process.end(signaled(Signal::TERM));
        }
        kept.push(process);
    }
    let begin = Instant::now();
    fixture.engine.stop_all().await;
    assert_eq!(begin.elapsed(), Duration::from_secs(15));
    assert_eq!(fixture.engine.live().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_thousand_units_live_and_end() {
    let mut fixture = fixture();
    let mut handles = Vec::new();
    for number in 0..1000 {
        let name = id(&format!("unit-{number}"));
        handles.push(
            fixture
                .engine
                .start(name, fixture.spec("{}"))
                .await
                .unwrap(),
        );
    }
    assert_eq!(fixture.engine.live().len(), 1000);
    for _ in 0..1000 {
        fixture.next().await.exit(0);
    }
    for handle in handles {
        assert_eq!(handle.wait_end().await.result, UnitResult::Success);
    }
    assert!(fixture.engine.live().is_empty());
    assert_eq!(fixture.world.count(&Step::Acknowledge), 1000);
}
