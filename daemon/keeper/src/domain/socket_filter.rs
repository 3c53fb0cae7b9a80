//! A seccomp(2) filter that lets no socket of the internet be made.
//!
//! Landlock knows TCP alone; UDP, MPTCP, SCTP and raw sockets pass it. What remains are the families
//! that stay on this machine: Unix sockets, netlink and the kernel's cryptography.

use libc::{c_long, sock_filter, sock_fprog};

/// `AUDIT_ARCH_*` of the programs this machine can run, and their calls: socket(2), and socketcall(2)
/// where there is one, whose arguments cannot be seen.
#[cfg(target_arch = "x86_64")]
const ARCHITECTURES: &[(u32, u32, Option<u32>)] =
    &[(0xc000_003e, 41, None), (0x4000_0003, 359, Some(102))];
#[cfg(target_arch = "aarch64")]
const ARCHITECTURES: &[(u32, u32, Option<u32>)] =
    &[(0xc000_00b7, 198, None), (0x4000_0028, 281, Some(102))];
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
const ARCHITECTURES: &[(u32, u32, Option<u32>)] = &[];

/// The same on every architecture. A ring makes sockets without the call.
const IO_URING_SETUP: u32 = 425;

/// Calls of x32 have this bit; its own numbers are not looked at.
const X32: u32 = 0x4000_0000;

const FAMILIES: [i32; 3] = [libc::AF_UNIX, libc::AF_NETLINK, libc::AF_ALG];

/// Offsets in `struct seccomp_data`.
const NUMBER: u32 = 0;
const ARCHITECTURE: u32 = 4;
#[cfg(target_endian = "little")]
const FIRST_ARGUMENT: u32 = 16;
#[cfg(target_endian = "big")]
const FIRST_ARGUMENT: u32 = 20;

const LOAD: u32 = libc::BPF_LD | libc::BPF_W | libc::BPF_ABS;
const IF_EQUAL: u32 = libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K;
const IF_SET: u32 = libc::BPF_JMP | libc::BPF_JSET | libc::BPF_K;
const RETURN: u32 = libc::BPF_RET | libc::BPF_K;

const DENIED: u32 = libc::SECCOMP_RET_ERRNO | libc::EACCES.unsigned_abs();
const ABSENT: u32 = libc::SECCOMP_RET_ERRNO | libc::ENOSYS.unsigned_abs();

/// The program, and what the kernel wants to be pointed to.
pub(crate) struct SocketFilter {
    program: sock_fprog,
    // The pointer above is into it; the heap contents of a box do not move.
    _instructions: Box<[sock_filter]>,
}

impl SocketFilter {
    pub(super) fn new() -> Self {
        let mut instructions = instructions().into_boxed_slice();
        Self {
            program: sock_fprog {
                len: u16::try_from(instructions.len()).unwrap_or(0),
                filter: instructions.as_mut_ptr(),
            },
            _instructions: instructions,
        }
    }

    /// For prctl(2); it lives as long as this.
    pub(crate) fn program(&self) -> *const sock_fprog {
        &raw const self.program
    }
}

/// Whether the kernel takes filters, and this architecture has one.
#[expect(unsafe_code, reason = "prctl with a filter has no safe form")]
pub(super) fn is_supported() -> bool {
    // SAFETY: without a program nothing is installed; the kernel says EFAULT if it knows filters.
    let result = unsafe {
        libc::prctl(
            libc::PR_SET_SECCOMP,
            c_long::from(libc::SECCOMP_MODE_FILTER),
            std::ptr::null::<sock_fprog>(),
        )
    };
    let error = std::io::Error::last_os_error().raw_os_error();
    !ARCHITECTURES.is_empty() && result < 0 && error == Some(libc::EFAULT)
}

fn instructions() -> Vec<sock_filter> {
    let mut all = vec![step(LOAD, ARCHITECTURE)];
    for (architecture, socket, socketcall) in ARCHITECTURES {
        let block = of_architecture(*socket, *socketcall);
        let length = u8::try_from(block.len()).unwrap_or(u8::MAX);
        all.push(branch(IF_EQUAL, *architecture, 0, length));
        all.extend(block);
    }
    // Another architecture: nothing of it runs here.
    all.push(step(RETURN, DENIED));
    all
}

/// For the programs of one architecture; it always ends with a verdict.
fn of_architecture(socket: u32, socketcall: Option<u32>) -> Vec<sock_filter> {
    let mut block = vec![
        step(LOAD, NUMBER),
        branch(IF_SET, X32, 0, 1),
        step(RETURN, ABSENT),
        branch(IF_EQUAL, IO_URING_SETUP, 0, 1),
        step(RETURN, ABSENT),
    ];
    if let Some(socketcall) = socketcall {
        block.push(branch(IF_EQUAL, socketcall, 0, 1));
        block.push(step(RETURN, DENIED));
    }
    block.push(branch(IF_EQUAL, socket, 1, 0));
    block.push(step(RETURN, libc::SECCOMP_RET_ALLOW));
    block.push(step(LOAD, FIRST_ARGUMENT));
    for family in FAMILIES {
        block.push(branch(IF_EQUAL, family.unsigned_abs(), 0, 1));
        block.push(step(RETURN, libc::SECCOMP_RET_ALLOW));
    }
    block.push(step(RETURN, DENIED));
    block
}

fn step(code: u32, k: u32) -> sock_filter {
    branch(code, k, 0, 0)
}

/// Goes on after so many instructions when it holds, or does not.
fn branch(code: u32, k: u32, jt: u8, jf: u8) -> sock_filter {
    sock_filter {
        code: u16::try_from(code).unwrap_or(0),
        jt,
        jf,
        k,
    }
}
