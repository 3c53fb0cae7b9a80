//! Examples of rules.

use super::Desk;

#[test]
fn examples_that_hold_are_silent() {
    let desk = Desk::new();
    for text in [
        "[tool.shell]\nmode = \"allowlist\"\nallowlist = [\"git status\", \"cargo *\"]\n\
         match = [\"git status\", \"cargo build && git status\", { cmd = \"git status\", cwd = \"sub\" }]\n\
         not_match = [\"git push\", \"git status; rm -rf x\", \"cargo $(x)\", { cmd = \"git status\", env = { A = \"1\" } }]",
        "[tool.run]\nmode = \"ask\"\nnot_match = [\"true\"]",
        "[tool.\"*\"]\nmode = \"allow\"\nmatch = [\"rm -rf /\"]\n[tool.run]\nmode = \"off\"\nnot_match = [\"true\"]",
        "[tool.\"bash__stop\"]\nmode = \"ask\"\nnot_match = [{ id = \"x\" }]",
    ] {
        assert_eq!(desk.complaints(text), Vec::<String>::new(), "{text}");
    }
}

#[test]
fn an_example_that_does_not_hold_is_an_error_with_its_place_the_rules_and_a_remedy() {
    let desk = Desk::new();
    let list = "mode = \"allowlist\"\nallowlist = [\"git status\"]\n";
    for (text, complaint) in [
        (
            format!("[tool.run]\n{list}match = [\"git status\", \"git push\"]"),
            "a.toml:4:24: tool.run.match[1]: \"git push\" is asked about for bash__run: [tool.run] allowlist: not in the \
             allowlist: git push (ask); add a pattern to the allowlist, or move the example to not_match",
        ),
        (
            format!("[tool.run]\n{list}not_match = [\"git status\"]"),
            "a.toml:4:14: tool.run.not_match[0]: \"git status\" is allowed without a question for bash__run: [tool.run] \
             allowlist (allow); change the allowlist, or move the example to match",
        ),
        (
            format!(
                "[tool.run]\n{list}match = [{{ cmd = \"git status\", env = {{ A = \"1\" }} }}]"
            ),
            "a.toml:4:10: tool.run.match[0]: {\"cmd\":\"git status\",\"env\":{\"A\":\"1\"}} is asked about for bash__run: \
             [tool.run] allowlist: the call sets variables, which can change what a command does (ask); add a pattern to the \
             allowlist, or move the example to not_match",
        ),
        (
            "tool_groups = []\n[tool.shell]\nmode = \"allow\"\nmatch = [\"true\"]".to_owned(),
            "a.toml:4:10: tool.shell.match[0]: \"true\" is refused for shell__shell: tool_groups shell (deny); add the group \
             to tool_groups, or move the example to not_match",
        ),
        (
            format!(
                "[tool.\"*\"]\n{list}match = [\"git status\", \"ls\"]\n[tool.shell]\nmode = \"allow\""
            ),
            "a.toml:4:24: tool.\"*\".match[1]: \"ls\" is asked about for bash__run: [tool.*] allowlist: not in the allowlist: \
             ls (ask); add a pattern to the allowlist, or move the example to not_match",
        ),
    ] {
        assert_eq!(desk.complaint(&text), complaint, "{text}");
    }
}

#[test]
fn an_example_that_cannot_be_tried_is_an_error() {
    let desk = Desk::new();
    for (text, part) in [
        (
            "[tool.run]\nmatch = [\"ls\"]",
            "a.toml:2:10: tool.run.match[0]: an entry without a mode",
        ),
        (
            "[tool.status]\nmode = \"allow\"\nmatch = [\"ls\"]",
            "tool.status.match[0]: this entry is about no tool that runs commands",
        ),
        (
            "[tool.\"sh*\"]\nmode = \"allow\"\nmatch = [\"ls\"]\n[tool.shell]\nmode = \"ask\"",
            "this entry decides about no tool that runs commands: [tool.shell] names shell more closely",
        ),
        (
            "[tool.shell]\nmode = \"allow\"\nmatch = [{ cmd = \"ls\" }]\n[tool.shell__shell]\nmode = \"ask\"",
            "[tool.shell__shell] names it more closely",
        ),
        (
            "[tool.\"*\"]\nmode = \"allow\"\nmatch = [{ cmd = \"ls\" }]",
            "give the example to an entry that names the tool",
        ),
        (
            "[tool.run]\nmode = \"allow\"\nmatch = [5]",
            "expected a command, or a tool's input as a table",
        ),
        (
            "[tool.run]\nmode = \"allowlist\"\nallowlist = [\"a\\u202Eb\"]",
            "a.toml:3:14: tool.run.allowlist[0]: it is no pattern",
        ),
        (
            "[tool.\"{run,shell}\"]\nmode = \"off\"",
            "a.toml:1:7: tool.\"{run,shell}\": the name of a rule is a tool's, or a glob of `*` and `?`",
        ),
    ] {
        let complaint = desk.complaint(text);
        assert!(complaint.contains(part), "{text}: {complaint}");
    }
}

#[test]
fn a_command_is_read_as_the_configured_shell_would() {
    let desk = Desk::new();
    desk.write_mode("bin/dash", "", 0o755);
    let rule =
        "[tool.run]\nmode = \"allowlist\"\nallowlist = [\"echo *\"]\nmatch = [\"echo a &> b\"]\n";
    assert_eq!(desk.complaints(rule), Vec::<String>::new());
    // There it is `echo a &` and an empty command that writes.
    let complaint = desk.complaint(&format!("[bash]\nshell = \"dash\"\n{rule}"));
    assert!(complaint.contains("is asked about"), "{complaint}");
}
