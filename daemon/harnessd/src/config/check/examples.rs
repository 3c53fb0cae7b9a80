//! The examples of rules, tried on the whole policy: a rule that does not do what its writer means is found before it
//! is in force.

use harness_authorize::{Decision, Evaluation, Grants, Policy, ToolRule, authorize};
use harness_model::{Annotations, Call, CallId, Timestamp, Tool};
use serde_json::{Map, Value, json};

use super::{BUILT_IN_GROUPS, Checker};
use crate::{
    config::{
        path::{Step, steps},
        schema::{Example, ToolRule as Rule},
    },
    policy::{self, Ground},
};

/// The tools that run commands: group, name.
const SHELLS: [(&str, &str); 2] = [("bash", "run"), ("shell", "shell")];

impl Checker<'_> {
    /// Tries every example. `match` holds when the call is allowed without a question, `not_match` when it is not.
    pub(super) fn examples(&mut self, ground: &Ground<'_>) {
        let config = self.config;
        self.patterns();
        if self.problems.has_errors() {
            // They would be tried on another policy than the one that is meant.
            return;
        }
        let policy = policy::of(config, ground);
        for (name, rule) in &config.tool {
            let lists = [
                ("match", &rule.matches, true),
                ("not_match", &rule.not_match, false),
            ];
            for (key, examples, allowed) in lists {
                for (index, example) in examples.iter().enumerate() {
                    let tried = Trial {
                        policy: &policy,
                        name,
                        rule,
                        allowed,
                    };
                    if let Err(message) = tried.run(example) {
                        self.error(&steps!["tool", name, key, index], &message);
                    }
                }
            }
        }
    }

    /// Entries of allowlists that are no patterns.
    fn patterns(&mut self) {
        for (name, rule) in &self.config.tool {
            for (index, entry) in rule.allowlist.iter().enumerate() {
                let entry = std::slice::from_ref(entry);
                if entry[0].trim().is_empty() {
                    continue;
                }
                if let Err(error) = ToolRule::new(name, harness_authorize::Mode::Allowlist, entry) {
                    let key: [Step; 4] = steps!["tool", name, "allowlist", index];
                    self.error(&key, &format!("it is no pattern: {}", error.source));
                }
            }
        }
    }
}

/// One entry's example.
struct Trial<'a> {
    policy: &'a Policy,
    name: &'a str,
    rule: &'a Rule,
    /// What the example says.
    allowed: bool,
}

impl Trial<'_> {
    fn run(&self, example: &Example) -> Result<(), String> {
        if self.rule.mode.is_none() {
            return Err("an entry without a mode decides nothing: set its mode, or move the example to the one that does".to_owned());
        }
        match example {
            Example::Command(text) => {
                let tools = self.judged(SHELLS.into_iter())?;
                let input = Map::from_iter([("cmd".to_owned(), json!(text))]);
                tools
                    .iter()
                    .try_for_each(|tool| self.of(tool, &input, &format!("{text:?}")))
            }
            Example::Input(input) => {
                let tool = self.only_tool()?;
                self.of(&tool, input, &Value::Object(input.clone()).to_string())
            }
        }
    }

    /// Those of the tools that this entry decides about; at least one.
    fn judged<'t>(
        &self,
        tools: impl Iterator<Item = (&'t str, &'t str)>,
    ) -> Result<Vec<Tool>, String> {
        let mut judged = Vec::new();
        let mut closer = None;
        for (group, name) in tools {
            let tool = tool(group, name);
            match self.policy.rule_for(&tool) {
                Some(rule) if rule.name == self.name => judged.push(tool),
                Some(rule) if harness_authorize::names(self.name, &tool) => {
                    closer = Some((tool.name, rule.name.clone()));
                }
                Some(_) | None => {}
            }
        }
        if !judged.is_empty() {
            return Ok(judged);
        }
        Err(match closer {
            Some((tool, rule)) => format!(
                "this entry decides about no tool that runs commands: [tool.{rule}] names {tool} more closely; move the example there"
            ),
            None => "this entry is about no tool that runs commands: give the input as a table, as in { id = \"x\" }".to_owned(),
        })
    }

    /// The tool that the entry names.
    fn only_tool(&self) -> Result<Tool, String> {
        if self.name.contains(['*', '?', '[', '{']) {
            return Err("an input is one tool's, and this entry may be about several: give the example to an entry that names the tool".to_owned());
        }
        let plain = |name: &str| name.replace('-', "_");
        let wanted = plain(self.name);
        let built_in = BUILT_IN_GROUPS
            .iter()
            .flat_map(|group| group.tools.iter().map(move |name| tool(group.name, name)));
        let named = |tool: &Tool| {
            let name = plain(&tool.name);
            wanted == name || wanted == format!("{}__{name}", plain(&tool.group))
        };
        let found = built_in.into_iter().find(named).or_else(|| {
            let (server, name) = self.name.split_once("__")?;
            Some(tool(server, name))
        });
        let found = found.ok_or_else(|| "there is no such tool to try it on".to_owned())?;
        match self.policy.rule_for(&found) {
            Some(rule) if rule.name != self.name => Err(format!(
                "this entry does not decide about the tool: [tool.{}] names it more closely; move the example there",
                rule.name
            )),
            Some(_) | None => Ok(found),
        }
    }

    fn of(&self, tool: &Tool, input: &Map<String, Value>, shown: &str) -> Result<(), String> {
        let call = Call {
            id: CallId::generate(),
            group: tool.group.clone(),
            tool: tool.name.clone(),
            input: input.clone(),
            started_at: Timestamp::default(),
            allowance: None,
        };
        let evaluation = authorize(self.policy, tool, &call, &Grants::default(), None);
        if (evaluation.decision == Decision::Allow) == self.allowed {
            return Ok(());
        }
        Err(self.complaint(tool, &evaluation, shown))
    }

    /// What was said instead, by which rules, and what would make the example true.
    fn complaint(&self, tool: &Tool, evaluation: &Evaluation, shown: &str) -> String {
        let shown: String = shown.chars().take(200).collect();
        let is = match evaluation.decision {
            Decision::Allow => "is allowed without a question",
            Decision::Ask => "is asked about",
            Decision::Deny => "is refused",
        };
        let rules: Vec<String> = evaluation
            .matched
            .iter()
            .map(|rule| format!("{} {} ({})", rule.layer, rule.rule, rule.decision))
            .collect();
        let remedy = evaluation
            .deciding()
            .map_or("", |rule| rule.remedy.as_str());
        let other = if self.allowed { "not_match" } else { "match" };
        format!(
            "{shown} {is} for {}__{}: {}; {remedy}, or move the example to {other}",
            tool.group,
            tool.name,
            rules.join(", "),
        )
    }
}

/// As much of a tool as an entry with a mode looks at.
fn tool(group: &str, name: &str) -> Tool {
    Tool {
        group: group.to_owned(),
        name: name.to_owned(),
        title: None,
        description: String::new(),
        input_schema: json!({"type": "object"}),
        output_schema: None,
        annotations: Annotations::default(),
        direct: true,
    }
}
