//! Every endpoint through the client library.

use std::time::Duration;

use harness_client::{Client, Error};
use harness_model::{
    CallQuery, CallState, ErrorCode, RunInput, Signal, Stream, TaskQuery, TaskState, UnitId,
    UnitKind, UnitQuery, WakeId,
};
use serde_json::json;

use crate::fake::{Asked, Served, wake};

fn id() -> UnitId {
    "abc".parse().unwrap()
}

fn own() -> u32 {
    rustix::process::geteuid().as_raw()
}

#[tokio::test]
async fn what_acts_on_a_task_is_a_call_of_the_group_bash_by_the_peers_user() {
    let served = Served::start(true);
    let client = Client::at(served.socket());
    let input = RunInput {
        cmd: "make".into(),
        wait_seconds: Some(0.0),
        ..RunInput::default()
    };
    assert_eq!(client.run(&input).await.unwrap().id, id());
    client.stop(&id()).await.unwrap();
    client.signal(&id(), Signal::HUP).await.unwrap();
    assert_eq!(client.restart(&id()).await.unwrap().id, id());
    let now = || Asked::Task("abc".into(), Duration::ZERO);
    assert_eq!(
        served.control.asked(),
        [
            Asked::Call(
                "run".into(),
                json!({"cmd": "make", "wait_seconds": 0}),
                Some(own())
            ),
            now(),
            Asked::Call("stop".into(), json!({"id": "abc"}), Some(own())),
            now(),
            Asked::Call(
                "signal".into(),
                json!({"id": "abc", "signal": "SIGHUP"}),
                Some(own())
            ),
            now(),
        ]
    );
}

#[tokio::test]
async fn any_tool_is_listed_described_and_called_under_an_id_of_the_callers() {
    let served = Served::start(true);
    let client = Client::at(served.socket());
    assert_eq!(client.tools().await.unwrap()[0].name, "run");
    assert_eq!(client.tool("bash__run").await.unwrap().group, "bash");
    let Err(Error::Refused(refusal)) = client.tool("a/b?c").await else {
        panic!("expected a refusal")
    };
    assert_eq!(refusal.code, ErrorCode::UnknownCommand);
    let input = json!({"cmd": "make"}).as_object().unwrap().clone();
    let id = "abcdefabcdef".parse().unwrap();
    let output = client.call("bash__run", &input, Some(&id)).await.unwrap();
    assert_eq!(output.text(), "task started: id=abc");
    let call = Asked::Call("bash__run".into(), json!({"cmd": "make"}), Some(own()));
    assert_eq!(served.control.asked(), [call]);
}

#[tokio::test]
async fn reads_pass_their_parameters_and_bounds() {
    let served = Served::start(true);
    let client = Client::at(served.socket());
    assert_eq!(client.status().await.unwrap().agent, "coder");
    client
        .task(&id(), Duration::from_millis(250))
        .await
        .unwrap();
    let query = TaskQuery {
        limit: Some(5000),
        before: Some(-3),
        state: Some(TaskState::TimedOut),
    };
    assert_eq!(client.tasks(&query).await.unwrap().next, Some(9));
    client
        .output(&id(), Stream::Stderr, 12, Some(usize::MAX))
        .await
        .unwrap();
    client.output(&id(), Stream::Stdout, 0, None).await.unwrap();
    assert_eq!(
        served.control.asked(),
        [
            Asked::Task("abc".into(), Duration::from_millis(250)),
            Asked::Tasks(TaskQuery {
                limit: Some(1000),
                ..query
            }),
            Asked::Output(Stream::Stderr, 12, 1 << 20),
            Asked::Output(Stream::Stdout, 0, 64 << 10),
        ]
    );
}

#[tokio::test]
async fn units_calls_and_wakes_are_read() {
    let served = Served::start(true);
    let client = Client::at(served.socket());
    let query = UnitQuery {
        kind: Some(UnitKind::McpServer),
        ..UnitQuery::default()
    };
    assert_eq!(client.units(&query).await.unwrap().next, None);
    assert_eq!(client.unit(&id()).await.unwrap().kind, UnitKind::McpServer);
    assert!(
        client
            .invocations(&id(), Some(5000))
            .await
            .unwrap()
            .is_empty()
    );
    let query = CallQuery {
        state: Some(CallState::OutcomeUnknown),
        ..CallQuery::default()
    };
    assert!(client.calls(&query).await.unwrap().items.is_empty());
    assert_eq!(client.wakes(None).await.unwrap(), [wake()]);
    assert_eq!(
        client
            .wakes_recv(Duration::from_millis(1500))
            .await
            .unwrap(),
        [wake()]
    );
    assert_eq!(
        client.wakes_ack(&[WakeId(7), WakeId(8)]).await.unwrap(),
        [WakeId(7), WakeId(8)]
    );
    assert_eq!(
        served.control.asked(),
        [Asked::Acknowledge(vec![WakeId(7), WakeId(8)])]
    );
}

#[tokio::test]
async fn a_refusal_arrives_as_the_harness_said_it() {
    let served = Served::start(true);
    let client = Client::at(served.socket());
    let Err(Error::Refused(refusal)) = client.reload().await else {
        panic!("expected a refusal")
    };
    assert_eq!(
        (refusal.code, refusal.message.as_str()),
        (ErrorCode::InvalidInput, "coder.toml:3:1: unknown key")
    );
    let Err(Error::Refused(refusal)) = client
        .task(&"never-was".parse().unwrap(), Duration::ZERO)
        .await
    else {
        panic!("expected a refusal")
    };
    assert_eq!(refusal.code, ErrorCode::UnknownCommand);
}

#[tokio::test]
async fn events_and_output_are_streamed() {
    let served = Served::start(true);
    let client = Client::at(served.socket());
    let mut events = client.events(Some("boot-0".into())).await.unwrap();
    for seq in 1..=2 {
        let message = events.next().await.unwrap();
        assert_eq!(
            (message.id, message.name.as_str()),
            (Some(format!("boot-{seq}")), "wake")
        );
    }
    let mut follow = client.follow(&id(), Stream::Stdout, 3).await.unwrap();
    assert_eq!(follow.next().await.unwrap().unwrap().text, "grün");
    assert!(follow.next().await.unwrap().unwrap().eof);
    assert!(follow.next().await.unwrap().is_none());
    assert_eq!(
        served.control.asked(),
        [Asked::Events(Some("boot-0".into())), Asked::Follow(3)]
    );
}
