//! The command line of `harnessd`.

use std::{
    io::{self, IsTerminal as _, Write as _},
    path::PathBuf,
    process::ExitCode,
};

use clap::Parser;

use crate::config::{AgentName, Config, Host, Mode, Places, PlacesRequest};

/// The tool harness of one AI agent.
#[derive(Debug, Clone, Parser)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a flag of the command line"
)]
#[command(name = "harnessd", version)]
pub struct Arguments {
    /// The agent this harness is for
    #[arg(long, value_name = "NAME", default_value_t)]
    pub agent: AgentName,

    /// The configuration file; drop-ins are in FILE.d/*.toml
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,

    /// Where the record and the output of tasks are kept
    #[arg(long, value_name = "DIR")]
    pub state_dir: Option<PathBuf>,

    /// Where the sockets are
    #[arg(long, value_name = "DIR")]
    pub runtime_dir: Option<PathBuf>,

    /// Use the places of the system: /etc/harnessd, /var/lib/harnessd, /run/harnessd
    #[arg(long, conflicts_with = "user")]
    pub system: bool,

    /// Use the places of the user (XDG), even under a service manager
    #[arg(long)]
    pub user: bool,

    /// Check the configuration, print what is wrong with it, and exit with 1 if that is an error
    #[arg(long)]
    pub check: bool,

    /// With --check: the configuration is for another machine, so look up only what is here of it
    #[arg(long, requires = "check")]
    pub offline: bool,

    /// Print the JSON Schema of the configuration
    #[arg(long, conflicts_with = "check")]
    pub schema: bool,
}

impl Arguments {
    /// What they say about places.
    #[must_use]
    pub fn places(&self) -> PlacesRequest {
        let mode = match (self.system, self.user) {
            (true, _) => Some(Mode::System),
            (_, true) => Some(Mode::User),
            (false, false) => None,
        };
        PlacesRequest {
            agent: self.agent.clone(),
            mode,
            config: self.config.clone(),
            state: self.state_dir.clone(),
            runtime: self.runtime_dir.clone(),
        }
    }
}

/// Answers what needs no daemon: `--schema` and `--check`; `None` when a daemon is wanted.
///
/// `--check` prints every fault and warning to standard error and exits with 1 if there is a fault.
///
/// # Errors
/// The places cannot be found out, or standard output is closed.
pub fn answer(arguments: &Arguments) -> Result<Option<ExitCode>, Box<dyn std::error::Error>> {
    if arguments.schema {
        let text = serde_json::to_string_pretty(&Config::schema())?;
        io::stdout().write_all(format!("{text}\n").as_bytes())?;
        return Ok(Some(ExitCode::SUCCESS));
    }
    if !arguments.check {
        return Ok(None);
    }
    let uid = rustix::process::geteuid().as_raw();
    let places = Places::resolve(arguments.places(), &std::env::vars_os().collect(), uid)?;
    let host = Host {
        offline: arguments.offline,
        ..Host::current().asking_plugins()
    };
    let (problems, code) = match Config::load_on(&places, &host) {
        Ok(loaded) => (loaded.warnings, ExitCode::SUCCESS),
        Err(problems) => (problems, ExitCode::FAILURE),
    };
    complain(&problems.render(io::stderr().is_terminal()));
    Ok(Some(code))
}

/// A closed standard error is no reason to fail.
pub fn complain(text: &str) {
    drop(io::stderr().write_all(text.as_bytes()));
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;

    #[test]
    fn the_command_line_is_consistent_and_refuses_a_wrong_agent() {
        Arguments::command().debug_assert();
        let parse = |words: &[&str]| Arguments::try_parse_from([&["harnessd"], words].concat());
        assert_eq!(parse(&[]).unwrap().places(), PlacesRequest::default());
        assert_eq!(parse(&["--user"]).unwrap().places().mode, Some(Mode::User));
        let error = parse(&["--agent", "../x"]).unwrap_err().to_string();
        assert!(error.contains("a-z, 0-9 and -"), "{error}");
        for wrong in [
            &["--system", "--user"][..],
            &["--offline"],
            &["--check", "--schema"],
        ] {
            assert!(parse(wrong).is_err(), "{wrong:?}");
        }
    }
}
