//! Reading output files.

use std::{
    fs::{self, File, OpenOptions},
    io::{Seek, SeekFrom, Write},
    path::PathBuf,
    time::{Duration, Instant},
};

use harness_model::Gap;
use harness_supervise::output::{Follow, MAX_PIECE, last_lines, plain, read, read_ended, tail};
use proptest::prelude::*;
use tempfile::TempDir;

fn file(bytes: impl AsRef<[u8]>) -> (TempDir, PathBuf) {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("x.out");
    fs::write(&path, bytes).unwrap();
    (directory, path)
}

/// `head`, a hole up to `end` GiB, `rest`.
fn sparse(head: &[u8], end: u64, rest: &[u8]) -> (TempDir, PathBuf) {
    let (directory, path) = file(head);
    let mut file = OpenOptions::new().write(true).open(&path).unwrap();
    file.seek(SeekFrom::Start(end << 30)).unwrap();
    file.write_all(rest).unwrap();
    (directory, path)
}

#[test]
fn escape_sequences_and_control_characters_fall_away() {
    for (raw, text) in [
        ("\u{1b}[1;31mred\u{1b}[0m", "red"),
        ("\u{1b}[38:2::1:2:3mrgb\u{1b}[?25l", "rgb"),
        ("\u{1b}]0;title\u{7}after", "after"),
        (
            "\u{1b}]8;;https://example.org\u{1b}\\link\u{1b}]8;;\u{1b}\\",
            "link",
        ),
        ("\u{1b}(Bcharset\u{1b}#8", "charset"),
        ("\u{1b}Pq#0;2\u{1b}\\sixel", "sixel"),
        ("\u{1b}7saved\u{1b}8\u{1b}=", "saved"),
        ("\u{9b}31meight bit", "eight bit"),
        ("lone \u{1b}", "lone "),
        ("\u{1b}\u{1b}[mtwice", "twice"),
        ("\u{1b}]never ended\nnext", "\nnext"),
        ("\u{1b}[31\u{e4}broken", "\u{e4}broken"),
        ("a\r\nb\rc\td", "a\nb\rc\td"),
        ("nul\0bel\u{7}bs\u{8}del\u{7f}", "nulbelbsdel"),
        ("ümläut 🦀", "ümläut 🦀"),
    ] {
        assert_eq!(plain(raw.as_bytes()), text, "{raw:?}");
    }
    assert_eq!(
        plain(b"in\xffvalid \xf0\x9f\x92"),
        "in\u{fffd}valid \u{fffd}"
    );
}

#[test]
fn a_tail_is_whole_and_keeps_the_unterminated_last_line() {
    let (_directory, path) = file("one\ntwo\nthree");
    let status = tail(&path, 4096, false).unwrap();
    assert_eq!(
        (status.tail.as_str(), status.bytes, status.gap),
        ("one\ntwo\nthree", 13, None)
    );
    assert_eq!(last_lines(&path, 2, 4096).unwrap(), "two\nthree");
    assert_eq!(last_lines(&path, 0, 4096).unwrap(), "");
    assert_eq!(last_lines(&path, 9, 4096).unwrap(), "one\ntwo\nthree");
    let (_directory, path) = file("one\ntwo\n");
    assert_eq!(last_lines(&path, 1, 4096).unwrap(), "two");
}

#[test]
fn a_file_that_is_not_there_yet_is_an_empty_stream() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("none");
    assert_eq!(tail(&path, 10, false).unwrap().bytes, 0);
    assert_eq!(last_lines(&path, 10, 10).unwrap(), "");
    assert_eq!(read(&path, 7, 10).unwrap().text, "");
}

#[test]
fn a_tail_never_splits_a_character() {
    let crabs = "🦀".repeat(50_000);
    let (_directory, path) = file(&crabs);
    for max in 0..40 {
        let status = tail(&path, max, false).unwrap();
        assert_eq!(status.tail, "🦀".repeat(max / 4), "{max}");
    }
    // The last character is only half written.
    let (_directory, path) = file(&crabs.as_bytes()[..crabs.len() - 2]);
    assert_eq!(tail(&path, 8, false).unwrap().tail, "🦀🦀");
    // Of a stream that has ended it never comes, and what there is of it is shown.
    assert_eq!(tail(&path, 8, true).unwrap().tail, "🦀\u{fffd}");
    assert_eq!(last_lines(&path, 1, 8).unwrap(), "🦀\u{fffd}");
}

#[test]
fn a_tail_of_colours_shows_no_part_of_one() {
    let line = format!("{}x\n", "\u{1b}[38;2;1;2;3m".repeat(700));
    let (_directory, path) = file(line.repeat(20));
    let status = tail(&path, 4096, false).unwrap();
    assert!(
        status.tail.chars().all(|c| c == 'x' || c == '\n'),
        "{:?}",
        status.tail
    );
    assert!(status.tail.ends_with("x\n"));
}

#[test]
fn gigabytes_with_a_hole_are_read_without_reading_them() {
    let (_directory, path) = sparse(b"begin\n", 5, "🦀 end".as_bytes());
    let begin = Instant::now();
    let status = tail(&path, 4096, false).unwrap();
    let gap = status.gap.unwrap();
    assert_eq!(status.bytes, (5 << 30) + 8);
    assert_eq!(gap.offset + gap.length, 5 << 30);
    assert_eq!(status.tail, "🦀 end");
    let first = read(&path, 0, usize::MAX).unwrap();
    assert_eq!(first.text.trim_end_matches('\0'), "begin\n");
    assert_eq!((first.next_offset, first.gap), (gap.offset, Some(gap)));
    let second = read(&path, first.next_offset, 4096).unwrap();
    assert_eq!((second.offset, second.text.as_str()), (5 << 30, "🦀 end"));
    let inside = read(&path, 3 << 30, 4096).unwrap();
    assert_eq!(inside, second);
    assert!(
        begin.elapsed() < Duration::from_secs(1),
        "{:?}",
        begin.elapsed()
    );
}

#[test]
fn a_hole_that_reaches_the_end_leaves_nothing_to_read() {
    let (_directory, path) = sparse(b"begin\n", 1, b"");
    File::options()
        .write(true)
        .open(&path)
        .unwrap()
        .set_len(1 << 30)
        .unwrap();
    let piece = read(&path, 1 << 20, 100).unwrap();
    assert_eq!(
        (piece.offset, piece.next_offset, piece.text.as_str()),
        (1 << 30, 1 << 30, "")
    );
    let end = piece.gap.map(|gap: Gap| gap.offset + gap.length);
    assert_eq!(end, Some(1 << 30));
    assert_eq!(tail(&path, 100, false).unwrap().tail, "");
}

#[test]
fn a_piece_begins_and_ends_between_characters() {
    let (_directory, path) = file("a🦀b");
    let piece = read(&path, 0, 3).unwrap();
    assert_eq!((piece.text.as_str(), piece.next_offset), ("a", 1));
    for offset in 1..5 {
        let piece = read(&path, offset, 5).unwrap();
        assert_eq!((piece.offset, piece.text.as_str()), (1, "🦀b"), "{offset}");
    }
    let piece = read(&path, 1, 1).unwrap();
    assert_eq!((piece.text.as_str(), piece.next_offset), ("🦀", 5));
    let piece = read(&path, 1, 0).unwrap();
    assert_eq!((piece.text.as_str(), piece.next_offset), ("", 1));
    let past = read(&path, 99, 10).unwrap();
    assert_eq!((past.offset, past.next_offset, past.bytes), (6, 6, 6));
}

#[test]
fn half_a_character_at_the_end_waits_for_the_rest_or_is_shown_when_there_is_none() {
    let (_directory, path) = file(b"ab\xf0\x9f");
    let piece = read(&path, 0, 100).unwrap();
    assert_eq!((piece.text.as_str(), piece.next_offset), ("ab", 2));
    let piece = read(&path, 2, 100).unwrap();
    assert_eq!((piece.text.as_str(), piece.next_offset), ("", 2));
    let piece = read_ended(&path, 0, 100).unwrap();
    assert_eq!((piece.text.as_str(), piece.next_offset), ("ab\u{fffd}", 4));
    let piece = read_ended(&path, 2, 1).unwrap();
    assert_eq!((piece.text.as_str(), piece.next_offset), ("\u{fffd}", 4));
}

#[test]
fn a_piece_is_bounded_whatever_is_asked_for() {
    let (_directory, path) = file(vec![b'x'; MAX_PIECE + 10]);
    assert_eq!(read(&path, 0, usize::MAX).unwrap().text.len(), MAX_PIECE);
}

#[test]
fn a_link_or_a_pipe_in_the_files_place_is_refused() {
    let (directory, path) = file("secret");
    let link = directory.path().join("link");
    std::os::unix::fs::symlink(&path, &link).unwrap();
    let pipe = directory.path().join("pipe");
    let kind = rustix::fs::FileType::Fifo;
    rustix::fs::mknodat(rustix::fs::CWD, &pipe, kind, 0o600.into(), 0).unwrap();
    for path in [&link, &pipe] {
        assert!(tail(path, 10, false).is_err());
        assert!(read(path, 0, 10).is_err());
        assert!(Follow::new(path, 0).is_err());
    }
}

#[tokio::test]
async fn a_follower_sees_every_byte_of_a_busy_writer() {
    let (_directory, path) = file("");
    let mut follow = Follow::new(&path, 0).unwrap();
    let mut writer = OpenOptions::new().append(true).open(&path).unwrap();
    let writing = std::thread::spawn(move || {
        for number in 0..20_000 {
            writeln!(writer, "line {number}").unwrap();
        }
        writer.metadata().unwrap().len()
    });
    let mut text = String::new();
    while !text.ends_with("line 19999\n") {
        follow.grown().await.unwrap();
        loop {
            let piece = read(&path, text.len() as u64, 4096).unwrap();
            if piece.text.is_empty() {
                break;
            }
            text.push_str(&piece.text);
        }
    }
    assert_eq!(text.len() as u64, writing.join().unwrap());
}

#[tokio::test]
async fn a_follower_that_comes_late_is_told_at_once_and_one_that_gives_up_misses_nothing() {
    let (_directory, path) = file("abc");
    let mut follow = Follow::new(&path, 0).unwrap();
    assert_eq!(follow.grown().await.unwrap(), 3);
    assert!(
        tokio::time::timeout(Duration::from_millis(20), follow.grown())
            .await
            .is_err()
    );
    let mut writer = OpenOptions::new().append(true).open(&path).unwrap();
    writer.write_all(b"d").unwrap();
    assert_eq!(follow.grown().await.unwrap(), 4);
    // Two on one file, one of them gone.
    let mut other = Follow::new(&path, 4).unwrap();
    assert!(
        tokio::time::timeout(Duration::from_millis(20), other.grown())
            .await
            .is_err()
    );
    assert!(
        tokio::time::timeout(Duration::from_millis(20), follow.grown())
            .await
            .is_err()
    );
    drop(follow);
    writer.write_all(b"e").unwrap();
    assert_eq!(other.grown().await.unwrap(), 5);
}

proptest! {
    #[test]
    fn pieces_join_to_the_whole_text(text in "[a-zä-ü☃🦀-🦎\n]{0,200}", limits in prop::collection::vec(1_usize..20, 1..40)) {
        let (_directory, path) = file(&text);
        let (mut joined, mut offset) = (String::new(), 0);
        for limit in limits.iter().cycle() {
            let piece = read(&path, offset, *limit).unwrap();
            prop_assert_eq!(piece.offset, offset);
            if piece.text.is_empty() {
                break;
            }
            joined.push_str(&piece.text);
            offset = piece.next_offset;
        }
        prop_assert_eq!(joined, text);
    }

    #[test]
    fn any_bytes_are_read_to_their_end(bytes in prop::collection::vec(any::<u8>(), 0..200), limit in 1_usize..9, start in 0_u64..9) {
        let (_directory, path) = file(&bytes);
        let mut offset = start;
        loop {
            let piece = read_ended(&path, offset, limit).unwrap();
            prop_assert!(!piece.text.is_empty() || piece.next_offset == piece.bytes);
            if piece.next_offset == piece.bytes {
                break;
            }
            prop_assert!(piece.next_offset > piece.offset);
            offset = piece.next_offset;
        }
    }

    #[test]
    fn plain_text_has_no_control_characters(bytes in prop::collection::vec(prop_oneof![any::<u8>(), Just(0x1b), Just(b'['), Just(b']'), Just(0xc2)], 0..200), max in 0_usize..64) {
        let text = plain(&bytes);
        prop_assert!(text.chars().all(|c| !c.is_control() || "\n\t\r".contains(c)));
        let (_directory, path) = file(&bytes);
        prop_assert!(tail(&path, max, false).unwrap().tail.len() <= max);
    }
}
