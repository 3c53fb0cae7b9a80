//! The bare spawner: what starting and reaping a command costs when nothing is supervised or recorded.

use std::{
    fs::File,
    path::{Path, PathBuf},
    process::Stdio,
    sync::atomic::{AtomicUsize, Ordering},
};

use harness_tests::command::command;

use crate::sample::seconds;

/// Runs commands with two fresh output files each, as a task has them.
pub(crate) struct Bare {
    directory: PathBuf,
    next: AtomicUsize,
}

impl Bare {
    /// Its files go into a directory of their own, on the disk where the harness has its own.
    pub(crate) fn new(directory: &Path) -> Self {
        std::fs::create_dir_all(directory).unwrap();
        Self {
            directory: directory.to_owned(),
            next: AtomicUsize::new(0),
        }
    }

    /// `bash -c CMD` to its end; gives the file of its standard output.
    pub(crate) fn run(&self, cmd: &str) -> PathBuf {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let file = |suffix: &str| self.directory.join(format!("{number}.{suffix}"));
        let (stdout, stderr) = (
            File::create(file("out")).unwrap(),
            File::create(file("err")).unwrap(),
        );
        let status = command("bash")
            .args(["-c", cmd])
            .stdin(Stdio::null())
            .stdout(stdout)
            .stderr(stderr)
            .status();
        assert!(status.unwrap().success(), "{cmd}");
        file("out")
    }

    /// Runs a command `count` times, `together` at once; gives how long that took, in seconds.
    pub(crate) fn run_many(&self, cmd: &str, count: usize, together: usize) -> f64 {
        let left = AtomicUsize::new(count);
        let take = || {
            left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| {
                left.checked_sub(1)
            })
            .is_ok()
        };
        seconds(|| {
            std::thread::scope(|scope| {
                for _ in 0..together {
                    scope.spawn(|| {
                        while take() {
                            self.run(cmd);
                        }
                    });
                }
            });
        })
    }
}
