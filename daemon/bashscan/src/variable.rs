//! Variables that are code, or that say where code is found.

const SHELL: &[&str] = &[
    "PATH",
    "IFS",
    "ENV",
    "PROMPT_COMMAND",
    "PS0",
    "PS1",
    "PS2",
    "PS4",
    "SHELLOPTS",
    "CDPATH",
    "GLOBIGNORE",
    "EXECIGNORE",
    "HISTFILE",
    "HISTCONTROL",
    "INPUTRC",
    "TEXTDOMAIN",
    "TEXTDOMAINDIR",
    "POSIXLY_CORRECT",
    "GCONV_PATH",
    "LOCPATH",
    "NLSPATH",
    "MAILPATH",
    "HOME",
    "FIGNORE",
    "auto_resume",
    "histchars",
];

const SHELL_PREFIXES: &[&str] = &["LD_", "DYLD_", "BASH_", "BASHOPTS", "MALLOC_", "GLIBC_"];

const PROGRAMS: &[&str] = &[
    "SHELL",
    "PAGER",
    "MANPAGER",
    "LESSOPEN",
    "LESSCLOSE",
    "LESS",
    "EDITOR",
    "VISUAL",
    "BROWSER",
    "TERMINFO",
    "CC",
    "CXX",
    "LD",
    "AR",
    "CPP",
    "RUSTC",
    "RUSTDOC",
    "MAKE",
    "CLASSPATH",
    "GOROOT",
    "GOBIN",
    "GOPROXY",
    "GOFLAGS",
    "HOSTALIASES",
    "RES_OPTIONS",
    "ASKPASS",
    "TAR_OPTIONS",
    "XDG_CONFIG_HOME",
    "XDG_CONFIG_DIRS",
    "XDG_DATA_DIRS",
    "XDG_DATA_HOME",
    "AWKPATH",
    "AWKLIBPATH",
    "http_proxy",
    "https_proxy",
    "all_proxy",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "ALL_PROXY",
];

const PROGRAM_PREFIXES: &[&str] = &[
    "GIT_",
    "SSH_",
    "SUDO_",
    "CARGO",
    "RUSTC_",
    "RUSTUP_",
    "NPM_",
    "npm_",
    "NODE_",
    "YARN_",
    "COREPACK_",
    "PYTHON",
    "PIP_",
    "UV_",
    "PERL",
    "RUBY",
    "BUNDLE_",
    "GEM_",
    "JAVA_",
    "_JAVA",
    "JDK_",
    "MAVEN_",
    "GRADLE_",
    "GCC_",
    "CMAKE_",
    "MAKEF",
    "MFLAGS",
    "GNUMAKE",
    "PKG_CONFIG",
    "DOCKER_",
    "KUBE",
    "HARNESS_",
    "NOTIFY_SOCKET",
    "LISTEN_",
    "SYSTEMD_",
    "DBUS_",
    "NIX_",
    "LUA_",
    "PHP",
];

const PROGRAM_SUFFIXES: &[&str] = &[
    "_COMMAND", "_WRAPPER", "_PAGER", "EDITOR", "_OPTS", "_OPTIONS", "FLAGS", "_PATH", "_PRELOAD",
    "_PLUGIN", "_PLUGINS", "_RUNNER", "_LINKER", "_SHELL", "_HOME", "_CONFIG", "_PROXY", "_proxy",
];

/// Whether the shell itself, or the dynamic loader of whatever it starts, takes code, paths or the
/// rules of its grammar from the variable (bash(1) "Shell Variables", ld.so(8) "ENVIRONMENT").
///
/// `PS3` and `PS4` differ: only the latter is expanded like a double-quoted word.
#[must_use]
pub fn affects_shell(name: &str) -> bool {
    SHELL.contains(&name) || SHELL_PREFIXES.iter().any(|prefix| name.starts_with(prefix))
}

/// Whether a common program takes code, or the path or options of another program, from the
/// variable when it is in its environment. No list of this kind is complete.
#[must_use]
pub fn affects_programs(name: &str) -> bool {
    affects_shell(name)
        || PROGRAMS.contains(&name)
        || PROGRAM_PREFIXES
            .iter()
            .any(|prefix| name.starts_with(prefix))
        || PROGRAM_SUFFIXES.iter().any(|suffix| name.ends_with(suffix))
}

/// Whether the variable chooses the character set: only those in which every byte below 128 is
/// itself leave the reading of the script alone.
pub(crate) fn is_locale(name: &str) -> bool {
    name == "LANG" || name.starts_with("LC_")
}

/// A locale whose character set is ASCII or UTF-8.
pub(crate) fn is_plain_locale(value: &str) -> bool {
    let codeset = value.rsplit('.').next().unwrap_or(value);
    matches!(value, "" | "C" | "POSIX")
        || (codeset != value && matches!(codeset, "UTF-8" | "utf8" | "utf-8" | "UTF8"))
}

/// `[A-Za-z_][A-Za-z0-9_]*`
pub(crate) fn is_identifier(text: &str) -> bool {
    let mut bytes = text.bytes();
    bytes.next().is_some_and(is_identifier_start) && bytes.all(is_identifier_byte)
}

pub(crate) fn is_identifier_start(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || byte == b'_'
}

pub(crate) fn is_identifier_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// A name, or a name with a subscript that evaluates nothing: `a[3]`, `a[@]`.
pub(crate) fn is_plain_reference(text: &str) -> bool {
    let Some((name, rest)) = text.split_once('[') else {
        return is_identifier(text);
    };
    let Some(subscript) = rest.strip_suffix(']') else {
        return false;
    };
    is_identifier(name)
        && (subscript == "@"
            || subscript == "*"
            || (!subscript.is_empty() && subscript.bytes().all(|b| b.is_ascii_digit())))
}
