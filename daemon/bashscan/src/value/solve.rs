//! What follows from all assignments together.

use std::cell::OnceCell;

use super::graph::{Graph, Having};
use super::origin::{has_integer_attribute, is_kept_by_bash, is_set_by_bash};
use super::output::{FUNCTION, function_site};
use super::table::{Need, Subscript, Use, Values};
use super::{Kind, Value};
use crate::opaque::{Opaque, Reason};
use crate::order::{Order, Site};
use crate::scan::Command;
use crate::word::Span;

/// Most declarations of one array that are looked at.
const MAX_DECLARATIONS: usize = 32;
/// Most assignments of elements of one array that are looked at.
const MAX_ELEMENTS: usize = 256;

/// What is found out about variables, as far as it is asked for.
struct Solution<'a> {
    values: &'a Values,
    order: &'a Order<'a>,
    graph: Graph<'a>,
    unknown: OnceCell<Having>,
    not_integer: OnceCell<Having>,
    dash: OnceCell<Having>,
    inner_dash: OnceCell<Having>,
    untold: OnceCell<Having>,
}

impl Values {
    /// Whether anything depends on what has run before.
    pub(crate) fn depends_on_order(&self) -> bool {
        !(self.uses.is_empty()
            && self.subscripts.is_empty()
            && self.functions.is_empty()
            && self.not_arrays.is_empty()
            && self.unset.is_empty())
            || self.evaluated().next().is_some()
    }

    /// Variables whose value is evaluated when it is assigned.
    fn evaluated(&self) -> impl Iterator<Item = &String> {
        let names = self.assigned.keys();
        names.filter(|name| self.integer.contains(*name) || has_integer_attribute(name))
    }

    /// Whether the command runs a function that is defined for certain by then.
    pub(crate) fn calls_function(&self, command: &Command, order: &Order<'_>) -> bool {
        command.context.wrapper().is_none()
            && command.name().is_some_and(|name| {
                self.functions.contains(name)
                    && order.is_assigned_before(&function_site(name), command.span)
            })
    }

    /// Uses whose values may be more than what is needed, with the name of one variable.
    pub(crate) fn unsafe_uses(&self, order: &Order<'_>) -> Vec<Opaque> {
        let mut found = self.changed_meanings();
        let evaluated: Vec<&String> = self.evaluated().collect();
        if !self.uses.is_empty() || !self.subscripts.is_empty() || !evaluated.is_empty() {
            let solution = Solution::of(self, order);
            found.extend(self.uses.iter().filter_map(|each| solution.fault(each)));
            found.extend(self.subscripts.iter().filter_map(|each| {
                let culprit = solution.not_evaluable(&each.value, each.in_code, each.span)?;
                let is_text = solution.is_associative(each);
                (!is_text).then(|| arithmetic(culprit, each.span))
            }));
            for name in evaluated {
                let values = self.assigned.get(name).into_iter().flatten();
                found.extend(
                    values
                        .filter(|each| {
                            solution
                                .not_evaluable(&each.value, true, each.span)
                                .is_some()
                        })
                        .map(|each| arithmetic(name.clone(), each.span)),
                );
            }
        }
        found
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

    /// Anything may be in it, whatever the script assigns.
    fn is_wild(&self, name: &str) -> bool {
        is_set_by_bash(name)
            || (self.positional_unknown && name.starts_with('@'))
            || name
                .strip_prefix(FUNCTION)
                .is_some_and(|name| self.functions.contains(name))
    }

    /// Never assigned: it comes from outside, if it is set at all.
    fn is_foreign(&self, name: &str) -> bool {
        !name.starts_with(FUNCTION) && !self.assigned.contains_key(name) && !is_kept_by_bash(name)
    }
}

impl<'a> Solution<'a> {
    fn of(values: &'a Values, order: &'a Order<'a>) -> Self {
        Self {
            values,
            order,
            graph: Graph::of(values),
            unknown: OnceCell::new(),
            not_integer: OnceCell::new(),
            dash: OnceCell::new(),
            inner_dash: OnceCell::new(),
            untold: OnceCell::new(),
        }
    }

    /// More than an integer, if the script has anything to do with it.
    fn not_integer(&self) -> &Having {
        self.not_integer.get_or_init(|| {
            self.graph.reach(
                |name| self.values.is_wild(name) || self.values.is_foreign(name),
                |each| each.value.kind > Kind::Integer,
                |_| true,
            )
        })
    }

    fn is_unknown(&self, name: &str) -> bool {
        let unknown = self.unknown.get_or_init(|| {
            self.graph.reach(
                |name| self.values.is_wild(name),
                |each| each.value.kind == Kind::Unknown,
                |_| true,
            )
        });
        let known = self.graph.has(unknown, name);
        known.unwrap_or_else(|| self.values.is_wild(name))
    }

    fn may_begin_with_dash(&self, name: &str) -> bool {
        let dash = self.dash.get_or_init(|| {
            self.graph.reach(
                |name| self.values.is_wild(name),
                |each| each.value.dash,
                |each| !each.value.leads,
            )
        });
        let known = self.graph.has(dash, name);
        known.unwrap_or_else(|| self.values.is_wild(name))
    }

    fn may_hold_dash(&self, name: &str) -> bool {
        let inner = self.inner_dash.get_or_init(|| {
            self.graph.reach(
                |name| self.values.is_wild(name),
                |each| each.value.dash || each.value.inner_dash,
                |_| true,
            )
        });
        let known = self.graph.has(inner, name);
        known.unwrap_or_else(|| self.values.is_wild(name))
    }

    /// Something in it is no text of the script, nor of the environment.
    fn is_untold(&self, name: &str) -> bool {
        let untold = self.untold.get_or_init(|| {
            self.graph.reach(
                |name| self.values.is_wild(name),
                |each| each.value.kind == Kind::Unknown && each.constant.is_none(),
                |_| true,
            )
        });
        let known = self.graph.has(untold, name);
        known.unwrap_or_else(|| self.values.is_wild(name))
    }

    /// What in the value may be more than a number for arithmetic.
    fn not_evaluable(&self, value: &Value, in_code: bool, span: Span) -> Option<String> {
        if value.kind > Kind::Integer {
            return Some("an expansion".to_owned());
        }
        let culprit = value
            .names
            .iter()
            .find(|name| !self.is_evaluable(name, in_code, span));
        culprit.cloned()
    }

    /// The environment holds no code, but it may hold the name of a variable that does.
    fn is_evaluable(&self, name: &str, in_code: bool, span: Span) -> bool {
        if self.values.is_wild(name) {
            return false;
        }
        let is_foreign = self.values.is_foreign(name);
        if !is_foreign && self.graph.has(self.not_integer(), name) == Some(true) {
            return false;
        }
        let is_parameter = name.starts_with('@');
        let is_inherited = is_foreign || !(is_parameter || self.not_integer().is_empty());
        !is_inherited
            || is_kept_by_bash(name)
            || name.starts_with(FUNCTION)
            || (!in_code
                && !self.values.may_not_hold(name)
                && self.order.is_assigned_before(name, span))
    }

    fn not_plain(&self, value: &Value) -> bool {
        value.kind > Kind::Plain || value.names.iter().any(|name| self.is_unknown(name))
    }

    fn is_integer(&self, value: &Value) -> bool {
        value.kind == Kind::Integer
            && value.names.iter().all(|name| {
                let known = self.graph.has(self.not_integer(), name);
                !known.unwrap_or_else(|| self.values.is_wild(name) || self.values.is_foreign(name))
            })
    }

    /// Whether the value, or a word it becomes, may begin with a `-`.
    fn may_be_option(&self, value: &Value, splits: bool) -> bool {
        let mut names = value.names.iter();
        let begins =
            value.dash || (!value.leads && names.any(|name| self.may_begin_with_dash(name)));
        let holds = || {
            value.inner_dash
                || self.values.separator
                || self.not_plain(value)
                || value.names.iter().any(|name| self.may_hold_dash(name))
        };
        begins || (splits && holds())
    }

    fn fault(&self, each: &Use) -> Option<Opaque> {
        let value = &each.value;
        let is_fault = match each.need {
            Need::Integer => {
                let culprit = self.not_evaluable(value, each.in_code, each.span)?;
                return Some(arithmetic(culprit, each.span));
            }
            Need::Plain => self.not_plain(value),
            Need::Constant => {
                value.kind == Kind::Unknown || value.names.iter().any(|name| self.is_untold(name))
            }
            Need::NoOption { splits } => {
                !self.is_integer(value) && self.may_be_option(value, splits)
            }
        };
        let matters = || {
            let unless = each.unless.as_ref();
            unless.is_none_or(|value| !self.is_integer(value))
        };
        (is_fault && matters()).then(|| Opaque {
            reason: each.reason.clone(),
            span: each.span,
        })
    }

    /// Declared before, for certain, in the same shell.
    fn is_associative(&self, subscript: &Subscript) -> bool {
        let Subscript { name, span, .. } = subscript;
        let declared = self
            .values
            .associative
            .get(name)
            .map_or(&[][..], Vec::as_slice);
        let declared = declared.get(..MAX_DECLARATIONS).unwrap_or(declared);
        let within = |site: &Site| {
            !subscript.in_substitution && site.span.start <= span.start && span.end <= site.span.end
        };
        let before = |then: Span| {
            let mut sites = declared.iter();
            sites.any(|site| self.order.runs_before(*site, then))
        };
        // The one declaration that counts must come before all elements.
        let elements = self
            .values
            .elements
            .get(name)
            .map_or(&[][..], Vec::as_slice);
        !subscript.in_code
            && !self.values.not_associative.contains(name)
            && (before(*span) || declared.iter().any(within))
            && elements.len() <= MAX_ELEMENTS
            && elements
                .iter()
                .all(|each| before(*each) || is_within(declared, *each))
    }
}

/// The elements stand in the declaration itself.
fn is_within(declared: &[Site], elements: Span) -> bool {
    declared
        .iter()
        .any(|site| site.span.start <= elements.start && elements.end <= site.span.end)
}

fn arithmetic(name: String, span: Span) -> Opaque {
    Opaque {
        reason: Reason::Arithmetic(name),
        span,
    }
}
