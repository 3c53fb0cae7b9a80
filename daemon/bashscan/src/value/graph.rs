//! Which variables get their values from which.

use std::collections::BTreeMap;

use super::table::{Assigned, Values};

/// Variables by number, with the assignments that lead from one to another.
pub(super) struct Graph<'a> {
    numbers: BTreeMap<&'a str, usize>,
    names: Vec<&'a str>,
    /// Value, and the variable that is given it.
    values: Vec<(&'a Assigned, usize)>,
    /// By the variable that is read: value, and the variable that is given it.
    feeds: Vec<Vec<(&'a Assigned, usize)>>,
}

/// The variables that have a property.
pub(super) struct Having(Vec<bool>);

impl<'a> Graph<'a> {
    pub(super) fn of(values: &'a Values) -> Self {
        let mut graph = Self {
            numbers: BTreeMap::new(),
            names: Vec::new(),
            values: Vec::new(),
            feeds: Vec::new(),
        };
        for (name, all) in &values.assigned {
            let target = graph.number(name);
            for assigned in all {
                graph.values.push((assigned, target));
                for source in &assigned.value.names {
                    let source = graph.number(source);
                    if let Some(fed) = graph.feeds.get_mut(source) {
                        fed.push((assigned, target));
                    }
                }
            }
        }
        graph
    }

    fn number(&mut self, name: &'a str) -> usize {
        if let Some(number) = self.numbers.get(name) {
            return *number;
        }
        let number = self.names.len();
        self.numbers.insert(name, number);
        self.names.push(name);
        self.feeds.push(Vec::new());
        number
    }

    /// The variables that have a property: by themselves, by a value of theirs, or because they are
    /// given the value of one that has it.
    pub(super) fn reach(
        &self,
        by_name: impl Fn(&str) -> bool,
        by_value: impl Fn(&Assigned) -> bool,
        follows: impl Fn(&Assigned) -> bool,
    ) -> Having {
        let mut having = vec![false; self.names.len()];
        let mut queue: Vec<usize> = Vec::new();
        for (number, name) in self.names.iter().enumerate() {
            if by_name(name) {
                queue.push(number);
            }
        }
        let with_value = self.values.iter().filter(|(each, _)| by_value(each));
        queue.extend(with_value.map(|(_, target)| *target));
        while let Some(number) = queue.pop() {
            let Some(has) = having.get_mut(number) else {
                continue;
            };
            if !std::mem::replace(has, true) {
                let fed = self.feeds.get(number).into_iter().flatten();
                queue.extend(
                    fed.filter(|(each, _)| follows(each))
                        .map(|(_, target)| *target),
                );
            }
        }
        Having(having)
    }

    /// Whether the variable has the property; none if nothing in the script assigns or passes it on.
    pub(super) fn has(&self, having: &Having, name: &str) -> Option<bool> {
        let number = self.numbers.get(name)?;
        having.0.get(*number).copied()
    }
}

impl Having {
    /// Whether no variable has it.
    pub(super) fn is_empty(&self) -> bool {
        !self.0.contains(&true)
    }
}
