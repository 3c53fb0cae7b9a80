//! The units of `systemctl --user`.

use harness_tests::{
    command::Output,
    systemd::{Agent, SystemdBox},
    trials,
};
use libtest_mimic::Trial;

pub(crate) fn trials(missing: Option<String>) -> Vec<Trial> {
    trials![if missing; an_unprivileged_user_has_a_harness_of_his_own]
}

/// `systemctl --user` and the rest of a session's commands for a user whose service manager lingers.
struct Session<'a> {
    systemd: &'a SystemdBox,
    user: &'a str,
    runtime: String,
}

impl Session<'_> {
    #[track_caller]
    fn exec(&self, words: &[&str]) -> Output {
        let runtime = format!("XDG_RUNTIME_DIR={}", self.runtime);
        let home = format!("HOME=/srv/{}", self.user);
        self.systemd.exec(
            &[
                &["runuser", "-u", self.user, "--", "env", &runtime, &home],
                words,
            ]
            .concat(),
        )
    }
}

fn an_unprivileged_user_has_a_harness_of_his_own() {
    let agent = Agent::new("lingerer", "");
    let systemd = &*agent.systemd;
    systemd
        .exec(&["loginctl", "enable-linger", agent.name])
        .ok();
    let manager = format!("user@{}.service", agent.uid);
    systemd.systemctl(&["start", &manager]);
    let session = Session {
        systemd,
        user: agent.name,
        runtime: format!("/run/user/{}", agent.uid),
    };
    session
        .exec(&["systemctl", "--user", "start", "harnessd@mine"])
        .ok();
    let ctl = |words: &[&str]| session.exec(&[&["harnessctl", "--agent", "mine"], words].concat());
    let output = ctl(&["run", "--wait", "--", "id -un; cat /proc/self/cgroup"])
        .ok()
        .stdout;
    assert!(output.contains("lingerer\n"), "{output}");
    let cgroup = format!(
        "/user@{}.service/app.slice/app-harness\\x2dkeeper.slice/harness-keeper@mine.service/units/",
        agent.uid
    );
    assert!(output.contains(&cgroup), "{output}");
    let id = ctl(&["run", "--", "exec sleep 1000"]).ok().stdout;
    session
        .exec(&["systemctl", "--user", "restart", "harnessd@mine"])
        .ok();
    let status = ctl(&["--json", "status", id.trim()]).ok().json();
    assert_eq!(status["status"], "running");
    session
        .exec(&[
            "systemctl",
            "--user",
            "stop",
            "harnessd@mine",
            "harness-keeper@mine",
        ])
        .ok();
    assert!(
        !agent.processes().contains("sleep"),
        "{}",
        agent.processes()
    );
    systemd
        .exec(&["loginctl", "disable-linger", agent.name])
        .ok();
    systemd.systemctl(&["stop", &manager]);
    assert_eq!(agent.processes(), "");
}
