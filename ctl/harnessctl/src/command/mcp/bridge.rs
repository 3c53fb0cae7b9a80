//! The two directions.

use std::{
    fs::File,
    io::{self, Read, Write},
    net::Shutdown,
    os::unix::net::UnixStream,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread,
};

use rustix::event::{PollFd, PollFlags, poll};

use crate::exit::Exit;

/// Holds all but the longest message in one piece.
const BUFFER: usize = 256 << 10;

/// Copies both ways. The client's end of input is passed on, and what the harness still sends is
/// written out before the end; the harness's end is the end.
pub(super) fn run(input: File, output: File, stream: &UnixStream) -> Exit {
    let client_ended = Arc::new(AtomicBool::new(false));
    let Ok(upward) = stream.try_clone() else {
        return Exit::FAILED;
    };
    let Ok(watched) = output.try_clone() else {
        return Exit::FAILED;
    };
    let ended = Arc::clone(&client_ended);
    // Not joined: it may be blocked on an input that never ends.
    thread::spawn(move || {
        // Either way nothing more will come from the client.
        copy(input, &upward).ok();
        ended.store(true, Ordering::Release);
        upward.shutdown(Shutdown::Write).ok();
        wait_for_hangup(&watched);
        // Nobody reads any more: let the other direction end too.
        upward.shutdown(Shutdown::Both).ok();
    });
    match copy(stream, output) {
        // The client is gone, or took its leave and got everything.
        Err(Side::Target) => Exit::DONE,
        _ if client_ended.load(Ordering::Acquire) => Exit::DONE,
        Ok(()) | Err(Side::Source) => {
            let text = b"harnessctl: the harness closed the connection\n";
            io::stderr().write_all(text).ok();
            Exit::UNREACHABLE
        }
    }
}

/// Which side failed.
enum Side {
    Source,
    Target,
}

fn copy(mut source: impl Read, mut target: impl Write) -> Result<(), Side> {
    let mut buffer = vec![0; BUFFER];
    loop {
        match source.read(&mut buffer) {
            Ok(0) => return Ok(()),
            Ok(length) => target
                .write_all(&buffer[..length])
                .map_err(|_| Side::Target)?,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => return Err(Side::Source),
        }
    }
}

/// Returns when whoever reads the output is gone; never, when that cannot be known (a file).
fn wait_for_hangup(output: &File) {
    let mut entries = [PollFd::new(output, PollFlags::empty())];
    // Errors and hangups are always reported (poll(2)).
    while poll(&mut entries, None).is_err_and(|error| error == rustix::io::Errno::INTR) {}
}
