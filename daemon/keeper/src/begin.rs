//! Starting a run.

use std::os::fd::{AsFd, AsRawFd, OwnedFd};

use harness_keeper::protocol::{Failure, Reply, Spawn, Stdio};
use rustix::{
    io::Errno,
    pipe::{PipeFlags, pipe_with},
};

use crate::{
    cgroup::UnitCgroup,
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
        let mut not_enforced = Vec::new();
        let (cgroup, descriptor) = self.prepare_cgroup(&request, &mut not_enforced)?;
        let launched = self.launch(
            &request,
            &prepared,
            &streams,
            descriptor.as_ref().zip(cgroup.as_ref()),
            &mut not_enforced,
        );
        drop(descriptor);
        let pid = match launched {
            Ok(pid) => pid,
            Err((step, errno)) => {
                self.empty_cgroups.extend(cgroup);
                if let Some(hierarchy) = &self.hierarchy {
                    self.empty_cgroups
                        .retain(|cgroup| !cgroup.remove(hierarchy));
                }
                return Err(failed(step, errno, program, directory, longest));
            }
        };
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

    fn prepare_cgroup(
        &self,
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
        Ok((Some(cgroup), Some(descriptor)))
    }

    fn launch(
        &mut self,
        request: &Spawn,
        prepared: &Prepared,
        streams: &Streams,
        cgroup: Option<(&OwnedFd, &UnitCgroup)>,
        not_enforced: &mut Vec<String>,
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
        if request.sandbox.is_some() {
            plan.credentials = self.privilege.credentials;
            if let Some(ruleset) = self.domain.ruleset() {
                plan.ruleset = ruleset.as_raw_fd();
                plan.no_new_privileges = self.privilege.no_new_privileges;
            } else {
                not_enforced.push(crate::enforcement::NO_SIGNAL_SCOPE.to_owned());
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
