//! One call that asks for more than the sandbox gives.

use harness_tests::{harness::Harness, trials};
use libtest_mimic::Trial;
use serde_json::{Value, json};

use super::{Ground, each, run};

pub(crate) fn trials() -> Vec<Trial> {
    trials![
        more_is_asked_about_on_every_front_whatever_the_mode,
        what_a_person_allowed_is_opened_for_this_call_and_nothing_else,
        a_yes_to_the_call_without_it_does_not_cover_it,
        a_yes_for_good_covers_what_the_card_shows,
        the_card_says_what_is_opened_and_why,
        a_hidden_path_is_opened_by_its_name_alone,
        the_network_can_be_asked_for,
        as_much_or_less_needs_no_question_and_less_is_less,
        where_nothing_is_limited_there_is_nothing_to_ask_for,
        what_an_allowlist_limits_can_be_asked_for,
        a_restarted_task_has_what_was_opened,
        off_and_a_no_for_good_refuse_it,
        a_request_that_cannot_be_carried_out_is_refused,
    ]
}

const LIMITED: &str =
    "filesystem = \"workspace-write\"\nhidden = [\"GROUND/secret\"]\nnetwork = false\n";

/// The tool in this mode, and no patience.
fn limited(mode: &str) -> String {
    format!(
        "{LIMITED}[approval]\nhold_sec = 0\n[tool.run]\nmode = \"{mode}\"\n[tool.shell]\nmode = \"{mode}\"\n"
    )
}

fn call(harness: &Harness, cmd: &str, sandbox: &Value) -> Value {
    let input = json!({"cmd": cmd, "wait_seconds": 30, "sandbox": sandbox});
    harness.mcp(Some("bash")).call("run", &input)["structuredContent"].clone()
}

/// The id of the question that the call was refused for.
#[track_caller]
fn asked(outcome: &Value) -> String {
    assert_eq!(outcome["error"]["code"], "needs_approval", "{outcome}");
    outcome["error"]["details"]["approval"].to_string()
}

/// Makes the call, answers with `words`, and makes it again.
#[track_caller]
fn approved(harness: &Harness, cmd: &str, sandbox: &Value) -> Value {
    let id = asked(&call(harness, cmd, sandbox));
    harness.ctl(&["approve", &id]).ok();
    call(harness, cmd, sandbox)
}

fn more_is_asked_about_on_every_front_whatever_the_mode() {
    for mode in ["allow", "ask", "allowlist"] {
        each(&limited(mode), |harness, ground| {
            let cmd = "touch $GROUND/outside/x";
            let outside = ground.path("outside").display().to_string();
            let sandbox = json!({"writable": [outside]});
            let input = json!({"cmd": cmd, "sandbox": sandbox});
            asked(&call(harness, cmd, &sandbox));
            let reply = harness.mcp(Some("shell")).call("shell", &input);
            asked(&reply["structuredContent"]);
            let reply = harness.http("POST", "/v1/tasks", Some(&input.to_string()));
            asked(&reply.json());
            for tool in ["bash__run", "shell__shell"] {
                let reply = harness.http(
                    "POST",
                    &format!("/v1/tools/{tool}/call"),
                    Some(&input.to_string()),
                );
                asked(&reply.json());
                let output = harness.ctl(&["call", tool, &input.to_string()]);
                assert!(
                    output.code != 0 && output.stderr.contains("approval"),
                    "{output:?}"
                );
            }
            assert_eq!(ground.names("outside"), ["file"]);
        });
    }
}

fn what_a_person_allowed_is_opened_for_this_call_and_nothing_else() {
    each(&limited("allow"), |harness, ground| {
        let sandbox = json!({"writable": [ground.path("outside")]});
        let cmd = "touch $GROUND/outside/x && touch inside; touch $GROUND/other; cat $GROUND/secret/key; : < /dev/udp/127.0.0.1/9";
        let status = approved(harness, cmd, &sandbox);
        assert_eq!(ground.names("outside"), ["file", "x"], "{status}");
        assert!(harness.workspace().join("inside").exists());
        assert!(!ground.path("other").exists());
        let text = status["stderr"]["tail"].as_str().unwrap();
        for refused in ["/other'", "/secret/key", "/dev/udp"] {
            let complaint =
                |line: &str| line.contains(refused) && line.contains("ermission denied");
            assert!(text.lines().any(complaint), "{refused}: {status}");
        }
        // Once.
        asked(&call(harness, cmd, &sandbox));
        let status = run(harness, "touch $GROUND/outside/y");
        assert_eq!(status["exit_code"], 1, "{status}");
        // Everything that may be changed is not all that may be read.
        let cmd = "touch $GROUND/outside/z && ! cat $GROUND/secret/key";
        let status = approved(harness, cmd, &json!({"filesystem": "open"}));
        assert_eq!(status["exit_code"], 0, "{status}");
    });
}

fn a_yes_to_the_call_without_it_does_not_cover_it() {
    each(&limited("ask"), |harness, ground| {
        let outside = json!({"writable": [ground.path("outside")]});
        let cmd = "touch $GROUND/outside/x";
        let plain = json!({});
        let id = asked(&call(harness, cmd, &plain));
        harness.ctl(&["approve", &id]).ok();
        let other = asked(&call(harness, cmd, &outside));
        assert_ne!(id, other);
        assert_eq!(call(harness, cmd, &plain)["exit_code"], 1);
        // Nor one to less.
        harness.ctl(&["approve", &other]).ok();
        asked(&call(harness, cmd, &json!({"filesystem": "open"})));
        asked(&call(harness, cmd, &plain));
        assert_eq!(call(harness, cmd, &outside)["exit_code"], 0);
    });
}

fn a_yes_for_good_covers_what_the_card_shows() {
    each(&limited("ask"), |harness, ground| {
        let outside = json!({"writable": [ground.path("outside")]});
        let cmd = "touch outside-link/x";
        std::os::unix::fs::symlink(
            ground.path("outside"),
            harness.workspace().join("outside-link"),
        )
        .unwrap();
        let id = asked(&call(harness, cmd, &json!({})));
        harness.ctl(&["approve", "--always", &id]).ok();
        assert_eq!(call(harness, cmd, &json!({}))["exit_code"], 1);
        let id = asked(&call(harness, cmd, &outside));
        harness.ctl(&["approve", "--always", &id]).ok();
        assert_eq!(call(harness, cmd, &outside)["exit_code"], 0);
        asked(&call(harness, cmd, &json!({"filesystem": "open"})));
        asked(&call(harness, "touch outside-link/y", &outside));
        let standing = harness.ctl(&["approvals", "standing"]).ok().stdout;
        assert!(standing.contains("when it asks to change"), "{standing}");
    });
}

fn the_card_says_what_is_opened_and_why() {
    for mode in ["allow", "ask"] {
        let ground = Ground::new();
        let harness = Harness::with_config(&ground.config(&limited(mode)));
        let sandbox = json!({
            "writable": ["/nowhere/a\u{202e}b", ground.path("outside/")],
            "visible": [ground.path("secret/key")],
            "network": true,
            "reason": "to deploy\u{7}",
        });
        asked(&call(&harness, "true", &sandbox));
        let card = harness.ctl(&["approvals"]).ok().stdout;
        for part in [
            "[sandbox] the call asks to change \"/nowhere/a\\u{202e}b\"".to_owned(),
            format!("\"{}\", use the hidden", ground.path("outside").display()),
            format!(
                "\"{}\", use the network (sandbox)",
                ground.path("secret/key").display()
            ),
            "to deploy\\u0007".to_owned(),
        ] {
            assert!(card.contains(&part), "{part}: {card}");
        }
        assert!(!card.contains(['\u{7}', '\u{202e}']), "{card}");
    }
}

fn a_hidden_path_is_opened_by_its_name_alone() {
    each(&limited("allow"), |harness, ground| {
        let cmd = "cat $GROUND/secret/key";
        let status = approved(harness, cmd, &json!({"visible": [ground.path("secret")]}));
        assert_eq!(status["stdout"]["tail"], "s3cret\n", "{status}");
        // It can be read now, and still not be changed.
        let cmd = "echo x > $GROUND/secret/key";
        let status = approved(harness, cmd, &json!({"visible": [ground.path("secret")]}));
        assert_eq!(status["exit_code"], 1, "{status}");
        assert_eq!(ground.read("secret/key"), "s3cret\n");
        // A directory above it opens nothing, so there is no question either.
        let above = json!({"visible": [ground.path("")]});
        let status = call(harness, "cat $GROUND/secret/key", &above);
        assert_eq!(status["exit_code"], 1, "{status}");
        let outcome = call(harness, cmd, &json!({"writable": [ground.path("")]}));
        assert_eq!(outcome["error"]["code"], "invalid_input", "{outcome}");
    });
}

fn the_network_can_be_asked_for() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    each(&limited("allow"), |harness, _| {
        let cmd = format!(": < /dev/tcp/127.0.0.1/{port} && echo connected");
        let status = run(harness, &cmd);
        assert_eq!(status["exit_code"], 1, "{status}");
        let status = approved(harness, &cmd, &json!({"network": true}));
        assert_eq!(status["stdout"]["tail"], "connected\n", "{status}");
    });
}

fn as_much_or_less_needs_no_question_and_less_is_less() {
    each(&limited("allow"), |harness, ground| {
        let inside = harness.workspace().join("sub");
        for sandbox in [
            json!({}),
            json!(null),
            json!({"filesystem": "workspace-write", "network": false, "execute": true}),
            json!({"writable": [inside, ground.path("tmp")], "visible": ["/etc"], "reason": "x"}),
        ] {
            let status = call(harness, "touch file && touch $TMPDIR/x", &sandbox);
            assert_eq!(status["exit_code"], 0, "{sandbox}: {status}");
        }
        let status = call(harness, "touch new", &json!({"filesystem": "read-only"}));
        assert_eq!(status["exit_code"], 1, "{status}");
    });
    each("", |harness, ground| {
        let narrow = json!({"filesystem": "workspace-write", "network": false});
        let cmd = "touch $GROUND/outside/x; : < /dev/tcp/127.0.0.1/9";
        let status = call(harness, cmd, &narrow);
        let told = status["containment"].as_str().unwrap();
        assert!(told.contains("may write only") && told.contains("no network"));
        assert_eq!(ground.names("outside"), ["file"]);
    });
}

fn where_nothing_is_limited_there_is_nothing_to_ask_for() {
    each("", |harness, ground| {
        let all = json!({
            "filesystem": "open", "writable": ["/etc"], "visible": ["/root"], "network": true, "execute": true,
        });
        let status = call(harness, "touch $GROUND/outside/x", &all);
        assert_eq!(status["exit_code"], 0, "{status}");
        assert_eq!(ground.names("outside"), ["file", "x"]);
    });
}

fn what_an_allowlist_limits_can_be_asked_for() {
    let config =
        "[approval]\nhold_sec = 0\n[tool.run]\nmode = \"allowlist\"\nallowlist = [\"awk *\"]\n";
    each(config, |harness, ground| {
        let cmd = "awk 'BEGIN { exit system(\"touch \" ENVIRON[\"GROUND\"] \"/outside/x\") }'";
        assert_eq!(call(harness, cmd, &json!({}))["exit_code"], 126);
        let status = approved(harness, cmd, &json!({"execute": true}));
        assert_eq!(status["exit_code"], 0, "{status}");
        assert_eq!(ground.names("outside"), ["file", "x"]);
        // Within what it has, nothing is asked.
        let same = json!({"writable": [harness.workspace()]});
        assert_eq!(call(harness, cmd, &same)["exit_code"], 126);
    });
}

fn a_restarted_task_has_what_was_opened() {
    let ground = Ground::new();
    let mut harness = Harness::with_config(&ground.config(&limited("allow")));
    let sandbox = json!({"writable": [ground.path("outside")]});
    let cmd = "echo x >> $GROUND/outside/x && ! echo x > $GROUND/other";
    let status = approved(&harness, cmd, &sandbox);
    assert_eq!(status["exit_code"], 0, "{status}");
    harness.stop_daemon();
    harness.start_daemon();
    harness
        .ctl(&["restart", status["id"].as_str().unwrap()])
        .ok();
    let input = json!({"id": status["id"], "wait_seconds": 30});
    let status = harness.mcp(Some("bash")).ok("status", &input);
    assert_eq!(status["exit_code"], 0, "{status}");
    assert_eq!(ground.read("outside/x"), "x\nx\n");
}

fn off_and_a_no_for_good_refuse_it() {
    each(&limited("off"), |harness, _| {
        let outcome = call(harness, "true", &json!({"network": true}));
        assert_eq!(outcome["error"]["code"], "denied", "{outcome}");
    });
    each(&limited("ask"), |harness, _| {
        let id = asked(&call(harness, "true", &json!({})));
        harness.ctl(&["reject", "--always", &id]).ok();
        let outcome = call(harness, "true", &json!({"network": true}));
        assert_eq!(outcome["error"]["code"], "denied", "{outcome}");
    });
}

fn a_request_that_cannot_be_carried_out_is_refused() {
    let ground = Ground::new();
    let harness = Harness::with_config(&ground.config(&limited("allow")));
    for sandbox in [
        json!({"writable": ["relative"]}),
        json!({"writable": ["/a/../etc"]}),
        json!({"visible": ["/a\u{0}b"]}),
        json!({"writable": [ground.path("secret")]}),
        json!({"filesystem": "everything"}),
        json!({"netwrok": true}),
        json!({"network": "yes"}),
        json!([]),
    ] {
        let outcome = call(&harness, "true", &sandbox);
        assert_eq!(
            outcome["error"]["code"], "invalid_input",
            "{sandbox}: {outcome}"
        );
        let input = json!({"cmd": "true", "sandbox": sandbox});
        let outcome = harness.mcp(Some("shell")).call("shell", &input);
        let outcome = &outcome["structuredContent"];
        assert_eq!(
            outcome["error"]["code"], "invalid_input",
            "{sandbox}: {outcome}"
        );
    }
    assert_eq!(harness.get("/v1/approvals"), json!([]));
}
