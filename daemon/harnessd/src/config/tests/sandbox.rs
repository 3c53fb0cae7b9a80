//! `[sandbox]`: what its words come to.

use std::{fs, os::unix::fs::symlink};

use super::Desk;

fn paths(desk: &Desk, names: &[&str]) -> Vec<String> {
    let path = |name: &&str| {
        if name.starts_with('/') {
            (*name).to_owned()
        } else {
            desk.path(name).display().to_string()
        }
    };
    names.iter().map(path).collect()
}

#[test]
fn without_the_table_nothing_is_taken_away() {
    assert!(Desk::new().load("").unwrap().sandbox.rules.is_default());
}

#[test]
fn workspace_write_is_the_workspace_the_temporary_directory_and_what_is_listed() {
    let desk = Desk::new();
    fs::create_dir(desk.path(".cache")).unwrap();
    let text = "[sandbox]\nfilesystem = \"workspace-write\"\nwritable = [\"~/.cache/\"]\nnetwork = false\nrequired = true";
    let loaded = desk.load(text).unwrap();
    let rules = loaded.sandbox.rules;
    assert_eq!(
        rules.writable,
        Some(paths(&desk, &["place", "tmp", ".cache", "/dev/shm"]))
    );
    assert!(rules.no_network && rules.required && rules.hidden.is_empty());
    assert!(
        rules.visible.is_empty() && loaded.warnings.is_empty(),
        "{rules:?} {}",
        loaded.warnings
    );
}

#[test]
fn the_temporary_directory_is_that_of_children_and_never_one_of_a_call() {
    let desk = Desk::new();
    let text = "[environment]\nset = { TMPDIR = \"/var/tmp\" }\n[sandbox]\nfilesystem = \"workspace-write\"";
    let writable = desk.load(text).unwrap().sandbox.rules.writable.unwrap();
    assert_eq!(writable, paths(&desk, &["place", "/var/tmp", "/dev/shm"]));
    let text = "[environment]\nexclude = [\"TMPDIR\"]\n[sandbox]\nfilesystem = \"workspace-write\"";
    let writable = desk.load(text).unwrap().sandbox.rules.writable.unwrap();
    assert_eq!(writable, paths(&desk, &["place", "/tmp", "/dev/shm"]));
}

#[test]
fn read_only_lets_nothing_be_written_but_what_is_listed() {
    let desk = Desk::new();
    let only = |text: &str| {
        let text = format!("[sandbox]\nfilesystem = \"read-only\"\n{text}");
        desk.load(&text).unwrap().sandbox.rules.writable.unwrap()
    };
    assert_eq!(only(""), Vec::<String>::new());
    assert_eq!(only("writable = [\"/var/log\"]"), ["/var/log"]);
}

#[test]
fn what_is_hidden_may_contain_the_workspace_which_stays_visible() {
    let desk = Desk::new();
    let rules = desk
        .load("[sandbox]\nhidden = [\"~\", \"/srv/keys\"]")
        .unwrap()
        .sandbox
        .rules;
    assert_eq!(
        rules.hidden,
        paths(&desk, &["", "/srv/keys"])
            .iter()
            .map(|path| path.trim_end_matches('/').to_owned())
            .collect::<Vec<_>>()
    );
    assert_eq!(rules.visible, paths(&desk, &["place", "tmp"]));
    assert_eq!(rules.writable, None);
}

#[test]
fn what_lies_where_tasks_make_files_cannot_be_hidden() {
    let desk = Desk::new();
    symlink("place", desk.path("shortcut")).unwrap();
    for (text, part) in [
        (
            "hidden = [\"~/place/.env\"]",
            "a.toml:2:11: sandbox.hidden[0]: ",
        ),
        ("hidden = [\"~/place\"]", "lies in place"),
        ("hidden = [\"~/shortcut/.env\"]", "lies in place"),
        ("hidden = [\"~/tmp/x\"]", "lies in tmp"),
        (
            "hidden = [\"/etc/x\"]\nwritable = [\"/etc\"]",
            "lies in /etc",
        ),
        (
            "hidden = [\"/etc/x\"]\nwritable = [\"/etc\"]\nfilesystem = \"read-only\"",
            "lies in /etc",
        ),
    ] {
        let complaint = desk.complaint(&format!("[sandbox]\n{text}"));
        assert!(complaint.contains(part), "{text}: {complaint}");
    }
    // Where no files are made, nothing stands against it.
    let text = "[sandbox]\nfilesystem = \"read-only\"\nhidden = [\"~/place/.env\"]";
    assert_eq!(
        desk.load(text).unwrap().sandbox.rules.hidden,
        paths(&desk, &["place/.env"])
    );
}

#[test]
fn a_path_that_says_nothing_or_everything_is_refused() {
    let mut desk = Desk::new();
    for (text, part) in [
        (
            "hidden = [\"secret\"]",
            "sandbox.hidden[0]: expected an absolute path",
        ),
        ("hidden = [\"\"]", "expected an absolute path"),
        ("hidden = [\"/\"]", "name a narrower path"),
        ("hidden = [\"/proc/1\"]", "name a narrower path"),
        ("hidden = [\"/a/../etc\"]", "without \"..\""),
        (
            "writable = [\"/usr\", \"~user/x\"]",
            "sandbox.writable[1]: expected an absolute path",
        ),
    ] {
        let complaint = desk.complaint(&format!("[sandbox]\n{text}"));
        assert!(complaint.contains(part), "{text}: {complaint}");
    }
    desk.host.variables.remove("HOME");
    let complaint = desk.complaint("[sandbox]\nhidden = [\"~/.ssh\"]");
    assert!(complaint.contains("HOME"), "{complaint}");
}

#[test]
fn a_writable_path_that_is_not_there_is_said_and_a_hidden_one_is_not() {
    let mut desk = Desk::new();
    let text = "[sandbox]\nwritable = [\"~/.cache\"]\nhidden = [\"~/.ssh\"]";
    let complaint = desk.complaint(text);
    assert!(
        complaint.contains("sandbox.writable[0]: there is no .cache"),
        "{complaint}"
    );
    desk.host.offline = true;
    assert!(desk.complaints(text).is_empty());
}
