//! What every command works with.

use std::{
    io::{self, Write as _},
    time::SystemTime,
};

use harness_client::{Client, Selector};
use harness_model::{TaskStatus, Timestamp};
use serde::Serialize;

use crate::{
    arguments::Arguments,
    error::{Error, Result},
    exit::Exit,
    output::{escape, style::Style},
};

pub(crate) struct Context {
    pub(crate) selector: Selector,
    pub(crate) json: bool,
    pub(crate) style: Style,
    pub(crate) now: Timestamp,
}

impl Context {
    pub(crate) fn new(arguments: &Arguments) -> Self {
        Self {
            selector: arguments.place.selector(),
            json: arguments.json,
            style: Style::of_stdout(),
            now: SystemTime::now().into(),
        }
    }

    /// The harness that is meant.
    pub(crate) fn client(&self) -> Result<Client> {
        Ok(Client::find(&self.selector)?)
    }

    /// Writes text and sees that it is out.
    pub(crate) fn print(&self, text: &str) -> Result<()> {
        let mut stdout = io::stdout().lock();
        stdout.write_all(text.as_bytes())?;
        Ok(stdout.flush()?)
    }

    /// Writes one JSON document, for reading.
    pub(crate) fn print_json(&self, value: &impl Serialize) -> Result<()> {
        let text = serde_json::to_string_pretty(value).map_err(io::Error::from)?;
        self.print(&(text + "\n"))
    }

    /// Writes one line of JSON, for streams.
    pub(crate) fn print_json_line(&self, value: &impl Serialize) -> Result<()> {
        let text = serde_json::to_string(value).map_err(io::Error::from)?;
        self.print(&(text + "\n"))
    }

    /// Writes `value` as JSON, or what `text` makes of it.
    pub(crate) fn show<T: Serialize>(
        &self,
        value: &T,
        text: impl FnOnce(&T) -> String,
    ) -> Result<()> {
        if self.json {
            self.print_json(value)
        } else {
            self.print(&text(value))
        }
    }

    /// Writes a note for the person, not part of the result.
    pub(crate) fn note(&self, text: &str) {
        // Nobody is left to be told when stderr is closed.
        writeln!(io::stderr().lock(), "{text}").ok();
    }

    /// A task's status, in full.
    pub(crate) fn show_task(&self, status: &TaskStatus) -> Result<()> {
        self.show(status, |status| crate::output::task::describe(status, self))
    }

    /// Says what went wrong and gives the exit code.
    pub(crate) fn report(&self, error: &Error) -> Exit {
        let exit = error.exit();
        if exit == Exit::DONE {
            return exit;
        }
        if self.json {
            self.note(&error.refusal().to_json().to_string());
        } else {
            let code = match error {
                Error::Client(harness_client::Error::Refused(refusal)) => {
                    format!(" ({})", refusal.code)
                }
                _ => String::new(),
            };
            self.note(&format!(
                "harnessctl: {}{code}",
                escape::text(&error.chain())
            ));
        }
        exit
    }
}
