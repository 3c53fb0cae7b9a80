//! What changes in the units when the configuration does: a switch acts on nothing else.

use harness_tests::trials;
use libtest_mimic::Trial;
use serde_json::{Value, json};

use super::evaluation::Evaluation;

const DAEMON: &str = "harnessd@coder.service.d/overrides.conf";
const KEEPER: &str = "harness-keeper@coder.service.d/overrides.conf";

pub(crate) fn trials() -> Vec<Trial> {
    trials![
        a_setting_reloads_the_daemon_and_a_credential_restarts_it,
        the_keeper_is_never_restarted_by_a_switch,
        the_lock_down_gives_way_to_tcp_only_where_the_configuration_asks_for_it,
        limits_and_users_are_those_of_the_options,
        an_agent_that_is_not_enabled_leaves_nothing,
        an_agent_in_a_container_has_nothing_on_the_host_but_its_sockets_and_its_workspace,
    ]
}

fn unit(variants: &Value, variant: &str, name: &str) -> String {
    let text = &variants[variant]["units"][name];
    text.as_str()
        .unwrap_or_else(|| panic!("{variant} has no {name}: {variants}"))
        .to_owned()
}

/// The lines of the second that are not in the first.
fn added(before: &str, after: &str) -> Vec<String> {
    after
        .lines()
        .filter(|line| !before.lines().any(|other| other == *line))
        .map(str::to_owned)
        .collect()
}

fn a_setting_reloads_the_daemon_and_a_credential_restarts_it() {
    let variants = Evaluation::new().value("variants");
    let plain = unit(&variants, "plain", DAEMON);
    // X-Reload-Triggers= alone is what switch-to-configuration answers with a reload.
    let changed = added(&plain, &unit(&variants, "setting", DAEMON));
    assert!(
        changed.len() == 1 && changed[0].starts_with("X-Reload-Triggers="),
        "{changed:?}"
    );
    let changed = added(&plain, &unit(&variants, "credential", DAEMON));
    assert_eq!(changed, ["LoadCredential=token:/run/secrets/token"]);
    // A restart, not a stop and a start: what waits for it is not stopped too.
    assert!(plain.contains("X-StopIfChanged=false\n"), "{plain}");
}

fn the_keeper_is_never_restarted_by_a_switch() {
    let variants = Evaluation::new().value("variants");
    let plain = unit(&variants, "plain", KEEPER);
    assert!(plain.contains("X-RestartIfChanged=false\n"), "{plain}");
    for variant in ["setting", "credential", "listens", "connects"] {
        assert_eq!(unit(&variants, variant, KEEPER), plain, "{variant}");
    }
    let other = unit(&variants, "package", KEEPER);
    let changed = added(&plain, &other);
    assert!(
        matches!(changed.as_slice(), [reset, start] if reset == "ExecStart="
            && start.contains("/harnessd-next/bin/harness-keeper --runtime-dir %t/harness-keeper/%i --agent %i $KEEPER_ARGUMENTS")),
        "{changed:?}"
    );
    assert!(other.contains("X-RestartIfChanged=false\n"), "{other}");
}

fn the_lock_down_gives_way_to_tcp_only_where_the_configuration_asks_for_it() {
    let variants = Evaluation::new().value("variants");
    let plain = unit(&variants, "plain", DAEMON);
    for word in ["PrivateNetwork", "AF_INET", "IPAddressAllow"] {
        assert!(!plain.contains(word), "{plain}");
    }
    for (variant, address) in [("listens", "localhost"), ("connects", "any")] {
        let text = unit(&variants, variant, DAEMON);
        for line in [
            "PrivateNetwork=false",
            "RestrictAddressFamilies=AF_INET",
            "RestrictAddressFamilies=AF_INET6",
            &format!("IPAddressAllow={address}"),
        ] {
            assert!(text.lines().any(|other| other == line), "{variant}: {text}");
        }
    }
}

fn limits_and_users_are_those_of_the_options() {
    let variants = Evaluation::new().value("variants");
    assert_eq!(
        unit(&variants, "limits", "harnessd-coder.slice"),
        "[Unit]\nDescription=Tasks of the agent coder\n\n[Slice]\nMemoryMax=1G\n"
    );
    let keeper = unit(&variants, "limits", KEEPER);
    for line in ["Slice=harnessd-coder.slice", "Group=agents", "User=coder"] {
        assert!(keeper.lines().any(|other| other == line), "{keeper}");
    }
    assert_eq!(
        variants["limits"]["users"]["coder"],
        json!({ "group": "agents", "home": "/var/lib/agents/coder" })
    );
    let daemon = unit(&variants, "daemon-user", DAEMON);
    for line in ["User=harnessd", "Group=coder", "UMask=0027"] {
        assert!(daemon.lines().any(|other| other == line), "{daemon}");
    }
    let keeper = unit(&variants, "daemon-user", KEEPER);
    assert!(
        keeper.contains("KEEPER_ARGUMENTS=--daemon-uid=900"),
        "{keeper}"
    );
    let socket = unit(
        &variants,
        "daemon-user",
        "harness-keeper@coder.socket.d/overrides.conf",
    );
    assert!(socket.contains("SocketUser=harnessd\n"), "{socket}");
}

fn an_agent_that_is_not_enabled_leaves_nothing() {
    let disabled = Evaluation::new().value("variants.disabled");
    assert_eq!(
        disabled,
        json!({ "containers": {}, "faults": [], "files": {}, "units": {}, "users": {} })
    );
}

fn an_agent_in_a_container_has_nothing_on_the_host_but_its_sockets_and_its_workspace() {
    let fleet = Evaluation::new().value("examples.fleet");
    assert_eq!(fleet["files"], json!({}));
    let containers = fleet["containers"].as_object().unwrap();
    assert_eq!(containers.len(), 5);
    for (name, container) in containers {
        assert_eq!(container["privateNetwork"], true);
        let workspace = format!("/srv/agents/{name}");
        let runtime = format!("/run/harnessd/{name}");
        let mut mounts = serde_json::Map::new();
        for path in [workspace, runtime] {
            mounts.insert(path.clone(), path.into());
        }
        assert_eq!(container["mounts"], Value::Object(mounts));
        let daemon = format!("harnessd@{name}.service.d/overrides.conf");
        assert!(container["units"][&daemon].is_string(), "{container}");
        // A switch of the host is one inside, and the limits are the host's.
        let host = fleet["units"][&format!("container@{name}.service")]
            .as_str()
            .unwrap();
        for line in ["X-ReloadIfChanged=true", "MemoryMax=4G", "CPUQuota=100%"] {
            assert!(host.lines().any(|other| other == line), "{host}");
        }
    }
}
