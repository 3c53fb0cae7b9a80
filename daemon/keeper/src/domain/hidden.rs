//! Giving back everything but what is hidden.
//!
//! Landlock knows only what is allowed, and a rule for a directory holds for all that is in it. So each
//! directory above a hidden path gets no rule, and everything else in it gets one of its own. What is
//! made in such a directory later has none: it is hidden from the processes that run already, and not
//! from those that are started after it.

use std::{
    collections::HashSet,
    ffi::OsStr,
    os::{fd::OwnedFd, unix::ffi::OsStrExt},
    path::{Path, PathBuf},
};

use landlock::{AccessFs, BitFlags};
use rustix::fs::{AtFlags, CWD, Dir, FileType, Mode, OFlags, fstat, openat, statat};

use super::{
    DomainError, place,
    ruleset::Rules,
    stamp::{Identity, Stamps},
    tree::Tree,
};

/// A directory with more entries would hold the keeper up at every spawn.
const ENTRIES_MAX: usize = 16_384;

/// Adds rules for everything that the tree does not hide.
///
/// # Errors
/// A directory above a hidden path has too many entries.
pub(super) fn give_back(
    tree: &Tree,
    access: BitFlags<AccessFs>,
    rules: &mut Rules,
) -> Result<Stamps, DomainError> {
    let mut walk = Walk {
        tree,
        access,
        rules,
        aliases: aliases(tree),
        stamps: Stamps::default(),
    };
    for hidden in &tree.hidden {
        walk.stamps.add_entry(hidden);
    }
    walk.directory(Path::new("/"))?;
    for island in tree.islands() {
        if tree.is_above(island) {
            walk.directory(island)?;
        } else if let Ok(place) = place::open(island) {
            walk.rules.allow(place, access);
        }
        walk.stamps.add_entry(island);
    }
    Ok(walk.stamps)
}

/// Hidden files that other names lead to as well, in words.
pub(super) fn other_names(tree: &Tree) -> Vec<String> {
    let status = |path: &PathBuf| {
        let status = statat(CWD, path, AtFlags::SYMLINK_NOFOLLOW).ok()?;
        let file = FileType::from_raw_mode(status.st_mode) == FileType::RegularFile;
        (file && status.st_nlink > 1).then_some((Identity::of(&status), status.st_nlink))
    };
    let linked: Vec<_> = tree
        .hidden
        .iter()
        .filter_map(|path| Some((path, status(path)?)))
        .collect();
    let names = |identity| {
        linked
            .iter()
            .filter(|(_, (other, _))| *other == identity)
            .count()
    };
    linked
        .iter()
        .filter(|(_, (identity, links))| names(*identity) < usize::try_from(*links).unwrap_or(usize::MAX))
        .map(|(path, (_, links))| {
            format!(
                "hidden is not enforced for {}: the file has {links} names (hard links), and those that are not hidden lead to it too",
                path.display()
            )
        })
        .collect()
}

/// The hidden places and all above them by their identity: another name or mount of one of them must
/// not get a rule, because a rule holds for the file itself.
fn aliases(tree: &Tree) -> HashSet<Identity> {
    tree.hidden
        .iter()
        .flat_map(|path| path.ancestors())
        .filter(|path| tree.hidden.iter().any(|hidden| hidden == path) || tree.is_above(path))
        .filter_map(|path| statat(CWD, path, AtFlags::SYMLINK_NOFOLLOW).ok())
        .map(|status| Identity::of(&status))
        .collect()
}

struct Walk<'a> {
    tree: &'a Tree,
    access: BitFlags<AccessFs>,
    rules: &'a mut Rules,
    aliases: HashSet<Identity>,
    stamps: Stamps,
}

impl Walk<'_> {
    /// A directory that cannot be read gives nothing back.
    fn directory(&mut self, path: &Path) -> Result<(), DomainError> {
        self.stamps.add_directory(path);
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let Ok(directory) = openat(CWD, path, flags, Mode::empty()) else {
            return Ok(());
        };
        let Ok(entries) = Dir::read_from(&directory) else {
            return Ok(());
        };
        let special = self.tree.special(path);
        for (count, entry) in entries.flatten().enumerate() {
            let name = OsStr::from_bytes(entry.file_name().to_bytes());
            if count >= ENTRIES_MAX {
                return Err(DomainError::TooManyEntries {
                    directory: path.to_owned(),
                    most: ENTRIES_MAX,
                });
            }
            if special.contains(&name) {
                let child = path.join(name);
                if !self.tree.hidden.contains(&child) {
                    self.directory(&child)?;
                }
            } else if name != "." && name != ".." && entry.file_type() != FileType::Symlink {
                self.entry(&directory, name);
            }
        }
        Ok(())
    }

    /// What is gone by now, or cannot be reached, needs no rule.
    fn entry(&mut self, directory: &OwnedFd, name: &OsStr) {
        let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let Ok(place) = openat(directory, name, flags, Mode::empty()) else {
            return;
        };
        let Ok(status) = fstat(&place) else {
            return;
        };
        let kind = FileType::from_raw_mode(status.st_mode);
        let disk = kind == FileType::BlockDevice;
        if kind != FileType::Symlink && !disk && !self.aliases.contains(&Identity::of(&status)) {
            self.rules.allow(place, self.access);
        }
    }
}
