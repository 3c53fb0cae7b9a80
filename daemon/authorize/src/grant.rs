//! What a person has answered for good.

use harness_bashscan::Pattern;
use harness_model::{Call, Tool};

use crate::shell::Script;

/// How far an answer for good reaches: as far as what was shown, and no further.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Scope {
    /// Every call of the tool.
    Tool,
    /// Every script whose commands all match these patterns.
    Commands(Vec<String>),
    /// This text alone: it could not be read as a list of commands.
    Text(String),
}

/// One answer for good.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Standing {
    /// What it is revoked by.
    pub id: i64,
    /// The tool's group.
    pub group: String,
    /// The tool's name.
    pub tool: String,
    /// How far it reaches.
    pub scope: Scope,
    /// It is a yes.
    pub allow: bool,
}

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
        call: &Call,
        script: Option<&Script<'_>>,
    ) -> Option<&'a Standing> {
        self.about(tool)
            .filter(|standing| !standing.allow)
            .find(|standing| standing.rejects(call, script))
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
        if let Some(whole) = yes.clone().find(|standing| standing.covers(script)) {
            return Some(whole);
        }
        // Each command may have its own answer.
        let patterns: Vec<Pattern> = yes.clone().flat_map(Standing::patterns).collect();
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

impl Standing {
    fn patterns(&self) -> Vec<Pattern> {
        match &self.scope {
            Scope::Commands(commands) => commands
                .iter()
                .filter_map(|text| Pattern::parse(text).ok())
                .collect(),
            Scope::Tool | Scope::Text(_) => Vec::new(),
        }
    }

    fn covers(&self, script: &Script<'_>) -> bool {
        match &self.scope {
            Scope::Tool => true,
            Scope::Commands(_) => script.is_allowed_by(&self.patterns()),
            Scope::Text(text) => script.text() == text,
        }
    }

    /// A no reaches every script that has a rejected command anywhere in it.
    fn rejects(&self, _call: &Call, script: Option<&Script<'_>>) -> bool {
        match (&self.scope, script) {
            (Scope::Tool, _) => true,
            (Scope::Commands(_), Some(script)) => script.has_any_of(&self.patterns()),
            (Scope::Text(text), Some(script)) => script.text() == text,
            (Scope::Commands(_) | Scope::Text(_), None) => false,
        }
    }
}
