//! What the reading has found so far.

use crate::builtin::Argument;
use crate::context::{Context, Place};
use crate::lexer::Lexeme;
use crate::opaque::{Opaque, Reason};
use crate::order::{Block, BlockKind, Places, Site};
use crate::resolve::Deferred;
use crate::scan::{Assignment, Command, Function, Redirection, Source};
use crate::value::{Need, Values, is_plain_setting};
use crate::variable::{affects_shell, is_locale};
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
    pub(crate) values: Values,
    pub(crate) places: Places,
    /// Commands whose names are looked up when all assignments are known.
    pub(crate) deferred: Vec<Deferred>,
    /// Memory for the words of the next command.
    pub(crate) spare: Vec<Argument>,
    /// Expansions and evaluations that can fail, so far.
    pub(crate) risks: usize,
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

    /// What is at the span is run only sometimes, or elsewhere.
    pub(crate) fn block(&mut self, span: Span, kind: BlockKind) {
        self.places.blocks.push(Block { span, kind });
    }

    /// A variable is given a value of its own whenever the text comes here.
    pub(crate) fn assigned_for_certain(&mut self, name: &str, context: &Context, site: Site) {
        // A text that is kept runs some other time, or in another shell; a wrapper is a program.
        if !context.is_in(Place::Code) && !context.is_in(Place::Wrapper) {
            self.places.assigned(name, site);
        }
    }

    /// A variable that may change the shell is given this value, or one that is not known.
    pub(crate) fn setting(&mut self, name: &str, value: Option<&Lexeme>, span: Span) {
        if !(affects_shell(name) || is_locale(name)) {
            return;
        }
        let reason = Reason::Variable(name.to_owned());
        match value {
            Some(value) if is_plain_setting(name, value) => {}
            Some(value) if name == "IFS" && !value.pattern => {
                self.values.require(value, Need::Constant, reason, span);
            }
            Some(_) | None => self.opaque(reason, span),
        }
    }

    pub(crate) fn assigned(&mut self, name: &str, context: &Context, span: Span) {
        if name == "IFS" {
            self.values.separator_changes();
        }
        self.assignments.push(Assignment {
            name: name.to_owned(),
            context: context.clone(),
            span,
        });
    }
}
