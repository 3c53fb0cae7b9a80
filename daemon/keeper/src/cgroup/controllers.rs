//! Which limits can be had.

use std::{fs, path::Path};

/// The controllers the keeper uses; each either works for units, or not, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Controllers {
    pub(crate) memory: Result<(), String>,
    pub(crate) pids: Result<(), String>,
    pub(crate) cpu: Result<(), String>,
}

impl Controllers {
    /// Hands the controllers down from `directories[0]` through each of the others.
    ///
    /// In the last of them units are made.
    pub(super) fn enable(directories: &[&Path]) -> Self {
        let enable = |name| {
            directories
                .iter()
                .try_for_each(|directory| hand_down(directory, name))
        };
        Self {
            memory: enable("memory"),
            pids: enable("pids"),
            cpu: enable("cpu"),
        }
    }

    /// None of them, for one reason.
    pub(crate) fn none(reason: &str) -> Self {
        let none = || Err(reason.to_owned());
        Self {
            memory: none(),
            pids: none(),
            cpu: none(),
        }
    }
}

fn hand_down(directory: &Path, name: &str) -> Result<(), String> {
    let has = |file: &str| {
        fs::read_to_string(directory.join(file))
            .is_ok_and(|text| text.split_whitespace().any(|word| word == name))
    };
    if has("cgroup.subtree_control") {
        return Ok(());
    }
    if !has("cgroup.controllers") {
        return Err(if bound_to_first_version(name) {
            format!(
                "the {name} controller is bound to a cgroup v1 hierarchy: boot with systemd.unified_cgroup_hierarchy=1"
            )
        } else {
            format!(
                "the {name} controller is not handed down to {}: run the keeper as a systemd service with Delegate=yes",
                directory.display()
            )
        });
    }
    fs::write(directory.join("cgroup.subtree_control"), format!("+{name}")).map_err(|error| {
        format!(
            "the {name} controller cannot be enabled in {}: {error}; run the keeper as a systemd service with Delegate=yes",
            directory.display()
        )
    })
}

fn bound_to_first_version(name: &str) -> bool {
    fs::read_to_string("/proc/self/cgroup").is_ok_and(|text| {
        text.lines().any(|line| {
            let mut fields = line.split(':').skip(1);
            fields
                .next()
                .is_some_and(|controllers| controllers.split(',').any(|word| word == name))
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_controller_is_enabled_where_it_is_available_and_named_where_not() {
        let directory =
            std::env::temp_dir().join(format!("harness-controllers-{}", std::process::id()));
        fs::create_dir_all(&directory).unwrap();
        fs::write(directory.join("cgroup.controllers"), "cpu io hugetlb\n").unwrap();
        fs::write(directory.join("cgroup.subtree_control"), "hugetlb\n").unwrap();
        assert_eq!(hand_down(&directory, "hugetlb"), Ok(()));
        assert_eq!(hand_down(&directory, "cpu"), Ok(()));
        assert_eq!(
            fs::read_to_string(directory.join("cgroup.subtree_control")).unwrap(),
            "+cpu"
        );
        let reason = hand_down(&directory, "rdma").unwrap_err();
        assert!(
            reason.contains("rdma") && reason.contains("Delegate=yes"),
            "{reason}"
        );
        fs::remove_dir_all(&directory).unwrap();
    }
}
