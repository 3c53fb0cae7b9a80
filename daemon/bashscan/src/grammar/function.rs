//! Function definitions.

use super::keyword::Keyword;
use crate::lexer::{Lexeme, Parser, Walk, WordMode};
use crate::opaque::Reason;
use crate::order::BlockKind;
use crate::scan::Function;
use crate::value::function_site;

impl Parser<'_, '_> {
    /// `function name [()] body`
    pub(super) fn function_keyword(&mut self) -> Walk {
        self.bash_only("function in a POSIX shell")?;
        let start = self.at;
        self.skip_keyword();
        self.blanks();
        let name = self.word(WordMode::Plain)?;
        self.blanks();
        if self.peek() == Some(b'(') {
            let after_open = self.at + 1;
            let rest = self.text.get(after_open..).unwrap_or_default();
            let blanks = rest
                .iter()
                .take_while(|b| matches!(b, b' ' | b'\t'))
                .count();
            if rest.get(blanks) == Some(&b')') {
                self.at = after_open + blanks + 1;
            }
        }
        self.function_body(&name, start)
    }

    /// `name () body`, from the parenthesis.
    pub(super) fn function_parentheses(&mut self, name: &Lexeme) -> Walk {
        self.at += 1;
        self.blanks();
        if self.peek() != Some(b')') {
            return Err(self.syntax("a parenthesis within a command"));
        }
        self.at += 1;
        self.function_body(name, name.start)
    }

    fn function_body(&mut self, name: &Lexeme, start: usize) -> Walk {
        let plain = |name: &String| {
            !name.is_empty()
                && Keyword::of(name.as_bytes()).is_none()
                && name.bytes().all(|b| {
                    b.is_ascii_alphanumeric()
                        || matches!(b, b'_' | b'-' | b'.' | b':' | b'+' | b'@')
                })
        };
        let Some(name) = name.literal().filter(|_| !name.quoted).filter(plain) else {
            return Err(self.syntax("an unusual name of a function"));
        };
        if is_special_builtin(&name) {
            self.note(Reason::ShellState(name.clone()), start);
        }
        self.blank_lines()?;
        if !self.at_compound() {
            return Err(self.syntax("a function without a compound command"));
        }
        let inner = self.context.in_function(&name);
        self.within(inner, |this| this.deeper(Self::command))?;
        let span = self.span(start, self.at);
        // Without its last character, so that the definition itself is not in it.
        let body = self.span(start, self.at - 1);
        self.found.block(body, BlockKind::Function);
        self.found.values.function(&name);
        // A definition cannot fail, whatever its body may do later.
        let site = self.site(start, self.found.risks);
        let context = &self.context;
        self.found
            .assigned_for_certain(&function_site(&name), context, site);
        self.found.functions.push(Function {
            name,
            context: self.context.clone(),
            span,
        });
        Ok(())
    }
}

/// Special builtins (bash(1) "SHELL BUILTIN COMMANDS"): a function of that name changes what the
/// rest of the script means more than it is worth reading.
fn is_special_builtin(name: &str) -> bool {
    matches!(
        name,
        "." | ":"
            | "break"
            | "builtin"
            | "command"
            | "continue"
            | "declare"
            | "eval"
            | "exec"
            | "exit"
            | "export"
            | "local"
            | "readonly"
            | "return"
            | "set"
            | "shift"
            | "source"
            | "trap"
            | "typeset"
            | "unset"
    )
}
