//! Starting a run.

use std::{
    error::Error as _,
    os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd},
};

use harness_keeper::protocol::{Failure, Reply, Spawn, Stdio};
use rustix::{
    io::Errno,
    pipe::{PipeFlags, pipe_with},
};

use crate::{
    cgroup::UnitCgroup,
    domain::{Confinement, DomainError},
    keeper::Keeper,
    spawn::{Plan, Prepared, Step},
    unit::Unit,
};

/// The kernel's limit for one argument or variable, in bytes (`MAX_ARG_STRLEN`).
const ARGUMENT_MAX: usize = 128 << 10;

impl Keeper {
    /// Starts a process as asked, with the descriptors that came with the request.
    ///
    /// The reply brings the daemon's ends of new pipes.
    pub(crate) fn spawn(
        &mut self,
        mut request: Spawn,
        fds: Vec<OwnedFd>,
    ) -> Result<(Reply, Vec<OwnedFd>), Failure> {
        if self.units.contains_key(&request.invocation) {
            return Err(Failure::Exists {
                invocation: request.invocation,
            });
        }
        if self.stopping {
            return Err(system("start a process", "the keeper is ending", true));
        }
        let streams = Streams::new(&request, fds)?;
        let directory = request.cwd.clone();
        let program = request.argv.first().cloned().unwrap_or_default();
        let longest = longest(&request);
        let prepared = Prepared::new(&mut request, &self.agent_state)?;
        let confinement = self.confine(&request, &streams)?;
        let mut not_enforced = Vec::new();
        let (cgroup, descriptor) = self.prepare_cgroup(&request, &mut not_enforced)?;
        let launched = self.launch(
            &prepared,
            &streams,
            descriptor.as_ref().zip(cgroup.as_ref()),
            confinement.as_ref(),
        );
        drop(descriptor);
        let pid = match launched {
            Ok(pid) => pid,
            Err((step, errno)) => {
                if let Some(memory) = &mut self.memory {
                    memory.remove(&request.invocation);
                }
                self.empty_cgroups.extend(cgroup);
                if let Some(hierarchy) = &self.hierarchy {
                    self.empty_cgroups
                        .retain(|cgroup| !cgroup.remove(hierarchy));
                }
                return Err(failed(step, errno, program, directory, longest));
            }
        };
        not_enforced.extend(confinement.into_iter().flat_map(|made| made.not_enforced));
        let mut unit = Unit::new(&request, pid, cgroup, not_enforced);
        let (ours, kept) = streams.into_ours(request.keep_pipes);
        unit.pipes = kept;
        let reply = Reply::Spawned {
            pid,
            started_at: unit.started_at,
            not_enforced: unit.not_enforced.clone(),
        };
        self.children.insert(pid, request.invocation.clone());
        self.units.insert(request.invocation, unit);
        Ok((reply, ours))
    }

    fn confine(
        &mut self,
        request: &Spawn,
        streams: &Streams,
    ) -> Result<Option<Confinement>, Failure> {
        let Some(rules) = &request.sandbox else {
            return Ok(None);
        };
        let made = self.domain.confine(rules, &streams.outputs());
        made.map(Some).map_err(not_confined)
    }

    fn prepare_cgroup(
        &mut self,
        request: &Spawn,
        not_enforced: &mut Vec<String>,
    ) -> Result<(Option<UnitCgroup>, Option<OwnedFd>), Failure> {
        let Some(hierarchy) = &self.hierarchy else {
            not_enforced.extend(self.unlimited(&request.limits));
            return Ok((None, None));
        };
        let (cgroup, descriptor) = UnitCgroup::create(
            hierarchy,
            request.unit.as_str(),
            request.invocation.as_str(),
        )
        .map_err(|errno| refused("make a cgroup", errno))?;
        not_enforced.extend(cgroup.limit(hierarchy, &request.limits));
        if let Some(memory) = &mut self.memory {
            memory.add(&cgroup.directory(hierarchy), &request.invocation);
        }
        Ok((Some(cgroup), Some(descriptor)))
    }

    fn launch(
        &mut self,
        prepared: &Prepared,
        streams: &Streams,
        cgroup: Option<(&OwnedFd, &UnitCgroup)>,
        confinement: Option<&Confinement>,
    ) -> Result<i32, (Step, Errno)> {
        let theirs = streams
            .theirs
            .each_ref()
            .map(|stream| stream.as_ref().unwrap_or(&self.null).as_raw_fd());
        let mut plan = Plan::new(prepared, theirs);
        plan.keeper = i32::try_from(std::process::id()).unwrap_or(0);
        plan.open_files = self.privilege.open_files;
        plan.reset_oom_score = self.privilege.reset_oom_score;
        plan.subreaper = cgroup.is_none();
        if let Some(confinement) = confinement {
            plan.credentials = self.privilege.credentials;
            plan.no_new_privileges = self.privilege.no_new_privileges;
            plan.rulesets = confinement
                .rulesets
                .each_ref()
                .map(|ruleset| ruleset.as_ref().map_or(-1, AsRawFd::as_raw_fd));
            if let Some(filter) = &confinement.filter {
                plan.filter = filter.program();
            }
        }
        if self.launcher.places_in_cgroup() {
            let descriptor = cgroup.map(|(descriptor, _)| descriptor.as_fd());
            match self.launcher.launch(&plan, descriptor) {
                Err((Step::Clone, Errno::NOSYS)) => {}
                result => return result,
            }
        }
        let processes = match (&self.hierarchy, cgroup) {
            (Some(hierarchy), Some((_, cgroup))) => Some(
                cgroup
                    .processes_file(hierarchy)
                    .map_err(|errno| (Step::Clone, errno))?,
            ),
            _ => None,
        };
        plan.cgroup_procs = processes.as_ref().map_or(-1, AsRawFd::as_raw_fd);
        self.launcher.launch(&plan, None)
    }
}

/// The standard streams of a child, and the daemon's ends of its pipes.
struct Streams {
    theirs: [Option<OwnedFd>; 3],
    ours: [Option<OwnedFd>; 3],
}

impl Streams {
    fn new(request: &Spawn, fds: Vec<OwnedFd>) -> Result<Self, Failure> {
        let mut fds = fds.into_iter();
        let mut streams = Self {
            theirs: [const { None }; 3],
            ours: [const { None }; 3],
        };
        for (place, stdio) in [request.stdin, request.stdout, request.stderr]
            .into_iter()
            .enumerate()
        {
            match stdio {
                Stdio::Null => {}
                Stdio::Fd => streams.theirs[place] = Some(fds.next().ok_or_else(too_few)?),
                Stdio::Pipe => {
                    let (read, write) = pipe_with(PipeFlags::CLOEXEC)
                        .map_err(|errno| refused("make a pipe", errno))?;
                    let (theirs, ours) = if place == 0 {
                        (read, write)
                    } else {
                        (write, read)
                    };
                    streams.theirs[place] = Some(theirs);
                    streams.ours[place] = Some(ours);
                }
            }
        }
        Ok(streams)
    }

    /// What the child writes to, where that is no `/dev/null`.
    fn outputs(&self) -> Vec<BorrowedFd<'_>> {
        let outputs = self.theirs[1..].iter().flatten();
        outputs.map(AsFd::as_fd).collect()
    }

    /// The ends for the daemon, and copies where the keeper is to keep them.
    fn into_ours(self, keep: bool) -> (Vec<OwnedFd>, [Option<OwnedFd>; 3]) {
        let mut kept = [const { None }; 3];
        if keep {
            for (kept, ours) in kept.iter_mut().zip(&self.ours) {
                // Without a copy the run goes on; a restarted daemon is told that there is none.
                *kept = ours.as_ref().and_then(|ours| ours.try_clone().ok());
            }
        }
        (self.ours.into_iter().flatten().collect(), kept)
    }
}

fn too_few() -> Failure {
    Failure::Invalid {
        message: "fewer descriptors came than the standard streams need".to_owned(),
    }
}

fn system(step: &str, error: &str, retryable: bool) -> Failure {
    Failure::System {
        step: step.to_owned(),
        error: error.to_owned(),
        retryable,
    }
}

/// Nothing runs with less confinement than it should have.
fn not_confined(error: DomainError) -> Failure {
    match error {
        DomainError::Missing(missing) => Failure::Sandbox { missing },
        DomainError::TooManyEntries { .. } => system("the sandbox", &error.to_string(), false),
        DomainError::Ruleset(_) => {
            let cause = error.source().map(ToString::to_string);
            let text = format!("{error}: {}", cause.unwrap_or_default());
            // Short of memory or descriptors.
            system("the sandbox", &text, true)
        }
    }
}

/// What is short now may be there later.
fn refused(step: &str, errno: Errno) -> Failure {
    let retryable = matches!(
        errno,
        Errno::AGAIN | Errno::NOMEM | Errno::MFILE | Errno::NFILE | Errno::NOSPC
    );
    system(step, &std::io::Error::from(errno).to_string(), retryable)
}

fn longest(request: &Spawn) -> usize {
    let variables = request
        .environment
        .iter()
        .map(|(name, value)| name.len() + 1 + value.len());
    request
        .argv
        .iter()
        .map(String::len)
        .chain(variables)
        .max()
        .unwrap_or(0)
}

fn failed(step: Step, errno: Errno, program: String, directory: String, longest: usize) -> Failure {
    match (step, errno) {
        (Step::Execute, Errno::NOENT) => Failure::NoSuchProgram { program },
        (Step::Directory, errno) => Failure::Directory {
            directory,
            error: std::io::Error::from(errno).to_string(),
        },
        (Step::Execute, Errno::TOOBIG) if longest >= ARGUMENT_MAX => system(
            "execve",
            &format!(
                "one argument or variable has {longest} bytes and the kernel takes at most {ARGUMENT_MAX}: put it in a file"
            ),
            false,
        ),
        (Step::Execute, Errno::TOOBIG) => system(
            "execve",
            "the arguments and the environment are together longer than the kernel takes: put some in a file",
            false,
        ),
        (step, errno) => refused(step.as_str(), errno),
    }
}
