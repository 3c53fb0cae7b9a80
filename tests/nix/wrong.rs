//! What is wrong is said when the system is evaluated, or at the latest when it is built.

use harness_tests::trials;
use libtest_mimic::Trial;
use serde_json::Value;

use super::evaluation::Evaluation;

pub(crate) fn trials() -> Vec<Trial> {
    trials![
        each_wrong_input_is_refused_with_a_message_that_names_the_option,
        what_only_the_daemon_knows_is_said_when_the_file_is_built,
    ]
}

fn each_wrong_input_is_refused_with_a_message_that_names_the_option() {
    let evaluation = Evaluation::new();
    let messages = evaluation.value("messages");
    let messages = messages.as_object().unwrap();
    let mut wrong = Vec::new();
    for (name, message) in messages {
        let said = match evaluation.try_value(&format!("refused.{name}.faults")) {
            Ok(Value::Array(faults)) => {
                let faults: Vec<&str> = faults.iter().filter_map(Value::as_str).collect();
                faults.join("\n")
            }
            Ok(other) => panic!("{name}: {other}"),
            Err(error) => error,
        };
        if !said.contains(message.as_str().unwrap()) {
            wrong.push(format!("{name}: expected {message}, said:\n{said}"));
        }
    }
    assert!(messages.len() >= 20, "{messages:?}");
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

fn what_only_the_daemon_knows_is_said_when_the_file_is_built() {
    let evaluation = Evaluation::new();
    assert_eq!(
        evaluation.value("variants.dead-tool.faults"),
        Value::Array(Vec::new())
    );
    let said = evaluation
        .build("variants.dead-tool.files.\"harnessd/coder.toml\"")
        .unwrap_err();
    for part in [
        "tool.shel",
        "did you mean `shell`?",
        "services.harnessd.agents.coder.settings: the configuration above is refused",
    ] {
        assert!(said.contains(part), "{part:?} is not in:\n{said}");
    }
    evaluation
        .build("variants.setting.files.\"harnessd/coder.toml\"")
        .unwrap();
}
