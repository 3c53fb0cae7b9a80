//! The harness: the rooms, wired. Fronts hold one of these and nothing else.

use std::{
    path::PathBuf,
    sync::{Arc, PoisonError, RwLock},
    time::{Duration, SystemTime},
};

use harness_authorize::Policy;
use harness_execute::{
    ToolGroup,
    bash::{Bash, BashSettings},
    shell::{Shell, ShellSettings},
    store::UnitStore,
    wakes::Wakes,
};
use harness_mcp::Notice;
use harness_model::{Front, Timestamp};
use harness_publish::Bus;
use harness_record::Record;
use harness_supervise::{Engine, Spawner};
use tokio::sync::broadcast;

use crate::{
    approvals::{Approvals, Patience},
    catalogue::Catalogue,
    config::{ChildEnvironment, Loaded, Places, VariableMap},
    daemon::Fatal,
    hooks::Hooks,
    journal::RecordJournal,
    keeper::KeeperHandle,
    limits::Repetition,
    live::BusOutput,
    policy,
    rating::{Rater, Ratings},
    redact::Redactor,
    run_variables::RunVariables,
    runs::{RunAccess, Runs},
    servers::{ServerCredentials, Servers, Surroundings},
    sessions::Sessions,
    store::RecordStore,
    wakes::WakeRoom,
};

/// How many events a reader can be behind and still resume.
const HISTORY: usize = 2048;

/// How many notices a slow session may be behind.
const NOTICES: usize = 64;

/// The longest a call waits inline, when the configuration sets no end.
const LONGEST_WAIT: std::time::Duration = std::time::Duration::from_secs(30);

/// What the configuration comes to, put in force as one.
pub(crate) struct InForce {
    pub(crate) loaded: Loaded,
    pub(crate) policy: Policy,
    pub(crate) environment: ChildEnvironment,
    pub(crate) hooks: Hooks,
    pub(crate) rater: Rater,
}

/// One agent's harness.
pub struct Harness {
    pub(crate) places: Places,
    pub(crate) started_at: Timestamp,
    pub(crate) keeper: KeeperHandle,
    variables: VariableMap,
    in_force: RwLock<Arc<InForce>>,
    reload_error: RwLock<Option<String>>,
    record: Record,
    bus: Bus,
    wakes: Arc<WakeRoom>,
    engine: Engine,
    spawner: Arc<dyn Spawner>,
    approvals: Arc<Approvals>,
    ratings: Ratings,
    catalogue: Arc<Catalogue>,
    servers: Arc<Servers>,
    bash: Arc<Bash>,
    shell: Arc<Shell>,
    wake_tools: Arc<Wakes>,
    sessions: Sessions,
    repetition: Repetition,
    redactor: Redactor,
    runs: Runs,
    notices: broadcast::Sender<Notice>,
    reconfigured: tokio::sync::watch::Sender<()>,
}

impl Harness {
    /// Wires the rooms over an open record and a connected keeper.
    pub(crate) async fn new(
        places: Places,
        loaded: Loaded,
        variables: VariableMap,
        record: Record,
        keeper: KeeperHandle,
    ) -> Result<Arc<Self>, Fatal> {
        let redactor = Redactor::default();
        redactor.configure(&loaded, &variables);
        let filter = redactor.clone();
        let bus = Bus::filtered(HISTORY, Box::new(move |event| filter.event(event)));
        let wakes = Arc::new(WakeRoom::new(record.clone(), bus.clone()));
        let journal = RecordJournal {
            record: record.clone(),
            bus: bus.clone(),
            wakes: wakes.clone(),
            redactor: redactor.clone(),
        };
        let spawner: Arc<dyn Spawner> = Arc::new(keeper.clone());
        let access = Arc::new(RunAccess::open(&places)?);
        let credentials = Arc::new(ServerCredentials::default());
        let own = Arc::new(RunVariables(vec![access.clone(), credentials.clone()]));
        let engine = Engine::new(spawner.clone(), Arc::new(journal)).with_environment(own);
        let in_force = InForce::of(loaded, &variables, access.directory());
        let (bash, shell) = commands(&engine, &record, &bus, &places, &in_force);
        let wake_tools = Arc::new(Wakes::new(wakes.clone()));
        let approvals = Approvals::open(record.clone(), bus.clone(), redactor.clone()).await?;
        let groups: Vec<Arc<dyn ToolGroup>> = vec![bash.clone(), shell.clone(), wake_tools.clone()];
        let catalogue = Arc::new(Catalogue::of(groups)?);
        let notices = broadcast::channel(NOTICES).0;
        let servers = Servers::new(Surroundings {
            places: places.clone(),
            catalogue: catalogue.clone(),
            credentials,
            bus: bus.clone(),
            redactor: redactor.clone(),
            notices: notices.clone(),
            engine: engine.clone(),
        });
        Ok(Arc::new(Self {
            runs: Runs::new(access, engine.clone(), record.clone()),
            places,
            started_at: SystemTime::now().into(),
            keeper,
            variables,
            in_force: RwLock::new(Arc::new(in_force)),
            reload_error: RwLock::new(None),
            ratings: Ratings::open(record.clone()).await?,
            record,
            bus,
            wakes,
            engine,
            spawner,
            approvals,
            catalogue,
            servers,
            bash,
            shell,
            wake_tools,
            sessions: Sessions::default(),
            repetition: Repetition::default(),
            redactor,
            notices,
            reconfigured: tokio::sync::watch::Sender::new(()),
        }))
    }

    /// Puts a configuration in force for what starts from now on.
    pub(crate) fn configure(&self, loaded: Loaded) {
        let in_force = Arc::new(InForce::of(loaded, &self.variables, self.runs.directory()));
        self.redactor.configure(&in_force.loaded, &self.variables);
        self.ratings.forget_failures();
        self.bash.configure(bash_settings(&self.places, &in_force));
        self.shell
            .configure(shell_settings(&self.places, &in_force));
        *self
            .in_force
            .write()
            .unwrap_or_else(PoisonError::into_inner) = in_force.clone();
        self.servers.configure(&in_force, Vec::new());
        self.set_reload_error(None);
        // No session may be connected.
        let _receivers = self.notices.send(Notice::ToolsChanged);
        self.reconfigured.send_replace(());
    }

    pub(crate) fn set_reload_error(&self, error: Option<String>) {
        *self
            .reload_error
            .write()
            .unwrap_or_else(PoisonError::into_inner) = error;
    }

    pub(crate) fn reload_error(&self) -> Option<String> {
        self.reload_error
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    pub(crate) fn in_force(&self) -> Arc<InForce> {
        self.in_force
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    pub(crate) fn record(&self) -> &Record {
        &self.record
    }

    pub(crate) fn bus(&self) -> &Bus {
        &self.bus
    }

    pub(crate) fn wakes(&self) -> &Arc<WakeRoom> {
        &self.wakes
    }

    pub(crate) fn engine(&self) -> &Engine {
        &self.engine
    }

    /// Who owns processes; for what is no unit of the engine's.
    pub(crate) fn spawner(&self) -> &Arc<dyn Spawner> {
        &self.spawner
    }

    pub(crate) fn ratings(&self) -> &Ratings {
        &self.ratings
    }

    pub(crate) fn catalogue(&self) -> &Arc<Catalogue> {
        &self.catalogue
    }

    /// The MCP servers.
    pub(crate) fn servers(&self) -> &Arc<Servers> {
        &self.servers
    }

    pub(crate) fn approvals(&self) -> &Arc<Approvals> {
        &self.approvals
    }

    /// How long a question stands, and a call is held for it.
    ///
    /// A call of a script is not held: a question stops the script.
    pub(crate) fn patience(&self, front: Front) -> Patience {
        let in_force = self.in_force();
        let approval = &in_force.loaded.config.approval;
        // Without an end a question would stand for a year.
        let longest = Duration::from_hours(24 * 365);
        Patience {
            timeout: approval.timeout_sec.finite().unwrap_or(longest),
            hold: match front {
                Front::Tools => Duration::ZERO,
                Front::Mcp | Front::McpHttp | Front::Http | Front::Dbus => {
                    approval.hold_sec.finite().unwrap_or(longest)
                }
            },
        }
    }

    pub(crate) fn bash(&self) -> &Arc<Bash> {
        &self.bash
    }

    pub(crate) fn wake_tools(&self) -> &Wakes {
        &self.wake_tools
    }

    pub(crate) fn sessions(&self) -> &Sessions {
        &self.sessions
    }

    pub(crate) fn repetition(&self) -> &Repetition {
        &self.repetition
    }

    pub(crate) fn runs(&self) -> &Runs {
        &self.runs
    }

    pub(crate) fn redactor(&self) -> &Redactor {
        &self.redactor
    }

    pub(crate) fn notices(&self) -> &broadcast::Sender<Notice> {
        &self.notices
    }

    /// Where the output of turns is.
    pub(crate) fn turns(&self) -> PathBuf {
        self.places.state.join("turns")
    }

    /// Changes whenever another configuration was put in force.
    pub(crate) fn reconfigured(&self) -> tokio::sync::watch::Receiver<()> {
        self.reconfigured.subscribe()
    }
}

/// The tool groups that run commands.
fn commands(
    engine: &Engine,
    record: &Record,
    bus: &Bus,
    places: &Places,
    in_force: &InForce,
) -> (Arc<Bash>, Arc<Shell>) {
    let store: Arc<dyn UnitStore> = Arc::new(RecordStore(record.clone()));
    let settings = bash_settings(places, in_force);
    let bash = Bash::new(engine.clone(), store.clone(), settings);
    let output = Arc::new(BusOutput(bus.clone()));
    let settings = shell_settings(places, in_force);
    let shell = Shell::new(engine.clone(), store, output, settings);
    (Arc::new(bash), Arc::new(shell))
}

impl InForce {
    /// `commands`: the directory with the command `tools`.
    fn of(loaded: Loaded, variables: &VariableMap, commands: Option<&str>) -> Self {
        let environment = ChildEnvironment::new(variables, &loaded.config.environment, None)
            .first_in_path(commands);
        Self {
            policy: policy::of(
                &loaded.config,
                &policy::Ground::of(&loaded, &environment, commands),
            ),
            hooks: Hooks::of(&loaded, &environment),
            rater: Rater::of(&loaded, &environment),
            environment,
            loaded,
        }
    }
}

fn bash_settings(places: &Places, in_force: &InForce) -> BashSettings {
    let bash = &in_force.loaded.config.bash;
    let environment = in_force.environment.clone();
    BashSettings {
        shell: in_force.loaded.shell.display().to_string(),
        workspace: in_force.loaded.workspace.clone(),
        output_directory: places.bash_tasks(),
        max_wait: bash.max_wait_sec.finite().unwrap_or(LONGEST_WAIT),
        max_tasks: u64::from(bash.max_tasks),
        output_max: bash.output_max.0,
        unit: bash.unit.clone(),
        sandbox: in_force.loaded.sandbox.clone(),
        environment: Arc::new(move |call| environment.with(call)),
    }
}

fn shell_settings(places: &Places, in_force: &InForce) -> ShellSettings {
    let config = &in_force.loaded.config;
    let limits = config.shell_limits();
    let environment = in_force.environment.clone();
    ShellSettings {
        enabled: limits.enabled,
        shell: in_force.loaded.shell.clone(),
        workspace: in_force.loaded.workspace.clone(),
        output_directory: places.tool_output(),
        output_max: config.bash.output_max.0,
        default_timeout_ms: limits.default_timeout_ms,
        max_timeout_ms: limits.max_timeout_ms,
        unit: config.bash.unit.clone(),
        sandbox: in_force.loaded.sandbox.clone(),
        environment: Arc::new(move |call| environment.with(call)),
    }
}
