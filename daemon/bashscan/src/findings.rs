//! What the reading has found so far.

use crate::context::{Context, Place};
use crate::integer::Integers;
use crate::opaque::{Opaque, Reason};
use crate::scan::{Assignment, Command, Function, Redirection, Source};
use crate::word::Span;

/// Collected by all regions of one script.
#[derive(Default)]
pub(crate) struct Findings {
    pub(crate) commands: Vec<Command>,
    pub(crate) functions: Vec<Function>,
    pub(crate) assignments: Vec<Assignment>,
    pub(crate) redirections: Vec<Redirection>,
    pub(crate) sources: Vec<Source>,
    pub(crate) opaque: Vec<Opaque>,
    pub(crate) integers: Integers,
    /// Tests, arithmetic and other syntax that is no command.
    pub(crate) expressions: usize,
}

impl Findings {
    pub(crate) fn opaque(&mut self, reason: Reason, span: Span) {
        self.opaque.push(Opaque { reason, span });
    }

    /// What follows when it is known only after the commands were read: that they are in a pipeline,
    /// in the background, or get their standard input from a redirection.
    pub(crate) fn mark(&mut self, from: usize, place: Option<Place>, reads_stdin: bool) {
        for command in self.commands.iter_mut().skip(from) {
            if let Some(place) = place {
                command.context.add(place);
            }
            command.reads_stdin |= reads_stdin;
        }
    }

    pub(crate) fn assigned(&mut self, name: &str, context: &Context, span: Span) {
        self.assignments.push(Assignment {
            name: name.to_owned(),
            context: context.clone(),
            span,
        });
    }
}
