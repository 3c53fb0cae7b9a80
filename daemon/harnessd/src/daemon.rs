//! One daemon from its start to its end.
//!
//! [`run`] opens the record, finds the keeper, takes up what a former daemon left, serves the fronts and says
//! that it is ready; then it waits for signals. SIGTERM ends the daemon and leaves the tasks with the
//! keeper, as a restart of the service has to; SIGINT, a person's Ctrl-C, ends the tasks and the keeper too.

mod error;
mod listen;
mod log;
mod main_loop;
mod ports;
mod start;

pub use error::Fatal;
pub use log::init as init_log;

use crate::{
    cli::Arguments,
    systemd::{Activated, Notifier},
};

/// Runs the daemon until a signal ends it.
///
/// # Errors
/// What keeps it from starting: places, configuration, a second daemon, the record, the keeper, a socket.
pub async fn run(arguments: &Arguments, activated: Activated) -> Result<(), Fatal> {
    let notifier = Notifier::from_environment();
    let started = start::start(arguments, activated).await?;
    main_loop::run(started, notifier).await
}
