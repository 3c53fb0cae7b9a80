//! What a person is shown of a call they are asked about: the same wherever they are asked.

use std::fmt::{self, Write as _};

use serde_json::Value;

use crate::{Answer, Approval, Scope, escape};

/// How wide the names' column is.
const NAMES: usize = 10;

impl fmt::Display for Scope {
    /// In words, as the card has it.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tool => formatter.write_str("every call of this tool"),
            Self::Commands(commands) => {
                write!(
                    formatter,
                    "scripts of nothing but: {}",
                    commands.join(" | ")
                )
            }
            Self::Text(_) => formatter.write_str("this text alone"),
            Self::Sandbox { opened, scope } => {
                write!(formatter, "{scope}, when it asks to {opened}")
            }
        }
    }
}

impl Approval {
    /// The card: every member of the input, where it runs, which rule asks, and what an answer for good would cover,
    /// a line each. Everything of others is escaped, so that what is read is what will run; only the line ends of a
    /// text stay, moved in.
    #[must_use]
    pub fn card(&self) -> String {
        let mut card = Card::default();
        for (name, value) in &self.input {
            match value {
                Value::String(text) => card.quote(name, text),
                Value::Null
                | Value::Bool(_)
                | Value::Number(_)
                | Value::Array(_)
                | Value::Object(_) => card.field(name, &value.to_string()),
            }
        }
        card.field("in", &self.cwd);
        card.field("asked by", &format!("{} ({})", self.rule, self.why));
        card.field("always", &self.scope.to_string());
        card.0
    }

    /// The answers that cover no more than what the card shows. One for good about a whole tool covers calls with
    /// any other input, and one about a call that sets variables would leave them out.
    #[must_use]
    pub fn narrow_answers(&self) -> &'static [Answer] {
        const ONCE: [Answer; 2] = [Answer::Allow, Answer::Reject];
        const ALL: [Answer; 4] = [
            Answer::Allow,
            Answer::Reject,
            Answer::AllowAlways,
            Answer::RejectAlways,
        ];
        let variables = self.input.get("env").and_then(Value::as_object);
        let sets_variables = variables.is_some_and(|env| !env.is_empty());
        let mut scope = &self.scope;
        while let Scope::Sandbox { scope: inner, .. } = scope {
            scope = inner;
        }
        if *scope == Scope::Tool || sets_variables {
            &ONCE
        } else {
            &ALL
        }
    }
}

#[derive(Default)]
struct Card(String);

impl Card {
    fn field(&mut self, name: &str, value: &str) {
        let (name, value) = (escape::text(name), escape::text(value));
        // Writing to a string cannot fail.
        _ = writeln!(self.0, "{name:>NAMES$}: {value}");
    }

    fn quote(&mut self, name: &str, text: &str) {
        self.field(name, "");
        for line in escape::lines(text).lines() {
            _ = writeln!(self.0, "{:>NAMES$}  {line}", "");
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::{ApprovalId, ApprovalState, CallId, Front, Timestamp};

    fn approval(input: &Value, scope: Scope) -> Approval {
        Approval {
            id: ApprovalId(1),
            call: CallId::generate(),
            front: Front::Mcp,
            group: "bash".to_owned(),
            tool: "run".to_owned(),
            input: input.as_object().unwrap().clone(),
            cwd: "/srv/wo\u{1b}rk".to_owned(),
            rule: "[tool.run] mode = \"ask\"".to_owned(),
            why: "policy".to_owned(),
            scope,
            state: ApprovalState::Pending,
            created_at: Timestamp::default(),
            expires_at: Timestamp::default(),
            answered_by: None,
        }
    }

    #[test]
    fn the_card_shows_all_that_will_run_and_nothing_can_rewrite_it() {
        let input =
            json!({"cmd": "echo \u{202e}a\r\n  in: /safe\n", "timeout_secs": 7, "x\ny": true});
        let card = approval(&input, Scope::Commands(vec!["echo a".to_owned()])).card();
        assert_eq!(
            card,
            "       cmd: \n            echo \\u{202e}a\\r\n              in: /safe\ntimeout_secs: 7\n      x\\ny: true\n        \
             in: /srv/wo\\u{1b}rk\n  asked by: [tool.run] mode = \"ask\" (policy)\n    always: scripts of nothing but: echo a\n"
        );
    }

    #[test]
    fn an_always_is_offered_where_it_covers_no_more_than_the_card() {
        let text = || Scope::Text("x".to_owned());
        let all = |scope| approval(&json!({"cmd": "x"}), scope).narrow_answers().len();
        assert_eq!((all(text()), all(Scope::Tool)), (4, 2));
        assert_eq!(all(Scope::Commands(vec!["x".to_owned()])), 4);
        let with = approval(&json!({"cmd": "x", "env": {"A": "1"}}), text());
        assert_eq!(with.narrow_answers(), [Answer::Allow, Answer::Reject]);
    }
}
