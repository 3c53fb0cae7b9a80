//! One agent in the box: its user, its configuration, its services.

use std::{fs, path::PathBuf, sync::Arc};

use super::SystemdBox;
use crate::{command::Output, harness::PATIENCE};

/// An agent whose harness is a pair of services. Dropped, the services are ended.
pub struct Agent {
    /// Where it lives.
    pub systemd: Arc<SystemdBox>,
    /// Its name, which is its user's too.
    pub name: &'static str,
    /// Its user.
    pub uid: u32,
}

impl Agent {
    /// A new agent in the shared box, with these lines of configuration beside `workspace`. Nothing of it runs.
    pub fn new(name: &'static str, config: &str) -> Self {
        let systemd = SystemdBox::shared();
        let uid = systemd.add_user(name);
        let agent = Self { systemd, name, uid };
        agent.write_config(config);
        agent
    }

    /// The same, and its daemon is started.
    pub fn started(name: &'static str, config: &str) -> Self {
        let agent = Self::new(name, config);
        agent.systemd.systemctl(&["start", &agent.daemon()]);
        agent
    }

    /// Replaces its configuration file.
    pub fn write_config(&self, config: &str) {
        let text = format!("workspace = \"/srv/{}\"\n{config}", self.name);
        fs::write(
            self.systemd
                .path(&format!("/etc/harnessd/{}.toml", self.name)),
            text,
        )
        .unwrap();
    }

    /// The daemon's unit.
    pub fn daemon(&self) -> String {
        format!("harnessd@{}.service", self.name)
    }

    /// The keeper's unit.
    pub fn keeper(&self) -> String {
        format!("harness-keeper@{}.service", self.name)
    }

    /// The main process of a unit, inside.
    #[track_caller]
    pub fn main_pid(&self, unit: &str) -> String {
        let pid = self.systemd.property(unit, "MainPID");
        assert_ne!(pid, "0", "{unit} does not run");
        pid
    }

    /// Adds a drop-in to one of its units.
    pub fn drop_in(&self, unit: &str, text: &str) {
        let directory = self.systemd.path(&format!("/etc/systemd/system/{unit}.d"));
        fs::create_dir_all(&directory).unwrap();
        fs::write(directory.join("test.conf"), text).unwrap();
        self.systemd.systemctl(&["daemon-reload"]);
    }

    /// Its runtime directory, inside.
    pub fn runtime(&self) -> String {
        format!("/run/harnessd/{}", self.name)
    }

    /// Its workspace, as this side sees it.
    pub fn workspace(&self) -> PathBuf {
        self.systemd.path(&format!("/srv/{}", self.name))
    }

    /// A file in its workspace once it has a whole line.
    #[track_caller]
    pub fn line_in(&self, name: &str) -> String {
        crate::event::file(&self.workspace().join(name), PATIENCE, |text| {
            text.ends_with('\n')
        })
        .trim()
        .to_owned()
    }

    /// A named pipe in its workspace, which everybody may use.
    pub fn fifo(&self, name: &str) -> PathBuf {
        let path = self.workspace().join(name);
        nix::unistd::mkfifo(&path, nix::sys::stat::Mode::S_IRWXU).unwrap();
        std::os::unix::fs::chown(&path, Some(self.uid), None).unwrap();
        path
    }

    /// `harnessctl` inside, as root.
    #[track_caller]
    pub fn ctl(&self, words: &[&str]) -> Output {
        let runtime = self.runtime();
        self.systemd
            .exec(&[&["harnessctl", "--runtime-dir", &runtime], words].concat())
    }

    /// A program inside, as the agent's user.
    #[track_caller]
    pub fn as_user(&self, words: &[&str]) -> Output {
        self.systemd
            .exec(&[&["runuser", "-u", self.name, "--"], words].concat())
    }

    /// Starts a task that goes on, and gives its id.
    #[track_caller]
    pub fn run(&self, words: &[&str]) -> String {
        let output = self.ctl(&[&["run"], words].concat()).ok();
        output.stdout.trim().to_owned()
    }

    /// A task in full.
    #[track_caller]
    pub fn task(&self, id: &str) -> serde_json::Value {
        self.ctl(&["--json", "status", id]).ok().json()
    }

    /// Whether a task can be run, also by a daemon that has just lost its keeper.
    pub fn prints_again(&self) -> bool {
        for _ in 0..100 {
            let output = self.ctl(&["run", "--wait", "--", "echo again"]);
            if output.code == 0 {
                return output.stdout.contains("again\n");
            }
        }
        false
    }

    /// What runs as its user, one process a line.
    pub fn processes(&self) -> String {
        self.systemd
            .exec(&["ps", "-o", "pid=,stat=,cmd=", "-u", self.name])
            .stdout
    }
}

impl Drop for Agent {
    fn drop(&mut self) {
        let name = self.name;
        if std::thread::panicking() {
            let units = [
                format!("harnessd*@{name}.*"),
                format!("harness-keeper@{name}.*"),
            ];
            let log = self.systemd.exec(&[
                "journalctl",
                "--lines=40",
                "--unit",
                &units[0],
                "--unit",
                &units[1],
            ]);
            #[expect(clippy::print_stderr, reason = "the log belongs beside a failed test")]
            {
                eprintln!("--- the last lines of the journal:\n{}", log.stdout);
            }
        }
        let script = format!(
            "systemctl kill --signal=KILL 'harnessd@{name}.service' 'harness-keeper@{name}.service'; \
             systemctl stop 'harnessd*@{name}.socket' 'harness-keeper@{name}.socket' 'harnessd@{name}.service' 'harness-keeper@{name}.service'"
        );
        self.systemd.exec(&["sh", "-c", &script]);
    }
}
