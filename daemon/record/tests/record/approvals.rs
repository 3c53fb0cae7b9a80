//! Questions, one-off answers, answers for good.

use harness_model::{
    Answer, Approval, ApprovalId, ApprovalState, CallId, Front, Question, Scope, Timestamp,
};
use harness_record::{Asked, Record};
use serde_json::json;
use tempfile::TempDir;

fn at(seconds: i64) -> Timestamp {
    Timestamp::from_micros(seconds * 1_000_000)
}

fn question(digest: &str) -> Question {
    let input = json!({"cmd": "git push"});
    Question {
        digest: digest.to_owned(),
        approval: Approval {
            id: ApprovalId(0),
            call: CallId::generate(),
            front: Front::Mcp,
            group: "bash".into(),
            tool: "run".into(),
            input: input.as_object().unwrap().clone(),
            cwd: "/srv/work".into(),
            rule: "[tool.run] mode = \"ask\"".into(),
            why: "policy".into(),
            scope: Scope::Commands(vec!["git push".into()]),
            state: ApprovalState::Pending,
            created_at: at(100),
            expires_at: at(1000),
            answered_by: None,
        },
    }
}

async fn new(record: &Record, digest: &str) -> ApprovalId {
    let asked = record
        .approval_ask(question(digest), at(100))
        .await
        .unwrap();
    let Asked::New(approval) = asked else {
        panic!("{asked:?}")
    };
    approval.id
}

#[tokio::test]
async fn a_yes_covers_that_exact_call_once() {
    let directory = TempDir::new().unwrap();
    let record = Record::open(&directory.path().join("state.db")).unwrap();
    let id = new(&record, "a").await;
    let asked = record.approval_ask(question("a"), at(101)).await.unwrap();
    assert!(matches!(asked, Asked::Pending(approval) if approval.id == id));
    record
        .approval_answer(id, Answer::Allow, "uid 0".into(), at(102), at(900))
        .await
        .unwrap()
        .unwrap();
    assert!(matches!(
        record.approval_ask(question("b"), at(103)).await.unwrap(),
        Asked::New(_)
    ));
    assert_eq!(
        record.approval_ask(question("a"), at(103)).await.unwrap(),
        Asked::Granted(id)
    );
    assert!(matches!(
        record.approval_ask(question("a"), at(104)).await.unwrap(),
        Asked::New(_)
    ));
    assert_eq!(record.standing().await.unwrap(), []);
}

#[tokio::test]
async fn an_unused_yes_is_gone_when_its_time_is_over() {
    let directory = TempDir::new().unwrap();
    let record = Record::open(&directory.path().join("state.db")).unwrap();
    let id = new(&record, "a").await;
    record
        .approval_answer(id, Answer::Allow, "uid 0".into(), at(102), at(200))
        .await
        .unwrap()
        .unwrap();
    assert!(matches!(
        record.approval_ask(question("a"), at(200)).await.unwrap(),
        Asked::New(_)
    ));
}

#[tokio::test]
async fn a_no_is_remembered_until_its_time_is_over() {
    let directory = TempDir::new().unwrap();
    let record = Record::open(&directory.path().join("state.db")).unwrap();
    let id = new(&record, "a").await;
    record
        .approval_answer(id, Answer::Reject, "uid 0".into(), at(102), at(200))
        .await
        .unwrap()
        .unwrap();
    for _ in 0..2 {
        assert_eq!(
            record.approval_ask(question("a"), at(150)).await.unwrap(),
            Asked::Rejected(id)
        );
    }
    assert!(matches!(
        record.approval_ask(question("a"), at(201)).await.unwrap(),
        Asked::New(_)
    ));
}

#[tokio::test]
async fn nobody_answers_a_question_twice_or_after_its_end() {
    let directory = TempDir::new().unwrap();
    let record = Record::open(&directory.path().join("state.db")).unwrap();
    let id = new(&record, "a").await;
    assert!(
        record
            .approval_answer(id, Answer::Reject, "x".into(), at(102), at(200))
            .await
            .unwrap()
            .is_some()
    );
    assert!(
        record
            .approval_answer(id, Answer::Allow, "y".into(), at(103), at(200))
            .await
            .unwrap()
            .is_none()
    );
    let late = new(&record, "b").await;
    let expired = record.approvals_expire(at(1000)).await.unwrap();
    assert_eq!(
        expired
            .iter()
            .map(|approval| approval.id)
            .collect::<Vec<_>>(),
        [late]
    );
    assert!(
        record
            .approval_answer(late, Answer::Allow, "y".into(), at(1001), at(1200))
            .await
            .unwrap()
            .is_none()
    );
    assert_eq!(record.approvals_pending().await.unwrap(), []);
}

#[tokio::test]
async fn an_answer_for_good_stands_over_a_restart_until_it_is_revoked() {
    let directory = TempDir::new().unwrap();
    let path = directory.path().join("state.db");
    {
        let record = Record::open(&path).unwrap();
        let id = new(&record, "a").await;
        record
            .approval_answer(id, Answer::AllowAlways, "uid 7".into(), at(102), at(900))
            .await
            .unwrap()
            .unwrap();
        new(&record, "open").await;
        record.flush().await.unwrap();
    }
    let record = Record::open(&path).unwrap();
    assert_eq!(record.approvals_pending().await.unwrap().len(), 1);
    let standing = record.standing().await.unwrap();
    assert_eq!(standing.len(), 1);
    assert!(standing[0].allow);
    assert_eq!(standing[0].scope, Scope::Commands(vec!["git push".into()]));
    assert!(record.standing_revoke(standing[0].id).await.unwrap());
    assert!(!record.standing_revoke(standing[0].id).await.unwrap());
    assert_eq!(record.standing().await.unwrap(), []);
}
