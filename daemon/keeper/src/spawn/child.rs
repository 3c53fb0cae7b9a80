//! What the new process does before it becomes the program.
//!
//! It shares the keeper's memory until execve(2), so it allocates nothing, takes no lock and makes
//! only system calls.

use std::{
    ffi::{c_char, c_int, c_long},
    sync::atomic::{AtomicI32, Ordering},
};

/// The step that failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(i32)]
pub(crate) enum Step {
    /// None did.
    None,
    /// clone3(2) itself.
    Clone,
    /// setsid(2).
    Session,
    /// Becoming the reaper of its own orphans.
    Subreaper,
    /// dup2(2) onto the standard streams.
    Streams,
    /// chdir(2).
    Directory,
    /// Entering the Landlock domain.
    Domain,
    /// Filtering sockets.
    Filter,
    /// Giving capabilities up.
    Capabilities,
    /// The limit of open files, or the score of the out-of-memory killer.
    Limits,
    /// Dying with the keeper.
    DeathSignal,
    /// `close_range(2)`.
    Close,
    /// execve(2).
    Execute,
}

impl Step {
    const ALL: [Self; 13] = [
        Self::None,
        Self::Clone,
        Self::Session,
        Self::Subreaper,
        Self::Streams,
        Self::Directory,
        Self::Domain,
        Self::Filter,
        Self::Capabilities,
        Self::Limits,
        Self::DeathSignal,
        Self::Close,
        Self::Execute,
    ];

    /// The system call, for the error message.
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::None => "nothing",
            Self::Clone => "clone3",
            Self::Session => "setsid",
            Self::Subreaper => "prctl(PR_SET_CHILD_SUBREAPER)",
            Self::Streams => "dup2 of a standard stream",
            Self::Directory => "chdir",
            Self::Domain => "landlock_restrict_self",
            Self::Filter => "prctl(PR_SET_SECCOMP)",
            Self::Capabilities => "capset",
            Self::Limits => "setrlimit",
            Self::DeathSignal => "prctl(PR_SET_PDEATHSIG)",
            Self::Close => "close_range",
            Self::Execute => "execve",
        }
    }
}

/// The header and data of capset(2), version 3.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub(crate) struct Credentials {
    pub(crate) version: u32,
    pub(crate) pid: c_int,
    /// Effective, permitted and inheritable, the low half and the high one.
    pub(crate) sets: [[u32; 3]; 2],
    /// Bit masks of what leaves the bounding set.
    pub(crate) dropped: u64,
}

/// Everything the child needs, in memory that both share.
pub(crate) struct Plan {
    pub(crate) program: *const c_char,
    pub(crate) directory: *const c_char,
    pub(crate) arguments: *const *const c_char,
    pub(crate) environment: *const *const c_char,
    /// Standard input, output and error; each above 2.
    pub(crate) streams: [c_int; 3],
    /// The Landlock rulesets, or -1.
    pub(crate) rulesets: [c_int; 2],
    /// The seccomp(2) filter, or null.
    pub(crate) filter: *const libc::sock_fprog,
    /// Landlock and seccomp ask an unprivileged process for it.
    pub(crate) no_new_privileges: bool,
    /// Capabilities to give up, when the keeper has any.
    pub(crate) credentials: Option<Credentials>,
    pub(crate) subreaper: bool,
    /// The limit of open files the keeper was started with.
    pub(crate) open_files: Option<libc::rlimit>,
    /// `/proc/self/oom_score_adj` is set back to 0.
    pub(crate) reset_oom_score: bool,
    /// `cgroup.procs` of its cgroup where clone3(2) cannot place it, or -1.
    pub(crate) cgroup_procs: c_int,
    pub(crate) keeper: libc::pid_t,
    failed_step: AtomicI32,
    failed_errno: AtomicI32,
}

impl Plan {
    pub(crate) fn new(prepared: &super::Prepared, streams: [c_int; 3]) -> Self {
        Self {
            program: prepared.program().as_ptr(),
            directory: prepared.directory().as_ptr(),
            arguments: prepared.arguments(),
            environment: prepared.environment(),
            streams,
            rulesets: [-1; 2],
            filter: std::ptr::null(),
            no_new_privileges: false,
            credentials: None,
            subreaper: false,
            open_files: None,
            reset_oom_score: false,
            cgroup_procs: -1,
            keeper: 0,
            failed_step: AtomicI32::new(0),
            failed_errno: AtomicI32::new(0),
        }
    }

    /// The step that failed and its errno. To be read once the child has left the shared memory.
    pub(super) fn failure(&self) -> Option<(Step, i32)> {
        let step = usize::try_from(self.failed_step.load(Ordering::Relaxed)).ok()?;
        let step = *Step::ALL.get(step)?;
        (step != Step::None).then(|| (step, self.failed_errno.load(Ordering::Relaxed)))
    }
}

/// Runs in the child; `plan` points to a [`Plan`].
#[expect(unsafe_code, reason = "this is the child between clone and execve")]
pub(super) extern "C" fn run(plan: *mut libc::c_void) -> c_int {
    // SAFETY: the parent is suspended by CLONE_VFORK and its plan lives until it goes on.
    let plan = unsafe { &*plan.cast::<Plan>() };
    // SAFETY: only system calls on the plan's valid pointers and descriptors.
    let step = unsafe { become_program(plan) };
    // SAFETY: errno belongs to the thread whose memory is shared; nobody else runs in it now.
    let errno = unsafe { *libc::__errno_location() };
    plan.failed_step.store(step as i32, Ordering::Relaxed);
    plan.failed_errno.store(errno, Ordering::Relaxed);
    // SAFETY: ends this process only, without running the keeper's exit handlers.
    unsafe { libc::_exit(127) }
}

macro_rules! step {
    ($step:ident, $call:expr) => {
        if $call < 0 {
            return Step::$step;
        }
    };
}

/// Returns the step that failed; does not return otherwise.
#[expect(unsafe_code, reason = "this is the child between clone and execve")]
unsafe fn become_program(plan: &Plan) -> Step {
    // SAFETY: the caller's promise; every call below takes plain numbers or pointers of the plan.
    unsafe {
        if plan.cgroup_procs >= 0 {
            step!(
                Clone,
                libc::write(plan.cgroup_procs, c"0".as_ptr().cast(), 1)
            );
        }
        step!(Session, libc::setsid());
        if plan.subreaper {
            step!(
                Subreaper,
                libc::prctl(libc::PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
            );
        }
        for (to, from) in (0..).zip(plan.streams) {
            step!(Streams, libc::dup2(from, to));
        }
        step!(Directory, libc::chdir(plan.directory));
        if plan.reset_oom_score {
            let file = libc::open(
                c"/proc/self/oom_score_adj".as_ptr(),
                libc::O_WRONLY | libc::O_CLOEXEC,
            );
            step!(Limits, file);
            step!(Limits, libc::write(file, c"0".as_ptr().cast(), 1));
        }
        if let Some(limit) = &plan.open_files {
            step!(Limits, libc::setrlimit(libc::RLIMIT_NOFILE, limit));
        }
        let confined = confine(plan);
        if confined != Step::None {
            return confined;
        }
        // After the credentials, whose change would clear it.
        step!(
            DeathSignal,
            libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL, 0, 0, 0)
        );
        if libc::getppid() != plan.keeper {
            // The keeper died before it took effect.
            libc::_exit(127);
        }
        step!(Close, libc::syscall(libc::SYS_close_range, 3, u32::MAX, 0));
        let none: libc::sigset_t = std::mem::zeroed();
        step!(
            Session,
            libc::sigprocmask(libc::SIG_SETMASK, &raw const none, std::ptr::null_mut())
        );
        libc::execve(plan.program, plan.arguments, plan.environment);
        Step::Execute
    }
}

/// Returns the step that failed, or none.
#[expect(unsafe_code, reason = "this is the child between clone and execve")]
unsafe fn confine(plan: &Plan) -> Step {
    // SAFETY: the caller's promise; the filter points to a program that lives as long as the plan.
    unsafe {
        if plan.no_new_privileges {
            step!(Domain, libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0));
        }
        for ruleset in plan.rulesets.into_iter().filter(|ruleset| *ruleset >= 0) {
            step!(
                Domain,
                libc::syscall(libc::SYS_landlock_restrict_self, ruleset, 0)
            );
        }
        if !plan.filter.is_null() {
            step!(
                Filter,
                libc::prctl(
                    libc::PR_SET_SECCOMP,
                    c_long::from(libc::SECCOMP_MODE_FILTER),
                    plan.filter
                )
            );
        }
        if let Some(credentials) = &plan.credentials {
            step!(Capabilities, give_up(credentials));
        }
    }
    Step::None
}

#[expect(
    unsafe_code,
    reason = "prctl and capset have no safe form that is sure not to allocate"
)]
unsafe fn give_up(credentials: &Credentials) -> c_long {
    // SAFETY: plain numbers, and a header and data of the layout that version 3 has.
    unsafe {
        for capability in 0..u64::BITS {
            if credentials.dropped >> capability & 1 == 1
                && libc::prctl(libc::PR_CAPBSET_DROP, capability, 0, 0, 0) < 0
            {
                return -1;
            }
        }
        libc::syscall(
            libc::SYS_capset,
            &raw const credentials.version,
            &raw const credentials.sets,
        )
    }
}
