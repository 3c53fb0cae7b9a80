//! The command line.

use std::{ffi::OsString, path::PathBuf, time::Duration};

use serde_json::{Map, Value};

/// The variable that holds the settings where the command line, which anyone can read, does not.
const SETTINGS_VARIABLE: &str = "HARNESS_PLUGIN_SETTINGS";

/// What `--help` prints.
const HELP: &str = "\
harness-plugin-host: serves the tools of one plugin as MCP on standard input and output

  harness-plugin-host [OPTIONS] LIBRARY

  --describe              print what the plugin is, as JSON, and do not begin it
  --settings JSON         its settings [$HARNESS_PLUGIN_SETTINGS, or {}]
  --load-timeout SECONDS  how long it may take to load and begin [10]
  --version, --help

Exit codes: 0 done, 1 the plugin or its settings are not right, 2 the command line is not.
";

/// What the host was asked to do with which plugin.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Arguments {
    pub(crate) library: PathBuf,
    pub(crate) describe: bool,
    pub(crate) settings: Map<String, Value>,
    pub(crate) load_timeout: Duration,
}

/// What to do.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Purpose {
    /// Load it.
    Run(Arguments),
    /// Print this.
    Print(String),
}

/// Reads the words after the program's name. The error says what is wrong with which.
pub(crate) fn parse(words: impl IntoIterator<Item = OsString>) -> Result<Purpose, String> {
    let mut words = words.into_iter();
    let mut library = None;
    let mut describe = false;
    let mut settings = None;
    let mut load_timeout = Duration::from_secs(10);
    while let Some(word) = words.next() {
        let text = word.to_string_lossy();
        if !text.starts_with("--") {
            if library.replace(PathBuf::from(&word)).is_some() {
                return Err(format!("{text:?} is one library too many: name one"));
            }
            continue;
        }
        let (flag, inline) = match text.split_once('=') {
            Some((flag, value)) => (flag, Some(OsString::from(value))),
            None => (&*text, None),
        };
        let mut value = || {
            let value = inline.clone().or_else(|| words.next());
            let value = value.ok_or_else(|| format!("{flag} needs a value"))?;
            value
                .into_string()
                .map_err(|_| format!("the value of {flag} is not UTF-8"))
        };
        match flag {
            "--describe" => describe = true,
            "--settings" => settings = Some(value()?),
            "--load-timeout" => load_timeout = seconds(&value()?)?,
            "--help" => return Ok(Purpose::Print(HELP.to_owned())),
            "--version" => {
                let version = env!("CARGO_PKG_VERSION");
                return Ok(Purpose::Print(format!("harness-plugin-host {version}\n")));
            }
            other => return Err(format!("unknown argument {other:?}: see --help")),
        }
    }
    let library = library.ok_or("no library is named: see --help")?;
    let settings = match settings.or_else(|| std::env::var(SETTINGS_VARIABLE).ok()) {
        Some(text) => serde_json::from_str(&text)
            .map_err(|error| format!("the settings are no JSON object: {error}"))?,
        None => Map::new(),
    };
    Ok(Purpose::Run(Arguments {
        library,
        describe,
        settings,
        load_timeout,
    }))
}

fn seconds(text: &str) -> Result<Duration, String> {
    text.parse()
        .ok()
        .filter(|seconds| *seconds > 0.0)
        .and_then(|seconds| Duration::try_from_secs_f64(seconds).ok())
        .ok_or_else(|| format!("--load-timeout {text:?} is not a number of seconds above 0"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(words: &[&str]) -> Result<Purpose, String> {
        parse(words.iter().map(OsString::from))
    }

    #[test]
    fn a_library_is_named_once_with_its_settings() {
        let Ok(Purpose::Run(arguments)) =
            of(&["--settings", r#"{"a":1}"#, "--load-timeout=0.5", "./x.so"])
        else {
            panic!("it is right");
        };
        assert_eq!(arguments.library, PathBuf::from("./x.so"));
        assert_eq!(arguments.settings["a"], 1);
        assert_eq!(arguments.load_timeout, Duration::from_millis(500));
        assert!(!arguments.describe);
    }

    #[test]
    fn what_is_wrong_is_named() {
        for (words, part) in [
            (&[][..], "no library"),
            (&["a", "b"], "one library too many"),
            (&["--settings", "[]", "a"], "no JSON object"),
            (&["--settings"], "needs a value"),
            (&["--load-timeout", "0", "a"], "above 0"),
            (&["--load-timeout", "inf", "a"], "above 0"),
            (&["--descibe", "a"], "unknown argument"),
        ] {
            let error = of(words).unwrap_err();
            assert!(error.contains(part), "{words:?}: {error}");
        }
    }
}
