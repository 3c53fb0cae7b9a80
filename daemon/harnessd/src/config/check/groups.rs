//! References to tool groups and tools.

use super::Checker;
use crate::config::{
    environment,
    nearest::hint,
    path::{Step, steps},
};

/// A tool group that is part of the daemon.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BuiltInGroup {
    /// Its name.
    pub name: &'static str,
    /// Its tools.
    pub tools: &'static [&'static str],
}

/// The tool groups that are part of the daemon, and their tools.
pub const BUILT_IN_GROUPS: [BuiltInGroup; 4] = [
    BuiltInGroup {
        name: "bash",
        tools: &[
            "run", "status", "list", "output", "stop", "restart", "signal",
        ],
    },
    BuiltInGroup {
        name: "shell",
        tools: &["shell"],
    },
    BuiltInGroup {
        name: "scripts",
        tools: &["scripts"],
    },
    BuiltInGroup {
        name: "wakes",
        tools: &["wakes_recv", "wakes_ack"],
    },
];

impl Checker<'_> {
    pub(super) fn groups(&mut self) {
        let config = self.config;
        let built_in = BUILT_IN_GROUPS.iter().map(|group| group.name);
        let plugins = self.names("plugin");
        let groups: Vec<&str> = built_in.chain(plugins.iter().map(String::as_str)).collect();
        for (index, name) in config.tool_groups.iter().enumerate() {
            self.known(&steps!["tool_groups", index], "tool group", name, &groups);
        }
        let servers = self.names("mcp");
        let all: Vec<&str> = (groups.iter().copied())
            .chain(servers.iter().map(String::as_str))
            .collect();
        for (index, name) in config.approval.keep_visible.iter().enumerate() {
            let key = steps!["approval", "keep_visible", index];
            self.known(&key, "tool group or MCP server", name, &all);
        }
        self.names_of_servers();
        for name in config.tool.keys() {
            self.tool_pattern(&steps!["tool", name], name, true);
        }
        for (hook, entry) in config.hook.iter().enumerate() {
            for (index, pattern) in entry.tools.iter().enumerate() {
                self.tool_pattern(&steps!["hook", hook, "tools", index], pattern, false);
            }
        }
        for (name, server) in &config.mcp {
            for (index, pattern) in server.allowed_tools.iter().enumerate() {
                if environment::matcher(pattern).is_err() {
                    let key = steps!["mcp", name, "allowed_tools", index];
                    self.error(&key, &format!("{pattern:?} is not a glob"));
                }
            }
        }
    }

    fn known(&mut self, path: &[Step], kind: &str, name: &str, names: &[&str]) {
        if !names.contains(&name) {
            let hint = hint(name, names.iter().copied());
            self.error(path, &format!("there is no {kind} {name:?}{hint}"));
        }
    }

    /// A server or plugin shares the namespace of the built-in groups.
    fn names_of_servers(&mut self) {
        let config = self.config;
        let servers = config.mcp.keys().map(|name| ("mcp", name));
        let plugins = config.plugin.keys().map(|name| ("plugin", name));
        for (table, name) in servers.chain(plugins) {
            let letter = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
            let key = steps![table, name];
            if name.is_empty()
                || name.len() > 32
                || !name.chars().all(letter)
                || name.contains("__")
            {
                self.key_error(
                    &key,
                    "a name has 1 to 32 characters of a-z, A-Z, 0-9, - and _, and no double underscore",
                );
            } else if BUILT_IN_GROUPS.iter().any(|group| group.name == name) {
                self.key_error(&key, "a built-in tool group has this name: choose another");
            } else if table == "plugin" && config.mcp.contains_key(name) {
                self.key_error(&key, "an MCP server has this name, too: choose another");
            }
        }
    }

    /// A tool's name or a glob that can match one.
    fn tool_pattern(&mut self, path: &[Step], pattern: &str, is_key: bool) {
        // Of these the gate would not see a match.
        if is_key && pattern.contains(['[', ']', '{', '}', '\\']) {
            self.key_error(
                path,
                "the name of a rule is a tool's, or a glob of `*` and `?`: write one rule for each",
            );
            return;
        }
        let problem = self.pattern_problem(pattern);
        if let Some(message) = problem {
            if is_key {
                self.key_error(path, &message);
            } else {
                self.error(path, &message);
            }
        }
    }

    fn pattern_problem(&self, pattern: &str) -> Option<String> {
        let Ok(matcher) = environment::matcher(pattern) else {
            return Some(format!("{pattern:?} is not a glob"));
        };
        let of_plugins = self
            .plugin_tools
            .iter()
            .flat_map(|(plugin, tools)| tools.iter().map(move |tool| format!("{plugin}__{tool}")));
        let names: Vec<String> = BUILT_IN_GROUPS
            .iter()
            .flat_map(|group| {
                let qualified = |tool: &&str| format!("{}__{tool}", group.name);
                group
                    .tools
                    .iter()
                    .flat_map(move |tool| [(*tool).to_owned(), qualified(tool)])
            })
            .chain(of_plugins)
            .collect();
        // What a server offers is known once it runs, as is what a plugin that was not asked does; its prefix
        // is known now.
        let prefixes: Vec<String> = (self.names("mcp").into_iter())
            .chain(self.names("plugin"))
            .filter(|name| !self.plugin_tools.contains_key(name))
            .map(|name| format!("{name}__"))
            .collect();
        let literal = pattern
            .split(['*', '?', '[', '{'])
            .next()
            .unwrap_or_default();
        let is_glob = literal.len() < pattern.len();
        let known = if is_glob {
            names.iter().any(|name| matcher.is_match(name))
                || prefixes
                    .iter()
                    .any(|prefix| literal.starts_with(prefix) || prefix.starts_with(literal))
        } else {
            names.iter().any(|name| name == pattern)
                || prefixes
                    .iter()
                    .any(|prefix| pattern.len() > prefix.len() && pattern.starts_with(prefix))
        };
        if known {
            return None;
        }
        if is_glob {
            return Some(format!("{pattern:?} matches no tool"));
        }
        let hint = hint(pattern, names.iter().map(String::as_str));
        let rule = if prefixes.is_empty() {
            ""
        } else {
            "; a tool of an MCP server or plugin is written SERVER__TOOL"
        };
        Some(format!("there is no tool {pattern:?}{hint}{rule}"))
    }
}
