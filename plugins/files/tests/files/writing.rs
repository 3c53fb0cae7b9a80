//! `write` and `edit`.

use std::{
    fs,
    os::unix::fs::{PermissionsExt as _, symlink},
};

use harness_files::{edit, write};
use serde_json::{from_value, json};

use super::Desk;

fn written(desk: &Desk, path: &str, content: &str) -> String {
    let input = from_value(json!({"path": path, "content": content})).unwrap();
    match desk.run(write, input) {
        Ok((text, _)) => text,
        Err(error) => error.to_string(),
    }
}

fn edited(desk: &Desk, old: &str, new: &str, all: bool) -> String {
    let input = json!({"path": "f", "old_string": old, "new_string": new, "replace_all": all});
    match desk.run(edit, from_value(input).unwrap()) {
        Ok((text, _)) => text,
        Err(error) => error.to_string(),
    }
}

#[test]
fn a_new_file_is_made_with_its_directories_and_nothing_else() {
    let desk = Desk::new();
    assert_eq!(
        written(&desk, "a/b/c.txt", "hällo\n"),
        "created a/b/c.txt (7 bytes)"
    );
    assert_eq!(desk.text("a/b/c.txt"), "hällo\n");
    assert_eq!(desk.names("a/b"), ["c.txt"]);
}

#[test]
fn a_file_that_is_there_is_replaced_in_one_step_and_keeps_its_mode() {
    let desk = Desk::new();
    desk.file("tool", "old");
    fs::set_permissions(desk.path("tool"), fs::Permissions::from_mode(0o750)).unwrap();
    // Who has opened the old one reads the old one: it was not written over.
    let old = fs::File::open(desk.path("tool")).unwrap();
    assert_eq!(written(&desk, "tool", "new"), "replaced tool (3 bytes)");
    assert_eq!(std::io::read_to_string(old).unwrap(), "old");
    assert_eq!(desk.text("tool"), "new");
    let mode = fs::metadata(desk.path("tool"))
        .unwrap()
        .permissions()
        .mode();
    assert_eq!(mode & 0o7777, 0o750);
    assert_eq!(desk.names("."), ["tool"]);
}

#[test]
fn what_is_no_file_is_not_written_over() {
    let desk = Desk::new();
    desk.file("real", "real");
    symlink("real", desk.path("link")).unwrap();
    fs::create_dir(desk.path("directory")).unwrap();
    assert!(written(&desk, "link", "x").contains("is a symbolic link to real"));
    assert!(written(&desk, "directory", "x").contains("is a directory"));
    assert!(written(&desk, "new/", "x").contains("is a directory"));
    assert!(written(&desk, ".", "x").contains("is a directory"));
    assert!(written(&desk, "real/below", "x").contains("Not a directory"));
    assert_eq!(desk.text("real"), "real");
    assert_eq!(desk.names("."), ["directory", "link", "real"]);
}

#[test]
fn a_text_that_is_there_once_is_replaced() {
    let desk = Desk::new();
    desk.file("f", "one\ntwo\nthree\n");
    assert_eq!(
        edited(&desk, "two\n", "2\n2\n", false),
        "edited f at line 2"
    );
    assert_eq!(desk.text("f"), "one\n2\n2\nthree\n");
    assert_eq!(
        edited(&desk, "2\n", "", true),
        "edited f in 2 places, the first at line 2"
    );
    assert_eq!(desk.text("f"), "one\nthree\n");
}

#[test]
fn a_text_that_is_not_there_once_is_refused_with_what_to_do() {
    let desk = Desk::new();
    desk.file("f", "a\r\nb  c\r\na\r\n");
    for (old, new, part) in [
        ("a", "x", "is there 2 times (lines 1, 3)"),
        ("nowhere", "x", "is not in the file: read the file"),
        ("b c", "x", "but for its white space"),
        ("a\nb", "x", r"its lines end with \r\n"),
        ("a", "a", "are the same"),
        ("", "x", "old_string is empty"),
    ] {
        let said = edited(&desk, old, new, false);
        assert!(said.contains(part), "{old:?}: {said}");
    }
    assert_eq!(desk.text("f"), "a\r\nb  c\r\na\r\n");
    fs::write(desk.path("f"), b"a\0b").unwrap();
    assert!(edited(&desk, "a", "x", false).contains("is binary"));
    fs::write(desk.path("f"), b"a\xffb").unwrap();
    assert!(edited(&desk, "a", "x", false).contains("is binary"));
    fs::remove_file(desk.path("f")).unwrap();
    assert!(edited(&desk, "a", "x", false).contains("No such file"));
}

#[test]
fn of_many_edits_at_once_none_is_lost() {
    let desk = Desk::new();
    let lines = |open: char, close: char| -> String {
        let lines: Vec<String> = (0..16)
            .map(|number| format!("{open}{number}{close}\n"))
            .collect();
        lines.concat()
    };
    desk.file("f", lines('<', '>'));
    let desk = &desk;
    std::thread::scope(|scope| {
        for number in 0..16 {
            scope.spawn(move || {
                let said = edited(desk, &format!("<{number}>"), &format!("[{number}]"), false);
                assert!(said.starts_with("edited"), "{said}");
            });
        }
    });
    assert_eq!(desk.text("f"), lines('[', ']'));
    assert_eq!(desk.names("."), ["f"]);
}
