//! `harnessctl run`

use std::{collections::BTreeMap, path::PathBuf, time::Duration};

use clap::Args;
use harness_client::Client;
use harness_model::{RunInput, Stream, TaskStatus, TimeSpan, UnitId, UnitSettings};
use serde_json::{Map, Value};

use crate::{
    command::output::copy,
    context::Context,
    error::{Error, Result},
    exit::Exit,
    output::{print_json_line, task},
};

/// Start a task in the background and print its id
#[derive(Debug, Args)]
#[command(after_help = "\
One word after -- is a shell script as it stands; several are one command, quoted for the shell:
  harnessctl run -- 'make && make test'
  harnessctl run --wait --unit restart=on-failure -- cp 'a file' /tmp")]
pub(crate) struct Arguments {
    /// A name for people
    #[arg(long)]
    name: Option<String>,
    /// Where it runs [default: the harness's workspace]
    #[arg(long, value_name = "DIR")]
    cwd: Option<PathBuf>,
    /// Set a variable; NAME alone passes on the own one
    #[arg(long, value_name = "NAME[=VALUE]")]
    env: Vec<String>,
    /// End it after this time, as in 90, 5min or "1h 30min"
    #[arg(long, value_name = "SPAN")]
    timeout: Option<TimeSpan>,
    #[expect(clippy::doc_markdown, reason = "clap prints it as it is")]
    /// Set a key of its unit, as in restart=on-failure or memory_max=512M
    #[arg(long, value_name = "KEY=VALUE")]
    unit: Vec<String>,
    /// Wait for its end, at most this long, and end with its exit code
    #[arg(long, value_name = "SPAN", num_args = 0..=1, require_equals = true, default_missing_value = "infinity")]
    wait: Option<TimeSpan>,
    /// Print its output as it comes, and end with its exit code
    #[arg(long, conflicts_with = "wait")]
    follow: bool,
    /// The command
    #[arg(required = true, last = true, value_name = "CMD")]
    command: Vec<String>,
}

/// How long the start itself waits for the end. Most tasks end at once, and one that was waited for from the start
/// sends no wake; but until the answer nobody knows the id, so a restart of the daemon could not be waited out.
const FIRST_WAIT: Duration = Duration::from_secs(1);

pub(crate) async fn execute(arguments: Arguments, context: &Context) -> Result<Exit> {
    let input = input(&arguments)?;
    let client = context.client()?;
    let started = client.run(&input).await?;
    if arguments.follow {
        let status = follow(&client, &started.id, context).await?;
        return Ok(Exit::of_task(&status));
    }
    if let Some(limit) = arguments.wait {
        let status = if started.status.has_ended() {
            started
        } else {
            let rest = limit.finite().map(|limit| limit.saturating_sub(FIRST_WAIT));
            client.task_end(&started.id, rest).await?
        };
        context.show(&status, |status| task::describe(status, context))?;
        return Ok(Exit::of_task(&status));
    }
    context.show(&started, |started| format!("{}\n", started.id))?;
    Ok(Exit::DONE)
}

fn input(arguments: &Arguments) -> Result<RunInput> {
    let mut unit = settings(&arguments.unit)?;
    let timeout = arguments.timeout.and_then(TimeSpan::finite);
    if timeout.is_some_and(|timeout| timeout.is_zero()) {
        // To the tool 0 would be no time at all; to systemd it is no limit.
        unit.runtime_max_sec = Some(TimeSpan::INFINITY);
    }
    unit.resolve()?;
    let wait = arguments.wait.map_or(Duration::ZERO, |limit| {
        limit.finite().unwrap_or(FIRST_WAIT).min(FIRST_WAIT)
    });
    Ok(RunInput {
        cmd: script(&arguments.command),
        timeout_secs: timeout
            .filter(|timeout| !timeout.is_zero())
            .map(|timeout| timeout.as_secs_f64()),
        wait_seconds: Some(wait.as_secs_f64()),
        name: arguments.name.clone(),
        cwd: arguments.cwd.clone().map(absolute).transpose()?,
        env: environment(&arguments.env)?,
        unit: (unit != UnitSettings::default()).then_some(unit),
        sandbox: None,
    })
}

/// A person means the directory they are in, not the daemon's.
fn absolute(path: PathBuf) -> Result<String> {
    let absolute = std::path::absolute(&path)?;
    absolute
        .into_os_string()
        .into_string()
        .map_err(|_| Error::NotUtf8 { path })
}

fn environment(words: &[String]) -> Result<BTreeMap<String, String>> {
    let pair = |word: &String| match word.split_once('=') {
        Some((name, value)) => Ok((name.to_owned(), value.to_owned())),
        None => match std::env::var(word) {
            Ok(value) => Ok((word.clone(), value)),
            Err(_) => Err(Error::NoVariable { name: word.clone() }),
        },
    };
    words.iter().map(pair).collect()
}

/// A value is JSON where it reads as a number or a list, else text.
fn settings(words: &[String]) -> Result<UnitSettings> {
    let mut keys = Map::new();
    for word in words {
        let (key, text) = word.split_once('=').ok_or_else(|| Error::UnitSyntax {
            argument: word.clone(),
        })?;
        let value = match serde_json::from_str::<Value>(text) {
            Ok(value @ (Value::Number(_) | Value::Array(_))) => value,
            Ok(_) | Err(_) => Value::String(text.to_owned()),
        };
        keys.insert(key.to_owned(), value);
    }
    serde_json::from_value(Value::Object(keys)).map_err(|source| Error::UnitKeys { source })
}

pub(super) fn script(words: &[String]) -> String {
    match words {
        [script] => script.clone(),
        words => words
            .iter()
            .map(|word| quote(word))
            .collect::<Vec<_>>()
            .join(" "),
    }
}

/// One word for any POSIX shell.
fn quote(word: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_./:,+@%^".contains(&byte);
    if !word.is_empty() && word.bytes().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

/// Both streams as they come. The wait beside them is what takes the result, so that no wake is sent.
async fn follow(client: &Client, id: &UnitId, context: &Context) -> Result<TaskStatus> {
    let end = async { Ok(client.task_end(id, None).await?) };
    let ((), (), status) = tokio::try_join!(
        copy(client, id, Stream::Stdout, 0, context),
        copy(client, id, Stream::Stderr, 0, context),
        end,
    )?;
    if context.json {
        print_json_line(&status)?;
    }
    Ok(status)
}

#[cfg(test)]
mod tests {
    use harness_model::{Limit, Restart};

    use super::*;

    fn words(words: &[&str]) -> Vec<String> {
        words.iter().map(|word| (*word).to_owned()).collect()
    }

    #[test]
    fn one_word_is_a_script_and_several_are_quoted_words() {
        assert_eq!(script(&words(&["a && b"])), "a && b");
        assert_eq!(
            script(&words(&["cp", "it's", "", "a b", "x=$y", "-r", "./z"])),
            r"cp 'it'\''s' '' 'a b' 'x=$y' -r ./z"
        );
    }

    #[test]
    fn keys_of_the_unit_take_numbers_lists_and_text() {
        let unit = settings(&words(&[
            "restart=on-failure",
            "restart_sec=5",
            "memory_max=512M",
            "success_exit_status=[3,4]",
            "kill_signal=9",
        ]));
        let unit = unit.unwrap();
        assert_eq!(unit.restart, Some(Restart::OnFailure));
        assert_eq!(unit.restart_sec, Some(TimeSpan::from_secs(5)));
        assert_eq!(unit.memory_max, Some(Limit::Max(512 << 20)));
        assert_eq!(unit.kill_signal.unwrap().number(), 9);
    }

    #[test]
    fn a_wrong_key_or_a_missing_value_is_a_usage_error() {
        for word in [
            "restrat=no",
            "restart",
            "restart=sometimes",
            "memory_max=lots",
        ] {
            assert_eq!(
                settings(&words(&[word])).unwrap_err().exit(),
                Exit::USAGE,
                "{word}"
            );
        }
    }
}
