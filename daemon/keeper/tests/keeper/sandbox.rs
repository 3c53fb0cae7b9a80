//! The rules in a domain.

use std::{
    fs,
    net::TcpListener,
    os::unix::fs::{PermissionsExt as _, symlink},
    path::{Path, PathBuf},
};

use harness_keeper::protocol::{Failure, Request, Stdio};
use harness_model::{InvocationId, SandboxRules};

use crate::support::{Client, Keeper, NOBODY, read, shell};

/// A directory that everybody may write to, so that only the rules refuse.
struct Ground(PathBuf);

impl Ground {
    fn new(keeper: &Keeper) -> Self {
        let directory = keeper.directory.canonicalize().unwrap().join("ground");
        for name in ["", "work", "beside", "secret", "open"] {
            let directory = directory.join(name);
            fs::create_dir(&directory).unwrap();
            fs::set_permissions(&directory, fs::Permissions::from_mode(0o777)).unwrap();
        }
        fs::write(directory.join("secret/key"), "s3cret\n").unwrap();
        fs::write(directory.join("open/file"), "open\n").unwrap();
        for file in ["secret/key", "open/file"] {
            let mode = fs::Permissions::from_mode(0o666);
            fs::set_permissions(directory.join(file), mode).unwrap();
        }
        Self(directory)
    }

    fn path(&self, name: &str) -> String {
        self.0.join(name).display().to_string()
    }

    fn hidden(&self, names: &[&str]) -> SandboxRules {
        SandboxRules {
            hidden: names.iter().map(|name| self.path(name)).collect(),
            ..SandboxRules::default()
        }
    }

    fn writable(&self, names: &[&str]) -> SandboxRules {
        SandboxRules {
            writable: Some(names.iter().map(|name| self.path(name)).collect()),
            ..SandboxRules::default()
        }
    }
}

/// What a script says and complains of, in the ground.
fn run(client: &mut Client, ground: &Ground, rules: &SandboxRules, script: &str) -> String {
    let mut request = shell(&format!("exec 2>&1; {script}"));
    request.cwd = ground.path("");
    request.sandbox = Some(rules.clone());
    request.stdout = Stdio::Pipe;
    let id = client.post(Request::Spawn(Box::new(request.clone())), &[]);
    let (reply, mut fds) = client.reply(id);
    assert!(!fds.is_empty(), "{reply:?}");
    let text = read(fds.remove(0));
    client.end(&request.invocation);
    text
}

fn both(test: impl Fn(&mut Client, &Ground)) {
    for user in [None, Some(NOBODY)] {
        let keeper = Keeper::start_as(user, &[]);
        let ground = Ground::new(&keeper);
        test(&mut keeper.connect(), &ground);
    }
}

#[test]
fn what_is_made_after_the_ruleset_is_seen_by_the_next_process() {
    both(|client, ground| {
        let rules = ground.hidden(&["secret"]);
        for round in 0..5 {
            // Made in a directory above a hidden path: hidden from this process, and not from the next.
            let name = format!("new-{round}");
            fs::write(ground.0.join(&name), "new\n").unwrap();
            let mode = fs::Permissions::from_mode(0o666);
            fs::set_permissions(ground.0.join(&name), mode).unwrap();
            let text = run(
                client,
                ground,
                &rules,
                &format!("cat {name} open/file; cat secret/key"),
            );
            assert!(text.starts_with("new\nopen\n"), "{text}");
            assert!(
                text.contains("Permission denied") && !text.contains("s3cret"),
                "{text}"
            );
        }
    });
}

#[test]
fn a_hidden_path_that_is_made_later_is_hidden_at_once() {
    both(|client, ground| {
        let rules = ground.hidden(&["later", "open/later/deep"]);
        assert_eq!(run(client, ground, &rules, "cat open/file"), "open\n");
        fs::create_dir_all(ground.0.join("open/later/deep")).unwrap();
        for name in ["later", "open/later/deep/x"] {
            fs::write(ground.0.join(name), "s3cret\n").unwrap();
        }
        let text = run(
            client,
            ground,
            &rules,
            "cat later open/later/deep/x; cat open/file",
        );
        assert!(
            !text.contains("s3cret") && text.ends_with("open\n"),
            "{text}"
        );
    });
}

#[test]
fn another_name_beside_a_hidden_file_is_hidden_with_it_and_one_elsewhere_is_reported() {
    let keeper = Keeper::start(&[]);
    let ground = Ground::new(&keeper);
    let mut client = keeper.connect();
    fs::hard_link(ground.0.join("secret/key"), ground.0.join("secret/copy")).unwrap();
    let rules = ground.hidden(&["secret/key"]);
    let text = run(
        &mut client,
        &ground,
        &rules,
        "cat secret/copy; cat secret/key",
    );
    assert!(!text.contains("s3cret"), "{text}");
    let rules = SandboxRules {
        required: true,
        ..rules
    };
    let mut required = shell("true");
    required.sandbox = Some(rules);
    let Err(Failure::Sandbox { missing }) = client.spawn_with(&required, &[]) else {
        panic!("it runs with less than is required");
    };
    assert!(
        missing.len() == 1 && missing[0].contains("2 names"),
        "{missing:?}"
    );
    fs::remove_file(ground.0.join("secret/copy")).unwrap();
    required.invocation = InvocationId::generate();
    client.spawn(&required);
    client.end(&required.invocation);
}

#[test]
fn a_visible_path_in_a_hidden_one_can_be_used() {
    both(|client, ground| {
        fs::create_dir(ground.0.join("secret/work")).unwrap();
        fs::set_permissions(
            ground.0.join("secret/work"),
            fs::Permissions::from_mode(0o777),
        )
        .unwrap();
        let rules = SandboxRules {
            visible: vec![ground.path("secret/work"), ground.path("open")],
            ..ground.hidden(&["secret"])
        };
        let script =
            "cd secret/work && echo new > new && cat new && mv new newer && rm newer && cat ../key";
        let text = run(client, ground, &rules, script);
        assert!(
            text.starts_with("new\n") && !text.contains("s3cret"),
            "{text}"
        );
    });
}

#[test]
fn a_directory_that_cannot_be_listed_on_the_way_does_not_hide_what_is_below() {
    let keeper = Keeper::start_as(Some(NOBODY), &[]);
    let ground = Ground::new(&keeper);
    for name in [
        "closed",
        "closed/home",
        "closed/home/secret",
        "closed/home/open",
        "closed/visible",
    ] {
        fs::create_dir(ground.0.join(name)).unwrap();
    }
    for name in ["secret", "open"] {
        fs::write(
            ground.0.join("closed/home").join(name).join("file"),
            format!("{name}\n"),
        )
        .unwrap();
    }
    fs::write(ground.0.join("closed/visible/file"), "visible\n").unwrap();
    fs::set_permissions(ground.0.join("closed"), fs::Permissions::from_mode(0o711)).unwrap();
    let rules = SandboxRules {
        visible: vec![ground.path("closed/visible")],
        ..ground.hidden(&["closed/home/secret"])
    };
    let script = "cd closed; cat home/open/file visible/file home/secret/file";
    let text = run(&mut keeper.connect(), &ground, &rules, script);
    assert!(
        text.starts_with("open\nvisible\n") && !text.contains("secret\n"),
        "{text}"
    );
}

#[test]
fn a_link_that_leads_to_a_hidden_path_hides_it_and_cannot_be_changed() {
    both(|client, ground| {
        symlink("secret", ground.0.join("link")).unwrap();
        let rules = ground.hidden(&["link/key"]);
        let script = "cat secret/key; cat link/key; mv link other; ln -sfn open link; rm -f link; cat open/file";
        let text = run(client, ground, &rules, script);
        assert!(
            !text.contains("s3cret") && text.ends_with("open\n"),
            "{text}"
        );
        assert_eq!(
            fs::read_link(ground.0.join("link")).unwrap(),
            Path::new("secret")
        );
    });
}

#[test]
fn a_link_made_in_a_writable_directory_makes_nothing_else_writable() {
    both(|client, ground| {
        let rules = ground.writable(&["work", "work/cache"]);
        let script = "mkdir work/cache && echo x > work/cache/x && rm -r work/cache && ln -s ../beside work/cache";
        assert_eq!(run(client, ground, &rules, script), "");
        let text = run(
            client,
            ground,
            &rules,
            "echo x > beside/x; echo x > work/cache/y",
        );
        assert_eq!(text.matches("Permission denied").count(), 2, "{text}");
        assert_eq!(fs::read_dir(ground.0.join("beside")).unwrap().count(), 0);
    });
}

#[test]
fn a_writable_directory_that_was_made_anew_is_writable_again() {
    both(|client, ground| {
        let rules = ground.writable(&["work"]);
        for _ in 0..3 {
            fs::remove_dir_all(ground.0.join("work")).unwrap();
            fs::create_dir(ground.0.join("work")).unwrap();
            fs::set_permissions(ground.0.join("work"), fs::Permissions::from_mode(0o777)).unwrap();
            assert_eq!(
                run(client, ground, &rules, "echo x > work/x && cat work/x"),
                "x\n"
            );
        }
    });
}

#[test]
fn a_link_that_leads_to_a_writable_directory_from_outside_is_followed() {
    both(|client, ground| {
        symlink("work", ground.0.join("shortcut")).unwrap();
        let rules = ground.writable(&["shortcut"]);
        assert_eq!(
            run(client, ground, &rules, "echo x > work/x && cat shortcut/x"),
            "x\n"
        );
    });
}

#[test]
fn without_a_network_no_internet_socket_can_be_made_and_a_unix_socket_can() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let script = format!(
        r#"perl -MSocket -e '
        for (AF_INET, AF_INET6) {{ for my $kind (SOCK_STREAM, SOCK_DGRAM) {{
            print socket(my $s, $_, $kind, 0) ? "made" : $!{{EACCES}} ? "refused" : "$!", " " }} }}
        print socket(my $m, AF_INET, SOCK_STREAM, 262) ? "made" : "refused", " ";
        print socket(my $u, AF_UNIX, SOCK_STREAM, 0) ? "made" : "refused", "\n"' &&
        (: < /dev/tcp/127.0.0.1/{port}) 2>/dev/null && echo connected"#
    );
    both(|client, ground| {
        let off = SandboxRules {
            no_network: true,
            ..SandboxRules::default()
        };
        for rules in [
            off.clone(),
            SandboxRules {
                no_network: true,
                ..ground.hidden(&["secret"])
            },
            SandboxRules {
                no_network: true,
                ..ground.writable(&["work"])
            },
        ] {
            let text = run(client, ground, &rules, &script);
            assert_eq!(text, "refused refused refused refused refused made\n");
        }
        let text = run(client, ground, &SandboxRules::default(), &script);
        assert!(
            text.starts_with("made made") && text.ends_with("connected\n"),
            "{text}"
        );
    });
}

#[test]
fn output_can_be_opened_by_name_even_where_it_is_hidden() {
    both(|client, ground| {
        fs::write(ground.0.join("secret/out"), "").unwrap();
        fs::set_permissions(
            ground.0.join("secret/out"),
            fs::Permissions::from_mode(0o666),
        )
        .unwrap();
        for rules in [ground.hidden(&["secret"]), ground.writable(&[])] {
            let file = fs::File::options()
                .append(true)
                .open(ground.0.join("secret/out"))
                .unwrap();
            file.set_len(0).unwrap();
            let mut request = shell("echo named >> /dev/stdout; echo x > secret/other");
            request.cwd = ground.path("");
            request.sandbox = Some(rules);
            request.stdout = Stdio::Fd;
            client.spawn_with(&request, &[file.into()]).unwrap();
            client.end(&request.invocation);
            let text = fs::read_to_string(ground.0.join("secret/out")).unwrap();
            assert_eq!(text, "named\n");
            assert!(!ground.0.join("secret/other").exists());
        }
    });
}

#[test]
fn a_directory_with_too_many_entries_is_refused_and_not_half_hidden() {
    let keeper = Keeper::start(&[]);
    let ground = Ground::new(&keeper);
    for number in 0..16_400 {
        symlink("x", ground.0.join(format!("open/{number}"))).unwrap();
    }
    let mut request = shell("true");
    request.sandbox = Some(ground.hidden(&["open/file"]));
    let failure = keeper.connect().spawn_with(&request, &[]).unwrap_err();
    assert!(failure.to_string().contains("16384"), "{failure}");
}

#[test]
fn root_cannot_read_a_disk_or_make_a_node_of_one() {
    let keeper = Keeper::start(&[]);
    let ground = Ground::new(&keeper);
    let mut client = keeper.connect();
    let script = "mknod work/disk b 254 0; for disk in /dev/[sv]d? /dev/nvme?n?; do [ -b $disk ] && head -c 1 $disk; done; cat open/file";
    for rules in [
        ground.hidden(&["secret"]),
        SandboxRules {
            hidden: vec![ground.path("secret")],
            ..ground.writable(&["work"])
        },
    ] {
        let text = run(&mut client, &ground, &rules, script);
        assert!(!ground.0.join("work/disk").exists(), "{text}");
        let complaints = text.lines().filter(|line| line.contains("ermi")).count();
        assert_eq!(complaints + 1, text.lines().count(), "{text}");
    }
}
