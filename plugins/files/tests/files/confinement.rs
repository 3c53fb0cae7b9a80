//! Nothing leads out of the workspace.

use std::{
    fs,
    os::unix::fs::symlink,
    sync::atomic::{AtomicBool, Ordering},
};

use harness_files::{edit, list, read, search, write};
use serde_json::{from_value, json};

use super::{Desk, failure, names};

/// What every tool says of a path.
fn said(desk: &Desk, path: &str) -> [String; 5] {
    let of = |input: serde_json::Value| input;
    [
        failure(desk.run(read, from_value(of(json!({"path": path}))).unwrap())),
        failure(desk.run(list, from_value(of(json!({"path": path}))).unwrap())),
        failure(desk.run(
            search,
            from_value(json!({"path": path, "pattern": "secret"})).unwrap(),
        )),
        failure(desk.run(
            write,
            from_value(json!({"path": path, "content": "x"})).unwrap(),
        )),
        failure(desk.run(
            edit,
            from_value(json!({"path": path, "old_string": "secret", "new_string": "x"})).unwrap(),
        )),
    ]
}

#[test]
fn a_path_that_leads_out_is_refused_by_every_tool() {
    let desk = Desk::new();
    let outside = desk.directory.path().to_owned();
    desk.file("sub/file", "x");
    symlink("../..", desk.path("sub/up")).unwrap();
    symlink(&outside, desk.path("absolute")).unwrap();
    let secret = outside.join("secret").display().to_string();
    for path in [
        "../secret",
        "sub/../../secret",
        "sub/up/secret",
        "absolute/secret",
        &secret,
        "/etc/passwd",
        "a\0b",
    ] {
        for said in said(&desk, path) {
            assert!(
                said.contains("is outside of the workspace"),
                "{path}: {said}"
            );
        }
    }
    assert_eq!(
        fs::read_to_string(outside.join("secret")).unwrap(),
        "top secret\n"
    );
    assert_eq!(names(&outside), ["secret", "work"]);
}

#[test]
fn a_link_to_a_file_outside_is_listed_and_neither_read_nor_written() {
    let desk = Desk::new();
    symlink("../secret", desk.path("link")).unwrap();
    let [by_read, by_list, by_search, by_write, by_edit] = said(&desk, "link");
    for said in [by_read, by_list, by_search] {
        assert!(said.contains("is outside of the workspace"), "{said}");
    }
    for said in [by_write, by_edit] {
        assert!(said.contains("is a symbolic link to ../secret"), "{said}");
    }
    let (found, _) = desk
        .run(search, from_value(json!({"pattern": "secret"})).unwrap())
        .unwrap();
    assert_eq!(found, "[no match in 0 files]");
}

#[test]
fn a_link_within_is_followed_by_a_path_and_not_by_a_walk() {
    let desk = Desk::new();
    desk.file("real/file", "needle\n");
    symlink("real", desk.path("alias")).unwrap();
    symlink(".", desk.path("real/loop")).unwrap();
    let (text, _) = desk
        .run(read, from_value(json!({"path": "alias/file"})).unwrap())
        .unwrap();
    assert_eq!(text, "needle\n");
    let (found, _) = desk
        .run(search, from_value(json!({"pattern": "needle"})).unwrap())
        .unwrap();
    assert_eq!(found, "real/file:1:needle");
}

#[test]
fn a_directory_that_is_exchanged_for_a_link_all_the_time_never_leads_out() {
    let desk = Desk::new();
    let outside = desk.directory.path().join("outside");
    fs::create_dir(&outside).unwrap();
    fs::write(outside.join("file"), "secret\n").unwrap();
    desk.file("one/file", "inside\n");
    symlink(&outside, desk.path("two")).unwrap();
    let over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        // The exchange ends with this, by a failed assertion, too.
        let _exchanging = Ending(&over);
        scope.spawn(|| {
            while !over.load(Ordering::Relaxed) {
                exchange(&desk.path("one"), &desk.path("two"));
            }
        });
        for number in 0..300 {
            let (piece, text) = (json!({"path": "one/file"}), format!("{number}\n"));
            if let Ok((text, _)) = desk.run(read, from_value(piece).unwrap()) {
                assert!(!text.contains("secret"), "{text}");
            }
            let found = desk.run(search, from_value(json!({"pattern": "secret"})).unwrap());
            assert_eq!(found.unwrap().1.0.matches, []);
            let input = json!({"path": "one/file", "content": text});
            // It succeeds or is refused; where it ends up is looked at below.
            drop(desk.run(write, from_value(input).unwrap()));
            let input = json!({"path": "one/new", "content": "x"});
            drop(desk.run(write, from_value(input).unwrap()));
        }
    });
    assert_eq!(
        fs::read_to_string(outside.join("file")).unwrap(),
        "secret\n"
    );
    assert_eq!(names(&outside), ["file"]);
}

struct Ending<'a>(&'a AtomicBool);

impl Drop for Ending<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

fn exchange(one: &std::path::Path, two: &std::path::Path) {
    use rustix::fs::{CWD, RenameFlags, renameat_with};
    renameat_with(CWD, one, CWD, two, RenameFlags::EXCHANGE).unwrap();
}
