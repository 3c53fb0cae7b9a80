//! Commands that run their arguments.

mod find;
mod prefix;
mod shell;
mod table;
mod xargs;

use crate::builtin::{Argument, span_of};
use crate::lexer::{Parser, Walk};
use crate::opaque::Reason;
use crate::scan::Command;
use crate::word::Span;

impl Parser<'_, '_> {
    /// Looks behind a command that runs others; every other command is left alone.
    pub(crate) fn wrapper(&mut self, name: &str, arguments: &[Argument], nested: usize) -> Walk {
        let program = name.rsplit('/').next().unwrap_or(name);
        let span = span_of(arguments);
        match program {
            "sh" | "bash" | "dash" | "ash" => self.shell(program, arguments, span),
            "find" => self.find(arguments, nested),
            "xargs" => self.xargs(arguments, nested),
            "watch" => self.watch(arguments, span),
            "script" => self.script_program(arguments, span),
            "flock" => self.flock(arguments, span, nested),
            // The name may carry a version or an architecture: `ld-linux-x86-64.so.2`.
            _ if table::is_opaque(program)
                || program.starts_with("ld-")
                || program.starts_with("ld.so") =>
            {
                self.found.opaque(Reason::Wrapper(program.to_owned()), span);
                Ok(())
            }
            _ => match table::find(program) {
                Some(spec) => self.prefixed(spec, arguments, nested),
                None => Ok(()),
            },
        }
    }

    /// A command that another one runs.
    pub(super) fn wrapped(&mut self, wrapper: &str, arguments: &[Argument], nested: usize) -> Walk {
        let reads_stdin = self
            .found
            .commands
            .get(self.command)
            .is_some_and(|command| command.reads_stdin);
        let context = self.context.in_wrapper(wrapper);
        self.found.commands.push(Command {
            words: arguments
                .iter()
                .map(|argument| argument.word.clone())
                .collect(),
            assignments: Vec::new(),
            redirections: Vec::new(),
            context: context.clone(),
            reads_stdin,
            span: span_of(arguments),
            line: 0,
            calls_function: false,
        });
        self.command = self.found.commands.len() - 1;
        self.within(context, |this| this.inspect(arguments, nested + 1))
    }

    pub(super) fn not_understood(&mut self, wrapper: &str, span: Span) {
        self.found.opaque(Reason::Wrapper(wrapper.to_owned()), span);
    }
}
