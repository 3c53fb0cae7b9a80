//! Where it runs, with what, and whether at all.

use std::os::unix::fs::symlink;

use harness_tests::{harness::Harness, mcp::text, trials};
use libtest_mimic::Trial;
use serde_json::json;

use super::{code, recorded, run, start};

pub(crate) fn trials() -> Vec<Trial> {
    trials![
        it_runs_in_the_workspace_or_below_it,
        every_way_out_of_the_workspace_is_refused,
        a_directory_that_is_none_is_invalid,
        the_interpreter_is_one_that_is_installed,
        an_interpreter_can_bring_no_arguments_and_must_be_one,
        a_command_that_cannot_be_one_is_invalid,
        a_tool_that_is_off_is_disabled_on_every_front,
        what_is_judged_and_shown_is_what_will_run,
    ]
}

fn it_runs_in_the_workspace_or_below_it() {
    let harness = start();
    let work = harness.workspace();
    std::fs::create_dir_all(work.join("sub/deep")).unwrap();
    symlink("sub/deep", work.join("link")).unwrap();
    let here = work.canonicalize().unwrap();
    let mut session = harness.mcp(Some("shell"));
    assert_eq!(
        run(&mut session, "pwd -P")["stdout"],
        format!("{}\n", here.display())
    );
    for (cwd, below) in [
        ("sub", "sub"),
        ("./sub//deep/", "sub/deep"),
        ("link", "sub/deep"),
    ] {
        let result = session.ok("shell", &json!({"cmd": "pwd -P", "cwd": cwd}));
        let expected = format!("{}\n", here.join(below).display());
        assert_eq!(result["stdout"], expected, "{cwd}");
        assert_eq!(recorded(&harness)["cwd"], below);
    }
}

fn every_way_out_of_the_workspace_is_refused() {
    let harness = start();
    let work = harness.workspace();
    std::fs::create_dir(work.join("sub")).unwrap();
    symlink("/etc", work.join("out")).unwrap();
    symlink("../..", work.join("sub/up")).unwrap();
    let mut session = harness.mcp(Some("shell"));
    for cwd in [
        "..",
        "sub/../..",
        "sub/..",
        "/",
        "/etc",
        "out",
        "sub/up",
        &work.display().to_string(),
    ] {
        let input = json!({"cmd": "touch ran", "cwd": cwd});
        assert_eq!(code(&mut session, &input), "EOUTSIDE_PROJECT", "{cwd}");
    }
    assert!(!work.join("ran").exists());
}

fn a_directory_that_is_none_is_invalid() {
    let harness = start();
    std::fs::write(harness.workspace().join("file"), "").unwrap();
    let mut session = harness.mcp(Some("shell"));
    for cwd in ["nowhere", "file", "a\0b"] {
        assert_eq!(
            code(&mut session, &json!({"cmd": "true", "cwd": cwd})),
            "EINVAL",
            "{cwd:?}"
        );
    }
}

fn the_interpreter_is_one_that_is_installed() {
    let harness = start();
    let mut session = harness.mcp(Some("shell"));
    for shell in ["sh", "bash", "/bin/sh", "/bin/bash"] {
        let result = session.ok("shell", &json!({"cmd": "echo $0", "shell": shell}));
        let name = shell.rsplit('/').next().unwrap();
        let path = result["stdout"].as_str().unwrap().trim_end();
        assert!(path.ends_with(&format!("/{name}")), "{result}");
        let identity = result["identity"].as_str().unwrap();
        assert!(
            identity.ends_with(&format!(" · {name} ({path})")),
            "{identity}"
        );
    }
}

fn an_interpreter_can_bring_no_arguments_and_must_be_one() {
    let harness = start();
    std::fs::write(harness.workspace().join("bash"), "#!/bin/sh\ntouch ran\n").unwrap();
    let mut session = harness.mcp(Some("shell"));
    for shell in [
        "bash -x",
        "bash\n",
        "",
        "python3",
        "env",
        "/usr/bin/env",
        "./bash",
        "bash/../bash",
        "nosuch",
        "-c",
        "b\u{202e}ash",
    ] {
        let input = json!({"cmd": "touch ran", "shell": shell});
        assert_eq!(code(&mut session, &input), "EINVAL", "{shell:?}");
    }
    let own = harness.workspace().join("bash").display().to_string();
    assert_eq!(
        code(&mut session, &json!({"cmd": "true", "shell": own})),
        "EINVAL"
    );
    assert!(!harness.workspace().join("ran").exists());
}

fn a_command_that_cannot_be_one_is_invalid() {
    let harness = start();
    let mut session = harness.mcp(Some("shell"));
    for cmd in [
        String::new(),
        "  \n".to_owned(),
        "a\0b".to_owned(),
        "x".repeat(200_000),
    ] {
        assert_eq!(code(&mut session, &json!({"cmd": cmd})), "EINVAL");
    }
}

fn a_tool_that_is_off_is_disabled_on_every_front() {
    let harness = Harness::with_config("[tool.\"sh*\"]\nmode = \"off\"\n");
    let mut session = harness.mcp(Some("shell"));
    for input in [
        json!({"cmd": "touch ran"}),
        json!({"cmd": "touch ran", "cwd": ".."}),
    ] {
        assert_eq!(code(&mut session, &input), "ETOOL_DISABLED");
    }
    let reply = harness.http(
        "POST",
        "/v1/tools/shell/call",
        Some(r#"{"cmd":"touch ran"}"#),
    );
    assert_eq!(reply.status, 403, "{reply:?}");
    assert_eq!(reply.json()["error"]["details"]["code"], "ETOOL_DISABLED");
    let output = harness.ctl(&["shell", "touch ran"]);
    assert_eq!(output.code, 1, "{output:?}");
    assert!(output.stderr.contains("ETOOL_DISABLED"), "{output:?}");
    assert!(!harness.workspace().join("ran").exists());
    harness.write_config("[tool.shell]\nmode = \"allow\"\n");
    harness.ctl(&["reload"]).ok();
    assert_eq!(run(&mut session, "echo on")["stdout"], "on\n");
}

fn what_is_judged_and_shown_is_what_will_run() {
    let config = "[tool.shell]\nmode = \"ask\"\nmax_timeout_ms = 5000\n[approval]\nhold_sec = 0\n";
    let harness = Harness::with_config(config);
    std::fs::create_dir(harness.workspace().join("sub")).unwrap();
    symlink("sub", harness.workspace().join("link")).unwrap();
    let input = json!({"cmd": "pwd -P", "shell": "sh", "cwd": "link", "timeoutMs": 600_000});
    let mut session = harness.mcp(Some("shell"));
    let refused = session.call("shell", &input);
    assert!(text(&refused).contains("approval"), "{refused}");
    let shown = &harness.get("/v1/approvals")[0];
    assert_eq!(shown["input"]["timeoutMs"], 5000, "{shown}");
    assert_eq!(shown["input"]["cwd"], "sub");
    assert!(
        shown["input"]["shell"].as_str().unwrap().ends_with("/sh"),
        "{shown}"
    );
    assert_eq!(
        shown["cwd"],
        harness.workspace().join("sub").display().to_string()
    );
    harness.ctl(&["approve", &shown["id"].to_string()]).ok();
    // The link leads elsewhere now: that is another call.
    std::fs::remove_file(harness.workspace().join("link")).unwrap();
    symlink(".", harness.workspace().join("link")).unwrap();
    let refused = session.call("shell", &input);
    assert_eq!(
        refused["structuredContent"]["error"]["code"], "needs_approval",
        "{refused}"
    );
    std::fs::remove_file(harness.workspace().join("link")).unwrap();
    symlink("sub", harness.workspace().join("link")).unwrap();
    let result = session.ok("shell", &input);
    assert!(
        result["stdout"].as_str().unwrap().ends_with("/sub\n"),
        "{result}"
    );
}
