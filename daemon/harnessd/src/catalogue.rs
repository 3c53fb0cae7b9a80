//! Every tool there is, by name: which one a caller means, and whether the input fits it.
//!
//! The tools of MCP servers come and go. A snapshot of all is replaced as one, so that a call sees either all of a
//! change or nothing of it.

mod entry;
mod name;

use std::{
    collections::{BTreeMap, HashMap},
    sync::{Arc, Mutex, PoisonError, RwLock},
};

use harness_authorize::Policy;
use harness_execute::ToolGroup;
use harness_mcp::{Exposed, View};
use harness_model::{CallRequest, ErrorCode, Refusal, Tool};

pub(crate) use self::entry::{Entry, SchemaError};
use self::name::SEPARATOR;
use crate::config::hint;

/// The tools of one group, in its own order.
#[derive(Clone)]
struct Group {
    entries: Vec<Arc<Entry>>,
    /// It is an MCP server's or a plugin's.
    foreign: bool,
}

/// All tools at one time.
#[derive(Clone, Default)]
struct Snapshot {
    groups: BTreeMap<String, Group>,
    /// By the name in the whole catalogue.
    by_full_name: HashMap<String, Arc<Entry>>,
}

/// The tools of every group that this harness has.
pub(crate) struct Catalogue {
    current: RwLock<Arc<Snapshot>>,
    /// Held while a group is read and put in its place, so that the newest reading is the last one.
    changing: Mutex<()>,
}

impl Catalogue {
    /// The harness's own groups.
    pub(crate) fn of(groups: Vec<Arc<dyn ToolGroup>>) -> Result<Self, SchemaError> {
        let mut snapshot = Snapshot::default();
        for group in groups {
            let entries: Result<Vec<_>, _> = group
                .tools()
                .into_iter()
                .map(|tool| Entry::own(tool, &group))
                .collect();
            let own = Group {
                entries: entries?,
                foreign: false,
            };
            snapshot.groups.insert(group.name().to_owned(), own);
        }
        snapshot.index();
        Ok(Self {
            current: RwLock::new(Arc::new(snapshot)),
            changing: Mutex::new(()),
        })
    }

    /// Puts the tools that an MCP server has now in the place of those it had.
    pub(crate) fn put_server(&self, server: &Arc<dyn ToolGroup>) {
        let _changing = self.changing.lock().unwrap_or_else(PoisonError::into_inner);
        let mut snapshot = Snapshot::clone(&self.current());
        let old = snapshot.groups.get(server.name());
        let old = old.map(|group| group.entries.clone()).unwrap_or_default();
        let entry = |tool: Tool| {
            let same = old.iter().find(|entry| *entry.tool == tool);
            Entry::foreign(tool, server, same)
        };
        let group = Group {
            entries: server.tools().into_iter().map(entry).collect(),
            foreign: true,
        };
        snapshot.groups.insert(server.name().to_owned(), group);
        self.replace(snapshot);
    }

    /// An MCP server has left the configuration.
    pub(crate) fn remove_server(&self, server: &str) {
        let _changing = self.changing.lock().unwrap_or_else(PoisonError::into_inner);
        let mut snapshot = Snapshot::clone(&self.current());
        if snapshot
            .groups
            .get(server)
            .is_some_and(|group| group.foreign)
        {
            snapshot.groups.remove(server);
            self.replace(snapshot);
        }
    }

    fn replace(&self, mut snapshot: Snapshot) {
        snapshot.index();
        *self.current.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(snapshot);
    }

    fn current(&self) -> Arc<Snapshot> {
        let current = self.current.read();
        Arc::clone(&current.unwrap_or_else(PoisonError::into_inner))
    }

    /// The tool a request means: in its group, by its name in the whole catalogue, or by a name that only one group
    /// has.
    pub(crate) fn resolve(&self, request: &CallRequest) -> Result<Arc<Entry>, Refusal> {
        self.current().resolve(request)
    }

    /// The tools of a view, under the names that it shows them by.
    pub(crate) fn exposed(&self, view: &View, policy: &Policy) -> Result<Vec<Exposed>, Refusal> {
        let current = self.current();
        match view {
            View::All => {
                let groups = current.groups.iter();
                let on = groups.filter(|(group, _)| policy.has_group(group));
                let entries = on.flat_map(|(_, group)| &group.entries);
                Ok(entries
                    .map(|entry| entry.exposed(&entry.full_name))
                    .collect())
            }
            View::Group(group) | View::Server(group) => {
                let found = current.groups.get(group);
                let found = found.filter(|_| policy.has_group(group));
                let found = found.ok_or_else(|| current.no_such_group(group))?;
                let entries = found.entries.iter();
                Ok(entries
                    .map(|entry| entry.exposed(&entry.tool.name))
                    .collect())
            }
        }
    }

    /// The tools of a group; none where there is no such group.
    pub(crate) fn tools(&self, group: &str) -> Vec<Arc<Tool>> {
        let current = self.current();
        let group = current.groups.get(group);
        let entries = group.into_iter().flat_map(|group| &group.entries);
        entries.map(|entry| entry.tool.clone()).collect()
    }

    /// The groups that are switched on, those of MCP servers included, `bash` first.
    pub(crate) fn all_groups(&self, policy: &Policy) -> Vec<String> {
        let current = self.current();
        let foreign = current.groups.iter().filter(|(_, group)| group.foreign);
        let foreign = foreign.filter(|(group, _)| policy.has_group(group));
        let mut groups = self.groups(policy);
        groups.extend(foreign.map(|(group, _)| group.clone()));
        groups
    }

    /// The harness's own groups that are switched on, `bash` first.
    pub(crate) fn groups(&self, policy: &Policy) -> Vec<String> {
        let current = self.current();
        let own = current.groups.iter().filter(|(_, group)| !group.foreign);
        let on = own.filter(|(group, _)| policy.has_group(group));
        let mut groups: Vec<String> = on.map(|(group, _)| group.clone()).collect();
        groups.sort_by_key(|group| group != "bash");
        groups
    }
}

impl Snapshot {
    /// Own groups come first, and among all the order is that of the names: whoever else is there, a name means the
    /// same.
    fn index(&mut self) {
        self.by_full_name.clear();
        let mut groups: Vec<&Group> = self.groups.values().collect();
        groups.sort_by_key(|group| group.foreign);
        for entry in groups.into_iter().flat_map(|group| &group.entries) {
            let name = entry.full_name.clone();
            self.by_full_name
                .entry(name)
                .or_insert_with(|| entry.clone());
        }
    }

    fn resolve(&self, request: &CallRequest) -> Result<Arc<Entry>, Refusal> {
        let name = request.tool.as_str();
        if let Some(group) = &request.group {
            return self.in_group(group, name);
        }
        if let Some(entry) = self.by_full_name.get(name) {
            return Ok(entry.clone());
        }
        match name.split_once(SEPARATOR) {
            Some((group, name)) if self.groups.contains_key(group) => self.in_group(group, name),
            Some(_) | None => self.by_own_name(name),
        }
    }

    fn in_group(&self, group: &str, name: &str) -> Result<Arc<Entry>, Refusal> {
        let found = self.groups.get(group);
        let entries = &found.ok_or_else(|| self.no_such_group(group))?.entries;
        let entry = entries.iter().find(|entry| entry.tool.name == name);
        entry
            .cloned()
            .ok_or_else(|| no_such_tool(name, entries.iter().map(|entry| entry.tool.name.as_str())))
    }

    /// A name that the harness's own tools have means one of those, whatever servers call theirs.
    fn by_own_name(&self, name: &str) -> Result<Arc<Entry>, Refusal> {
        let named = |foreign: bool| -> Vec<&Arc<Entry>> {
            let groups = self.groups.values();
            let groups = groups.filter(|group| group.foreign == foreign);
            let entries = groups.flat_map(|group| &group.entries);
            entries.filter(|entry| entry.tool.name == name).collect()
        };
        let own = named(false);
        let found = if own.is_empty() { named(true) } else { own };
        match found.as_slice() {
            [entry] => Ok(Arc::clone(entry)),
            [first, second, ..] => {
                let (group, other) = (&first.tool.group, &second.tool.group);
                let message = format!(
                    "{name} is a tool of {group} and of {other}: say which, as in {}",
                    first.full_name
                );
                Err(Refusal::new(ErrorCode::UnknownCommand, message))
            }
            [] => {
                let all = self.groups.values().flat_map(|group| &group.entries);
                Err(no_such_tool(
                    name,
                    all.map(|entry| entry.tool.name.as_str()),
                ))
            }
        }
    }

    fn no_such_group(&self, group: &str) -> Refusal {
        let known = self.groups.keys().map(String::as_str);
        let message = format!("there is no tool group {group:?}{}", hint(group, known));
        Refusal::new(ErrorCode::UnknownCommand, message)
    }
}

fn no_such_tool<'a>(name: &str, known: impl Iterator<Item = &'a str> + Clone) -> Refusal {
    Refusal::new(
        ErrorCode::UnknownCommand,
        format!("there is no tool {name:?}{}", hint(name, known)),
    )
}

#[cfg(test)]
mod tests;
