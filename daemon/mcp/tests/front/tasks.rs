//! The tasks extension (SEP-2663), for clients that declare it.

use harness_model::{TaskState, ToolOutput};
use serde_json::{Value, json};

use crate::{
    backend::Fake,
    client::{Client, stateless},
};

fn extension() -> Value {
    json!({"extensions": {"io.modelcontextprotocol/tasks": {}}})
}

async fn started(client: &mut Client) -> String {
    let answer = client.call(1, "job", json!({})).await;
    let result = &answer["result"];
    assert_eq!(result["resultType"], "task", "{answer}");
    assert_eq!(result["status"], "working");
    assert!(result["createdAt"].as_str().unwrap().ends_with('Z'));
    result["taskId"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn a_task_is_started_polled_and_has_its_result_inline() {
    let (fake, _events) = Fake::new();
    let mut client = Client::connect(&fake);
    client.initialize("2025-11-25", extension()).await;
    let id = started(&mut client).await;
    let answer = client.request(2, "tasks/get", json!({"taskId": id})).await;
    assert_eq!(answer["result"]["status"], "working");
    assert_eq!(answer["result"]["statusMessage"], "it runs");
    fake.end_task(
        &id,
        TaskState::Done,
        Some(ToolOutput::new("42", json!({"n": 42}))),
    );
    // The task belongs to the harness: another connection can ask for it.
    client.finish(b"").await;
    client.ended().await;
    let mut client = Client::connect(&fake);
    client.initialize("2025-11-25", extension()).await;
    let answer = client.request(2, "tasks/get", json!({"taskId": id})).await;
    assert_eq!(answer["result"]["status"], "completed");
    assert_eq!(answer["result"]["result"]["content"][0]["text"], "42");
    assert_eq!(answer["result"]["result"]["structuredContent"]["n"], 42);
}

#[tokio::test]
async fn each_end_of_a_task_has_its_status() {
    let (fake, _events) = Fake::new();
    let mut client = Client::connect(&fake);
    client.initialize("2025-11-25", extension()).await;
    let failed = ToolOutput {
        is_error: true,
        ..ToolOutput::new("no", json!({}))
    };
    for (state, output, status) in [
        (TaskState::Done, Some(failed.clone()), "completed"),
        (TaskState::TimedOut, Some(failed), "completed"),
        (TaskState::Interrupted, None, "failed"),
        (TaskState::Stopped, None, "cancelled"),
    ] {
        let id = started(&mut client).await;
        fake.end_task(&id, state, output);
        let answer = client.request(2, "tasks/get", json!({"taskId": id})).await;
        assert_eq!(answer["result"]["status"], status, "{answer}");
        if status == "failed" {
            assert_eq!(answer["result"]["error"]["code"], -32603);
        }
    }
}

#[tokio::test]
async fn cancelling_a_task_is_acknowledged_and_shows_in_its_status() {
    let (fake, _events) = Fake::new();
    let mut client = Client::connect(&fake);
    client.initialize("2025-11-25", extension()).await;
    let id = started(&mut client).await;
    for _ in 0..2 {
        let answer = client
            .request(2, "tasks/cancel", json!({"taskId": id}))
            .await;
        assert_eq!(answer["result"], json!({"resultType": "complete"}));
    }
    let answer = client.request(3, "tasks/get", json!({"taskId": id})).await;
    assert_eq!(answer["result"]["status"], "cancelled");
    let answer = client
        .request(
            4,
            "tasks/update",
            json!({"taskId": id, "inputResponses": {}}),
        )
        .await;
    assert_eq!(answer["result"], json!({"resultType": "complete"}));
}

#[tokio::test]
async fn an_unknown_task_and_an_undeclared_extension_are_refused() {
    let (fake, _events) = Fake::new();
    let mut client = Client::connect(&fake);
    client.initialize("2025-11-25", extension()).await;
    for method in ["tasks/get", "tasks/cancel", "tasks/update"] {
        let params = json!({"taskId": "none", "inputResponses": {}});
        let answer = client.request(1, method, params).await;
        assert_eq!(answer["error"]["code"], -32602, "{answer}");
    }
    let mut client = Client::session(&fake).await;
    let answer = client
        .request(1, "tasks/get", json!({"taskId": "none"}))
        .await;
    assert_eq!(answer["error"]["code"], -32021);
    // Without the extension the call is a call; this tool only exists as a task.
    let answer = client.call(2, "job", json!({})).await;
    assert!(answer["result"].get("taskId").is_none(), "{answer}");
}

#[tokio::test]
async fn a_stateless_request_declares_the_extension_for_itself() {
    let (fake, _events) = Fake::new();
    let mut client = Client::connect(&fake);
    let call = stateless(json!({"name": "job"}), extension());
    let answer = client.request(1, "tools/call", call).await;
    assert_eq!(answer["result"]["resultType"], "task");
    let call = stateless(json!({"name": "job"}), json!({}));
    let answer = client.request(2, "tools/call", call).await;
    assert!(answer["result"].get("taskId").is_none());
}
