//! Starting processes and hearing of their end.

use std::os::fd::OwnedFd;

use crate::support::{Keeper, request, shell};
use harness_keeper::protocol::{Failure, Limits, Request, Stdio};
use harness_model::{ExitStatus, Signal};

#[test]
fn the_exit_code_and_the_signal_are_told_apart() {
    let keeper = Keeper::start(&[]);
    let mut client = keeper.connect();
    for (script, status) in [
        ("exit 0", ExitStatus::Exited(0)),
        ("exit 7", ExitStatus::Exited(7)),
        ("exit 255", ExitStatus::Exited(255)),
        (
            "kill -9 $$",
            ExitStatus::Signaled {
                signal: Signal::KILL,
                core_dump: false,
            },
        ),
        (
            "kill -TERM $$",
            ExitStatus::Signaled {
                signal: Signal::TERM,
                core_dump: false,
            },
        ),
    ] {
        let (_, exit) = client.run(script);
        assert_eq!(exit.status, status, "{script}");
        assert_eq!((exit.left_over, exit.survivors.len()), (0, 0), "{script}");
        assert!(
            exit.runtime_usec > 0 && exit.usage.max_rss_bytes > 1 << 20,
            "{exit:?}"
        );
    }
}
