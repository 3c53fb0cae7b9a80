//! From a file to a plugin that has begun, within a time limit.

use std::{
    io,
    os::fd::OwnedFd,
    sync::atomic::{AtomicUsize, Ordering},
    thread,
    time::Duration,
};

use harness_plugin_abi::Description;
use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    pipe::{PipeFlags, pipe_with},
};

use crate::{
    arguments::Arguments,
    error::{Error, Result},
    library::Library,
    plugin::{self, Plugin},
    schema,
};

/// How far it was asked to go.
pub(crate) enum Loaded {
    /// It said what it is.
    Described(Box<Description>),
    /// It can be called.
    Begun(Box<Plugin>),
}

/// What a plugin does before it can be called, in this order.
const STEPS: [&str; 3] = ["loading", "describe", "init"];

/// Which of [`STEPS`] it is at.
static STEP: AtomicUsize = AtomicUsize::new(0);

/// Loads the plugin on a thread of its own: one that never comes back is given up.
///
/// A plugin that hangs while it is loaded holds the dynamic linker's lock, which a thread takes when it first
/// touches some thread-local value. So the waiting is one system call, and needs nothing of the kind.
pub(crate) fn within(arguments: &Arguments) -> Result<Loaded> {
    let (done, sender) = pipe_with(PipeFlags::CLOEXEC).map_err(io::Error::from)?;
    let given = arguments.clone();
    let loading = thread::Builder::new()
        .name("load".to_owned())
        .spawn(move || {
            let loaded = load(&given);
            // Closed, it wakes whoever waits.
            drop(sender);
            loaded
        })?;
    let limit = arguments.load_timeout;
    if !readable(&done, limit)? {
        let doing = STEPS[STEP.load(Ordering::Relaxed)];
        return Err(Error::Timeout { doing, limit });
    }
    let loaded = loading.join();
    loaded.unwrap_or_else(|_| Err(io::Error::other("the plugin cannot be loaded").into()))
}

fn readable(descriptor: &OwnedFd, limit: Duration) -> Result<bool> {
    let limit = Timespec::try_from(limit).ok();
    let mut polled = [PollFd::new(descriptor, PollFlags::IN)];
    loop {
        match poll(&mut polled, limit.as_ref()) {
            Ok(ready) => return Ok(ready > 0),
            Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(io::Error::from(error).into()),
        }
    }
}

fn load(arguments: &Arguments) -> Result<Loaded> {
    let library = Library::load(&arguments.library)?;
    STEP.store(1, Ordering::Relaxed);
    let (description, tools) = plugin::describe(&library)?;
    if arguments.describe {
        return Ok(Loaded::Described(Box::new(description)));
    }
    let settings = serde_json::Value::Object(arguments.settings.clone());
    let faults = match &description.settings_schema {
        Some(schema) => schema::faults(&schema::compile(schema, "settings")?, &settings),
        None if arguments.settings.is_empty() => Vec::new(),
        None => vec![format!("the plugin {} takes none", description.name)],
    };
    if !faults.is_empty() {
        return Err(Error::Settings { faults });
    }
    STEP.store(2, Ordering::Relaxed);
    let state = library.init(&settings.to_string())?;
    Ok(Loaded::Begun(Box::new(Plugin {
        description,
        tools,
        state,
    })))
}
