//! What a person has answered for good.

use harness_bashscan::Pattern;
use harness_model::{Scope, Standing, Tool};

use crate::shell::Script;

/// All answers for good.
#[derive(Debug, Clone, Default)]
pub struct Grants(Vec<Standing>);

impl Grants {
    /// From what the record holds.
    #[must_use]
    pub fn of(standing: Vec<Standing>) -> Self {
        Self(standing)
    }

    /// A standing no to this call.
    pub(crate) fn rejection<'a>(
        &'a self,
        tool: &'a Tool,
        script: Option<&Script<'_>>,
    ) -> Option<&'a Standing> {
        self.about(tool)
            .filter(|standing| !standing.allow)
            .find(|standing| rejects(standing, script))
    }

    /// A standing yes to all of this call.
    pub(crate) fn approval<'a>(
        &'a self,
        tool: &'a Tool,
        script: Option<&Script<'_>>,
    ) -> Option<&'a Standing> {
        let mut yes = self.about(tool).filter(|standing| standing.allow);
        let Some(script) = script else {
            return yes.find(|standing| standing.scope == Scope::Tool);
        };
        if let Some(whole) = yes.clone().find(|standing| covers(standing, script)) {
            return Some(whole);
        }
        // Each command may have its own answer.
        let patterns: Vec<Pattern> = yes.clone().flat_map(patterns).collect();
        if patterns.is_empty() || !script.is_allowed_by(&patterns) {
            return None;
        }
        yes.next()
    }

    fn about<'a>(&'a self, tool: &'a Tool) -> impl Iterator<Item = &'a Standing> + Clone {
        self.0
            .iter()
            .filter(|standing| standing.group == tool.group && standing.tool == tool.name)
    }
}

fn patterns(standing: &Standing) -> Vec<Pattern> {
    match &standing.scope {
        Scope::Commands(commands) => commands
            .iter()
            .filter_map(|text| Pattern::parse(text).ok())
            .collect(),
        Scope::Tool | Scope::Text(_) => Vec::new(),
    }
}

fn covers(standing: &Standing, script: &Script<'_>) -> bool {
    match &standing.scope {
        Scope::Tool => true,
        Scope::Commands(_) => script.is_allowed_by(&patterns(standing)),
        Scope::Text(text) => script.is_all_of(text),
    }
}

/// A no reaches every script that has a rejected command anywhere in it.
fn rejects(standing: &Standing, script: Option<&Script<'_>>) -> bool {
    match (&standing.scope, script) {
        (Scope::Tool, _) => true,
        (Scope::Commands(_), Some(script)) => script.has_any_of(&patterns(standing)),
        (Scope::Text(text), Some(script)) => script.text() == text,
        (Scope::Commands(_) | Scope::Text(_), None) => false,
    }
}
