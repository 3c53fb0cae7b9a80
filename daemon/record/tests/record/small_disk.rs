//! A full disk and a read-only one, in a mount namespace that ends with its process.

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use harness_record::{Error, Record};

use crate::support::{id, starting, unit};

const DIRECTORY: &str = "RECORD_TEST_DIRECTORY";

fn directory() -> PathBuf {
    env::var_os(DIRECTORY).unwrap().into()
}

/// Runs an ignored test of this program in a namespace where `setup` was run with the directory as `$0`.
/// Does nothing where the kernel gives no namespace.
fn in_namespace(test: &str, setup: &str, directory: &Path) {
    #[expect(
        clippy::disallowed_methods,
        reason = "mounts need a namespace, and unshare(1) makes one"
    )]
    let unshare = || {
        let mut command = Command::new("unshare");
        command.args(["--user", "--map-root-user", "--mount"]);
        command
    };
    let possible = unshare()
        .arg("true")
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success());
    if !possible {
        return;
    }
    let status = unshare()
        .args(["sh", "-ec", &format!("{setup}; exec \"$@\"")])
        .arg(directory)
        .arg(env::current_exe().unwrap())
        .args([test, "--exact", "--ignored", "--nocapture"])
        .env(DIRECTORY, directory)
        .status()
        .unwrap();
    assert!(status.success(), "{test}");
}

#[tokio::test]
#[ignore = "needs the namespace that the test below makes"]
async fn child_fills_its_disk() {
    let path = directory().join("state.db");
    let ballast = directory().join("ballast");
    fs::write(&ballast, vec![1; 1 << 20]).unwrap();
    let record = Record::open(&path).unwrap();
    let mut made = Vec::new();
    let error = loop {
        let name = format!("u{}", made.len());
        let mut big = unit(&name);
        big.command = "x".repeat(100_000);
        match record.unit_created(big, starting(&name)).await {
            Ok(()) => made.push(name),
            Err(error) => break error,
        }
    };
    assert!(matches!(error, Error::Full { .. }), "{error:?}");
    assert!(made.len() > 1, "{made:?}");

    // Reading works, nothing of the failed write is there, and nothing answered is lost.
    let failed = id(&format!("u{}", made.len()));
    assert_eq!(record.unit(&failed).await.unwrap(), None);
    for name in &made {
        assert!(record.unit(&id(name)).await.unwrap().is_some(), "{name}");
    }
    assert_eq!(
        record.task_counts().await.unwrap().running,
        made.len() as u64
    );

    fs::remove_file(&ballast).unwrap();
    record
        .unit_created(unit("later"), starting("later"))
        .await
        .unwrap();
    record.close().await;
    let record = Record::open(&path).unwrap();
    assert_eq!(
        record.unfinished_units().await.unwrap().len(),
        made.len() + 1
    );
    record.close().await;
}

#[test]
fn a_full_disk_loses_nothing_and_later_writes_succeed() {
    let directory = tempfile::tempdir().unwrap();
    in_namespace(
        "small_disk::child_fills_its_disk",
        "mount -t tmpfs -o size=3m tmpfs \"$0\"",
        directory.path(),
    );
}

#[test]
#[ignore = "needs the namespace that the test below makes"]
fn child_opens_on_a_full_disk() {
    fs::write(directory().join("ballast"), vec![1; 1 << 20]).unwrap_err();
    let error = Record::open(&directory().join("state.db")).unwrap_err();
    assert!(matches!(error, Error::Full { .. }), "{error:?}");
}

#[test]
fn a_disk_that_is_full_from_the_start_is_called_so() {
    let directory = tempfile::tempdir().unwrap();
    in_namespace(
        "small_disk::child_opens_on_a_full_disk",
        "mount -t tmpfs -o size=64k tmpfs \"$0\"",
        directory.path(),
    );
}

#[test]
#[ignore = "needs the namespace that the test below makes"]
fn child_opens_read_only() {
    let path = directory().join("state.db");
    let error = Record::open(&path).unwrap_err();
    assert!(matches!(error, Error::ReadOnly { .. }), "{error:?}");
    assert!(error.to_string().contains("state.db"), "{error}");
}

#[tokio::test]
async fn a_read_only_directory_is_a_typed_error_with_or_without_a_database_in_it() {
    let directory = tempfile::tempdir().unwrap();
    let setup = "mount --bind \"$0\" \"$0\" && mount -o remount,bind,ro \"$0\"";
    in_namespace("small_disk::child_opens_read_only", setup, directory.path());
    let record = Record::open(&directory.path().join("state.db")).unwrap();
    record.close().await;
    in_namespace("small_disk::child_opens_read_only", setup, directory.path());
}
