//! Making domains, and keeping those ready that can be used again.

use std::{
    os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd},
    path::Path,
    rc::Rc,
    time::SystemTime,
};

use harness_model::SandboxRules;
use landlock::{AccessFs, BitFlags};

use super::{
    DomainError, Kernel, SocketFilter, hidden, place,
    place::Place,
    ruleset,
    ruleset::{Handled, Rules},
    stamp::Stamps,
    tree::Tree,
};

/// So many different rules are kept ready.
const READY_MAX: usize = 8;

/// Devices that hold nothing, and terminals: programs write to them wherever they may not write files.
const DEVICES: [&str; 8] = [
    "/dev/null",
    "/dev/zero",
    "/dev/full",
    "/dev/random",
    "/dev/urandom",
    "/dev/tty",
    "/dev/ptmx",
    "/dev/pts",
];

/// What a child enters.
pub(crate) struct Confinement {
    /// At most two rulesets.
    pub(crate) rulesets: [Option<Rc<OwnedFd>>; 2],
    /// No sockets of the internet.
    pub(crate) filter: Option<Rc<SocketFilter>>,
    /// What was asked for and is not enforced, in words.
    pub(crate) not_enforced: Vec<String>,
}

/// Makes domains.
pub(crate) struct Domain {
    kernel: Kernel,
    /// That which takes only signals away; `None` where the kernel has no such scope.
    base: Option<Rc<OwnedFd>>,
    filter: Rc<SocketFilter>,
    devices: Vec<OwnedFd>,
    ready: Vec<Ready>,
}

/// A ruleset for certain rules.
struct Ready {
    rules: SandboxRules,
    ruleset: Option<Rc<OwnedFd>>,
    tree: Tree,
    stamps: Stamps,
    /// A change will show in the stamps.
    settled: bool,
    not_enforced: Vec<String>,
}

impl Domain {
    pub(crate) fn new() -> Self {
        let kernel = Kernel::probe();
        let base = if kernel.signal {
            handled(kernel, BitFlags::EMPTY, false)
        } else {
            None
        };
        Self {
            kernel,
            base: base
                .and_then(|handled| Rules::new(handled).ok()?.finish())
                .map(Rc::new),
            filter: Rc::new(SocketFilter::new()),
            devices: DEVICES
                .iter()
                .filter_map(|device| place::open(Path::new(device)).ok())
                .collect(),
            ready: Vec::new(),
        }
    }

    pub(crate) fn kernel(&self) -> Kernel {
        self.kernel
    }

    /// What a child under these rules enters; `outputs` are its standard output and error, which it may
    /// open again by name (`/dev/stderr`).
    ///
    /// # Errors
    /// It cannot be made, or not all of it is enforced and the rules are required. Nothing may run then.
    pub(crate) fn confine(
        &mut self,
        rules: &SandboxRules,
        outputs: &[BorrowedFd<'_>],
    ) -> Result<Confinement, DomainError> {
        let mut confinement = Confinement {
            rulesets: [None, None],
            filter: (rules.no_network && self.kernel.filter).then(|| Rc::clone(&self.filter)),
            not_enforced: self.kernel.missing(rules),
        };
        if rules.is_open() || !self.kernel.files {
            confinement.rulesets[0].clone_from(&self.base);
        } else {
            let limited = rules.writable.is_some() || rules.executable.is_some();
            if limited || rules.hidden.is_empty() {
                confinement.rulesets[0] = self.limiting(rules, outputs)?.map(Rc::new);
            }
            if !rules.hidden.is_empty() {
                let (ruleset, not_enforced) = self.hiding(rules, outputs)?;
                confinement.rulesets[1] = ruleset;
                confinement.not_enforced.extend(not_enforced);
            }
        }
        if rules.required && !confinement.not_enforced.is_empty() {
            return Err(DomainError::Missing(confinement.not_enforced));
        }
        Ok(confinement)
    }

    /// The domain itself, the network, what may be changed, and what may be executed.
    fn limiting(
        &self,
        rules: &SandboxRules,
        outputs: &[BorrowedFd<'_>],
    ) -> Result<Option<OwnedFd>, DomainError> {
        let mut files = BitFlags::EMPTY;
        if rules.writable.is_some() {
            files |= ruleset::writing();
        }
        if rules.executable.is_some() {
            // Without it no file could be moved from one directory to another.
            files |= ruleset::executing() | AccessFs::Refer;
        }
        let Some(handled) = handled(self.kernel, files, rules.no_network) else {
            return Ok(None);
        };
        let mut made = Rules::new(handled)?;
        if let Some(writable) = &rules.writable {
            let device = AccessFs::WriteFile | AccessFs::IoctlDev;
            for place in &self.devices {
                made.allow(place, device);
            }
            for output in outputs {
                made.allow(output, AccessFs::WriteFile | AccessFs::Truncate);
            }
            for place in open_all(writable) {
                made.allow(place, ruleset::changes());
            }
        } else if let Ok(root) = place::open(Path::new("/")) {
            made.allow(root, files & AccessFs::Refer);
        }
        for place in open_all(rules.executable.as_deref().unwrap_or_default()) {
            made.allow(place, ruleset::executing());
        }
        Ok(made.finish())
    }

    /// The ruleset that hides, made earlier where that still holds.
    fn hiding(
        &mut self,
        rules: &SandboxRules,
        outputs: &[BorrowedFd<'_>],
    ) -> Result<(Option<Rc<OwnedFd>>, Vec<String>), DomainError> {
        let ready = self.ready.iter().position(|ready| ready.rules == *rules);
        let place = match ready {
            Some(place) if self.ready[place].settled && self.ready[place].stamps.hold() => place,
            other => {
                let made = self.hide(rules, &[])?;
                if let Some(stale) = other {
                    self.ready.remove(stale);
                } else if self.ready.len() >= READY_MAX {
                    self.ready.remove(0);
                }
                self.ready.push(made);
                self.ready.len() - 1
            }
        };
        let ready = &self.ready[place];
        let own: Vec<_> = outputs
            .iter()
            .filter(|output| rules.writable.is_none() && !is_given_back(&ready.tree, **output))
            .copied()
            .collect();
        if own.is_empty() {
            return Ok((ready.ruleset.clone(), ready.not_enforced.clone()));
        }
        // Its output files lie where nothing is given back; they are this child's alone.
        let made = self.hide(rules, &own)?;
        Ok((made.ruleset, made.not_enforced))
    }

    fn hide(&self, rules: &SandboxRules, outputs: &[BorrowedFd<'_>]) -> Result<Ready, DomainError> {
        let open = rules.writable.is_none();
        let mut access = ruleset::reading() | AccessFs::Refer;
        if open {
            access |= ruleset::changes() & !BitFlags::from(AccessFs::IoctlDev);
        }
        let mut handled = Handled {
            files: access,
            tcp: false,
            signal: false,
        };
        if open {
            handled.files |= AccessFs::MakeBlock;
            handled.tcp = rules.no_network && self.kernel.tcp;
            handled.signal = self.kernel.signal;
        }
        let places = |paths: &[String]| -> Vec<Place> {
            paths
                .iter()
                .map(|path| Place::of(Path::new(path)))
                .collect()
        };
        let tree = Tree::new(&places(&rules.hidden), &trusted(&places(&rules.visible)));
        let mut made = Rules::new(handled)?;
        let mut stamps = hidden::give_back(&tree, access, &mut made)?;
        for link in &tree.hidden {
            stamps.add_entry(link);
        }
        for output in outputs {
            made.allow(output, AccessFs::WriteFile | AccessFs::Truncate);
        }
        Ok(Ready {
            rules: rules.clone(),
            ruleset: made.finish().map(Rc::new),
            not_enforced: hidden::other_names(&tree)
                .into_iter()
                .chain(exposed(&tree, rules))
                .collect(),
            tree,
            settled: stamps.are_settled(SystemTime::now()),
            stamps,
        })
    }
}

/// `None` when there is nothing for Landlock to take away.
fn handled(kernel: Kernel, files: BitFlags<AccessFs>, no_network: bool) -> Option<Handled> {
    let tcp = no_network && kernel.tcp;
    let handled = Handled {
        files,
        tcp,
        signal: kernel.signal,
    };
    (!files.is_empty() || tcp || kernel.signal).then_some(handled)
}

/// Opens those that are there.
fn open_all(paths: &[String]) -> Vec<OwnedFd> {
    let opened = paths.iter().map(|path| place::open(Path::new(path)));
    let opened: Vec<_> = opened.collect();
    if !opened
        .iter()
        .any(|place| matches!(place, Err(rustix::io::Errno::LOOP)))
    {
        return opened.into_iter().flatten().collect();
    }
    let places = paths.iter().map(|path| Place::of(Path::new(path)));
    trusted(&places.collect::<Vec<_>>())
        .iter()
        .filter_map(|place| place.open().ok())
        .collect()
}

/// Leaves out what a link in another of the places leads to: whoever may write there could have made it.
fn trusted(places: &[Place]) -> Vec<Place> {
    let in_another = |place: &Place| {
        place.links.iter().any(|link| {
            let others = places.iter().filter(|other| *other != place);
            others
                .into_iter()
                .any(|other| link.starts_with(&other.path))
        })
    };
    let kept = places.iter().filter(|place| !in_another(place));
    kept.cloned().collect()
}

/// Hidden paths that lie in writable ones: they cannot be read, but changed, in words.
fn exposed(tree: &Tree, rules: &SandboxRules) -> Vec<String> {
    let writable = rules.writable.iter().flatten();
    let writable: Vec<Place> = writable.map(|path| Place::of(Path::new(path))).collect();
    let exposed = tree
        .hidden
        .iter()
        .filter(|hidden| writable.iter().any(|place| hidden.starts_with(&place.path)));
    exposed
        .map(|hidden| {
            format!(
                "hidden is not enforced for {}: it lies in a writable directory and can be changed, though not read",
                hidden.display()
            )
        })
        .collect()
}

/// Whether a file that a child writes to can be opened by it under the tree's rules. Pipes can.
fn is_given_back(tree: &Tree, file: BorrowedFd<'_>) -> bool {
    let link = format!("/proc/self/fd/{}", file.as_fd().as_raw_fd());
    std::fs::read_link(link).is_ok_and(|path| !path.is_absolute() || tree.gives_back(&path))
}
