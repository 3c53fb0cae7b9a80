//! The command line.

use std::{path::PathBuf, time::Duration};

/// What `--help` prints.
pub(crate) const HELP: &str = "\
harness-keeper: owns every child of a harness

  --runtime-dir DIR         where keeper.sock is made
  --agent NAME              the agent's name [default]
  --daemon-uid UID          another user the daemon may have; can be given more than once
  --state-id ID             names this harness in its children's environment [the runtime directory]
  --exit-when-idle SECONDS  end after so long without a daemon and anything to keep
  --no-cgroup               follow trees by session and parent alone
  --detach                  go into the background once the socket accepts connections
  --version, --help
";

/// What the keeper was asked to be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Arguments {
    pub(crate) runtime_directory: PathBuf,
    pub(crate) agent: String,
    pub(crate) daemon_uids: Vec<u32>,
    pub(crate) state_id: Option<String>,
    pub(crate) idle_limit: Option<Duration>,
    pub(crate) no_cgroup: bool,
    pub(crate) detach: bool,
}

/// What to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Invocation {
    /// Keep.
    Run(Arguments),
    /// Print this.
    Print(String),
}

/// Reads the words after the program's name. The error says what is wrong with which.
pub(crate) fn parse(words: impl IntoIterator<Item = String>) -> Result<Invocation, String> {
    let mut words = words.into_iter();
    let mut runtime_directory = None;
    let mut arguments = Arguments {
        runtime_directory: PathBuf::new(),
        agent: "default".to_owned(),
        daemon_uids: Vec::new(),
        state_id: None,
        idle_limit: None,
        no_cgroup: false,
        detach: false,
    };
    while let Some(word) = words.next() {
        let (flag, inline) = match word.split_once('=') {
            Some((flag, value)) => (flag, Some(value.to_owned())),
            None => (word.as_str(), None),
        };
        let value = |inline: Option<String>, words: &mut dyn Iterator<Item = String>| {
            inline
                .or_else(|| words.next())
                .ok_or_else(|| format!("{flag} needs a value"))
        };
        match flag {
            "--runtime-dir" => runtime_directory = Some(PathBuf::from(value(inline, &mut words)?)),
            "--agent" => arguments.agent = value(inline, &mut words)?,
            "--daemon-uid" => arguments
                .daemon_uids
                .push(number(flag, &value(inline, &mut words)?)?),
            "--state-id" => arguments.state_id = Some(state_id(value(inline, &mut words)?)?),
            "--exit-when-idle" => {
                let seconds = number(flag, &value(inline, &mut words)?)?;
                arguments.idle_limit = Some(Duration::from_secs(u64::from(seconds)));
            }
            "--no-cgroup" => arguments.no_cgroup = true,
            "--detach" => arguments.detach = true,
            "--help" => return Ok(Invocation::Print(HELP.to_owned())),
            "--version" => {
                return Ok(Invocation::Print(format!(
                    "harness-keeper {}\n",
                    env!("CARGO_PKG_VERSION")
                )));
            }
            other => return Err(format!("unknown argument {other:?}: see --help")),
        }
    }
    arguments.runtime_directory =
        runtime_directory.ok_or("--runtime-dir is missing: say where keeper.sock is to be made")?;
    Ok(Invocation::Run(arguments))
}

fn number(flag: &str, text: &str) -> Result<u32, String> {
    text.parse()
        .map_err(|_| format!("{flag} {text:?} is not a number"))
}

fn state_id(text: String) -> Result<String, String> {
    if text.is_empty() || text.contains('\0') {
        return Err("--state-id is empty or has a NUL byte in it".to_owned());
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Result<Invocation, String> {
        parse(line.split_whitespace().map(str::to_owned))
    }

    #[test]
    fn every_flag_is_understood_in_both_forms() {
        let line = "--runtime-dir /run/a --agent=coder --daemon-uid 7 --daemon-uid=8 --state-id x --exit-when-idle 600 --no-cgroup --detach";
        let expected = Arguments {
            runtime_directory: "/run/a".into(),
            agent: "coder".to_owned(),
            daemon_uids: vec![7, 8],
            state_id: Some("x".to_owned()),
            idle_limit: Some(Duration::from_mins(10)),
            no_cgroup: true,
            detach: true,
        };
        assert_eq!(words(line), Ok(Invocation::Run(expected)));
    }

    #[test]
    fn what_is_wrong_is_named() {
        for (line, part) in [
            ("", "--runtime-dir"),
            ("--runtime-dir", "needs a value"),
            ("--runtime-dir /a --daemon-uid bob", "bob"),
            ("--runtime-dir /a --state-id=", "--state-id"),
            ("--frobnicate", "--frobnicate"),
        ] {
            let error = words(line).unwrap_err();
            assert!(error.contains(part), "{line}: {error}");
        }
    }
}
