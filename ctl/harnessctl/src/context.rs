//! What every command works with.

use harness_client::{Client, Selector};
use harness_model::TaskStatus;
use serde::Serialize;

use crate::{
    arguments::Arguments,
    error::{Error, Result},
    exit::Exit,
    output::{escape, note, print, print_json, print_json_line, style::Style, task},
};

pub(crate) struct Context {
    pub(crate) selector: Selector,
    pub(crate) json: bool,
    pub(crate) style: Style,
}

impl Context {
    pub(crate) fn new(arguments: &Arguments) -> Self {
        Self {
            selector: arguments.place.selector(),
            json: arguments.json,
            style: Style::of_stdout(),
        }
    }

    /// The harness that is meant.
    pub(crate) fn client(&self) -> Result<Client> {
        Ok(Client::find(&self.selector)?)
    }

    /// Writes `value` as JSON, or what `text` makes of it.
    pub(crate) fn show<T: Serialize>(
        &self,
        value: &T,
        text: impl FnOnce(&T) -> String,
    ) -> Result<()> {
        if self.json {
            print_json(value)
        } else {
            print(&text(value))
        }
    }

    /// Writes one of several tasks, in one line.
    pub(crate) fn show_line(&self, status: &TaskStatus) -> Result<()> {
        if self.json {
            print_json_line(status)
        } else {
            print(&(task::headline(status, self) + "\n"))
        }
    }

    /// Says what went wrong and gives the exit code.
    pub(crate) fn report(&self, error: &Error) -> Exit {
        let exit = error.exit();
        if exit == Exit::DONE {
            return exit;
        }
        let refusal = error.refusal();
        if self.json {
            note(&refusal.to_json().to_string());
        } else if matches!(error, Error::Client(harness_client::Error::Refused(_))) {
            note(&format!(
                "harnessctl: {} ({})",
                escape::text(&refusal.message),
                refusal.code
            ));
        } else {
            note(&format!("harnessctl: {}", escape::text(&refusal.message)));
        }
        exit
    }
}
