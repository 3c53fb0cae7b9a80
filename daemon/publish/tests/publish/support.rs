//! Events to publish and what a reader got.

use futures_util::FutureExt;
use harness_model::{
    ActiveState, CallId, Event, EventBody, Stream, SubState, UnitChange, UnitId, UnitKind,
    UnitResult,
};
use harness_publish::Subscription;

pub(crate) fn unit(name: &str) -> UnitId {
    name.parse().unwrap()
}

/// A change of the unit `name`.
pub(crate) fn change(name: &str) -> EventBody {
    EventBody::UnitChanged(UnitChange {
        unit: unit(name),
        kind: UnitKind::Task,
        active_state: ActiveState::Active,
        sub_state: SubState::Running,
        result: UnitResult::Success,
        restarts: 0,
        ended: false,
    })
}

pub(crate) fn output(delta: &str) -> EventBody {
    EventBody::ShellOutput {
        call: CallId::generate(),
        unit: unit("a"),
        stream: Stream::Stdout,
        offset: 0,
        delta: delta.to_owned(),
    }
}

/// The unit of a change, the text of output, or how many were dropped.
pub(crate) fn label(event: &Event) -> String {
    match &event.body {
        EventBody::UnitChanged(change) => change.unit.to_string(),
        EventBody::ShellOutput { delta, .. } => format!("'{delta}'"),
        EventBody::Dropped { count } => format!("dropped {count}"),
        EventBody::ToolCall { .. }
        | EventBody::ToolResult { .. }
        | EventBody::NestedCall { .. }
        | EventBody::ApprovalRequested(_)
        | EventBody::ApprovalResolved { .. }
        | EventBody::PluginChanged(_)
        | EventBody::Wake(_) => {
            panic!("not published here: {event:?}")
        }
    }
}

/// What waits for a reader now.
pub(crate) fn waiting(subscription: &mut Subscription) -> Vec<Event> {
    let mut events = Vec::new();
    while let Some(Some(event)) = subscription.next().now_or_never() {
        events.push((*event).clone());
    }
    events
}

pub(crate) fn labels(subscription: &mut Subscription) -> Vec<String> {
    waiting(subscription).iter().map(label).collect()
}
