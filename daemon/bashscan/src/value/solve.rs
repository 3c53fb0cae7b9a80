//! What follows from all assignments together.

use std::cell::OnceCell;
use std::collections::{HashMap, HashSet};

use super::origin::{has_integer_attribute, is_kept_by_bash, is_set_by_bash};
use super::output::FUNCTION;
use super::table::{Assigned, Need, Subscript, Use, Values};
use super::{Kind, Value};
use crate::opaque::{Opaque, Reason};
use crate::order::Order;
use crate::word::Span;

/// Most declarations of one array that are looked at.
const MAX_DECLARATIONS: usize = 32;

/// Names of variables that have a property, directly or through another variable.
type Names<'a> = HashSet<&'a str>;

struct Solution<'a> {
    values: &'a Values,
    unknown: Names<'a>,
    not_integer: Names<'a>,
    dash: Names<'a>,
    inner_dash: Names<'a>,
    untold: OnceCell<Names<'a>>,
    order: &'a Order<'a>,
}

impl Values {
    /// Uses whose values may be more than what is needed, with the name of one variable.
    pub(crate) fn unsafe_uses(&self, order: &Order<'_>) -> Vec<Opaque> {
        let mut found = self.changed_meanings();
        let evaluated: Vec<&String> = self
            .assigned
            .keys()
            .filter(|name| self.integer.contains(*name) || has_integer_attribute(name))
            .collect();
        if !self.uses.is_empty() || !self.subscripts.is_empty() || !evaluated.is_empty() {
            let solution = Solution::of(self, order);
            found.extend(self.uses.iter().filter_map(|each| solution.fault(each)));
            found.extend(self.subscripts.iter().filter_map(|each| {
                let culprit = solution.not_evaluable(&each.value, each.span)?;
                let is_text = solution.is_associative(each);
                (!is_text).then(|| arithmetic(culprit, each.span))
            }));
            for name in evaluated {
                let values = self.assigned.get(name).into_iter().flatten();
                found.extend(
                    values
                        .filter(|each| solution.not_evaluable(&each.value, each.span).is_some())
                        .map(|each| arithmetic(name.clone(), each.span)),
                );
            }
        }
        found.sort_by_key(|opaque| opaque.span);
        found
    }

    /// Anything may be in it, whatever the script assigns.
    fn is_wild(&self, name: &str) -> bool {
        is_set_by_bash(name)
            || (self.positional_unknown && name.starts_with('@'))
            || name
                .strip_prefix(FUNCTION)
                .is_some_and(|name| self.functions.contains(name))
    }

    /// Declarations that read a value as code, and functions that are removed.
    fn changed_meanings(&self) -> Vec<Opaque> {
        let lists = self
            .not_arrays
            .iter()
            .filter(|(name, _)| self.arrays.contains(name))
            .map(|(name, span)| Opaque {
                reason: Reason::Code(name.clone()),
                span: *span,
            });
        let removed = self
            .unset
            .iter()
            .filter(|(name, _)| self.functions.contains(name.as_str()))
            .flat_map(|(_, spans)| spans)
            .map(|span| Opaque {
                reason: Reason::ShellState("unset".to_owned()),
                span: *span,
            });
        lists.chain(removed).collect()
    }

    /// The variables that have a property: it is in a value of theirs, or they are given the value of
    /// one that has it.
    fn reach(
        &self,
        has: impl Fn(&Assigned) -> bool,
        follows: impl Fn(&Value) -> bool,
        from_outside: impl Fn(&str) -> bool,
    ) -> Names<'_> {
        let mut reached: Names<'_> = HashSet::new();
        let mut feeds: HashMap<&str, Vec<&str>> = HashMap::new();
        let mut queue: Vec<&str> = Vec::new();
        for (name, values) in &self.assigned {
            if from_outside(name) {
                queue.push(name);
            }
            for each in values {
                if has(each) {
                    queue.push(name);
                } else if follows(&each.value) {
                    for source in &each.value.names {
                        if from_outside(source) {
                            queue.push(name);
                        }
                        feeds.entry(source).or_default().push(name);
                    }
                }
            }
        }
        while let Some(name) = queue.pop() {
            if reached.insert(name) {
                queue.extend(feeds.get(name).into_iter().flatten());
            }
        }
        reached
    }
}

impl<'a> Solution<'a> {
    fn of(values: &'a Values, order: &'a Order<'a>) -> Self {
        let always = |_: &Value| true;
        let is_wild = |name: &str| values.is_wild(name);
        let is_text = |name: &str| {
            is_wild(name)
                || (!values.assigned.contains_key(name)
                    && !is_kept_by_bash(name)
                    && !name.starts_with(FUNCTION))
        };
        Self {
            values,
            unknown: values.reach(|each| each.value.kind == Kind::Unknown, always, is_wild),
            not_integer: values.reach(|each| each.value.kind > Kind::Integer, always, is_text),
            dash: values.reach(|each| each.value.dash, |v| !v.leads, is_wild),
            inner_dash: values.reach(
                |each| each.value.dash || each.value.inner_dash,
                always,
                is_wild,
            ),
            untold: OnceCell::new(),
            order,
        }
    }

    fn is_unknown(&self, name: &str) -> bool {
        self.unknown.contains(name) || self.values.is_wild(name)
    }

    /// Never assigned: it comes from outside, if it is set at all.
    fn is_foreign(&self, name: &str) -> bool {
        !self.values.assigned.contains_key(name)
            && !is_kept_by_bash(name)
            && !name.starts_with(FUNCTION)
    }

    /// What in the value may be more than a number for arithmetic.
    ///
    /// The environment holds no code, but it may hold the name of a variable that does.
    fn not_evaluable(&self, value: &Value, span: Span) -> Option<String> {
        if value.kind > Kind::Integer {
            return Some("an expansion".to_owned());
        }
        let only_integers = self.not_integer.is_empty();
        value
            .names
            .iter()
            .find(|name| {
                self.not_integer.contains(name.as_str())
                    || self.values.is_wild(name)
                    || self.is_foreign(name)
                    || !(only_integers
                        || is_kept_by_bash(name)
                        || name.starts_with('@')
                        || name.starts_with(FUNCTION)
                        || (!self.values.unset.contains_key(name.as_str())
                            && self.order.is_assigned_before(name, span)))
            })
            .cloned()
    }

    fn not_plain(&self, value: &Value) -> bool {
        value.kind > Kind::Plain || value.names.iter().any(|name| self.is_unknown(name))
    }

    /// Something in it is no text of the script, nor of the environment.
    fn is_not_constant(&self, value: &Value) -> bool {
        let is_told = |each: &Assigned| each.value.kind < Kind::Unknown || each.constant.is_some();
        let untold = self.untold.get_or_init(|| {
            let is_wild = |name: &str| self.values.is_wild(name);
            self.values.reach(|each| !is_told(each), |_| true, is_wild)
        });
        value.kind == Kind::Unknown
            || value
                .names
                .iter()
                .any(|name| untold.contains(name.as_str()) || self.values.is_wild(name))
    }

    fn is_integer(&self, value: &Value) -> bool {
        value.kind == Kind::Integer
            && value
                .names
                .iter()
                .all(|name| !self.not_integer.contains(name.as_str()) && !self.is_foreign(name))
    }

    /// Whether the value, or a word it becomes, may begin with a `-`.
    fn may_be_option(&self, value: &Value, splits: bool) -> bool {
        let begins = value.dash
            || (!value.leads
                && value
                    .names
                    .iter()
                    .any(|name| self.dash.contains(name.as_str()) || self.values.is_wild(name)));
        let holds = || {
            value.inner_dash
                || self.values.separator
                || self.not_plain(value)
                || value
                    .names
                    .iter()
                    .any(|name| self.inner_dash.contains(name.as_str()))
        };
        begins || (splits && holds())
    }

    fn fault(&self, each: &Use) -> Option<Opaque> {
        let is_fault = match each.need {
            Need::Integer => {
                let culprit = self.not_evaluable(&each.value, each.span)?;
                return Some(arithmetic(culprit, each.span));
            }
            Need::Plain => self.not_plain(&each.value),
            Need::Constant => self.is_not_constant(&each.value),
            Need::NoOption { splits } => {
                !self.is_integer(&each.value) && self.may_be_option(&each.value, splits)
            }
        };
        let matters = || {
            each.unless
                .as_ref()
                .is_none_or(|value| !self.is_integer(value))
        };
        (is_fault && matters()).then(|| Opaque {
            reason: each.reason.clone(),
            span: each.span,
        })
    }

    /// Declared before, for certain, in the same shell.
    fn is_associative(&self, subscript: &Subscript) -> bool {
        let Subscript {
            name,
            span,
            in_code,
            in_substitution,
            ..
        } = subscript;
        let declared_before = |command: &Span| {
            let within = !in_substitution && command.start <= span.start && span.end <= command.end;
            within || self.order.runs_before(*command, *span)
        };
        !in_code
            && !self.values.not_associative.contains(name)
            && self
                .values
                .associative
                .get(name)
                .into_iter()
                .flatten()
                .take(MAX_DECLARATIONS)
                .any(declared_before)
    }
}

fn arithmetic(name: String, span: Span) -> Opaque {
    Opaque {
        reason: Reason::Arithmetic(name),
        span,
    }
}
