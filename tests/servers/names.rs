//! Names of tools in the whole catalogue.

use harness_tests::{mcp::text, trials};
use libtest_mimic::Trial;
use serde_json::json;

use super::{Fixture, missing};

pub(crate) fn trials() -> Vec<Trial> {
    trials![if missing();
        pain_27_names_that_collide_or_are_too_long_have_a_stable_answer,
    ]
}

fn pain_27_names_that_collide_or_are_too_long_have_a_stable_answer() {
    let mut fixture = Fixture::start(&[("one", "good", ""), ("two", "good", "")]);
    let long = "a_very_long_name_of_a_tool_".repeat(4);
    let names = |fixture: &Fixture| -> Vec<String> {
        let mut narrow = fixture.session("one");
        let mut session = fixture.harness.mcp(None);
        narrow.call("more", &json!({"name": long}));
        // The first notice may be that of a server which has just started.
        let mut names: Vec<String> = loop {
            narrow.notification("notifications/tools/list_changed");
            let listed = session.request("tools/list", &json!({}))["result"]["tools"].clone();
            let names = listed.as_array().unwrap().iter();
            let names: Vec<String> = names
                .map(|tool| tool["name"].as_str().unwrap().to_owned())
                .collect();
            if names.iter().any(|name| name.starts_with("one__a_very")) {
                break names;
            }
        };
        names.sort();
        names
    };
    let first = names(&fixture);
    let mut unique = first.clone();
    unique.dedup();
    assert_eq!(unique, first, "each name once");
    assert!(first.iter().all(|name| name.len() <= 64), "{first:?}");
    let cut = first
        .iter()
        .find(|name| name.starts_with("one__a_very"))
        .unwrap();
    let mut session = fixture.harness.mcp(None);
    for name in ["one__pid", "two__pid"] {
        text(&session.call(name, &json!({})))
            .parse::<i32>()
            .unwrap();
    }
    let called = session.call(cut, &json!({}));
    assert_eq!(
        text(&called),
        "no such tool",
        "it reached the server by its whole name"
    );
    drop(session);
    fixture.harness.stop_daemon();
    fixture.harness.start_daemon();
    assert_eq!(names(&fixture), first);
}
