//! `kill -9` in the middle of writes: what was answered is there afterwards.

use std::{
    env,
    io::{BufRead, BufReader, Write},
    path::Path,
    process::{Command, Stdio},
};

use harness_record::Record;

use crate::support::{ended, id, starting, unit};

const DATABASE: &str = "RECORD_TEST_DATABASE";
const ROUND: &str = "RECORD_TEST_ROUND";

/// Starts one of the tests of this program as a process of its own.
fn child(test: &str) -> Command {
    #[expect(
        clippy::disallowed_methods,
        reason = "this very program again, to be killed"
    )]
    let mut command = Command::new(env::current_exe().unwrap());
    command.args([test, "--exact", "--nocapture"]);
    command
}

/// One line for each write that was answered.
fn acknowledged(line: &str) {
    let mut stdout = std::io::stdout().lock();
    writeln!(stdout, "\nacknowledged {line}").unwrap();
    stdout.flush().unwrap();
}

async fn write_until_killed(database: &Path) {
    let record = Record::open(database).unwrap();
    let round = env::var(ROUND).unwrap();
    let writers = (0..8).map(|writer| {
        let (record, round) = (record.clone(), round.clone());
        tokio::spawn(async move {
            for number in 0.. {
                let name = format!("u{round}-{writer}-{number}");
                let start = starting(&name);
                record
                    .unit_created(unit(&name), start.clone())
                    .await
                    .unwrap();
                acknowledged(&format!("created {name}"));
                record.unit_changed(ended(&start, 0)).await.unwrap();
                acknowledged(&format!("ended {name}"));
            }
        })
    });
    futures_util::future::join_all(writers).await;
}

/// Lets the child run until it has answered `lines` writes, kills it, and gives back all that it answered.
fn run_and_kill(database: &Path, round: usize, lines: usize) -> Vec<String> {
    let mut child = child("crash::fifteen_kills_lose_nothing_that_was_answered")
        .env(DATABASE, database)
        .env(ROUND, round.to_string())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let answered = BufReader::new(child.stdout.take().unwrap())
        .lines()
        .map_while(Result::ok)
        .filter_map(|line| line.strip_prefix("acknowledged ").map(str::to_owned));
    let mut seen = Vec::new();
    for line in answered {
        seen.push(line);
        if seen.len() == lines {
            // What is in the pipe by now was answered too, so reading goes on.
            child.kill().unwrap();
        }
    }
    child.wait().unwrap();
    assert!(seen.len() >= lines, "the child ended by itself: {seen:?}");
    seen
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn fifteen_kills_lose_nothing_that_was_answered() {
    if let Some(database) = env::var_os(DATABASE) {
        return write_until_killed(Path::new(&database)).await;
    }
    let directory = tempfile::tempdir().unwrap();
    let database = directory.path().join("state.db");
    let mut answered = Vec::new();
    for round in 0..15 {
        answered.extend(run_and_kill(&database, round, 1 + round * 23));
        let record = Record::open(&database).unwrap();
        let mut ends = 0;
        for line in &answered {
            let (what, name) = line.split_once(' ').unwrap();
            let stored = record.unit(&id(name)).await.unwrap();
            let stored = stored.unwrap_or_else(|| panic!("round {round}: {line} is lost"));
            if what == "ended" {
                ends += 1;
                assert!(stored.state.is_final(), "round {round}: {line} is lost");
            }
        }
        // With each end its wake and its count; one more of each writer may be there unanswered.
        let due = record.wakes_due().await.unwrap();
        let counts = record.task_counts().await.unwrap();
        assert!(due >= ends, "round {round}: {due} wakes, {ends} ends");
        assert_eq!(due, counts.inactive, "round {round}");
        let live = record.unfinished_units().await.unwrap().len();
        assert_eq!(live as u64, counts.running, "round {round}");
        record.close().await;
    }
}

/// What `PRAGMA integrity_check` says after a kill.
#[test]
fn a_kill_leaves_a_sound_database() {
    let directory = tempfile::tempdir().unwrap();
    let database = directory.path().join("state.db");
    run_and_kill(&database, 0, 200);
    let connection = rusqlite::Connection::open(&database).unwrap();
    let answer: String = connection
        .query_row("PRAGMA integrity_check", (), |row| row.get(0))
        .unwrap();
    assert_eq!(answer, "ok");
}
