//! The shell scripts of this machine, and of some packages that are fetched for it.

use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const ROOTS: &[&str] = &[
    "/usr",
    "/etc",
    "/opt",
    "/var/lib/dpkg/info",
    "/run/current-system/sw",
];
const MAX_SIZE: u64 = 1 << 20;

/// A script that a shell accepts.
pub(crate) struct Script {
    pub(crate) path: PathBuf,
    pub(crate) text: String,
}

/// All scripts of the machine and of the packages that `bash -n` accepts.
pub(crate) fn all() -> Result<Vec<Script>, String> {
    if !fs::exists("/bin/bash").unwrap_or(false) {
        return Err("no /bin/bash, which says what a script is".to_owned());
    }
    let fetched = Path::new(env!("CARGO_TARGET_TMPDIR")).join("shell-scripts");
    fetch(&fetched)?;
    let mut found = Vec::new();
    for root in ROOTS {
        collect(Path::new(root), 0, &mut found);
    }
    collect(&fetched, 0, &mut found);
    found.sort_by(|one, other| one.path.cmp(&other.path));
    Ok(accepted(found))
}

#[expect(
    clippy::disallowed_methods,
    reason = "packages are fetched by their own tools"
)]
fn fetch(into: &Path) -> Result<(), String> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus/collect");
    let output = Command::new(script)
        .arg(into)
        .stdin(Stdio::null())
        .output()
        .map_err(|error| format!("tests/corpus/collect does not start: {error}"))?;
    if output.status.success() {
        return Ok(());
    }
    let text = String::from_utf8_lossy(&output.stdout);
    let why = text.trim().strip_prefix("skipped: ");
    Err(why.unwrap_or("tests/corpus/collect has failed").to_owned())
}

fn collect(directory: &Path, depth: usize, found: &mut Vec<Script>) {
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
            found.extend(shell_script(&path).map(|text| Script { path, text }));
        }
    }
}

/// A text whose first line names a shell.
fn shell_script(path: &Path) -> Option<String> {
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

/// Those that `bash -n` accepts.
fn accepted(found: Vec<Script>) -> Vec<Script> {
    let is_accepted = in_two_halves(&found, |script| {
        run_bash(&["-n", "--", &script.path.to_string_lossy()]).is_some()
    });
    found
        .into_iter()
        .zip(is_accepted)
        .filter_map(|(script, accepted)| accepted.then_some(script))
        .collect()
}

/// Something for each script, on two processors.
pub(crate) fn in_two_halves<T: Send>(
    scripts: &[Script],
    each: impl Fn(&Script) -> T + Sync,
) -> Vec<T> {
    let (one, other) = scripts.split_at(scripts.len() / 2);
    let all = |half: &[Script]| half.iter().map(&each).collect::<Vec<T>>();
    std::thread::scope(|scope| {
        let second = scope.spawn(|| all(other));
        let mut results = all(one);
        results.extend(second.join().unwrap());
        results
    })
}

/// What bash prints, if it succeeds. It cannot start, write or leave anything.
#[expect(
    clippy::disallowed_methods,
    reason = "bash itself says what a script is"
)]
pub(crate) fn run_bash(arguments: &[&str]) -> Option<String> {
    let output = Command::new("/bin/bash")
        .args(["--norc", "--noprofile", "-r"])
        .args(arguments)
        .env_clear()
        .env("PATH", "/nonexistent")
        .env("LC_ALL", "C.UTF-8")
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .output()
        .ok()?;
    output
        .status
        .success()
        .then(|| String::from_utf8_lossy(&output.stdout).into_owned())
}
