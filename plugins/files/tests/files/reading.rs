//! `read`, `list` and `search`.

use std::os::unix::fs::symlink;

use harness_files::{list, read, search};
use serde_json::{from_value, json};

use super::{Desk, failure};

fn piece(desk: &Desk, input: serde_json::Value) -> (String, serde_json::Value) {
    let (text, piece) = desk.run(read, from_value(input).unwrap()).unwrap();
    (text, serde_json::to_value(piece.0).unwrap())
}

#[test]
fn a_file_is_read_from_a_line_on_up_to_a_number_of_lines() {
    let desk = Desk::new();
    desk.file("a/b.txt", "1\n2\r\nthree\n4");
    let (text, all) = piece(&desk, json!({"path": "a/b.txt"}));
    assert_eq!(text, "1\n2\r\nthree\n4");
    assert_eq!((&all["lines"], &all["size"]), (&json!(4), &json!(12)));
    assert!(all.get("next_offset").is_none(), "{all}");
    let (text, some) = piece(&desk, json!({"path": "a/b.txt", "offset": 2, "limit": 2}));
    assert_eq!(some["text"], "2\r\nthree\n");
    assert_eq!(some["next_offset"], 4);
    assert!(
        text.ends_with("[there is more: read on at offset 4]"),
        "{text}"
    );
    let (text, none) = piece(&desk, json!({"path": "a/b.txt", "offset": 9}));
    assert_eq!(
        (text.as_str(), &none["lines"]),
        ("[the file ends before that line]", &json!(0))
    );
    desk.file("empty", "");
    assert_eq!(piece(&desk, json!({"path": "empty"})).0, "");
    let absolute = desk.path("a/b.txt");
    assert_eq!(piece(&desk, json!({"path": absolute})).1["path"], "a/b.txt");
}

#[test]
fn a_large_file_is_read_in_pieces_that_make_the_whole() {
    let desk = Desk::new();
    let lines: Vec<String> = (0..40_000)
        .map(|number| format!("{number} äöü {number}\n"))
        .collect();
    let whole = lines.concat();
    desk.file("large", &whole);
    let (mut text, mut offset) = (String::new(), json!(1));
    while !offset.is_null() {
        let input = json!({"path": "large", "offset": offset, "limit": 1_000_000});
        let (_, piece) = piece(&desk, input);
        let part = piece["text"].as_str().unwrap();
        assert!(part.len() <= 256 * 1024);
        text.push_str(part);
        offset = piece["next_offset"].clone();
    }
    assert!(text == whole);
}

#[test]
fn a_line_that_is_too_long_is_cut_between_characters_and_the_next_one_is_read_on() {
    let desk = Desk::new();
    desk.file("long", format!("{}\nnext\n", "ä".repeat(1 << 20)));
    let (_, first) = piece(&desk, json!({"path": "long"}));
    let text = first["text"].as_str().unwrap();
    assert!(
        text.chars().all(|c| c == 'ä') && text.len() > 250_000,
        "{}",
        text.len()
    );
    assert_eq!(
        (&first["cut"], &first["lossy"]),
        (&json!(true), &json!(false))
    );
    assert_eq!(first["next_offset"], 2);
    let (_, second) = piece(&desk, json!({"path": "long", "offset": 2}));
    assert_eq!(second["text"], "next\n");
}

#[test]
fn what_is_no_text_is_said_to_be_none() {
    let desk = Desk::new();
    desk.file("binary", b"\x7fELF\0\0\0");
    desk.file("latin", b"gr\xfc\xdfe\n");
    let of = |path: &str| failure(desk.run(read, from_value(json!({"path": path})).unwrap()));
    assert!(of("binary").contains("is binary (7 bytes)"));
    assert_eq!(piece(&desk, json!({"path": "latin"})).1["lossy"], true);
    nix_mkfifo(&desk.path("fifo"));
    assert!(of("fifo").contains("is a FIFO"));
    assert!(of(".").contains("is a directory"));
    assert!(of("none").contains("No such file"));
}

fn nix_mkfifo(path: &std::path::Path) {
    let mode = rustix::fs::Mode::from_raw_mode(0o600);
    rustix::fs::mknodat(rustix::fs::CWD, path, rustix::fs::FileType::Fifo, mode, 0).unwrap();
}

fn listed(desk: &Desk, input: serde_json::Value) -> String {
    desk.run(list, from_value(input).unwrap()).unwrap().0
}

#[test]
fn a_directory_is_listed_and_a_glob_looks_below() {
    let desk = Desk::new();
    for name in [
        "b.rs",
        "src/a.rs",
        "src/deep/c.rs",
        "src/d.txt",
        ".hidden/e.rs",
        "target/f.rs",
    ] {
        desk.file(name, "x");
    }
    desk.file(".gitignore", "/target\n*.txt\n!keep.txt\n");
    desk.file("src/keep.txt", "x");
    symlink("b.rs", desk.path("link")).unwrap();
    assert_eq!(listed(&desk, json!({})), "b.rs\nlink -> b.rs\nsrc/");
    assert_eq!(
        listed(&desk, json!({"hidden": true, "ignored": true})),
        ".gitignore\n.hidden/\nb.rs\nlink -> b.rs\nsrc/\ntarget/"
    );
    assert_eq!(
        listed(&desk, json!({"path": "src"})),
        "src/a.rs\nsrc/deep/\nsrc/keep.txt"
    );
    assert_eq!(
        listed(&desk, json!({"glob": "*.rs"})),
        "b.rs\nsrc/a.rs\nsrc/deep/c.rs"
    );
    assert_eq!(listed(&desk, json!({"glob": "src/*.rs"})), "src/a.rs");
    assert_eq!(
        listed(&desk, json!({"path": "src", "glob": "deep/**"})),
        "src/deep/c.rs"
    );
    assert_eq!(listed(&desk, json!({"glob": "*.zig"})), "[nothing]");
    let limited = listed(&desk, json!({"depth": 5, "limit": 2}));
    assert!(
        limited.starts_with("b.rs\nlink -> b.rs\n[there are more"),
        "{limited}"
    );
    let wrong = desk.run(list, from_value(json!({"glob": "a{"})).unwrap());
    assert!(failure(wrong).contains("the glob is not right"));
}

#[test]
fn a_name_cannot_look_like_another_line() {
    let desk = Desk::new();
    desk.file("a\nb", "x");
    assert_eq!(listed(&desk, json!({})), "a\\nb");
}

fn found(desk: &Desk, input: serde_json::Value) -> String {
    desk.run(search, from_value(input).unwrap()).unwrap().0
}

#[test]
fn lines_that_match_are_found_in_text_files_below() {
    let desk = Desk::new();
    desk.file("a.rs", "fn main() {\n    Main\n}\r\n");
    desk.file("sub/b.rs", "// main\n");
    desk.file("c.txt", "main\n");
    desk.file("binary", b"main\0main\n");
    desk.file(".git/config", "main\n");
    desk.file(".gitignore", "c.txt\n");
    assert_eq!(
        found(&desk, json!({"pattern": r"\bmain\b"})),
        "a.rs:1:fn main() {\nsub/b.rs:1:// main"
    );
    assert_eq!(
        found(&desk, json!({"pattern": "^ *main$", "ignore_case": true})),
        "a.rs:2:    Main"
    );
    let globbed = json!({"pattern": "main", "globs": ["*.txt", "sub/*"], "ignored": true});
    assert_eq!(found(&desk, globbed), "c.txt:1:main\nsub/b.rs:1:// main");
    assert_eq!(found(&desk, json!({"pattern": "}$"})), "a.rs:3:}");
    assert_eq!(
        found(&desk, json!({"pattern": "a", "files_only": true})),
        "a.rs\nsub/b.rs"
    );
    assert_eq!(
        found(&desk, json!({"pattern": "main", "path": "c.txt"})),
        "c.txt:1:main"
    );
    assert_eq!(
        found(&desk, json!({"pattern": "nowhere"})),
        "[no match in 2 files]"
    );
    let limited = found(&desk, json!({"pattern": "main", "limit": 1}));
    assert!(
        limited.starts_with("a.rs:1:fn main() {\n[there are more"),
        "{limited}"
    );
}

#[test]
fn a_search_is_bounded_in_its_lines_and_its_expression() {
    let desk = Desk::new();
    desk.file("long", format!("{}needle\nneedle\n", "ä".repeat(400)));
    let text = found(&desk, json!({"pattern": "needle"}));
    let first = text.lines().next().unwrap();
    assert!(first.ends_with('…') && first.len() < 520, "{first}");
    assert!(text.ends_with("long:2:needle"), "{text}");
    for pattern in ["(", "(?=a)", "(a{1000}){1000}"] {
        let wrong = desk.run(search, from_value(json!({"pattern": pattern})).unwrap());
        assert!(
            failure(wrong).contains("the pattern is not right"),
            "{pattern}"
        );
    }
}
