//! Finding the program before the clone, as execvp(3) would.

use std::path::{Path, PathBuf};

use rustix::{
    fs::{Access, AtFlags, CWD, FileType, accessat, stat},
    io::Errno,
};

/// Where programs are when the environment has no `PATH`, as in glibc.
const DEFAULT_PATH: &str = "/bin:/usr/bin";

/// The file to execute for `program`, looked up in `path` from the directory `cwd`.
///
/// # Errors
/// `ENOENT` when there is none, `EACCES` when all there is may not be executed.
pub(super) fn find(program: &str, path: Option<&str>, cwd: &Path) -> Result<PathBuf, Errno> {
    if program.is_empty() {
        return Err(Errno::NOENT);
    }
    if program.contains('/') {
        // The kernel resolves it after the chdir.
        return Ok(PathBuf::from(program));
    }
    let mut error = Errno::NOENT;
    for directory in path.unwrap_or(DEFAULT_PATH).split(':') {
        // An empty entry is the current directory, and a relative one lies under it.
        let candidate = cwd.join(directory).join(program);
        match executable(&candidate) {
            Ok(()) => return Ok(candidate),
            Err(Errno::ACCESS) => error = Errno::ACCESS,
            Err(_) => {}
        }
    }
    Err(error)
}

fn executable(path: &Path) -> Result<(), Errno> {
    let status = stat(path)?;
    if FileType::from_raw_mode(status.st_mode) != FileType::RegularFile {
        return Err(Errno::NOENT);
    }
    accessat(CWD, path, Access::EXEC_OK, AtFlags::EACCESS)
}

#[cfg(test)]
mod tests {
    use std::{fs, os::unix::fs::PermissionsExt};

    use super::*;

    fn directory() -> PathBuf {
        let directory = std::env::temp_dir().join(format!("harness-lookup-{}", std::process::id()));
        fs::create_dir_all(directory.join("bin/folder")).unwrap();
        for (name, mode) in [("run", 0o755), ("bin/run", 0o755), ("bin/data", 0o644)] {
            fs::write(directory.join(name), "").unwrap();
            fs::set_permissions(directory.join(name), fs::Permissions::from_mode(mode)).unwrap();
        }
        directory
    }

    #[test]
    fn a_program_is_found_as_a_shell_would_find_it() {
        let cwd = directory();
        let found = |program, path| find(program, path, &cwd);
        assert_eq!(found("run", Some("/nowhere:bin")), Ok(cwd.join("bin/run")));
        assert_eq!(
            found("run", Some("/nowhere:")),
            Ok(cwd.join("").join("run"))
        );
        assert_eq!(found("./run", Some("/nowhere")), Ok(PathBuf::from("./run")));
        assert_eq!(found("data", Some("bin")), Err(Errno::ACCESS));
        assert_eq!(found("folder", Some("bin")), Err(Errno::NOENT));
        assert_eq!(found("", Some("bin")), Err(Errno::NOENT));
        assert!(found("sh", None).is_ok());
        fs::remove_dir_all(&cwd).unwrap();
    }
}
