//! The hooks of a configuration, ready to be asked.

use std::fmt;

use globset::GlobMatcher;
use harness_model::{ExplainedHook, Tool};

use crate::{
    config::{
        ChildEnvironment, Loaded, VariableMap, matcher,
        schema::{HookEvent, OnError},
    },
    program::Program,
};

/// Every `[[hook]]`, in the order of the files.
#[derive(Default)]
pub(crate) struct Hooks(Vec<Hook>);

/// One `[[hook]]`.
pub(crate) struct Hook {
    /// Its place, counted from 1.
    number: u32,
    pub(super) event: HookEvent,
    pub(super) program: Program,
    /// `on_error = "block"`
    pub(super) blocks: bool,
    tools: Vec<Glob>,
}

/// A glob over names of tools, as it stands and with hyphens as underscores.
struct Glob([Option<GlobMatcher>; 2]);

impl Hooks {
    pub(crate) fn of(loaded: &Loaded, environment: &ChildEnvironment) -> Self {
        let hook = |(number, hook): (u32, &crate::config::schema::Hook)| Hook {
            number,
            event: hook.event,
            program: Program {
                argv: environment.command(&hook.command),
                environment: environment.with(&VariableMap::new()),
                cwd: loaded.workspace.clone(),
                // The configuration has an end for it.
                timeout: hook.timeout_sec.finite().unwrap_or_default(),
            },
            blocks: hook.on_error == OnError::Block,
            tools: hook.tools.iter().map(|glob| Glob::new(glob)).collect(),
        };
        Self((1..).zip(&loaded.config.hook).map(hook).collect())
    }

    /// Those that an event of a tool is about, in their order.
    pub(super) fn about(&self, event: HookEvent, tool: &Tool) -> impl Iterator<Item = &Hook> {
        let full = format!("{}__{}", tool.group, tool.name);
        self.0.iter().filter(move |hook| {
            let named = |glob: &Glob| glob.matches(&full) || glob.matches(&tool.name);
            hook.event == event && hook.tools.iter().any(named)
        })
    }
}

impl Hook {
    pub(super) fn explained(&self) -> ExplainedHook {
        ExplainedHook {
            number: self.number,
            event: self.event.as_str().to_owned(),
            command: self.program.argv.clone(),
            on_error: if self.blocks { "block" } else { "allow" }.to_owned(),
        }
    }
}

impl fmt::Display for Hook {
    /// As messages name it: `hook 1 (guard)`.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "hook {} ({})", self.number, self.program.name())
    }
}

impl Glob {
    fn new(glob: &str) -> Self {
        Self([matcher(glob).ok(), matcher(&glob.replace('-', "_")).ok()])
    }

    /// One that cannot be read is about everything; the checks of the configuration let none through.
    fn matches(&self, name: &str) -> bool {
        let [exact, plain] = &self.0;
        let is_match = |glob: &Option<GlobMatcher>, name: &str| {
            glob.as_ref().is_none_or(|glob| glob.is_match(name))
        };
        is_match(exact, name) || is_match(plain, &name.replace('-', "_"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_glob_matches_names_with_hyphens_and_underscores_alike() {
        for (glob, name, expected) in [
            ("*", "github__push-files", true),
            ("github__push_files", "github__push-files", true),
            ("github__push-*", "github__push_files", true),
            ("github__[a-c]*", "github__branch", true),
            ("github__[a-c]*", "github__push", false),
            ("GitHub__*", "github__push", true),
            ("push", "github__push", false),
            ("{run,shell}", "shell", true),
            ("[", "anything", true),
        ] {
            assert_eq!(Glob::new(glob).matches(name), expected, "{glob} {name}");
        }
    }
}
