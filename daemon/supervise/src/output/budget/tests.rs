//! On real files, written as fast as this machine can.

use std::{
    fs::{self, OpenOptions},
    io::Write,
    os::unix::fs::{FileExt, MetadataExt},
    sync::mpsc,
};

use rustix::fs::inotify;

use super::*;
use crate::output::{read, tail};

/// What a line has in every place: its own offset in the stream.
const LINE: usize = 16;

fn block(from: u64, lines: usize) -> Vec<u8> {
    let mut bytes = vec![b'\n'; lines * LINE];
    let mut rest;
    for (line, number) in bytes.chunks_exact_mut(LINE).zip((from..).step_by(LINE)) {
        rest = number;
        for digit in line[..LINE - 1].iter_mut().rev() {
            *digit = b'0' + u8::try_from(rest % 10).unwrap();
            rest /= 10;
        }
    }
    bytes
}

/// Writes `total` bytes, and returns the most that they took on disk at any time.
fn fill(path: &Path, total: u64) -> u64 {
    let mut file = OpenOptions::new().append(true).open(path).unwrap();
    let (mut at, mut most) = (file.metadata().unwrap().len(), 0);
    let end = at + total;
    while at < end {
        let bytes = block(at, 4096);
        file.write_all(&bytes).unwrap();
        at += bytes.len() as u64;
        most = most.max(file.metadata().unwrap().blocks() * 512);
    }
    most
}

fn disk(path: &Path) -> u64 {
    fs::metadata(path).unwrap().blocks() * 512
}

fn empty() -> (tempfile::TempDir, PathBuf) {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("x.out");
    fs::write(&path, "").unwrap();
    (directory, path)
}

fn silent(_: String) {}

#[tokio::test]
async fn a_file_within_its_budget_is_never_touched() {
    let (_directory, path) = empty();
    let budget = Budget::keep(&path, 4 << 20, silent).unwrap();
    fill(&path, 4 << 20);
    budget.finish().await;
    let status = tail(&path, 16, false).unwrap();
    assert_eq!((status.bytes, status.gap), (4 << 20, None));
}

#[tokio::test]
async fn beyond_it_the_head_and_the_newest_part_stay_and_the_disk_does_not_fill() {
    let (_directory, path) = empty();
    let max = 8 << 20;
    let budget = Budget::keep(&path, max, silent).unwrap();
    let most = fill(&path, 128 << 20);
    budget.finish().await;
    assert!(disk(&path) <= max, "{}", disk(&path));
    // A look may come late on a loaded machine, but far from 128 MiB.
    assert!(most <= 64 << 20, "{most}");
    let status = tail(&path, LINE, false).unwrap();
    assert_eq!(status.bytes, 128 << 20);
    assert_eq!(status.tail, format!("{:015}\n", (128 << 20) - LINE));
    let gap = status.gap.unwrap();
    assert_eq!(gap.offset, HEAD);
    assert!(status.bytes - gap.offset - gap.length >= (max - HEAD) / 2);
    let kept = read(&path, gap.offset - LINE as u64, 100).unwrap();
    assert_eq!(kept.text, format!("{:015}\n", HEAD - LINE as u64));
    let newest = read(&path, gap.offset, LINE).unwrap();
    assert_eq!(newest.text, format!("{:015}\n", newest.offset));
}

#[tokio::test]
async fn a_file_that_was_quiet_is_kept_when_it_grows_again_and_after_a_restart() {
    let (_directory, path) = empty();
    let max = 1 << 20;
    let changes = inotify::init(inotify::CreateFlags::CLOEXEC).unwrap();
    inotify::add_watch(&changes, &path, inotify::WatchFlags::MODIFY).unwrap();
    for _ in 0..3 {
        let budget = Budget::keep(&path, max, silent).unwrap();
        for _ in 0..3 {
            fill(&path, 3 << 20);
            // A hole is a change of the file, too (inotify(7)); the keeping has a thread of its own.
            while disk(&path) > max {
                assert!(rustix::io::read(&changes, &mut [0; 4096]).unwrap() > 0);
            }
        }
        budget.finish().await;
    }
    let gap = tail(&path, 1, false).unwrap().gap.unwrap();
    assert_eq!(gap.offset, max / 4);
}

#[test]
fn without_holes_the_file_is_cut_to_its_head_and_that_is_said_once() {
    let (_directory, path) = empty();
    let (sender, reports) = mpsc::channel();
    let report = Box::new(move |text| sender.send(text).unwrap());
    let mut kept = Kept::new(&path, 1 << 20, |_, _, _| Err(Errno::OPNOTSUPP), report).unwrap();
    for _ in 0..3 {
        fill(&path, 2 << 20);
        kept.look(Instant::now());
        assert_eq!(fs::metadata(&path).unwrap().len(), 256 << 10);
    }
    assert!(reports.recv().unwrap().contains("file system"));
    assert!(reports.try_recv().is_err());
}

#[test]
fn a_file_that_was_cut_by_its_writer_begins_anew() {
    let (_directory, path) = empty();
    let mut kept = Kept::new(&path, 1 << 20, punch, Box::new(silent)).unwrap();
    fill(&path, 4 << 20);
    kept.look(Instant::now());
    assert!(kept.freed > 0);
    OpenOptions::new()
        .write(true)
        .open(&path)
        .unwrap()
        .set_len(0)
        .unwrap();
    fill(&path, 1 << 20);
    kept.look(Instant::now());
    assert_eq!((kept.freed, tail(&path, 1, false).unwrap().gap), (0, None));
}

#[test]
fn what_lies_in_the_place_of_a_removed_file_is_not_cut() {
    let (directory, path) = empty();
    let (sender, reports) = mpsc::channel();
    let report = Box::new(move |text| sender.send(text).unwrap());
    let mut kept = Kept::new(&path, 1 << 20, punch, report).unwrap();
    let other = directory.path().join("other");
    fs::write(&other, vec![b'x'; 4 << 20]).unwrap();
    fs::rename(&other, &path).unwrap();
    assert_eq!(kept.look(Instant::now()), Next::Never);
    assert!(reports.recv().unwrap().contains("removed"));
    assert_eq!(tail(&path, 1, false).unwrap().gap, None);
}

#[test]
fn the_next_look_comes_before_a_fast_writer_can_use_up_what_is_left() {
    let (_directory, path) = empty();
    let mut kept = Kept::new(&path, 256 << 20, punch, Box::new(silent)).unwrap();
    let file = OpenOptions::new().write(true).open(&path).unwrap();
    let now = Instant::now();
    for (size, millis) in [(1, 63), (128 << 20, 32), (255 << 20, 1)] {
        file.write_all_at(b"x", size - 1).unwrap();
        assert_eq!(
            kept.look(now),
            Next::At(now + Duration::from_millis(millis)),
            "{size}"
        );
        assert_eq!(kept.look(now), Next::Quiet);
    }
}
