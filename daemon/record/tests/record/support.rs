//! Rows to write.

use harness_model::{
    ActiveState, CallId, CallRecord, CallState, ExitReport, ExitStatus, Front, InvocationId,
    NewUnit, SessionId, SubState, Timestamp, Transition, UnitId, UnitKind, UnitResult,
    UnitSettings, UnitState, Usage,
};
use serde_json::json;

/// A whole millisecond: the JSON form of a time has no more.
pub(crate) fn at(seconds: i64) -> Timestamp {
    Timestamp::from_micros(seconds * 1_000_000)
}

pub(crate) fn id(text: &str) -> UnitId {
    text.parse().unwrap()
}

pub(crate) fn unit(name: &str) -> NewUnit {
    NewUnit {
        id: id(name),
        kind: UnitKind::Task,
        name: Some(format!("name of {name}")),
        command: "sleep 1".to_owned(),
        spec: r#"{"argv":["bash"]}"#.to_owned(),
        cwd: "/srv".to_owned(),
        settings: UnitSettings::default(),
        created_at: at(100),
    }
}

pub(crate) fn starting(name: &str) -> Transition {
    Transition {
        unit: id(name),
        kind: UnitKind::Task,
        state: UnitState {
            active_state: ActiveState::Activating,
            sub_state: SubState::Start,
            invocation: Some(InvocationId::generate()),
            started_at: Some(at(100)),
            invocation_started_at: Some(at(100)),
            ..UnitState::new()
        },
        recent_starts: vec![at(100)],
        last_lines: None,
        awaited: false,
    }
}

pub(crate) fn running(starting: &Transition) -> Transition {
    let mut transition = starting.clone();
    transition.state.active_state = ActiveState::Active;
    transition.state.sub_state = SubState::Running;
    transition.state.pid = Some(4711);
    transition
}

pub(crate) fn ended(starting: &Transition, code: u8) -> Transition {
    let mut transition = starting.clone();
    let state = &mut transition.state;
    (state.active_state, state.sub_state, state.result) = if code == 0 {
        (ActiveState::Inactive, SubState::Dead, UnitResult::Success)
    } else {
        (ActiveState::Failed, SubState::Failed, UnitResult::ExitCode)
    };
    state.exit = Some(exit(ExitStatus::Exited(code)));
    state.ended_at = Some(at(200));
    transition.last_lines = Some("last line".to_owned());
    transition
}

pub(crate) fn exit(status: ExitStatus) -> ExitReport {
    ExitReport {
        status,
        ended_at: at(200),
        runtime_usec: 5,
        usage: Usage::default(),
        oom_killed: false,
        left_over: 0,
        survivors: Vec::new(),
    }
}

pub(crate) fn call(tool: &str) -> CallRecord {
    CallRecord {
        id: CallId::generate(),
        parent: None,
        session: SessionId::generate(),
        front: Front::Mcp,
        group: "bash".to_owned(),
        tool: tool.to_owned(),
        input: json!({"cmd": "true"}),
        asked: None,
        state: CallState::Open,
        code: None,
        preview: None,
        started_at: at(100),
        duration_usec: None,
    }
}
