//! The tools there are, as the command names them.

use std::sync::Arc;

use harness_authorize::{
    Policy,
    command::{Tools, is_same_name},
};
use harness_model::{ErrorCode, Refusal, Tool};

use crate::{catalogue::Catalogue, config::hint};

/// The catalogue under a policy: what is switched off is not there.
pub(crate) struct Names<'a> {
    pub(crate) catalogue: &'a Catalogue,
    pub(crate) policy: &'a Policy,
}

impl Names<'_> {
    /// The groups that are switched on, `bash` first.
    pub(super) fn groups(&self) -> Vec<String> {
        self.catalogue.all_groups(self.policy)
    }

    /// A group's tools.
    pub(super) fn tools(&self, group: &str) -> Vec<Arc<Tool>> {
        self.catalogue.tools(group)
    }

    /// Every tool of every group.
    pub(super) fn all(&self) -> Vec<Arc<Tool>> {
        let groups = self.groups();
        groups.iter().flat_map(|group| self.tools(group)).collect()
    }
}

impl Tools for Names<'_> {
    fn group(&self, word: &str) -> Option<String> {
        self.groups()
            .into_iter()
            .find(|group| is_same_name(group, word))
    }

    fn tool(&self, group: &str, word: &str) -> Option<Arc<Tool>> {
        let mut tools = self.tools(group).into_iter();
        tools.find(|tool| is_same_name(&tool.name, word))
    }

    fn alone(&self, word: &str) -> Option<Arc<Tool>> {
        let own = self.catalogue.groups(self.policy);
        let own: Vec<_> = own.iter().flat_map(|group| self.tools(group)).collect();
        // The harness's own tools keep their names, whatever servers call theirs.
        [own, self.all()].into_iter().find_map(|tools| {
            let mut named = tools
                .into_iter()
                .filter(|tool| is_same_name(&tool.name, word));
            // A name that two groups have means neither.
            named.next().filter(|_| named.next().is_none())
        })
    }

    fn unknown(&self, group: Option<&str>, word: &str) -> Refusal {
        let shown: String = word.chars().take(60).collect();
        let message = if let Some(group) = group {
            let tools = self.tools(group);
            let names = tools.iter().map(|tool| tool.name.as_str());
            format!("{group} has no tool {shown:?}{}", hint(word, names))
        } else {
            let (groups, tools) = (self.groups(), self.all());
            let names = groups.iter().map(String::as_str);
            let names = names.chain(tools.iter().map(|tool| tool.name.as_str()));
            let hint = hint(word, names);
            format!("there is no server or tool {shown:?}{hint}; tools --help lists them")
        };
        Refusal::new(ErrorCode::UnknownCommand, message)
    }
}
