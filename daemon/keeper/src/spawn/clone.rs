//! The clone itself.

use std::{
    ffi::{c_int, c_long, c_void},
    os::fd::{AsRawFd, BorrowedFd},
};

use rustix::io::Errno;

use super::{
    Plan, Step,
    child::{self},
};

/// The child makes a few system calls on it and nothing more.
const STACK: usize = 64 << 10;

/// `CLONE_INTO_CGROUP`, which does not fit the C library's `int`.
const INTO_CGROUP: u64 = 0x2_0000_0000;

/// Makes children, one at a time, each on the same small stack.
pub(crate) struct Launcher {
    // Aligned to 16 bytes by its element.
    stack: Box<[u128]>,
    /// The kernel knows clone3(2) and lets it through.
    has_clone3: bool,
}

impl Launcher {
    pub(crate) fn new() -> Self {
        Self {
            stack: vec![0; STACK / size_of::<u128>()].into_boxed_slice(),
            has_clone3: cfg!(any(target_arch = "x86_64", target_arch = "aarch64")),
        }
    }

    /// Whether a cgroup can be given at birth; else the child has to move there by [`Plan::cgroup_procs`].
    pub(crate) fn places_in_cgroup(&self) -> bool {
        self.has_clone3
    }

    /// Starts the planned process; returns once it is the program, or has failed to become it.
    ///
    /// # Errors
    /// The step and what the kernel said. No process is left then. `Clone` with `ENOSYS`: call again,
    /// [`Self::places_in_cgroup`] is false now.
    pub(crate) fn launch(
        &mut self,
        plan: &Plan,
        cgroup: Option<BorrowedFd<'_>>,
    ) -> Result<i32, (Step, Errno)> {
        let pid = if self.has_clone3 {
            match self.clone3(plan, cgroup) {
                Err(Errno::NOSYS) => {
                    self.has_clone3 = false;
                    Err(Errno::NOSYS)
                }
                result => result,
            }
        } else {
            self.clone(plan)
        }
        .map_err(|errno| (Step::Clone, errno))?;
        match plan.failure() {
            None => Ok(pid),
            Some((step, errno)) => {
                crate::wait::discard(pid);
                Err((step, Errno::from_raw_os_error(errno)))
            }
        }
    }

    #[expect(unsafe_code, reason = "clone3 with a cgroup has no safe form")]
    fn clone3(&mut self, plan: &Plan, cgroup: Option<BorrowedFd<'_>>) -> Result<i32, Errno> {
        let flags = u64::try_from(libc::CLONE_VM | libc::CLONE_VFORK).unwrap_or(0);
        // SAFETY: all zero is "none of it" for every field.
        let mut arguments: libc::clone_args = unsafe { std::mem::zeroed() };
        arguments.flags = flags;
        arguments.exit_signal = libc::SIGCHLD.unsigned_abs().into();
        arguments.stack = self.stack.as_mut_ptr() as u64;
        arguments.stack_size = STACK as u64;
        if let Some(cgroup) = cgroup {
            arguments.flags |= INTO_CGROUP;
            arguments.cgroup = u64::try_from(cgroup.as_raw_fd()).map_err(|_| Errno::BADF)?;
        }
        // SAFETY: the stack is big enough and used by one child at a time, because CLONE_VFORK
        // suspends this thread until the child is gone from this memory. All signals are blocked, so
        // no handler runs in between.
        let result = unsafe {
            clone3(
                &raw const arguments,
                child::run,
                (&raw const *plan).cast_mut().cast(),
            )
        };
        pid_of(result)
    }

    /// For kernels and architectures without the above: as `posix_spawn(3)` does it.
    #[expect(unsafe_code, reason = "clone has no safe form")]
    fn clone(&mut self, plan: &Plan) -> Result<i32, Errno> {
        let top = self.stack.as_mut_ptr_range().end;
        // SAFETY: as for clone3.
        let result = unsafe {
            libc::clone(
                child::run,
                top.cast(),
                libc::CLONE_VM | libc::CLONE_VFORK | libc::SIGCHLD,
                (&raw const *plan).cast_mut().cast(),
            )
        };
        if result < 0 {
            Err(Errno::from_io_error(&std::io::Error::last_os_error()).unwrap_or(Errno::INVAL))
        } else {
            Ok(result)
        }
    }
}

fn pid_of(result: c_long) -> Result<i32, Errno> {
    let result = i32::try_from(result).map_err(|_| Errno::OVERFLOW)?;
    if result < 0 {
        Err(Errno::from_raw_os_error(-result))
    } else {
        Ok(result)
    }
}

/// The system call, with a call of `function` in the child, which must not return.
#[cfg(target_arch = "x86_64")]
#[expect(
    unsafe_code,
    reason = "the child starts on a stack of its own, so it cannot return from a function"
)]
unsafe fn clone3(
    arguments: *const libc::clone_args,
    function: extern "C" fn(*mut c_void) -> c_int,
    argument: *mut c_void,
) -> c_long {
    let result: c_long;
    // SAFETY: the caller's promise about the stack. The child calls `function` there with an aligned
    // stack and never comes back here.
    unsafe {
        std::arch::asm!(
            "syscall",
            "test rax, rax",
            "jnz 2f",
            "xor ebp, ebp",
            "mov rdi, r12",
            "call r13",
            "ud2",
            "2:",
            inlateout("rax") libc::SYS_clone3 => result,
            in("rdi") arguments,
            in("rsi") size_of::<libc::clone_args>(),
            in("r12") argument,
            in("r13") function,
            lateout("rcx") _,
            lateout("r11") _,
        );
    }
    result
}

/// The system call, with a call of `function` in the child, which must not return.
#[cfg(target_arch = "aarch64")]
#[expect(
    unsafe_code,
    reason = "the child starts on a stack of its own, so it cannot return from a function"
)]
unsafe fn clone3(
    arguments: *const libc::clone_args,
    function: extern "C" fn(*mut c_void) -> c_int,
    argument: *mut c_void,
) -> c_long {
    let result: c_long;
    // SAFETY: as on x86_64.
    unsafe {
        std::arch::asm!(
            "svc 0",
            "cbnz x0, 2f",
            "mov x29, xzr",
            "mov x30, xzr",
            "mov x0, x20",
            "blr x21",
            "brk 1",
            "2:",
            inlateout("x0") arguments => result,
            in("x1") size_of::<libc::clone_args>(),
            in("x8") libc::SYS_clone3,
            in("x20") argument,
            in("x21") function,
            lateout("x30") _,
        );
    }
    result
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
#[expect(unsafe_code, reason = "the same form as where it can be called")]
unsafe fn clone3(
    _: *const libc::clone_args,
    _: extern "C" fn(*mut c_void) -> c_int,
    _: *mut c_void,
) -> c_long {
    -c_long::from(libc::ENOSYS)
}
