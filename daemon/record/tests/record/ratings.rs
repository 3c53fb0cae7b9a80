//! What the rater said.

use harness_model::ToolRating;
use harness_record::Record;

use crate::support::at;

fn rating(tool: &str, digest: &str, changes: bool) -> ToolRating {
    ToolRating {
        group: "github".to_owned(),
        tool: tool.to_owned(),
        digest: digest.to_owned(),
        changes,
        reason: "it says so".to_owned(),
        rated_at: at(5),
    }
}

#[tokio::test]
async fn the_newest_answer_about_a_tool_survives_a_restart() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("state.db");
    let record = Record::open(&path).unwrap();
    for rating in [
        rating("a", "1", true),
        rating("b", "1", false),
        rating("a", "2", false),
    ] {
        record.rating_put(rating).await.unwrap();
    }
    let mut long = rating("c", "1", true);
    long.reason = "ü".repeat(5000);
    record.rating_put(long.clone()).await.unwrap();
    record.close().await;
    long.reason = "ü".repeat(1000);
    let kept = Record::open(&path).unwrap().ratings().await.unwrap();
    let expected = [rating("a", "2", false), rating("b", "1", false), long];
    assert_eq!(kept, expected);
}
