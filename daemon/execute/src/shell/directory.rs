//! Where a command runs: in the workspace, whatever its path says.

use std::{
    io,
    os::fd::OwnedFd,
    path::{Component, Path, PathBuf},
};

use harness_model::Refusal;
use rustix::{
    fs::{CWD, Mode, OFlags, ResolveFlags, open, openat2},
    io::Errno,
};

use super::refusal::{invalid, outside, shown};

/// The directory as a path below the workspace that holds no symbolic link; `.` is the workspace.
///
/// # Errors
/// `EOUTSIDE_PROJECT` for `..`, an absolute path and a link that leads out; `EINVAL` when it is no directory.
pub(super) fn resolve(workspace: &Path, cwd: Option<&str>) -> Result<String, Refusal> {
    let cwd = cwd.filter(|cwd| !cwd.is_empty()).unwrap_or(".");
    if cwd.contains('\0') {
        return Err(invalid("cwd has a NUL character in it"));
    }
    let leaves = |part| !matches!(part, Component::Normal(_) | Component::CurDir);
    if Path::new(cwd).components().any(leaves) {
        return Err(outside(cwd));
    }
    let top = workspace
        .canonicalize()
        .map_err(|error| missing(&workspace.display().to_string(), &error))?;
    let directory = top
        .join(cwd)
        .canonicalize()
        .map_err(|error| missing(cwd, &error))?;
    let below = directory.strip_prefix(&top).map_err(|_| outside(cwd))?;
    let below = match below.to_str() {
        Some("") => ".",
        Some(below) => below,
        None => return Err(invalid("cwd leads to a path that is not UTF-8")),
    };
    enter(workspace, below)?;
    Ok(below.to_owned())
}

/// The absolute path of a directory that [`resolve`] gave, if it still is what it was: the kernel walks it from the
/// workspace on and follows no link (`openat2(2)`).
///
/// # Errors
/// Those of [`resolve`].
pub(super) fn enter(workspace: &Path, below: &str) -> Result<PathBuf, Refusal> {
    let top = workspace
        .canonicalize()
        .map_err(|error| missing(&workspace.display().to_string(), &error))?;
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let root: OwnedFd =
        open(&top, flags, Mode::empty()).map_err(|error| missing(below, &error.into()))?;
    let how = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
    match openat2(&root, below, flags, Mode::empty(), how) {
        Ok(_) => {}
        // A filter that does not know the call; the path was looked at without it.
        Err(Errno::NOSYS | Errno::PERM) => {
            rustix::fs::openat(CWD, top.join(below), flags, Mode::empty())
                .map_err(|error| missing(below, &error.into()))?;
        }
        Err(Errno::XDEV | Errno::LOOP | Errno::AGAIN) => return Err(outside(below)),
        Err(error) => return Err(missing(below, &error.into())),
    }
    Ok(if below == "." { top } else { top.join(below) })
}

fn missing(cwd: &str, error: &io::Error) -> Refusal {
    invalid(&format!("cwd {}: {error}", shown(cwd)))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    fn workspace() -> tempfile::TempDir {
        let directory = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(directory.path().join("work/sub/deep")).unwrap();
        std::fs::write(directory.path().join("work/file"), "").unwrap();
        directory
    }

    fn code(outcome: Result<String, Refusal>) -> String {
        let refusal = outcome.unwrap_err();
        refusal.details.unwrap()["code"]
            .as_str()
            .unwrap()
            .to_owned()
    }

    #[test]
    fn a_path_below_the_workspace_is_resolved() {
        let directory = workspace();
        let top = directory.path().join("work");
        symlink("sub/deep", top.join("relative")).unwrap();
        symlink(top.join("sub"), top.join("absolute")).unwrap();
        for (cwd, expected) in [
            (None, "."),
            (Some(""), "."),
            (Some("."), "."),
            (Some("sub"), "sub"),
            (Some("./sub//deep/"), "sub/deep"),
            (Some("relative"), "sub/deep"),
            (Some("absolute/deep"), "sub/deep"),
        ] {
            assert_eq!(resolve(&top, cwd).unwrap(), expected, "{cwd:?}");
        }
    }

    #[test]
    fn every_way_out_is_refused() {
        let directory = workspace();
        let top = directory.path().join("work");
        symlink("/", top.join("root")).unwrap();
        symlink("..", top.join("up")).unwrap();
        symlink("../..", top.join("sub/far")).unwrap();
        let inside = top.display().to_string();
        for cwd in [
            "..",
            "sub/..",
            "sub/../..",
            "/",
            "/etc",
            "root",
            "root/etc",
            "up",
            "up/work",
            "sub/far",
            &inside,
        ] {
            let expected = if cwd == "up/work" {
                None
            } else {
                Some("EOUTSIDE_PROJECT")
            };
            match expected {
                Some(expected) => assert_eq!(code(resolve(&top, Some(cwd))), expected, "{cwd}"),
                // It leads out and back in, so it is the workspace.
                None => assert_eq!(resolve(&top, Some(cwd)).unwrap(), "."),
            }
        }
    }

    #[test]
    fn what_is_no_directory_is_invalid() {
        let directory = workspace();
        let top = directory.path().join("work");
        for cwd in ["nowhere", "file", "file/x", "a\0b"] {
            assert_eq!(code(resolve(&top, Some(cwd))), "EINVAL", "{cwd:?}");
        }
    }

    #[test]
    fn a_directory_that_became_a_link_meanwhile_is_not_entered() {
        let directory = workspace();
        let top = directory.path().join("work");
        let below = resolve(&top, Some("sub/deep")).unwrap();
        assert!(enter(&top, &below).unwrap().ends_with("work/sub/deep"));
        std::fs::rename(top.join("sub"), top.join("old")).unwrap();
        symlink("/usr", top.join("sub")).unwrap();
        assert_eq!(
            code(enter(&top, &below).map(|_| String::new())),
            "EOUTSIDE_PROJECT"
        );
    }
}
