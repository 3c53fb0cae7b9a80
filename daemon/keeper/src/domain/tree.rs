//! Which paths are hidden, by the longest rule that covers them.

use std::{
    ffi::OsStr,
    path::{Path, PathBuf},
};

use super::place::Place;

/// Where the nodes of disks are, through which root would see what is hidden.
const DEVICES: &str = "/dev";

/// The hidden paths, and those in them that are not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Tree {
    /// Without links, those included that led to them: whoever changes a link changes what is hidden.
    pub(super) hidden: Vec<PathBuf>,
    pub(super) visible: Vec<PathBuf>,
}

impl Tree {
    pub(super) fn new(hidden: &[Place], visible: &[Place]) -> Self {
        Self {
            hidden: hidden
                .iter()
                .flat_map(|place| place.links.iter().chain([&place.path]))
                .cloned()
                .collect(),
            visible: visible.iter().map(|place| place.path.clone()).collect(),
        }
    }

    /// Whether the path is hidden. Where a path is on both lists, it is.
    pub(super) fn hides(&self, path: &Path) -> bool {
        let longest = |paths: &[PathBuf]| {
            let covering = paths.iter().filter(|other| path.starts_with(other));
            covering.map(|other| other.components().count()).max()
        };
        longest(&self.hidden).is_some_and(|hidden| Some(hidden) >= longest(&self.visible))
    }

    /// Whether something in the directory has to be left out of what is given back.
    pub(super) fn is_above(&self, directory: &Path) -> bool {
        directory == Path::new(DEVICES)
            || self
                .hidden
                .iter()
                .any(|hidden| hidden != directory && hidden.starts_with(directory))
    }

    /// Whether a rule for the path, or one for a directory that it is in, can be given: each of the
    /// directories that something is left out of has none.
    pub(super) fn gives_back(&self, path: &Path) -> bool {
        !self.hides(path)
            && path
                .parent()
                .is_some_and(|directory| !self.is_above(directory))
    }

    /// The names in a directory that are not given back as they are.
    pub(super) fn special<'a>(&'a self, directory: &'a Path) -> Vec<&'a OsStr> {
        let devices = Path::new(DEVICES);
        let paths = self.hidden.iter().map(PathBuf::as_path).chain([devices]);
        let mut names: Vec<_> = paths
            .filter_map(|path| path.strip_prefix(directory).ok())
            .filter_map(|rest| Some(rest.components().next()?.as_os_str()))
            .collect();
        names.sort_unstable();
        names.dedup();
        names
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(hidden: &[&str], visible: &[&str]) -> Tree {
        let paths = |paths: &[&str]| paths.iter().map(PathBuf::from).collect();
        Tree {
            hidden: paths(hidden),
            visible: paths(visible),
        }
    }

    #[test]
    fn the_longest_rule_decides_and_hidden_wins_over_its_equal() {
        let tree = tree(&["/home/u", "/home/u/w/.env", "/x"], &["/home/u/w", "/x"]);
        for (path, hidden) in [
            ("/home", false),
            ("/home/u", true),
            ("/home/u/.ssh/id", true),
            ("/home/user", false),
            ("/home/u/w", false),
            ("/home/u/w/.env", true),
            ("/home/u/w/.environment", false),
            ("/x", true),
        ] {
            assert_eq!(tree.hides(Path::new(path)), hidden, "{path}");
        }
    }

    #[test]
    fn a_directory_above_a_hidden_path_is_not_given_back_itself() {
        let tree = tree(&["/home/u/.ssh"], &[]);
        for (path, above) in [
            ("/", true),
            ("/home/u", true),
            ("/home/u/.ssh", false),
            ("/etc", false),
            ("/dev", true),
        ] {
            assert_eq!(tree.is_above(Path::new(path)), above, "{path}");
        }
        assert!(tree.gives_back(Path::new("/home/u/project/file")));
        assert!(!tree.gives_back(Path::new("/home/u/new")));
        assert!(!tree.gives_back(Path::new("/home/u/.ssh/id")));
        assert_eq!(tree.special(Path::new("/home")), ["u"]);
        assert_eq!(tree.special(Path::new("/")), ["dev", "home"]);
    }
}
