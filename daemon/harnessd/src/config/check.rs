//! What types cannot say: dead references, addresses, tokens, and values that do not fit together.

mod commands;
mod examples;
mod execute;
mod fronts;
mod groups;
mod paths;
mod plugins;
mod sandbox;
mod servers;
mod units;
mod values;

use std::{collections::BTreeMap, path::PathBuf};

use harness_model::SandboxProfile;

pub use fronts::Tokens;
pub use groups::{BUILT_IN_GROUPS, BuiltInGroup};

use super::{
    diagnostic::{Diagnostic, Diagnostics, Span},
    environment::ChildEnvironment,
    host::Host,
    node::{Node, Value},
    path::{Step, dotted},
    places::Mode,
    schema::Config,
};
use crate::policy::Ground;

/// What the checks found out on the way.
#[derive(Debug, Default)]
pub(super) struct Findings {
    pub(super) workspace: PathBuf,
    pub(super) shell: PathBuf,
    pub(super) sandbox: SandboxProfile,
    pub(super) tokens: Tokens,
    pub(super) admins: Vec<u32>,
    pub(super) libraries: BTreeMap<String, PathBuf>,
}

/// Runs every check.
pub(super) fn check(
    config: &Config,
    tree: &Node,
    removed: &[Vec<Step>],
    host: &Host,
    mode: Mode,
) -> (Findings, Diagnostics) {
    let environment = ChildEnvironment::new(&host.variables, &config.environment, None);
    let mut checker = Checker {
        config,
        tree,
        removed,
        host,
        search_path: environment.path().to_owned(),
        libraries: BTreeMap::new(),
        plugin_tools: BTreeMap::new(),
        problems: Diagnostics::new(),
    };
    let workspace = checker.workspace(mode);
    checker.plugins();
    let findings = Findings {
        sandbox: checker.sandbox(&workspace, &environment),
        workspace,
        shell: checker.shell(),
        tokens: checker.fronts(),
        admins: checker.admins(),
        libraries: std::mem::take(&mut checker.libraries),
    };
    checker.values();
    checker.execute(&environment);
    checker.units();
    checker.groups();
    checker.commands();
    checker.examples(&Ground {
        workspace: &findings.workspace,
        shell: &findings.shell,
        sandbox: &findings.sandbox,
        environment: &environment,
        // What a script may execute decides nothing about its call.
        commands: None,
    });
    (findings, checker.problems)
}

struct Checker<'a> {
    config: &'a Config,
    tree: &'a Node,
    /// What could not be read: it has defaults now, and no second complaint.
    removed: &'a [Vec<Step>],
    host: &'a Host,
    /// The `PATH` of children.
    search_path: String,
    /// The libraries of plugins that were found, by the names of the plugins.
    libraries: BTreeMap<String, PathBuf>,
    /// The tools of plugins that were asked for them.
    plugin_tools: BTreeMap<String, Vec<String>>,
    problems: Diagnostics,
}

impl Checker<'_> {
    /// An error in the value at a path.
    fn error(&mut self, path: &[Step], message: &str) {
        self.report(path, message, self.tree.span(path), Diagnostic::error);
    }

    /// An error in the name of a table or key.
    fn key_error(&mut self, path: &[Step], message: &str) {
        self.report(path, message, self.tree.key_span(path), Diagnostic::error);
    }

    fn warning(&mut self, path: &[Step], message: &str) {
        self.report(path, message, self.tree.span(path), Diagnostic::warning);
    }

    fn report(
        &mut self,
        path: &[Step],
        message: &str,
        span: Option<Span>,
        kind: fn(String, Option<Span>) -> Diagnostic,
    ) {
        let related = |removed: &Vec<Step>| removed.starts_with(path) || path.starts_with(removed);
        if !self.removed.iter().any(related) {
            let message = format!("{}: {message}", dotted(path));
            self.problems.push(kind(message, span));
        }
    }

    /// The names of the tables below `[table]`, those that could not be read included.
    fn names(&self, table: &str) -> Vec<String> {
        let read = match self.tree.get(&[Step::from(table)]).map(|node| &node.value) {
            Some(Value::Table(entries)) => entries.keys().cloned().collect(),
            _ => Vec::new(),
        };
        let removed = self
            .removed
            .iter()
            .filter_map(|path| match path.as_slice() {
                [Step::Key(first), Step::Key(name), ..] if first == table => Some(name.clone()),
                _ => None,
            });
        read.into_iter().chain(removed).collect()
    }
}
