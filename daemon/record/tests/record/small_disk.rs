//! A full disk and a read-only one, in a mount namespace that ends with its process.

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use harness_record::{Error, Record};

use crate::support::{id, starting, unit};

const DIRECTORY: &str = "RECORD_TEST_DIRECTORY";

/// Where the process that a test has started in a namespace works; none in the test itself.
fn inside() -> Option<PathBuf> {
    env::var_os(DIRECTORY).map(PathBuf::from)
}

/// Runs a test of this program again, in a namespace where `setup` was run with the directory as `$0`.
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
    assert!(possible, "these tests need unshare(1) and user namespaces");
    let status = unshare()
        .args(["sh", "-ec", &format!("{setup}; exec \"$@\"")])
        .arg(directory)
        .arg(env::current_exe().unwrap())
        .args([test, "--exact", "--nocapture"])
        .env(DIRECTORY, directory)
        // Its count of tests is not the run's.
        .stdout(Stdio::null())
        .status()
        .unwrap();
    assert!(status.success(), "{test}");
}

async fn fill_the_disk(directory: &Path) {
    let path = directory.join("state.db");
    let ballast = directory.join("ballast");
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

#[tokio::test]
async fn a_full_disk_loses_nothing_and_later_writes_succeed() {
    if let Some(directory) = inside() {
        return fill_the_disk(&directory).await;
    }
    let directory = tempfile::tempdir().unwrap();
    in_namespace(
        "small_disk::a_full_disk_loses_nothing_and_later_writes_succeed",
        "mount -t tmpfs -o size=3m tmpfs \"$0\"",
        directory.path(),
    );
}

#[test]
fn a_disk_that_is_full_from_the_start_is_called_so() {
    if let Some(directory) = inside() {
        fs::write(directory.join("ballast"), vec![1; 1 << 20]).unwrap_err();
        let error = Record::open(&directory.join("state.db")).unwrap_err();
        assert!(matches!(error, Error::Full { .. }), "{error:?}");
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    in_namespace(
        "small_disk::a_disk_that_is_full_from_the_start_is_called_so",
        "mount -t tmpfs -o size=64k tmpfs \"$0\"",
        directory.path(),
    );
}

#[tokio::test]
async fn a_read_only_directory_is_a_typed_error_with_or_without_a_database_in_it() {
    if let Some(directory) = inside() {
        let error = Record::open(&directory.join("state.db")).unwrap_err();
        assert!(matches!(error, Error::ReadOnly { .. }), "{error:?}");
        assert!(error.to_string().contains("state.db"), "{error}");
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    let test =
        "small_disk::a_read_only_directory_is_a_typed_error_with_or_without_a_database_in_it";
    let setup = "mount --bind \"$0\" \"$0\" && mount -o remount,bind,ro \"$0\"";
    in_namespace(test, setup, directory.path());
    let record = Record::open(&directory.path().join("state.db")).unwrap();
    record.close().await;
    in_namespace(test, setup, directory.path());
}
