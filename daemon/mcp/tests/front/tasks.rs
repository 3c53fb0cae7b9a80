//! The tasks extension (SEP-2663), for requests that declare it.

use harness_model::{TaskState, ToolOutput};
use serde_json::{Value, json};

use crate::{
    backend::{Fake, Seen},
    client::{Client, seen, stateless},
};

fn extension() -> Value {
    json!({"extensions": {"io.modelcontextprotocol/tasks": {}}})
}

impl Client {
    /// A request of the stateless protocol that declares the extension.
    async fn declaring(&mut self, id: i64, method: &str, params: Value) -> Value {
        self.request(id, method, stateless(params, extension()))
            .await
    }

    async fn get(&mut self, task: &str) -> Value {
        self.declaring(2, "tasks/get", json!({"taskId": task}))
            .await
    }
}

async fn started(client: &mut Client) -> String {
    let answer = client
        .declaring(1, "tools/call", json!({"name": "job"}))
        .await;
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
    let id = started(&mut client).await;
    let answer = client.get(&id).await;
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
    let answer = Client::connect(&fake).get(&id).await;
    assert_eq!(answer["result"]["status"], "completed");
    assert_eq!(answer["result"]["result"]["content"][0]["text"], "42");
    assert_eq!(answer["result"]["result"]["structuredContent"]["n"], 42);
}

#[tokio::test]
async fn a_task_that_ends_within_its_call_is_answered_as_a_call() {
    let (fake, _events) = Fake::new();
    let mut client = Client::connect(&fake);
    let answer = client
        .declaring(1, "tools/call", json!({"name": "short_job"}))
        .await;
    assert_eq!(answer["result"]["resultType"], "complete", "{answer}");
    assert_eq!(answer["result"]["content"][0]["text"], "computed");
}

#[tokio::test]
async fn each_end_of_a_task_has_its_status() {
    let (fake, _events) = Fake::new();
    let mut client = Client::connect(&fake);
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
        let answer = client.get(&id).await;
        assert_eq!(answer["result"]["status"], status, "{answer}");
        if status == "failed" {
            assert_eq!(answer["result"]["error"]["code"], -32603);
        }
    }
}

#[tokio::test]
async fn the_backend_learns_who_was_told_of_a_task() {
    let (fake, mut events) = Fake::new();
    let mut client = Client::connect(&fake);
    let id = started(&mut client).await;
    client.get(&id).await;
    assert_eq!(told(&mut events).await, (id.clone(), true));
    // An update is acknowledged and says nothing of the task.
    let update = json!({"taskId": id, "inputResponses": {}});
    client.declaring(3, "tasks/update", update).await;
    assert_eq!(told(&mut events).await, (id, false));
}

async fn told(events: &mut tokio::sync::mpsc::UnboundedReceiver<Seen>) -> (String, bool) {
    loop {
        if let Seen::Told(task, delivered) = seen(events).await {
            return (task, delivered);
        }
    }
}

#[tokio::test]
async fn cancelling_a_task_is_acknowledged_and_shows_in_its_status() {
    let (fake, _events) = Fake::new();
    let mut client = Client::connect(&fake);
    let id = started(&mut client).await;
    for _ in 0..2 {
        let answer = client
            .declaring(2, "tasks/cancel", json!({"taskId": id}))
            .await;
        assert_eq!(answer["result"]["resultType"], "complete", "{answer}");
        assert!(answer["result"].get("taskId").is_none());
    }
    assert_eq!(client.get(&id).await["result"]["status"], "cancelled");
    let update = json!({"taskId": id, "inputResponses": {}});
    let answer = client.declaring(4, "tasks/update", update).await;
    assert_eq!(answer["result"]["resultType"], "complete");
}

#[tokio::test]
async fn an_unknown_task_and_an_undeclared_extension_are_refused() {
    let (fake, _events) = Fake::new();
    let mut client = Client::connect(&fake);
    for method in ["tasks/get", "tasks/cancel", "tasks/update"] {
        let params = json!({"taskId": "none", "inputResponses": {}});
        let answer = client.declaring(1, method, params.clone()).await;
        assert_eq!(answer["error"]["code"], -32602, "{answer}");
        let undeclared = stateless(params, json!({}));
        let answer = client.request(2, method, undeclared).await;
        assert_eq!(answer["error"]["code"], -32021, "{answer}");
    }
    // Without the extension the call is a call; this tool only exists as a task.
    let call = stateless(json!({"name": "job"}), json!({}));
    let answer = client.request(2, "tools/call", call).await;
    assert!(answer["result"].get("taskId").is_none(), "{answer}");
}

#[tokio::test]
async fn a_session_has_no_tasks_whatever_its_client_declares() {
    let (fake, _events) = Fake::new();
    for version in ["2024-11-05", "2025-11-25"] {
        let mut client = Client::connect(&fake);
        let offered = client.initialize(version, extension()).await;
        assert!(offered["capabilities"].get("extensions").is_none());
        let answer = client.call(1, "job", json!({})).await;
        assert!(answer["result"].get("resultType").is_none(), "{answer}");
        assert!(answer["result"].get("taskId").is_none(), "{answer}");
        for method in ["tasks/get", "tasks/cancel", "tasks/update"] {
            let params = json!({"taskId": "none", "inputResponses": {}});
            let answer = client.request(2, method, params).await;
            assert_eq!(answer["error"]["code"], -32601, "{answer}");
        }
    }
    let mut client = Client::connect(&fake);
    let answer = client.declaring(1, "server/discover", json!({})).await;
    let extensions = &answer["result"]["capabilities"]["extensions"];
    assert!(extensions.get("io.modelcontextprotocol/tasks").is_some());
}
