//! What a person is told of a wrong file.

use super::Desk;

#[test]
fn an_unknown_key_is_named_with_its_place_and_the_nearest_right_one() {
    let desk = Desk::new();
    for (text, complaint) in [
        (
            "[bash.unit]\nrestrat = \"no\"",
            "a.toml:2:1: there is no key \"restrat\" in [bash.unit]; did you mean `restart`?",
        ),
        (
            "bash = { unit = { restrat = \"no\" } }",
            "a.toml:1:19: there is no key \"restrat\" in [bash.unit]; did you mean `restart`?",
        ),
        (
            "workspce = \"/\"",
            "a.toml:1:1: there is no key \"workspce\" at the top level; did you mean `workspace`?",
        ),
    ] {
        assert_eq!(desk.complaint(text), complaint);
    }
}

#[test]
fn a_wrong_type_is_named_with_its_place_and_the_right_one() {
    let desk = Desk::new();
    for (text, complaint) in [
        (
            "[bash]\nmax_tasks = \"many\"",
            "a.toml:2:13: bash.max_tasks: expected a whole number from 0 to 4294967295, found the text \"many\"",
        ),
        (
            "[bash]\nmax_tasks = -1",
            "a.toml:2:13: bash.max_tasks: expected a whole number from 0 to 4294967295, found the number -1",
        ),
        (
            "bash = 5",
            "a.toml:1:8: bash: expected a table, found the number 5",
        ),
        (
            "trace = \"yes\"",
            "a.toml:1:9: trace: expected a boolean, found the text \"yes\"",
        ),
        (
            "[bash]\nmax_wait_sec = true",
            "a.toml:2:16: bash.max_wait_sec: expected a time span: seconds, or units as in \"1min 30s\"",
        ),
        (
            "[bash]\noutput_max = 1979-05-27",
            "a.toml:2:14: bash.output_max: no key takes a date: write text in quotes",
        ),
        (
            "[bash.unit]\nrestart = \"allways\"",
            "a.toml:2:11: bash.unit.restart: there is no \"allways\" here; did you mean `always`?",
        ),
        (
            "[bash.unit]\nsuccess_exit_status = [3, \"NOPE\"]",
            "a.toml:2:27: bash.unit.success_exit_status: \"NOPE\" is not an exit status: expected 0 to 255, a name like \"TEMPFAIL\", or a signal like \"SIGUSR1\"",
        ),
        (
            "[control]\nlisten = \"localhost:1\"",
            "a.toml:2:10: control.listen: \"localhost:1\" is not an address: expected IP:PORT as in \"127.0.0.1:7717\"",
        ),
        (
            "[bash]\nmax_tasks = 99999999999999999999",
            "a.toml:2:13: the number is too large",
        ),
    ] {
        assert_eq!(desk.complaint(text), complaint);
    }
}

#[test]
fn all_errors_come_at_once_in_the_order_of_the_file() {
    let desk = Desk::new();
    let text = "workspace = 1\nnope = 2\n[bash]\nshell = \"bahs\"\nmax_tasks = []\n[[hook]]\nevent = 1\ncommand = [\"guard\"]\n[[hook]]\nevent = \"pre_call\"\ncommand = [\"gaurd\"]\n";
    let places: Vec<String> = desk
        .complaints(text)
        .into_iter()
        .filter(|complaint| !complaint.contains("warning:"))
        .map(|complaint| complaint.split(": ").take(2).collect::<Vec<_>>().join(": "))
        .collect();
    assert_eq!(
        places,
        [
            "a.toml:1:13: workspace",
            "a.toml:2:1: there is no key \"nope\" at the top level; expected one of `workspace`, `tool_groups`, `spawner`, `trace`, `manage_scripts`, `tools_in_shell`, `bash`, `environment`, `limits`, `approval`, `tool`, `sandbox`, `mcp`, `plugin`, `hook`, `script_schedule`, `turn`, `control`, `mcp_http`",
            "a.toml:4:9: bash.shell",
            "a.toml:5:13: bash.max_tasks",
            "a.toml:7:9: hook[0].event",
            "a.toml:11:12: hook[0].command[0]",
        ]
    );
}

#[test]
fn a_syntax_error_has_its_place() {
    let desk = Desk::new();
    let complaints = desk.complaints("[bash]\nshell = \n");
    assert!(complaints[0].starts_with("a.toml:2:9: "), "{complaints:?}");
    let complaints = desk.complaints("trace = true\ntrace = false\n");
    assert!(complaints[0].starts_with("a.toml:2:1: "), "{complaints:?}");
    assert!(complaints[0].contains("duplicate"), "{complaints:?}");
}

#[test]
fn the_line_is_shown_with_a_caret_and_no_colour_unless_asked() {
    let desk = Desk::new();
    let problems = desk.load("é = 1\n").unwrap_err();
    let plain = problems.render(false);
    assert!(!plain.contains('\x1b'));
    let problems = desk.load("[bash]\n\tshell = \"é\u{202e}x\"\n").unwrap_err();
    let plain = problems.render(false);
    let lines: Vec<&str> = plain.lines().skip(1).collect();
    assert_eq!(
        lines,
        [" 2 |  shell = \"é\u{fffd}x\"", "   |          ^^^^^"]
    );
    assert!(problems.render(true).contains("\x1b[1;31m"));
}

#[test]
fn a_long_line_is_cut_around_its_place() {
    let desk = Desk::new();
    let text = format!("tool_groups = [{} \"nope\"]", "\"bash\", ".repeat(2000));
    let plain = desk.load(&text).unwrap_err().render(false);
    let lines: Vec<&str> = plain.lines().collect();
    assert!(lines[1].len() < 140, "{}", lines[1].len());
    let caret = lines[2].find('^').unwrap();
    assert!(lines[1][caret..].starts_with("\"nope\""), "{plain}");
}
