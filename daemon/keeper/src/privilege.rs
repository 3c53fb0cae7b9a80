//! What the keeper may do, and what its children must not.

use rustix::{
    process::{
        DumpableBehavior, Resource, Rlimit, getrlimit, set_child_subreaper, set_dumpable_behavior,
        setrlimit,
    },
    thread::{CapabilitySet, CapabilitySets, capabilities, capability_is_in_bounding_set},
};

use crate::spawn::Credentials;

/// Each of these gets around a Landlock domain or ends the whole machine; the numbers are in capabilities(7).
const DROPPED: CapabilitySet = CapabilitySet::SYS_PTRACE
    .union(CapabilitySet::SYS_ADMIN)
    .union(CapabilitySet::PERFMON)
    .union(CapabilitySet::BPF)
    .union(CapabilitySet::CHECKPOINT_RESTORE)
    .union(CapabilitySet::SYS_MODULE)
    .union(CapabilitySet::SYS_RAWIO)
    .union(CapabilitySet::SYS_BOOT)
    .union(CapabilitySet::MAC_ADMIN)
    .union(CapabilitySet::MAC_OVERRIDE);

/// `_LINUX_CAPABILITY_VERSION_3`.
const VERSION: u32 = 0x2008_0522;

/// How the out-of-memory killer is to see the keeper, where that may be set.
const OOM_SCORE: &str = "-500";

/// What a child has to give up or get back.
pub(crate) struct Privilege {
    pub(crate) credentials: Option<Credentials>,
    /// The keeper may not enter a domain without `no_new_privs`, so its children may not either.
    pub(crate) no_new_privileges: bool,
    /// The limit of open files as it was.
    pub(crate) open_files: Option<libc::rlimit>,
    pub(crate) reset_oom_score: bool,
}

impl Privilege {
    /// Protects the keeper where it may, and finds out what its children need.
    pub(crate) fn take() -> Self {
        let sets = capabilities(None).unwrap_or(CapabilitySets {
            effective: CapabilitySet::empty(),
            permitted: CapabilitySet::empty(),
            inheritable: CapabilitySet::empty(),
        });
        Self {
            credentials: credentials(sets),
            no_new_privileges: !sets.effective.contains(CapabilitySet::SYS_ADMIN),
            open_files: raise_open_files(),
            reset_oom_score: protect_from_oom_killer(),
        }
    }
}

/// Orphans become the keeper's children, and its memory is nobody's to read.
pub(crate) fn become_subreaper() -> rustix::io::Result<()> {
    set_child_subreaper(Some(rustix::process::getpid()))?;
    set_dumpable_behavior(DumpableBehavior::NotDumpable)
}

fn credentials(sets: CapabilitySets) -> Option<Credentials> {
    let held = sets.permitted | sets.inheritable;
    if !held.intersects(DROPPED) {
        return None;
    }
    let may_drop = sets.effective.contains(CapabilitySet::SETPCAP);
    let dropped = DROPPED
        .iter()
        .filter(|one| may_drop && capability_is_in_bounding_set(*one).unwrap_or(false))
        .fold(0, |bits, one| bits | one.bits());
    let halves = |set: CapabilitySet| {
        let bits = (set - DROPPED).bits();
        [bits & u64::from(u32::MAX), bits >> 32].map(|half| u32::try_from(half).unwrap_or(0))
    };
    let [effective, permitted, inheritable] =
        [sets.effective, sets.permitted, sets.inheritable].map(halves);
    Some(Credentials {
        version: VERSION,
        pid: 0,
        sets: [0, 1].map(|half| [effective[half], permitted[half], inheritable[half]]),
        dropped,
    })
}

/// Returns what children get back.
fn raise_open_files() -> Option<libc::rlimit> {
    let before = getrlimit(Resource::Nofile);
    let raised = Rlimit {
        current: before.maximum,
        maximum: before.maximum,
    };
    if before.current == before.maximum {
        return None;
    }
    setrlimit(Resource::Nofile, raised).ok()?;
    Some(libc::rlimit {
        rlim_cur: before.current.unwrap_or(libc::RLIM_INFINITY),
        rlim_max: before.maximum.unwrap_or(libc::RLIM_INFINITY),
    })
}

/// Whether children have to be set back.
fn protect_from_oom_killer() -> bool {
    const FILE: &str = "/proc/self/oom_score_adj";
    let score = || -> Option<i32> { std::fs::read_to_string(FILE).ok()?.trim().parse().ok() };
    if score().is_some_and(|score| score >= 0) {
        // Lowering it takes CAP_SYS_RESOURCE; without it the keeper stays as it is.
        drop(std::fs::write(FILE, OOM_SCORE));
    }
    score().is_some_and(|score| score < 0)
}
