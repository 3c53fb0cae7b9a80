//! The steps of a start, each of which needs the ones before it.

use std::{fs, sync::Arc};

use harness_model::UnitKind;
use harness_record::Record;
use harness_supervise::{Spawner, UnitHandle};

use super::{Fatal, listen::Sockets};
use crate::{
    cli::Arguments,
    config::{Config, Mode, Places, StateLock, of_process},
    harness::Harness,
    keeper::{self, KeeperOptions, KeeperStart},
    recover::recover,
    systemd::Activated,
    trace::Trace,
};

/// A daemon that is about to serve.
pub(super) struct Started {
    pub(super) harness: Arc<Harness>,
    pub(super) sockets: Sockets,
    /// A turn that was found alive.
    pub(super) turn: Option<UnitHandle>,
    /// Writes the trace, where one is wanted.
    pub(super) trace: Trace,
    /// Held as long as the daemon lives.
    pub(super) lock: StateLock,
}

pub(super) async fn start(arguments: &Arguments, activated: Activated) -> Result<Started, Fatal> {
    let (variables, skipped) = of_process(std::env::vars_os());
    for name in skipped {
        tracing::warn!(name, "a variable that is not UTF-8 is not passed on");
    }
    let uid = rustix::process::geteuid().as_raw();
    let places = Places::resolve(arguments.places(), &std::env::vars_os().collect(), uid)?;
    let loaded = Config::load(&places).map_err(Fatal::Config)?;
    if !loaded.warnings.is_empty() {
        tracing::warn!("{}", loaded.warnings.render(false));
    }
    places.create()?;
    let lock = StateLock::acquire(&places)?;
    let turns = places.state.join("turns");
    fs::create_dir_all(&turns).map_err(|source| Fatal::Directory {
        path: turns,
        source,
    })?;
    let record = Record::open(&places.database())?;
    let (keeper, adopted) = keeper::connect(keeper_options(&places)).await?;
    let harness = Harness::new(places, loaded, variables, record, keeper.clone()).await?;
    let trace = Trace::start(&harness);
    let spawner: Arc<dyn Spawner> = Arc::new(keeper);
    let found = recover(harness.record(), harness.engine(), &spawner, adopted).await?;
    let sockets = Sockets::bind(&harness, activated)?;
    let (servers, found): (Vec<_>, Vec<_>) = found
        .into_iter()
        .partition(|handle| handle.spec().kind == UnitKind::McpServer);
    harness.servers().configure(&harness.in_force(), servers);
    let turn = found
        .into_iter()
        .find(|handle| handle.spec().kind == UnitKind::Turn);
    Ok(Started {
        harness,
        sockets,
        turn,
        trace,
        lock,
    })
}

/// In user mode the daemon starts the keeper itself; the system's is a service of its own.
fn keeper_options(places: &Places) -> KeeperOptions {
    let start = match places.mode {
        Mode::System => KeeperStart::Await,
        Mode::User => KeeperStart::Detached {
            agent: places.agent.to_string(),
            state_id: places.state.display().to_string(),
            program: None,
            arguments: Vec::new(),
        },
    };
    KeeperOptions {
        runtime_directory: places.runtime.clone(),
        start,
    }
}
