//! What a person has answered for good.

use harness_bashscan::Pattern;
use harness_model::{SandboxRequest, Scope, Standing, Tool};

use crate::{sandbox, shell::Script};

/// All answers for good.
#[derive(Debug, Clone, Default)]
pub struct Grants(Vec<Standing>);

impl Grants {
    /// From what the record holds.
    #[must_use]
    pub fn of(standing: Vec<Standing>) -> Self {
        Self(standing)
    }

    /// A standing no to this call, which opens so much of the sandbox.
    pub(crate) fn rejection<'a>(
        &'a self,
        tool: &'a Tool,
        script: Option<&Script<'_>>,
        opened: &SandboxRequest,
    ) -> Option<&'a Standing> {
        self.about(tool)
            .filter(|standing| !standing.allow)
            .find(|standing| {
                sandbox::rejected(&standing.scope, opened)
                    .is_some_and(|scope| rejects(scope, script))
            })
    }

    /// A standing yes to all of this call, the opening of the sandbox included.
    pub(crate) fn approval<'a>(
        &'a self,
        tool: &'a Tool,
        script: Option<&Script<'_>>,
        opened: &SandboxRequest,
    ) -> Option<&'a Standing> {
        let mut yes = self
            .about(tool)
            .filter(|standing| standing.allow)
            .filter_map(|standing| Some((standing, sandbox::approved(&standing.scope, opened)?)));
        let Some(script) = script else {
            return yes
                .find(|(_, scope)| **scope == Scope::Tool)
                .map(|(standing, _)| standing);
        };
        if let Some((whole, _)) = yes.clone().find(|(_, scope)| covers(scope, script)) {
            return Some(whole);
        }
        // Each command may have its own answer.
        let patterns: Vec<Pattern> = yes.clone().flat_map(|(_, scope)| patterns(scope)).collect();
        if patterns.is_empty() || !script.is_allowed_by(&patterns) {
            return None;
        }
        yes.next().map(|(standing, _)| standing)
    }

    fn about<'a>(&'a self, tool: &'a Tool) -> impl Iterator<Item = &'a Standing> + Clone {
        self.0
            .iter()
            .filter(|standing| standing.group == tool.group && standing.tool == tool.name)
    }
}

fn patterns(scope: &Scope) -> Vec<Pattern> {
    match scope {
        Scope::Commands(commands) => commands
            .iter()
            .filter_map(|text| Pattern::parse(text).ok())
            .collect(),
        Scope::Tool | Scope::Text(_) | Scope::Sandbox { .. } => Vec::new(),
    }
}

fn covers(scope: &Scope, script: &Script<'_>) -> bool {
    match scope {
        Scope::Tool => true,
        Scope::Commands(_) => script.is_allowed_by(&patterns(scope)),
        Scope::Text(text) => script.is_all_of(text),
        Scope::Sandbox { .. } => false,
    }
}

/// A no reaches every script that has a rejected command anywhere in it.
fn rejects(scope: &Scope, script: Option<&Script<'_>>) -> bool {
    match (scope, script) {
        (Scope::Tool, _) => true,
        (Scope::Commands(_), Some(script)) => script.has_any_of(&patterns(scope)),
        (Scope::Text(text), Some(script)) => script.text() == text,
        (Scope::Commands(_) | Scope::Text(_) | Scope::Sandbox { .. }, _) => false,
    }
}
