//! `tests/testbed/systemd-box`: a systemd as PID 1 in namespaces of its own.

use std::{
    fs,
    io::{BufRead as _, BufReader},
    os::unix::{fs::PermissionsExt as _, process::CommandExt as _},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::{Arc, Mutex},
};

use tempfile::TempDir;

use crate::{
    binaries,
    command::{self, Output},
    harness::PATIENCE,
};

/// Boots the box, says so, and takes it down when its standard input ends: however the test ends,
/// a kill included, the pipe is closed then.
const GUARD: &str = r#"
box=$1 directory=$2
shift 2
"$box" up "$directory" "$@" || exit
cat >/dev/null
exec "$box" down "$directory"
"#;

/// One booted systemd. Dropped, everything in it is ended, and nothing of it is left.
pub struct SystemdBox {
    directory: TempDir,
    guard: Child,
    /// Its PID 1, as this side of the namespaces sees it.
    init: i32,
    /// One program at a time may edit the user database.
    users: Mutex<()>,
}

static SHARED: Mutex<Option<Arc<SystemdBox>>> = Mutex::new(None);

impl SystemdBox {
    /// Why it cannot be had on this machine, if it cannot.
    pub fn missing() -> Option<String> {
        Self::missing_with(None)
    }

    /// The same with another root directory than the machine's.
    pub fn missing_with(root: Option<&Path>) -> Option<String> {
        let mut command = script();
        command.arg("check");
        if let Some(root) = root {
            command.env("ROOT", root);
        }
        let output = command::run(command, b"", PATIENCE);
        if output.code == 0 {
            return None;
        }
        let reason = output
            .stdout
            .trim()
            .trim_start_matches("skipped: ")
            .to_owned();
        assert_eq!(output.code, 77, "{output:?}");
        Some(reason)
    }

    /// Boots one over this machine's root directory, or over another.
    pub fn boot(root: Option<&Path>) -> Self {
        let directory = tempfile::Builder::new().prefix("hb").tempdir().unwrap();
        let mut command = command::command("bash");
        command
            .args(["-c", GUARD, "guard"])
            .arg(path())
            .arg(directory.path().join("box"))
            .args(hidden_inside());
        if let Some(root) = root {
            command.env("ROOT", root);
        }
        // A group of its own: Ctrl-C is for the test, and the guard tidies up after it.
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .process_group(0);
        let mut guard = command.spawn().unwrap();
        let mut line = String::new();
        BufReader::new(guard.stdout.take().unwrap())
            .read_line(&mut line)
            .unwrap();
        let init = line
            .trim()
            .rsplit_once("pid ")
            .and_then(|(_, pid)| pid.parse().ok());
        let init = init.unwrap_or_else(|| panic!("no box: {line:?}"));
        Self {
            directory,
            guard,
            init,
            users: Mutex::new(()),
        }
    }

    /// The box that all tests share in which the product is installed; see [`Self::end_shared`].
    pub fn shared() -> Arc<Self> {
        let mut shared = SHARED.lock().unwrap();
        let fresh = || {
            let fresh = Self::boot(None);
            fresh.install();
            Arc::new(fresh)
        };
        shared.get_or_insert_with(fresh).clone()
    }

    /// Ends the shared box, if a test has started it; called once, after the last test.
    pub fn end_shared() {
        drop(SHARED.lock().unwrap().take());
    }

    /// Puts the programs and the unit files where the units expect them.
    fn install(&self) {
        for program in ["harnessd", "harness-keeper", "harnessctl"] {
            let target = self.path("/usr/bin").join(program);
            fs::copy(binaries::program(program), &target).unwrap();
            fs::set_permissions(&target, fs::Permissions::from_mode(0o755)).unwrap();
        }
        let units = binaries::source().join("systemd");
        for (from, to) in [
            ("system", "/usr/lib/systemd/system"),
            ("user", "/usr/lib/systemd/user"),
            ("sysusers.d", "/usr/lib/sysusers.d"),
            ("tmpfiles.d", "/usr/lib/tmpfiles.d"),
        ] {
            for entry in fs::read_dir(units.join(from)).unwrap() {
                let entry = entry.unwrap();
                fs::copy(entry.path(), self.path(to).join(entry.file_name())).unwrap();
            }
        }
        self.shell("systemd-sysusers harnessd.conf; systemd-tmpfiles --create harnessd.conf; systemctl daemon-reload").ok();
    }

    /// Runs a program inside, as root.
    #[track_caller]
    pub fn exec(&self, words: &[&str]) -> Output {
        command::run(self.command(words), b"", PATIENCE)
    }

    /// Runs a script inside, as root, which ends at the first failure.
    #[track_caller]
    pub fn shell(&self, text: &str) -> Output {
        self.exec(&["bash", "-euo", "pipefail", "-c", text])
    }

    /// A program inside, to be started.
    pub fn command(&self, words: &[&str]) -> Command {
        let mut command = script();
        command
            .arg("exec")
            .arg(self.directory.path().join("box"))
            .args(words);
        command
    }

    /// `systemctl` with these words, which has to succeed.
    #[track_caller]
    pub fn systemctl(&self, words: &[&str]) -> Output {
        self.exec(&[&["systemctl"], words].concat()).ok()
    }

    /// One property of a unit.
    #[track_caller]
    pub fn property(&self, unit: &str, name: &str) -> String {
        self.systemctl(&["show", "--value", "-p", name, "--", unit])
            .stdout
            .trim()
            .to_owned()
    }

    /// Waits until `count` lines of a unit's journal contain `part`; gives all lines until then.
    #[track_caller]
    pub fn journal_until(&self, unit: &str, part: &str, count: usize) -> Vec<String> {
        let mut lines: Vec<String> = Vec::new();
        let came = self.follow_journal(unit, |line| {
            lines.push(line);
            lines.iter().filter(|line| line.contains(part)).count() >= count
        });
        let text = lines.join("\n");
        assert!(came, "{unit}: {part:?} did not come {count} times:\n{text}");
        lines
    }

    /// Hands over the lines of a unit's journal, from the box's boot on, until `is_enough`; false
    /// when nothing more came.
    pub fn follow_journal(&self, unit: &str, mut is_enough: impl FnMut(String) -> bool) -> bool {
        let follow = [
            "journalctl",
            "--follow",
            "--no-tail",
            "--output=cat",
            "--unit",
            unit,
        ];
        let mut command = self.command(&follow);
        // The script becomes nsenter, which waits for the program: one group, so that one signal ends both.
        command
            .stdout(Stdio::piped())
            .stdin(Stdio::null())
            .process_group(0);
        let mut child = command.spawn().unwrap();
        let output = child.stdout.take().unwrap();
        let (sender, receiver) = std::sync::mpsc::channel();
        std::thread::spawn(move || {
            let mut lines = BufReader::new(output).lines().map_while(Result::ok);
            lines
                .try_for_each(|line| sender.send(line))
                .unwrap_or_default();
        });
        let came = loop {
            match receiver.recv_timeout(PATIENCE) {
                Ok(line) => {
                    if is_enough(line) {
                        break true;
                    }
                }
                Err(_) => break false,
            }
        };
        let group = nix::unistd::Pid::from_raw(child.id().cast_signed());
        nix::sys::signal::killpg(group, nix::sys::signal::Signal::SIGKILL).unwrap_or_default();
        child.wait().unwrap();
        came
    }

    /// A file inside as this side sees it; what is mounted inside, as /run and /tmp are, is not there.
    pub fn path(&self, inside: &str) -> PathBuf {
        self.directory
            .path()
            .join("box/root")
            .join(inside.trim_start_matches('/'))
    }

    /// A file inside by way of its PID 1: all mounts are seen, and sockets can be connected to.
    pub fn inner_path(&self, inside: &str) -> PathBuf {
        PathBuf::from(format!("/proc/{}/root", self.init)).join(inside.trim_start_matches('/'))
    }

    /// Makes a user with a home directory of that name below /srv; gives the uid.
    pub fn add_user(&self, name: &str) -> u32 {
        let _turn = self.users.lock().unwrap();
        let line = format!("u {name} - \"Agent\" /srv/{name} /bin/bash");
        let script = format!(
            "systemd-sysusers --inline '{line}'; install -d -o {name} -g {name} /srv/{name}; id -u {name}"
        );
        self.shell(&script).ok().stdout.trim().parse().unwrap()
    }
}

impl Drop for SystemdBox {
    fn drop(&mut self) {
        drop(self.guard.stdin.take());
        let code = command::wait(&mut self.guard, PATIENCE);
        assert!(
            code == Some(0) || std::thread::panicking(),
            "the box was not taken down: {code:?}"
        );
    }
}

/// The checkout and the built programs, where they lie below `/tmp`: inside, that is another one.
fn hidden_inside() -> Vec<PathBuf> {
    let needed = [binaries::source().to_owned(), binaries::directory()];
    needed
        .into_iter()
        .filter(|path| path.starts_with("/tmp"))
        .collect()
}

fn path() -> PathBuf {
    binaries::source().join("tests/testbed/systemd-box")
}

fn script() -> Command {
    command::command(path())
}
