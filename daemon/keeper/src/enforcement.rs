//! What is enforced here, and what would change it.

use harness_keeper::protocol::Limits;
use harness_model::Enforcement;

use crate::{
    cgroup::{Controllers, Hierarchy, not_enforced},
    domain::{Domain, NO_SIGNAL_SCOPE},
    keeper::Keeper,
    privilege::Privilege,
};

const FILESYSTEM: &str = "[sandbox] filesystem and writable: by Landlock; modes, owners and times of files can still be changed by who owns them";
const EXECUTE: &str = "[tool.NAME] allowlist: what it let through executes its own programs and writes in the workspace only, by Landlock; code that a program loads itself is no execution";
const HIDDEN: &str = "[sandbox] hidden: by Landlock; names, sizes and times can still be seen, and a hard link or another mount of a hidden file elsewhere still leads to it";
const NETWORK: &str = "[sandbox] network = false: no socket of the internet can be made (seccomp), TCP is refused by Landlock where it can; Unix sockets stay open";

/// Why nothing is limited without cgroups.
const NO_CGROUP: &str = "there is no cgroup for it";

impl Keeper {
    /// The limits that a run without a cgroup does not have, in words.
    pub(crate) fn unlimited(&self, limits: &Limits) -> Vec<String> {
        let reason = self
            .enforcement
            .first()
            .map_or(NO_CGROUP, |cgroup| cgroup.detail.as_str());
        [
            ("memory_max", limits.memory_max.is_some()),
            ("oom_policy", limits.oom_group),
            ("tasks_max", limits.tasks_max.is_some()),
            ("cpu_quota", limits.cpu_quota.is_some()),
        ]
        .into_iter()
        .filter(|(_, asked)| *asked)
        .map(|(key, _)| not_enforced(key, reason))
        .collect()
    }
}

/// The list for `harnessctl status`; the cgroup comes first.
pub(crate) fn list(
    hierarchy: Result<&Hierarchy, &String>,
    domain: &Domain,
    privilege: &Privilege,
) -> Vec<Enforcement> {
    let none;
    let controllers = match hierarchy {
        Ok(hierarchy) => hierarchy.controllers(),
        Err(reason) => {
            none = Controllers::none(reason);
            &none
        }
    };
    let kernel = domain.kernel();
    let scoped = kernel.signal_scope();
    let privileges = if privilege.credentials.is_some() {
        "; the capabilities that get around it are dropped"
    } else {
        ""
    };
    let in_domain = |what: &str| {
        if scoped {
            format!("every task lives in a Landlock domain of its own and {what}{privileges}")
        } else {
            NO_SIGNAL_SCOPE.to_owned()
        }
    };
    vec![
        entry(
            "cgroup",
            hierarchy
                .map(|hierarchy| {
                    format!(
                        "each tree is a cgroup in {}",
                        hierarchy.directory().display()
                    )
                })
                .map_err(|reason| {
                    format!("{reason}; trees are followed by session and parent instead")
                }),
        ),
        limit("memory_max", &controllers.memory),
        limit("tasks_max", &controllers.pids),
        limit("cpu_quota", &controllers.cpu),
        held(
            "signal_scope",
            scoped,
            in_domain("can signal nothing outside it"),
        ),
        held(
            "environ",
            scoped,
            in_domain("can trace nothing outside it, nor read its environment or memory"),
        ),
        entry(
            "filesystem",
            kernel.filesystem().map(|()| FILESYSTEM.to_owned()),
        ),
        entry("execute", kernel.execute().map(|()| EXECUTE.to_owned())),
        entry("hidden", kernel.hidden().map(|()| HIDDEN.to_owned())),
        entry("network", kernel.network().map(|()| NETWORK.to_owned())),
    ]
}

fn limit(name: &str, controller: &Result<(), String>) -> Enforcement {
    entry(
        name,
        controller
            .clone()
            .map(|()| "by the cgroup of the tree".to_owned()),
    )
}

fn entry(name: &str, state: Result<String, String>) -> Enforcement {
    let enforced = state.is_ok();
    held(name, enforced, state.unwrap_or_else(|reason| reason))
}

fn held(name: &str, enforced: bool, detail: String) -> Enforcement {
    Enforcement {
        name: name.to_owned(),
        enforced,
        detail,
    }
}
