//! From the command line to the loop, and back to nothing.

use std::{
    collections::HashMap,
    fs::{File, OpenOptions},
    io,
    os::fd::OwnedFd,
    path::Path,
};

use rustix::event::epoll;

use crate::{
    arguments::Arguments,
    cgroup::{Hierarchy, MemoryWatch},
    detach::{Side, detach},
    domain::Domain,
    enforcement,
    keeper::Keeper,
    listen::{self, Listener},
    log,
    privilege::{self, Privilege},
    process::{Children, Process},
    signal,
    spawn::Launcher,
    sweep,
};

/// Lives a whole life.
///
/// # Errors
/// It cannot start, or its loop fails.
pub(crate) fn run(arguments: &Arguments) -> io::Result<()> {
    // Descriptors 0 to 2 are taken from here on, so that none that comes later is one of them.
    let null = open_null()?;
    keep_memory_small();
    let directory = std::fs::canonicalize(&arguments.runtime_directory).map_err(|error| {
        io::Error::new(
            error.kind(),
            format!(
                "the runtime directory {}: {error}",
                arguments.runtime_directory.display()
            ),
        )
    })?;
    let lock = listen::lock(&directory)?;
    let ready = if arguments.detach {
        match detach(&directory.join("keeper.log"))? {
            Side::Parent(waiting) => return waiting.wait(),
            Side::Child(ready) => Some(ready),
        }
    } else {
        None
    };
    let mut keeper = match begin(arguments, &directory, lock, null) {
        Ok(keeper) => keeper,
        Err(error) => {
            if let Some(ready) = ready {
                ready.failed(&error);
            }
            return Err(error);
        }
    };
    if let Some(ready) = ready {
        ready.ready();
    }
    let result = keeper.run();
    end(&mut keeper);
    result
}

fn begin(arguments: &Arguments, directory: &Path, lock: File, null: OwnedFd) -> io::Result<Keeper> {
    let state_id = arguments
        .state_id
        .clone()
        .unwrap_or_else(|| directory.display().to_string());
    let signals = signal::take_over()?;
    privilege::become_subreaper()?;
    let privilege = Privilege::take();
    for survivor in sweep::leftovers(&state_id) {
        log(&format!(
            "a process of an earlier keeper cannot be ended: {survivor}"
        ));
    }
    let hierarchy = if arguments.no_cgroup {
        Err("cgroups are switched off by --no-cgroup".to_owned())
    } else {
        Hierarchy::new(&label(&arguments.agent, &state_id))
    };
    let domain = Domain::new();
    let own = Process::read(i32::try_from(std::process::id()).unwrap_or(0));
    Ok(Keeper {
        instance: format!(
            "{}-{}",
            std::process::id(),
            own.map_or(0, |own| own.start_time)
        ),
        enforcement: enforcement::list(hierarchy.as_ref(), &domain, &privilege),
        agent_state: state_id,
        allowed_uids: arguments.daemon_uids.clone(),
        units: HashMap::new(),
        children: HashMap::new(),
        own_children: Children::open(),
        memory: hierarchy
            .as_ref()
            .ok()
            .filter(|hierarchy| hierarchy.controllers().memory.is_ok())
            .and_then(|_| MemoryWatch::new().ok()),
        hierarchy: hierarchy.ok(),
        empty_cgroups: Vec::new(),
        domain,
        privilege,
        launcher: Launcher::new(),
        spare: null.try_clone().ok(),
        refusals: 0,
        null,
        connections: HashMap::new(),
        daemon: None,
        stopping: false,
        watched: HashMap::new(),
        next_number: 0,
        epoll: epoll::create(epoll::CreateFlags::CLOEXEC)?,
        signals,
        listener: Listener::new(directory, &arguments.daemon_uids, lock)?,
        idle_limit: arguments.idle_limit,
        idle_since: None,
    })
}

/// Nothing of this keeper stays but the lock's file.
fn end(keeper: &mut Keeper) {
    keeper.kill_remnants();
    keeper.flush_all();
    if let Some(hierarchy) = &keeper.hierarchy {
        hierarchy.remove();
    }
    // The connections close after this, so whoever sees that can start the next keeper.
    keeper.listener.close();
}

/// The name of the keeper's directory among the cgroups: the same for the next keeper of this state.
fn label(agent: &str, state_id: &str) -> String {
    let agent: String = agent
        .chars()
        .map(|c| {
            if c.is_ascii_alphanumeric() || c == '-' {
                c
            } else {
                '_'
            }
        })
        .take(64)
        .collect();
    // FNV-1a: it has to be the same in every build.
    let hash = state_id
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3)
        });
    format!("harness-{agent}-{hash:016x}")
}

fn open_null() -> io::Result<OwnedFd> {
    loop {
        let file: OwnedFd = OpenOptions::new()
            .read(true)
            .write(true)
            .open("/dev/null")?
            .into();
        if std::os::fd::AsRawFd::as_raw_fd(&file) > 2 {
            return Ok(file);
        }
        // Stays open for good.
        std::mem::forget(file);
    }
}

/// A long request must not leave its memory with the process for good.
#[cfg(target_env = "gnu")]
#[expect(unsafe_code, reason = "mallopt has no safe form")]
fn keep_memory_small() {
    // SAFETY: plain numbers; set once, before there is anything to confuse.
    unsafe {
        libc::mallopt(libc::M_MMAP_THRESHOLD, 64 << 10);
        libc::mallopt(libc::M_TRIM_THRESHOLD, 64 << 10);
    }
}

#[cfg(not(target_env = "gnu"))]
fn keep_memory_small() {}
