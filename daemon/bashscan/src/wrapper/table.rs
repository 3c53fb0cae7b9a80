//! Wrappers whose command follows their options.

/// How such a wrapper is called: `NAME [options] [operands] [NAME=VALUE …] command …`.
pub(super) struct Spec {
    pub(super) name: &'static str,
    /// Letters without value.
    pub(super) flags: &'static str,
    /// Letters with a value.
    pub(super) values: &'static str,
    pub(super) long_flags: &'static [&'static str],
    pub(super) long_values: &'static [&'static str],
    /// Operands before the command.
    pub(super) operands: usize,
    /// `NAME=VALUE` words may precede the command.
    pub(super) assigns: bool,
    /// `-5` is an option.
    pub(super) numbers: bool,
}

const NONE: Spec = Spec {
    name: "",
    flags: "",
    values: "",
    long_flags: &[],
    long_values: &[],
    operands: 0,
    assigns: false,
    numbers: false,
};

/// From the manual pages of bash, coreutils, util-linux, sudo, opendoas and GNU time. What is not
/// listed makes the call opaque; among it whatever starts a shell or reads code from elsewhere
/// (`env -S`, `sudo -i`, `sudo -e`),
/// or changes the directory (`env -C`).
const SPECS: &[Spec] = &[
    Spec {
        name: "env",
        flags: "i0v",
        values: "u",
        long_flags: &[
            "ignore-environment",
            "null",
            "debug",
            "default-signal",
            "ignore-signal",
            "block-signal",
            "list-signal-handling",
        ],
        long_values: &["unset"],
        assigns: true,
        ..NONE
    },
    Spec {
        name: "sudo",
        flags: "ABbEHknPS",
        values: "CgprtTuU",
        long_flags: &[
            "askpass",
            "background",
            "bell",
            "preserve-env",
            "set-home",
            "non-interactive",
            "preserve-groups",
            "reset-timestamp",
            "stdin",
        ],
        long_values: &[
            "close-from",
            "group",
            "host",
            "prompt",
            "role",
            "type",
            "command-timeout",
            "user",
            "other-user",
            "preserve-env",
        ],
        assigns: true,
        ..NONE
    },
    Spec {
        name: "doas",
        flags: "n",
        values: "ua",
        ..NONE
    },
    Spec {
        name: "nohup",
        ..NONE
    },
    Spec {
        name: "nice",
        values: "n",
        long_values: &["adjustment"],
        numbers: true,
        ..NONE
    },
    Spec {
        name: "ionice",
        flags: "t",
        values: "cn",
        long_flags: &["ignore"],
        long_values: &["class", "classdata"],
        ..NONE
    },
    Spec {
        name: "timeout",
        flags: "vfp",
        values: "ks",
        long_flags: &["verbose", "foreground", "preserve-status"],
        long_values: &["kill-after", "signal"],
        operands: 1,
        ..NONE
    },
    Spec {
        name: "setsid",
        flags: "cfw",
        long_flags: &["ctty", "fork", "wait"],
        ..NONE
    },
    Spec {
        name: "stdbuf",
        values: "ioe",
        long_values: &["input", "output", "error"],
        ..NONE
    },
    Spec {
        name: "time",
        flags: "apqvV",
        values: "fo",
        long_flags: &["append", "portability", "quiet", "verbose"],
        long_values: &["format", "output"],
        ..NONE
    },
    Spec {
        name: "exec",
        flags: "cl",
        values: "a",
        ..NONE
    },
    Spec {
        name: "command",
        flags: "p",
        ..NONE
    },
    Spec {
        name: "builtin",
        ..NONE
    },
];

/// What runs other programs in ways that are not read here: in another root, namespace or machine,
/// later, under a tracer, from a string of its own syntax, or as one of many tools in one binary. In order.
const OPAQUE: &[&str] = &[
    "at",
    "batch",
    "busybox",
    "bwrap",
    "cgexec",
    "choom",
    "chpst",
    "chroot",
    "chrt",
    "crontab",
    "csh",
    "daemonize",
    "dbus-launch",
    "dbus-run-session",
    "dumb-init",
    "eatmydata",
    "elvish",
    "entr",
    "expect",
    "fakechroot",
    "fakeroot",
    "faketime",
    "firejail",
    "fish",
    "gdb",
    "gosu",
    "hyperfine",
    "i386",
    "ksh",
    "linux32",
    "linux64",
    "lksh",
    "ltrace",
    "machinectl",
    "mksh",
    "nsenter",
    "nu",
    "numactl",
    "oksh",
    "parallel",
    "pkexec",
    "pkill",
    "posh",
    "prlimit",
    "proot",
    "proxychains",
    "pwsh",
    "rbash",
    "rlwrap",
    "rsh",
    "runcon",
    "runuser",
    "s6-setuidgid",
    "screen",
    "setarch",
    "setpriv",
    "setuidgid",
    "socat",
    "ssh",
    "start-stop-daemon",
    "strace",
    "su",
    "su-exec",
    "systemd-inhibit",
    "systemd-nspawn",
    "systemd-run",
    "taskset",
    "tcsh",
    "tini",
    "tmux",
    "torsocks",
    "toybox",
    "tsocks",
    "uname26",
    "unbuffer",
    "unshare",
    "valgrind",
    "x86_64",
    "xvfb-run",
    "yash",
    "zsh",
];

pub(super) fn find(name: &str) -> Option<&'static Spec> {
    SPECS.iter().find(|spec| spec.name == name)
}

pub(super) fn is_opaque(name: &str) -> bool {
    OPAQUE.binary_search(&name).is_ok()
}
