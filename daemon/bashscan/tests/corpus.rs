//! The shell scripts of the system the test runs on.

mod support;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use harness_bashscan::{Reason, scan};
use support::has;

const ROOTS: &[&str] = &[
    "/usr",
    "/etc",
    "/opt",
    "/var/lib/dpkg/info",
    "/run/current-system/sw",
];
const WANTED: usize = 900;
const MAX_SIZE: u64 = 1 << 20;

fn collect(directory: &Path, depth: usize, found: &mut Vec<(PathBuf, String)>) {
    let Ok(entries) = fs::read_dir(directory) else {
        return;
    };
    for entry in entries.flatten() {
        let Ok(kind) = entry.file_type() else {
            continue;
        };
        let path = entry.path();
        if kind.is_dir() && depth < 24 {
            collect(&path, depth + 1, found);
        } else if kind.is_file()
            && entry
                .metadata()
                .is_ok_and(|metadata| metadata.len() < MAX_SIZE)
        {
            found.extend(shell_script(&path).map(|text| (path, text)));
        }
    }
}

/// A text whose first line names a shell, or a file of completions.
fn shell_script(path: &Path) -> Option<String> {
    use std::io::Read as _;
    let mut file = fs::File::open(path).ok()?;
    let mut start = [0; 64];
    let length = file.read(&mut start).ok()?;
    let start = String::from_utf8_lossy(&start[..length]).into_owned();
    let first = start.lines().next().unwrap_or("");
    let interpreter = first
        .strip_prefix("#!")?
        .split(' ')
        .find(|word| !word.is_empty() && !word.ends_with("/env"))?;
    let is_shell = matches!(interpreter.rsplit('/').next()?, "sh" | "bash" | "dash");
    is_shell.then(|| fs::read_to_string(path).ok())?
}

/// Completions have no first line of that kind.
fn completions(found: &mut Vec<(PathBuf, String)>) {
    for directory in [
        "/usr/share/bash-completion/completions",
        "/etc/profile.d",
        "/usr/share/git-core/contrib/completion",
    ] {
        let Ok(entries) = fs::read_dir(directory) else {
            continue;
        };
        for path in entries
            .flatten()
            .map(|entry| entry.path())
            .filter(|path| path.is_file())
        {
            found.extend(fs::read_to_string(&path).ok().map(|text| (path, text)));
        }
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "bash itself says what a script is"
)]
fn bash_accepts(path: &Path) -> bool {
    let mut bash = Command::new("bash");
    bash.arg("-n")
        .arg(path)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    bash.status().is_ok_and(|status| status.success())
}

/// Reasons that say something about the scanner rather than about the script.
fn is_misunderstanding(reason: &Reason) -> bool {
    matches!(
        reason,
        Reason::Syntax(_)
            | Reason::Disagreement
            | Reason::Nothing
            | Reason::TooDeep
            | Reason::TooLong
    )
}

#[test]
fn real_scripts_are_understood_unless_what_they_run_is_known_only_at_run_time() {
    let mut scripts = Vec::new();
    for root in ROOTS {
        collect(Path::new(root), 0, &mut scripts);
    }
    let programs = scripts.len();
    completions(&mut scripts);
    if !has("bash") || scripts.len() < WANTED {
        eprintln!("skipped: fewer than {WANTED} scripts ({})", scripts.len());
        return;
    }
    let mut why: BTreeMap<&'static str, usize> = BTreeMap::new();
    let (mut total, mut opaque, mut misunderstood) = (0, 0, Vec::new());
    for (at, (path, text)) in scripts.iter().enumerate() {
        if !bash_accepts(path) {
            continue;
        }
        total += 1;
        let found = scan(text);
        // Completions change the shell they are read by: that is what they are for.
        opaque += usize::from(at < programs && !found.opaque.is_empty());
        if let Some(first) = found
            .opaque
            .iter()
            .find(|each| is_misunderstanding(&each.reason))
        {
            misunderstood.push(format!("{}: {}", path.display(), first.reason));
        }
        let kinds: std::collections::BTreeSet<&'static str> =
            found.opaque.iter().map(|each| kind(&each.reason)).collect();
        for kind in kinds {
            *why.entry(kind).or_default() += 1;
        }
    }
    eprintln!("{total} scripts, {opaque} of {programs} programs opaque: {why:?}");
    eprintln!("not understood: {misunderstood:#?}");
    assert!(
        misunderstood.len() * 100 < total,
        "{} of {total} were not understood",
        misunderstood.len()
    );
    // The rest is opaque by contract: `"$@"` as a command, eval, sourced variables, PATH=.
    assert!(
        opaque * 100 < programs * 40,
        "{opaque} of {programs} are opaque"
    );
}

fn kind(reason: &Reason) -> &'static str {
    match reason {
        Reason::DynamicCommand => "dynamic command",
        Reason::Code(_) => "code",
        Reason::ShellState(_) => "shell state",
        Reason::Variable(_) => "variable",
        Reason::DynamicVariable(_) => "dynamic variable",
        Reason::Arithmetic(_) => "arithmetic",
        Reason::Wrapper(_) => "wrapper",
        Reason::Character(_) => "character",
        Reason::Network => "network",
        Reason::TooLong
        | Reason::TooDeep
        | Reason::Syntax(_)
        | Reason::Disagreement
        | Reason::Nothing => "not understood",
    }
}
